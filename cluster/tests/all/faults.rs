//! Ranks that panic, are late, or make other calls; tokens and deadlines.

use crate::support::{LONG, text, within};
use furcate::policy::{CancelToken, Reason};
use furcate::prelude::*;
use furcate_cluster::{Spread, SpreadOver, Threads};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};
use testkit::until;

#[test]
fn a_panic_ends_the_call_on_all_ranks() {
    within(LONG, || {
        for ranks in [1, 2, 4] {
            for at in [0, 500, 999] {
                let results = Threads::new(ranks).try_run(|world| {
                    let items = (0..1000).into_par_iter().inspect(|&x| assert!(x != at, "item {at} is bad"));
                    items.spread(world).sum::<i32>()
                });
                let texts: Vec<_> =
                    results.iter().map(|result| text(&**result.as_ref().unwrap_err())).collect();
                assert!(texts.iter().all(|text| text.contains(&format!("item {at} is bad"))), "{texts:?}");
                let others = texts.iter().filter(|text| text.contains("panicked: item")).count();
                assert_eq!(others, ranks - 1, "the others are told which rank: {texts:?}");
            }
        }
    });
}

#[test]
fn a_panic_in_a_reduction_ends_the_call() {
    within(LONG, || {
        let results = Threads::new(3).try_run(|world| {
            let items = (0..300_u32).into_par_iter();
            items.spread(world).reduce(|| 0, |a, b| if b == 299 { panic!("bad sum") } else { a + b })
        });
        assert!(results.iter().all(|result| text(&**result.as_ref().unwrap_err()).contains("bad sum")));
    });
}

#[test]
fn the_world_works_on_after_a_panic() {
    within(LONG, || {
        Threads::new(3).run(|world| {
            for round in 0..20 {
                let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    let items = (0..100).into_par_iter().inspect(|&x| assert!(x != 70, "bad"));
                    items.spread(world).count()
                }));
                assert!(failed.is_err());
                assert_eq!((0..100 + round).into_par_iter().spread(world).count(), 100 + round);
            }
        });
    });
}

#[test]
fn other_chains_are_reported_on_all_ranks() {
    within(LONG, || {
        for other in 0..3 {
            let results = Threads::new(3).try_run(|world| {
                if world.rank() == other {
                    (0..100_u32).into_par_iter().map(|x| x + 1).spread(world).max();
                } else {
                    (0..100_u32).into_par_iter().spread(world).sum::<u32>();
                }
            });
            for result in results {
                let payload = result.unwrap_err();
                let text = text(&*payload);
                assert!(text.contains("`max` of 100 units") && text.contains("`sum` of 100 units"), "{text}");
            }
        }
    });
}

#[test]
fn other_lengths_are_reported() {
    within(LONG, || {
        let results = Threads::new(2).try_run(|world| {
            (0..100 + world.rank() as u64).into_par_iter().spread(world).count();
        });
        assert!(results.iter().all(|result| text(&**result.as_ref().unwrap_err()).contains("101 units")));
    });
}

/// The length of such a chain is not known before it begins. A unit that one rank alone has would be missing.
#[test]
fn other_lengths_under_a_fold_are_reported() {
    within(LONG, || {
        for other in 0..3 {
            let results = Threads::new(3).try_run(|world| {
                let len = 100 + u64::from(world.rank() == other);
                (0..len).into_par_iter().fold(|| 0, |sum, x| sum + x).spread(world).sum::<u64>()
            });
            for result in results {
                let payload = result.expect_err("the sources differ");
                let text = text(&*payload);
                let compared =
                    text.contains("101") && text.contains("100 units") || text.contains("101 units");
                // A part that was cut for one rank may be seen to be wrong at another one before the lengths are compared.
                let cut = text.contains("is not exact: `spread` needs a source that every rank has");
                assert!(compared || cut, "{text}");
            }
        }
    });
}

/// Two closures of one function have the same type name.
#[test]
fn other_closures_of_one_function_are_reported() {
    within(LONG, || {
        let results = Threads::new(2).try_run(|world| {
            let items = (0..100_u32).into_par_iter();
            match world.rank() {
                0 => items.map(|x| x + 1).spread(world).sum::<u32>(),
                _ => items.map(|x| x + 2).spread(world).sum::<u32>(),
            }
        });
        assert!(
            results.iter().all(|result| text(&**result.as_ref().unwrap_err()).contains("different calls"))
        );
    });
}

