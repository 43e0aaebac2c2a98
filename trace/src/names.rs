//! Names of places in chains, and of places in the source. An event has room for a number only.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

/// All names. A name is never removed: a program has few, and a trace may be read at any time.
static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// The number of a name.
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

    /// Returns the number.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Returns the name of a number.
pub(super) fn name(number: u64) -> &'static str {
    let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    usize::try_from(number).ok().and_then(|number| names.get(number)).copied().unwrap_or("?")
}

/// The places in the source at which chains were called, by the addresses of their locations. They are never removed, as for names.
static PLACES: Mutex<BTreeMap<u64, &'static str>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The place that this thread has looked up last, so that a chain in a loop takes no lock; 0 if there is none.
    static LAST_PLACE: Cell<u64> = const { Cell::new(0) };
}

/// Returns the number of a place in the source. Takes a lock if the thread's last one was another one.
#[must_use]
pub fn number_of(location: &'static Location<'static>) -> u64 {
    let number = std::ptr::from_ref(location).addr() as u64;
    if LAST_PLACE.replace(number) != number {
        let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        places.entry(number).or_insert_with(|| format!("{}:{}", location.file(), location.line()).leak());
    }
    number
}

/// Returns the place of a number.
pub(super) fn place(number: u64) -> &'static str {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner).get(&number).copied().unwrap_or("?")
}
