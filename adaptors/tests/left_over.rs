//! Items that are left over when an adaptor ends early, and whose drop panics.

use furcate::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// A panic in the drop of an item that is left over loses none of the items that have passed.
#[test]
fn a_panic_in_the_drop_of_what_is_left_leaks_nothing() {
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