#[test]
fn results_for_other_ranks_are_reported() {
    within(LONG, || {
        let results = Threads::new(2).try_run(|world| {
            let spread = (0..100_u32).into_par_iter().spread(world);
            let sum = |spread: Spread<'_, _>| spread.sum::<u32>();
            if world.is_root() { spread.to_root(sum) } else { Some(sum(spread)) }
        });
        assert!(
            results.iter().all(|result| text(&**result.as_ref().unwrap_err()).contains("for rank 0 alone"))
        );
    });
}

#[test]
fn late_ranks_are_waited_for() {
    within(LONG, || {
        for late in 0..3 {
            let sums = Threads::new(3).run(|world| {
                if world.rank() == late {
                    sleep(Duration::from_millis(300));
                }
                (0..1000_u64).into_par_iter().spread(world).sum::<u64>()
            });
            assert_eq!(sums, [499_500; 3]);
        }
    });
}

#[test]
fn a_rank_that_does_not_call_is_given_up() {
    within(LONG, || {
        let results = Threads::new(3).timeout(Duration::from_millis(200)).try_run(|world| {
            if world.rank() != 1 {
                (0..1000_u64).into_par_iter().spread(world).sum::<u64>();
            }
        });
        assert!(results[1].is_ok());
        for rank in [0, 2] {
            let text = text(&**results[rank].as_ref().unwrap_err());
            assert!(text.contains("FURCATE_CLUSTER_TIMEOUT"), "{text}");
        }
    });
}

#[test]
fn calls_inside_calls_are_refused() {
    within(LONG, || {
        let results = Threads::new(2).try_run(|world| {
            (0..10)
                .into_par_iter()
                .map(|_| (0..10).into_par_iter().spread(world).count())
                .spread(world)
                .sum::<u64>()
        });
        assert!(
            results
                .iter()
                .all(|result| text(&**result.as_ref().unwrap_err()).contains("under way on this rank"))
        );
    });
}

/// Endless work ends on all ranks, though only one of them cancels. All ranks agree about the result.
#[test]
fn a_token_of_any_rank_ends_the_call() {
    within(LONG, || {
        for canceller in 0..3 {
            let results = Threads::new(3).run(|world| {
                let token = CancelToken::new();
                let seen = AtomicU64::new(0);
                let items = (0..1_u64 << 50).into_par_iter().inspect(|_| {
                    if seen.fetch_add(1, Relaxed) == 1000 && world.rank() == canceller {
                        token.cancel();
                    }
                });
                items.spread(world).stop_on(&token).run(|spread| spread.count()).unwrap_err()
            });
            assert!(
                results.iter().all(|result| result == &results[0] && result.reason() == Reason::Cancelled)
            );
            assert!(results[0].into_done() >= 1000);
        }
    });
}

/// Rank 0 is out of work when its token is cancelled, and rank 1 folds the last item. Nothing is left out.
#[test]
fn a_token_that_leaves_nothing_out_is_no_interruption() {
    within(LONG, || {
        for last in [false, true] {
            let flags: [AtomicBool; 3] = Default::default();
            let [first, inside, cancelled] = &flags;
            let results = Threads::new(2).run(|world| {
                let token = CancelToken::new();
                thread::scope(|scope| {
                    if world.is_root() {
                        let token = token.clone();
                        scope.spawn(move || {
                            until(|| first.load(Relaxed) && inside.load(Relaxed));
                            sleep(Duration::from_millis(20));
                            token.cancel();
                            cancelled.store(true, Relaxed);
                        });
                    }
                    // Rank 1 has items 4 to 7, or item 1 alone.
                    let items = (0..if last { 2 } else { 8_u64 }).into_par_iter().inspect(|&item| {
                        if item == 0 {
                            first.store(true, Relaxed);
                        }
                        if item == if last { 1 } else { 4 } {
                            inside.store(true, Relaxed);
                            until(|| cancelled.load(Relaxed));
                            // The token's message comes meanwhile.
                            sleep(Duration::from_millis(500));
                        }
                    });
                    items.spread(world).stop_on(&token).run(|spread| spread.count()).is_ok()
                })
            });
            assert_eq!(results, [last; 2], "items were left out only if there were more than one");
        }
    });
}

