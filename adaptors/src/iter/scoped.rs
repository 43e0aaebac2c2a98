//! Sources whose producer exists only while a callback runs.
//!
//! Most sources lend a producer when they are asked, and it lives as long as the source. A parallel iterator of rayon's cannot do
//! that: it passes its producer to a callback, and ends the producer's data when the callback returns. So a terminal runs inside these
//! callbacks. It asks the chain for its scopes, enters one after the other, and runs in the innermost one:
//!
//! ```text
//!   terminal                       chain                      source
//!   SCOPED?  ------------------------------------------------> true
//!   scopes() --------------------> each adaptor asks its base -> gives up its data: a scope
//!   enter the scope ------------------------------------------> makes the producer, and keeps it
//!     producer() -----------------> wraps the base's producer <- lends what it keeps
//!     schedule, reduce
//!   leave the scope ------------------------------------------> ends the data
//! ```
//!
//! # Invariants
//!
//! 1. *The call stays inside.* A terminal moves the chain into its call, and the chain is dropped in the innermost scope. A lent
//!    producer borrows the chain, so no producer is left when the scope ends.
//! 2. *Nobody else enters.* [`Scopes`] cannot be named outside this crate. So only adaptors of this crate pass scopes on, and only
//!    terminals of this crate ask for them. An adaptor from elsewhere has no scopes, and neither has a chain that is lent by hand: a source whose
//!    scope is not entered has to lend its items in another way.

use super::ParallelIterator;

/// The scopes of a chain's sources.
#[allow(missing_debug_implementations, reason = "it cannot be named outside this crate")]
pub struct Scopes<'s>(Vec<Box<EnterScope<'s>>>);

/// Enters a scope in which a source has its producer: runs the call once, while it has.
type EnterScope<'s> = dyn FnOnce(&mut dyn FnMut()) + 's;

impl<'s> Scopes<'s> {
    /// Adds a scope.
    #[cfg(feature = "rayon")]
    pub(crate) fn add(&mut self, enter: impl FnOnce(&mut dyn FnMut()) + 's) {
        self.0.push(Box::new(enter));
    }

    fn enter(mut self, call: &mut dyn FnMut()) {
        match self.0.pop() {
            Some(enter_scope) => {
                let mut rest = Some(self);
                enter_scope(&mut || {
                    if let Some(rest) = rest.take() {
                        rest.enter(&mut *call);
                    }
                });
            }
            None => call(),
        }
    }
}

/// Runs a call on a chain whose sources have scopes, in all of them (invariant 1).
///
/// Called only if the chain is [`SCOPED`](ParallelIterator::SCOPED). Other chains need no detour.
#[cold]
pub(crate) fn in_scopes<I: ParallelIterator, R>(mut chain: I, call: impl FnOnce(I) -> R) -> R {
    let mut scopes = Scopes(Vec::new());
    chain.scopes(&mut scopes);
    let mut call = Some((chain, call));
    let mut result = None;
    scopes.enter(&mut || {
        let Some((chain, call)) = call.take() else { return };
        result = Some(call(chain));
    });
    result.expect("a scope runs its call")
}

/// Passes on the scopes of the bases.
macro_rules! inherit_scopes {
    ($($base:ident: $I:ty),+) => {
        const SCOPED: bool = $(<$I as $crate::iter::ParallelIterator>::SCOPED)||+;

        fn scopes<'scope>(&mut self, scopes: &mut $crate::iter::scoped::Scopes<'scope>)
        where
            Self: 'scope,
        {
            $($crate::iter::ParallelIterator::scopes(&mut self.$base, scopes);)+
        }
    };
}
pub(crate) use inherit_scopes;
