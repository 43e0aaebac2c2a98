//! Tests that furcate does what rayon does: the same expression is compiled against both preludes, and run on the same input.
//!
//! A case is a line: a name, and an expression over a vector `v` of items and a [`Probe`] `t`, whose methods stand in for a user's closures.
//! For each case the tests check, on both libraries:
//!
//! - *Results* are equal: for random lengths, and for the lengths around which parts are cut ([`LENGTHS`]).
//! - *Panics* of a closure come out, with their payload: at the first item, the last one, and in between. (A search may end before it comes to that
//!   item. Then the result is that of a run without the panic.)
//! - *Drops:* every item is dropped once, after a success and after a panic.
//! - *Items without a size* are as many in the result as in rayon's.

use proptest::test_runner::{Config, TestRunner};
use std::any::Any;
use std::fmt::Debug;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicIsize, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// Lengths at which parts are cut, and their neighbors.
pub const LENGTHS: [usize; 16] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1023];

/// An item: what the closures of a case know of it.
pub trait Item: Clone + Ord + Hash + Debug + Send + Sync + 'static {
    /// Its number; 0 for all items without a size.
    fn number(&self) -> i64;
}

/// An item whose drops are counted.
#[derive(Debug)]
pub struct Counted {
    number: i64,
    alive: Arc<AtomicIsize>,
    dropped: AtomicU32,
}

impl Counted {
    fn new(number: i64, alive: &Arc<AtomicIsize>) -> Self {
        alive.fetch_add(1, SeqCst);
        Counted { number, alive: Arc::clone(alive), dropped: AtomicU32::new(0) }
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Counted::new(self.number, &self.alive)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // A second drop of the same item is seen as long as its memory has not been used again; else by the sum.
        assert_eq!(self.dropped.fetch_add(1, SeqCst), 0, "an item is dropped twice");
        self.alive.fetch_sub(1, SeqCst);
    }
}

impl Item for Counted {
    fn number(&self) -> i64 {
        self.number
    }
}

/// An item without a size.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unit;

static UNITS: AtomicIsize = AtomicIsize::new(0);
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

impl Unit {
    fn new() -> Self {
        UNITS.fetch_add(1, SeqCst);
        Unit
    }
}

impl Clone for Unit {
    fn clone(&self) -> Self {
        Unit::new()
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        UNITS.fetch_sub(1, SeqCst);
    }
}

impl Item for Unit {
    fn number(&self) -> i64 {
        0
    }
}

macro_rules! by_number {
    ($Type:ty) => {
        impl PartialEq for $Type {
            fn eq(&self, other: &Self) -> bool {
                self.number == other.number
            }
        }
        impl Eq for $Type {}
        impl PartialOrd for $Type {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for $Type {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.number.cmp(&other.number)
            }
        }
        impl Hash for $Type {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.number.hash(state);
            }
        }
    };
}
by_number!(Counted);

/// The payload of a planned panic.
#[derive(Debug, PartialEq, Eq)]
struct Planned(i64);

/// Stands in for a user's closures. One of the items may make them panic.
#[derive(Debug)]
pub struct Probe {
    bad: Option<i64>,
}

impl Probe {
    /// A pure function of an item.
    pub fn f(&self, item: &impl Item) -> i64 {
        let number = item.number();
        if self.bad == Some(number) {
            resume_unwind(Box::new(Planned(number)));
        }
        number * 3 + 1
    }

    /// The same, without a result.
    pub fn see(&self, item: &impl Item) {
        self.f(item);
    }

    /// A predicate, true for a third of the items.
    pub fn p(&self, item: &impl Item) -> bool {
        self.f(item) % 9 == 1
    }

    /// A predicate, true for nearly all items.
    pub fn q(&self, item: &impl Item) -> bool {
        self.f(item) % 37 != 1
    }

    /// A small number.
    pub fn few(&self, item: &impl Item) -> usize {
        self.f(item).unsigned_abs() as usize % 3
    }
}

/// An expression over items, compiled against one library. Its result is compared as text.
pub type Run<T> = fn(&Probe, Vec<T>) -> String;

