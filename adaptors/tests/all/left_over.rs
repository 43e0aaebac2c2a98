//! Items that are left over when an adaptor ends early, and whose drop panics.

use furcate::iter::from_producer;
use furcate::prelude::*;
use furcate::{Divisible, Facts, Inline, Producer};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

struct Tracked<'a> {
    alive: &'a AtomicUsize,
    panics: bool,
}
impl Drop for Tracked<'_> {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, SeqCst);
        if self.panics {
            std::panic::resume_unwind(Box::new("dropped"));
        }
    }
}

/// A panic in the drop of an item that is left over loses none of the items that have passed.
#[test]
fn a_panic_in_the_drop_of_what_is_left_leaks_nothing() {
    let alive = AtomicUsize::new(0);
    let items = || -> Vec<Tracked<'_>> {
        alive.fetch_add(6, SeqCst);
        (0..6).map(|i| Tracked { alive: &alive, panics: i == 4 }).collect()
    };
    let check = |name: &str, run: &dyn Fn(Vec<Tracked<'_>>)| {
        let outcome = catch_unwind(AssertUnwindSafe(|| run(items())));
        assert!(outcome.is_err(), "{name}");
        assert_eq!(alive.load(SeqCst), 0, "{name}");
    };
    check("take_any", &|items| {
        let _ = items.into_par_iter().sequential().take_any(2).collect::<Vec<_>>();
    });
    check("while_some", &|items| {
        let number = AtomicUsize::new(0);
        let first = |item| (number.fetch_add(1, SeqCst) < 2).then_some(item);
        let _ = items.into_par_iter().sequential().map(first).while_some().collect::<Vec<_>>();
    });
    check("take_any_while", &|items| {
        let number = AtomicUsize::new(0);
        let first = |_: &Tracked<'_>| number.fetch_add(1, SeqCst) < 2;
        let _ = items.into_par_iter().sequential().take_any_while(first).collect::<Vec<_>>();
    });
    check("try_fold", &|items| {
        let push = |mut passed: Vec<_>, item| {
            if passed.len() == 2 {
                return Err(passed);
            }
            passed.push(item);
            Ok(passed)
        };
        let _ = items.into_par_iter().sequential().try_fold(Vec::new, push).collect::<Vec<_>>();
    });
}

/// Items, of which those on one side of a division are not wanted any more, as behind a closed gate.
struct Shut<'a> {
    items: Vec<Tracked<'a>>,
    shut: bool,
}

impl Divisible for Shut<'_> {
    fn size(&self) -> usize {
        if self.shut { 0 } else { self.items.len() }
    }

    fn divide_at(mut self, index: usize) -> (Self, Self) {
        let items = self.items.split_off(index);
        (self, Shut { items, shut: true })
    }
}

impl<'a> IntoIterator for Shut<'a> {
    type Item = Tracked<'a>;
    type IntoIter = std::vec::IntoIter<Tracked<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl Producer for Shut<'_> {
    const FACTS: Facts = Facts::ITEMS;
}

/// A panic in the drop of a part of size 0 loses nothing of the other part.
#[test]
fn a_panic_in_the_drop_of_an_empty_part_leaks_nothing() {
    let alive = AtomicUsize::new(6);
    let items = (0..6).map(|i| Tracked { alive: &alive, panics: i == 4 }).collect();
    let chain = from_producer(Shut { items, shut: false }).force_depth(2).on(Inline);
    assert!(catch_unwind(AssertUnwindSafe(|| chain.count())).is_err());
    assert_eq!(alive.load(SeqCst), 0);
}