#[test]
fn a_deadline_ends_the_call() {
    within(LONG, || {
        let results = Threads::new(2).run(|world| {
            let soon = Instant::now() + Duration::from_millis(20);
            let items = (0..1_u64 << 50).into_par_iter();
            items.spread(world).deadline(soon).run(|spread| spread.count()).unwrap_err()
        });
        assert!(results.iter().all(|result| result == &results[0]));
        let later = Threads::new(2).run(|world| {
            let later = Instant::now() + Duration::from_secs(3600);
            (0..1000).into_par_iter().spread(world).deadline(later).run(|spread| spread.count())
        });
        assert!(later.iter().all(|result| *result == Ok(1000)));
    });
}

/// A hit on one rank ends the search on the others, which have far too much to do.
#[test]
fn hits_end_the_search_on_all_ranks() {
    within(LONG, || {
        // The share of rank 2 begins at two thirds. The shares before it would take days.
        let items = || (0..1_u64 << 50).into_par_iter();
        let far = (1_u64 << 51) / 3 + 10;
        for _ in 0..20 {
            assert_eq!(Threads::new(3).run(|world| items().spread(world).any(|x| x >= far)), [true; 3]);
            assert_eq!(Threads::new(3).run(|world| items().spread(world).all(|x| x < far)), [false; 3]);
            let hits = Threads::new(3).run(|world| items().spread(world).find_any(|&x| x >= far));
            assert!(hits.iter().all(|hit| hit == &hits[0] && hit.is_some_and(|x| x >= far)));
            assert_eq!(
                Threads::new(3).run(|world| items().spread(world).find_first(|&x| x >= 5)),
                [Some(5); 3]
            );
        }
        // The first hit is at the beginning of rank 0's share. Later hits must not win.
        for _ in 0..20 {
            let first = Threads::new(4).run(|world| {
                let items = (0..100_000_u64).into_par_iter();
                items.spread(world).find_first(|x| x % 1000 == 999)
            });
            assert_eq!(first, [Some(999); 4]);
        }
    });
}

/// Rank 1 is inside one long item. Rank 2, which has nothing to do, does not wait for it, but helps rank 0.
#[test]
fn a_thief_leaves_a_victim_that_does_not_answer() {
    within(LONG, || {
        // The first victim is drawn from the number of the call.
        for calls in 0..6 {
            let helped = Threads::new(3).run(|world| {
                (0..calls).for_each(|_| _ = (0..3).into_par_iter().spread(world).count());
                let mine = AtomicU64::new(0);
                (0..600_u64).into_par_iter().spread(world).for_each(|x| match x {
                    0..200 => {
                        mine.fetch_add(1, Relaxed);
                        sleep(Duration::from_millis(2));
                    }
                    200 => sleep(Duration::from_millis(1000)),
                    _ => {}
                });
                mine.into_inner()
            });
            assert_eq!(helped.iter().sum::<u64>(), 200);
            assert!(helped[2] >= 20, "rank 2 could do half of the 200 items: {helped:?}");
        }
    });
}

/// A rank that works on something that cannot be divided shows that it is alive, though its thief hears of no work for longer than the
/// timeout.
#[test]
fn a_rank_that_works_is_not_given_up() {
    const UNITS: u64 = 700;
    within(LONG, || {
        for ranks in [2, 3] {
            let counts = Threads::new(ranks).timeout(Duration::from_secs(1)).run(|world| {
                // One unit after the other, so there are never two of them.
                let walk = |count: &mut u64, units: &mut Vec<u64>, n: usize| {
                    for _ in 0..n {
                        let Some(unit) = units.pop() else { return };
                        *count += 1;
                        sleep(Duration::from_millis(3));
                        if unit > 1 {
                            units.push(unit - 1);
                        }
                    }
                };
                vec![UNITS].work(|_| 0, walk, |count| count).spread(world).sum::<u64>()
            });
            assert_eq!(counts, vec![UNITS; ranks]);
        }
    });
}