/// What a run did: its result, or the payload of its panic.
fn outcome<T>(run: Run<T>, probe: &Probe, items: Vec<T>) -> Result<String, i64> {
    catch_unwind(AssertUnwindSafe(|| run(probe, items))).map_err(|payload: Box<dyn Any + Send>| match payload
        .downcast::<Planned>(
    ) {
        Ok(planned) => planned.0,
        Err(payload) => resume_unwind(payload),
    })
}

/// Checks a case. `is_search`, if it may end before the last item.
pub fn check(furcate: [Run<Counted>; 2], units: [Run<Unit>; 2], is_search: bool) {
    let [ours, theirs] = furcate;
    let compare = |numbers: &[i64], bad: Option<i64>| {
        let probe = Probe { bad };
        let alive = Arc::new(AtomicIsize::new(0));
        let items = || numbers.iter().map(|&number| Counted::new(number, &alive)).collect::<Vec<_>>();
        let expected = outcome(theirs, &probe, items());
        assert_eq!(alive.load(SeqCst), 0, "rayon loses items");
        let same = |place: &str, found: Result<String, i64>| {
            let is_same = if is_search && (expected.is_err() || found.is_err()) {
                // Only one of the two may have come to the bad item.
                let calm = outcome(theirs, &Probe { bad: None }, items());
                found == calm || found == Err(bad.unwrap_or_default())
            } else {
                found == expected
            };
            assert!(is_same, "{place}, {numbers:?}, panic at {bad:?}: {found:?}, not {expected:?}");
            assert_eq!(
                alive.load(SeqCst),
                0,
                "{place}, {numbers:?}, panic at {bad:?}: items that were not dropped once"
            );
        };
        same("the default pool", outcome(ours, &probe, items()));
        for pool in [1, 3].map(testkit::shared_pool) {
            let place = format!("{} threads", pool.current_num_threads());
            same(&place, pool.install(|| outcome(ours, &probe, items())));
        }
    };
    for len in LENGTHS {
        let numbers: Vec<i64> = (0..len as i64).map(|i| i * 7 % 50 - 20).collect();
        compare(&numbers, None);
        for at in [0, len / 2, len.saturating_sub(1)] {
            compare(&numbers, numbers.get(at).copied());
        }
    }
    let vectors = (proptest::collection::vec(-50..50_i64, 0..300), proptest::bool::ANY, 0..300_usize);
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(12) });
    let tested = runner.run(&vectors, |(numbers, panics, at)| {
        compare(&numbers, numbers.get(at).copied().filter(|_| panics));
        Ok(())
    });
    tested.unwrap_or_else(|error| panic!("{error}"));

    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for len in LENGTHS {
        for bad in [None, Some(0)] {
            let probe = Probe { bad };
            let [found, expected] = units.map(|run| {
                let result = outcome(run, &probe, (0..len).map(|_| Unit::new()).collect());
                assert_eq!(UNITS.load(SeqCst), 0, "{len} units, panic at {bad:?}: not all were dropped once");
                result
            });
            let calm = || outcome(units[1], &Probe { bad: None }, (0..len).map(|_| Unit::new()).collect());
            assert!(
                found == expected || is_search && found == calm(),
                "{len} units: {found:?}, not {expected:?}"
            );
        }
    }
}

/// Declares a test for each case.
#[macro_export]
macro_rules! cases {
    ($is_search:literal: $($(#[$attribute:meta])* $name:ident: |$t:ident, $v:ident| $expression:expr;)+) => {$(
        $(#[$attribute])*
        #[test]
        fn $name() {
            fn by_furcate<T: $crate::Item>($t: &$crate::Probe, $v: Vec<T>) -> String {
                #[allow(unused_imports)]
                use {furcate::iter, furcate::prelude::*};
                let _ = &$t;
                format!("{:?}", $expression)
            }
            fn by_rayon<T: $crate::Item>($t: &$crate::Probe, $v: Vec<T>) -> String {
                #[allow(unused_imports)]
                use {rayon::iter, rayon::prelude::*};
                let _ = &$t;
                format!("{:?}", $expression)
            }
            $crate::check([by_furcate, by_rayon], [by_furcate, by_rayon], $is_search);
        }
    )+};
}
