//! Names of places in chains. An event has room for a number only.

use std::sync::{Mutex, PoisonError};

/// All names. A name is never removed: a program has few, and a trace may be read at any time.
static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// The number of a name.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Name(u64);

impl Name {
    /// Returns the number of a name. Takes a lock.
    #[must_use]
    pub fn of(name: &'static str) -> Name {
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let number = names.iter().position(|other| *other == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        Name(number as u64)
    }

    pub(super) fn number(self) -> u64 {
        self.0
    }
}

/// Returns the name of a number.
pub(super) fn name(number: u64) -> &'static str {
    let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    usize::try_from(number).ok().and_then(|number| names.get(number)).copied().unwrap_or("?")
}
