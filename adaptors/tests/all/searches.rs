//! Searches, comparisons and positions: their results, and the items that they need not look at.

use crate::support::{LENGTHS, assert_schedules};
use furcate::Inline;
use furcate::prelude::*;
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use testkit::on_pools;

/// Rayon's results.
mod peer {
    use rayon::prelude::*;

    pub(crate) fn cmp(v: &[i8], w: &[i8]) -> std::cmp::Ordering {
        v.par_iter().cmp(w)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn searches(v in proptest::collection::vec(0..40_u8, 0..3000), wanted in 0..50_u8) {
        let hit = |x: &&u8| **x == wanted;
        let found = |x: &u8| (*x == wanted).then(|| std::ptr::from_ref(x) as usize);
        let is = |x: &u8| *x == wanted;
        let not = |x: &u8| *x != wanted;
        // Addresses: the found item is the same one, not an equal one.
        let first = v.iter().find_map(found);
        let last = v.iter().rev().find_map(found);
        on_pools(|| {
            assert_schedules!(v.iter().any(is), v.par_iter(), |it| it.any(is));
            assert_schedules!(v.iter().all(not), v.par_iter(), |it| it.all(not));
            assert_schedules!(v.iter().find(hit), v.par_iter(), |it| it.find_any(hit));
            assert_schedules!(first, v.par_iter(), |it| it.find_first(hit).and_then(found));
            assert_schedules!(last, v.par_iter(), |it| it.find_last(hit).and_then(found));
            assert_schedules!(first, v.par_iter(), |it| it.find_map_first(found));
            assert_schedules!(last, v.par_iter(), |it| it.find_map_last(found));
            assert_schedules!(first, v.par_iter(), |it| it.filter(hit).find_first(|_| true).and_then(found));
            assert_schedules!(last, v.par_iter(), |it| it.filter(hit).find_last(|_| true).and_then(found));
            assert_schedules!(first.is_some(), v.par_iter(), |it| it.find_map_any(found).is_some());
            assert_schedules!(v.iter().position(is), v.par_iter(), |it| it.position_first(is));
            assert_schedules!(v.iter().rposition(is), v.par_iter(), |it| it.position_last(is));
            assert_schedules!(first.is_some(), v.par_iter(), |it| it.position_any(is).is_some_and(|at| v[at] == wanted));
        });
    }

    #[test]
    fn comparisons(v: Vec<i8>, w: Vec<i8>, common in 0..100_usize) {
        // The two often have a common start, and sometimes nothing else.
        let w: Vec<i8> = v.iter().take(common).copied().chain(w.into_iter().skip(common / 2)).collect();
        prop_assert_eq!(v.par_iter().cmp(&w), peer::cmp(&v, &w));
        on_pools(|| {
            assert_schedules!(v.iter().cmp(&w), v.par_iter(), |it| it.cmp(&w));
            assert_schedules!(v.iter().partial_cmp(&w), v.par_iter(), |it| it.partial_cmp(&w));
            assert_schedules!(v.iter().eq(&w), v.par_iter(), |it| it.eq(&w));
            assert_schedules!(v.iter().ne(&w), v.par_iter(), |it| it.ne(&w));
            assert_schedules!(v.iter().lt(&w), v.par_iter(), |it| it.lt(&w));
            assert_schedules!(v.iter().le(&w), v.par_iter(), |it| it.le(&w));
            assert_schedules!(v.iter().gt(&w), v.par_iter(), |it| it.gt(&w));
            assert_schedules!(v.iter().ge(&w), v.par_iter(), |it| it.ge(&w));
        });
    }
}

/// A pair that cannot be compared decides like a difference.
#[test]
fn not_a_number() {
    let numbers = [f64::NAN, 1.0, 2.0, f64::INFINITY];
    for v in numbers.map(|x| vec![0.0, x, 1.0]) {
        for w in numbers.iter().flat_map(|&x| [vec![0.0, x], vec![0.0, x, 1.0], vec![-1.0, x, 2.0]]) {
            assert_schedules!(v.iter().partial_cmp(&w), v.par_iter(), |it| it.partial_cmp(&w));
            assert_schedules!(v.iter().eq(&w), v.par_iter(), |it| it.eq(&w));
            assert_schedules!(v.iter().le(&w), v.par_iter(), |it| it.le(&w));
            assert_schedules!(v.iter().ge(&w), v.par_iter(), |it| it.ge(&w));
        }
    }
}

/// One hit at each interesting place, at every length (I2).
#[test]
fn every_length() {
    for len in LENGTHS {
        for hit in [0, 1, len / 2, len.saturating_sub(1), len] {
            let expected = (hit < len).then_some(hit);
            on_pools(|| {
                assert_schedules!(expected, (0..len).into_par_iter(), |it| it.find_any(|&x| x == hit));
                assert_schedules!(expected, (0..len).into_par_iter(), |it| it.find_first(|&x| x >= hit));
                assert_schedules!(expected, (0..len).into_par_iter(), |it| it.find_last(|&x| x == hit));
                assert_schedules!(expected, (0..len).into_par_iter(), |it| it
                    .position_last(|x| x <= hit && hit < len)
                    .filter(|_| hit < len));
            });
        }
    }
}

/// Divisions far deeper than the numbers for places reach.
#[test]
fn divisions_deeper_than_a_word_has_bits() {
    struct Chain(std::ops::Range<usize>);
    impl Divisible for Chain {
        fn size(&self) -> usize {
            self.0.len()
        }
        fn divide_at(self, index: usize) -> (Self, Self) {
            let (left, right) = self.0.divide_at(index);
            (Chain(left), Chain(right))
        }
        fn divide(self) -> (Self, Self) {
            self.divide_at(1)
        }
    }
    for first in [0, 1, 63, 64, 65, 150, 299, 300] {
        on_pools(|| {
            let pieces = || Chain(0..300).wrap_iter().size_limit(1);
            let place = |piece: Chain| {
                (piece.0.start >= first && piece.0.start % 2 == first % 2).then_some(piece.0.start)
            };
            let hits: Vec<usize> = (0..300).filter(|&x| x >= first && x % 2 == first % 2).collect();
            assert_eq!(pieces().find_map_first(place), hits.first().copied());
            assert_eq!(pieces().find_map_last(place), hits.last().copied());
        });
    }
}

/// Returns how many items a search looks at, on one thread.
fn looked_at(search: impl FnOnce(&(dyn Fn(usize) + Sync))) -> usize {
    let looks = AtomicUsize::new(0);
    search(&|_| {
        looks.fetch_add(1, Relaxed);
    });
    looks.into_inner()
}

/// On one thread no item behind the hit is looked at, however the search is divided (I4).
#[test]
fn nothing_behind_the_hit() {
    let len = 10_000;
    for hit in [0, 1, 17, 1000, len - 1] {
        let items = || (0..len).into_par_iter().on(Inline);
        let expected = hit + 1;
        macro_rules! looks {
            ($items:expr, |$it:ident, $see:ident| $search:expr) => {
                looked_at(|$see| {
                    let $it = $items;
                    let _ = $search;
                })
            };
        }
        for limit in [1, 100, len] {
            // A large part tests its items in groups of sixteen, and goes on to the end of the hit's group.
            let is = |looks: usize, expected: usize| {
                let group = if limit < 1024 { 1 } else { 16 };
                assert!(
                    (expected..expected + group).contains(&looks),
                    "{looks} looks, not {expected}, hit {hit}, limit {limit}"
                );
            };
            let seen = |x: usize, see: &(dyn Fn(usize) + Sync)| {
                see(x);
                x == hit
            };
            let it = || items().size_limit(limit);
            is(looks!(it(), |it, see| it.any(|x| seen(x, see))), expected);
            is(looks!(it(), |it, see| it.all(|x| !seen(x, see))), expected);
            is(looks!(it(), |it, see| it.find_any(|&x| seen(x, see))), expected);
            is(looks!(it(), |it, see| it.find_first(|&x| seen(x, see))), expected);
            is(looks!(it(), |it, see| it.position_any(|x| seen(x, see))), expected);
            is(looks!(it(), |it, see| it.position_first(|x| seen(x, see))), expected);
            // Within a task the search runs from the back, but the tasks come from the front. Reversed, the tasks also
            // come from the back.
            is(looks!(it(), |it, see| it.position_last(|x| seen(x, see))), len - hit);
            is(looks!(it(), |it, see| it.rev().find_first(|&x| seen(x, see))), len - hit);
            // When the last hit is found, the tasks before it have been searched, unless blocks come from the back.
            assert_eq!(looks!(it(), |it, see| it.join().find_last(|&x| seen(x, see))), len);
            assert_eq!(
                looks!(it(), |it, see| it.by_blocks([1, len - 2]).find_last(|&x| seen(x, see))),
                match hit {
                    0 => len,
                    hit if hit == len - 1 => 1,
                    _ => len - 1,
                }
            );
            // A comparison that ends at the first difference.
            let others = || (0..len).into_par_iter().map(|x| if x == hit { len } else { x });
            let shown = |x: usize, see: &(dyn Fn(usize) + Sync)| {
                see(x);
                x
            };
            is(looks!(it(), |it, see| it.map(|x| shown(x, see)).cmp(others())), expected);
            is(looks!(it(), |it, see| it.map(|x| shown(x, see)).eq(others())), expected);
            assert_eq!(looks!(it(), |it, see| it.map(|x| shown(x, see)).eq(1..len)), 0, "lengths differ");
        }
    }
}

/// Once a hit is known, every thread ends soon.
#[test]
fn other_threads_stop_soon() {
    let len = 1 << 20;
    for pool in testkit::pools() {
        let after = AtomicUsize::new(0);
        let threads = pool.current_num_threads();
        pool.install(|| {
            let announced = std::sync::atomic::AtomicBool::new(false);
            let hit = (0..len).into_par_iter().find_any(|&x| {
                if announced.load(Relaxed) {
                    after.fetch_add(1, Relaxed);
                }
                let hit = x % 5000 == 4999;
                announced.fetch_or(hit, Relaxed);
                hit
            });
            assert!(hit.is_some());
        });
        // A step may be longer, but a thread that misses the hit finds one of its own after 5000 items at most.
        let after = after.into_inner();
        assert!(after <= threads * 5000, "{after} items on {threads} threads");
    }
}

/// `find_first` continues before a hit and ends behind it, also with other threads.
#[test]
fn only_what_lies_behind_the_first_hit_is_left_out() {
    let len = 1 << 18;
    for pool in testkit::pools() {
        let looks: Vec<AtomicUsize> = (0..len).map(|_| AtomicUsize::new(0)).collect();
        let hit = pool.install(|| {
            (0..len).into_par_iter().find_first(|&x| {
                looks[x].fetch_add(1, Relaxed);
                x >= 2000 && x % 1000 == 7
            })
        });
        assert_eq!(hit, Some(2007));
        let looks: Vec<usize> = looks.into_iter().map(AtomicUsize::into_inner).collect();
        assert!(looks[..=2007].iter().all(|&count| count == 1), "all before the hit, once");
        assert!(looks.iter().all(|&count| count <= 1));
        // Every thread finds a hit of its own within 1000 items from its start, which stops all tasks behind it.
        let looked = looks.iter().sum::<usize>();
        assert!(looked < len / 2, "{looked} items were looked at");
    }
}

/// A search over pieces gets those that the policy makes. No piece is cut only to check for an early end.
#[test]
fn pieces_are_not_cut_for_a_look() {
    let mut seen = std::sync::Mutex::new(vec![]);
    let any = (0..1000).wrap_iter().bound_depth(2).any(|piece| {
        seen.lock().unwrap().push(piece.len());
        false
    });
    assert!(!any);
    assert_eq!(*seen.get_mut().unwrap(), [250; 4]);
}

/// The last items of a range that cannot be counted are found at once, on any number of threads.
#[test]
fn the_last_of_more_than_can_be_counted() {
    for pool in testkit::pools() {
        pool.install(|| {
            let all = || (0..u128::MAX).into_par_iter();
            assert_eq!(all().find_last(|_| true), Some(u128::MAX - 1));
            assert_eq!(all().find_last(|x| x % 1000 == 0), Some((u128::MAX - 1) / 1000 * 1000));
            assert_eq!(
                all().map(|x| x / 2).find_map_last(|x| (x % 7 == 0).then_some(x)),
                Some(u128::MAX / 2 / 7 * 7)
            );
            assert_eq!(
                (i128::MIN..=i128::MAX).into_par_iter().filter(|x| x % 2 == 0).find_last(|_| true),
                Some(i128::MAX - 1)
            );
            assert_eq!(all().find_last(|x| u128::MAX - x > 100_000), Some(u128::MAX - 100_001));
        });
    }
}

/// In more items than can be counted, workers begin at different places, as in rayon.
#[test]
fn any_hit_in_endless_data() {
    for pool in &testkit::pools()[1..] {
        pool.install(|| {
            assert!((0..u128::MAX).into_par_iter().find_any(|&x| x > u128::MAX / 2).is_some());
            assert!((0..u128::MAX).into_par_iter().map(|x| x / 3).any(|x| x > u128::MAX / 9));
            assert!(!(0..=u128::MAX).into_par_iter().filter(|x| x % 2 == 1).all(|x| x < 1 << 127));
            let nested = (0..1_u64 << 40)
                .into_par_iter()
                .with_max_len(1 << 20)
                .flat_map(|i| (0..1_u64 << 20).into_par_iter().map(move |j| i << 20 | j));
            assert!(nested.any(|x| x > 1 << 59));
            assert_eq!((0..u128::MAX).into_par_iter().find_first(|&x| x > 10_000), Some(10_001));
        });
    }
}
