//! The runtime of another library that threads have entered while they are workers, for futures that ask for it.

use std::marker::PhantomData;
#[cfg(feature = "tokio")]
use tokio::runtime::{EnterGuard, Handle};

/// Tokio's, if a pool was built with one.
#[derive(Default)]
pub(crate) struct Runtime {
    #[cfg(feature = "tokio")]
    pub(crate) handle: Option<Handle>,
}

/// This thread has entered it.
pub(crate) struct Entered<'r> {
    #[cfg(feature = "tokio")]
    _guard: Option<EnterGuard<'r>>,
    _runtime: PhantomData<&'r Runtime>,
}

impl Runtime {
    pub(crate) fn enter(&self) -> Entered<'_> {
        Entered {
            #[cfg(feature = "tokio")]
            _guard: self.handle.as_ref().map(Handle::enter),
            _runtime: PhantomData,
        }
    }
}
