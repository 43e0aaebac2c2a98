//! Failures of Kvik's code, the model of furcate's schedulers: it hangs, panics, loses items, permits or parallelism.
//! Each test is named after the chain that fails there, and runs under a watchdog: a hang is a failure.

use furcate::policy::{AnyPolicy, CancelToken, Cap, ForceDepth};
use furcate::prelude::*;
use furcate::{Adaptive, Inline};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use testkit::panics::{Planned, payload, planned_panic};
use testkit::pools;

/// Runs a test in every pool and from outside, each time in a thread of its own; fails, instead of hanging, if it takes
/// absurdly long.
fn everywhere(test: impl Fn() + Send + Sync + 'static) {
    let test = Arc::new(test);
    for place in [None].into_iter().chain(pools().iter().map(Some)) {
        let test = Arc::clone(&test);
        let (done, outcome) = mpsc::channel();
        thread::spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| match place {
                None => test(),
                Some(pool) => pool.install(|| test()),
            }));
            done.send(outcome).expect("somebody waits");
        });
        let threads =
            place.map_or("outside".to_owned(), |pool| format!("{} threads", pool.current_num_threads()));
        match outcome.recv_timeout(Duration::from_secs(60)) {
            Ok(outcome) => outcome.unwrap_or_else(|payload| {
                eprintln!("failed on: {threads}");
                resume_unwind(payload)
            }),
            Err(RecvTimeoutError::Timeout) => panic!("hangs on: {threads}"),
            Err(RecvTimeoutError::Disconnected) => panic!("the test's thread is gone"),
        }
    }
}

/// Checks the same under every scheduler, alone and under blocks.
macro_rules! under_every_scheduler {
    ($items:expr, |$it:ident, $name:ident| $check:expr) => {{
        under_every_scheduler!(@each $items, |$it, $name| $check;
            "the default" => |it| it;
            "depjoin" => |it| it.size_limit(7).depjoin();
            "sequential" => |it| it.sequential();
            "doubling blocks" => |it| it.by_exponential_blocks();
            "adaptive in blocks" => |it| it.adaptive().by_uniform_blocks(10);
            "depjoin in finite blocks" => |it| it.size_limit(3).depjoin().by_blocks([1, 0, 20]);
        );
        // Alone, by nano-blocks of 1, and divided before: values of the same types.
        for (adaptive, policy) in [
            (Adaptive::new(), AnyPolicy::default()),
            (Adaptive::new().nano_blocks(1, 1), AnyPolicy::default()),
            (Adaptive::new(), ForceDepth::new(3).into()),
        ] {
            under_every_scheduler!(@each $items, |$it, $name| $check;
                "adaptive" => |it| it.with_policy(policy.clone()).with_scheduler(adaptive);
            );
        }
    }};
    (@each $items:expr, |$it:ident, $name:ident| $check:expr; $($schedule:literal => |$base:ident| $chain:expr;)+) => {
        $({
            let $base = $items;
            let ($it, $name) = ($chain, $schedule);
            $check;
        })+
    };
}

/// The same under the default and under the adaptive scheduler.
macro_rules! under_two {
    ($items:expr, |$it:ident, $name:ident| $check:expr) => {
        under_every_scheduler!(@each $items, |$it, $name| $check;
            "the default" => |it| it;
            "adaptive" => |it| it.adaptive();
        )
    };
}

/// Takes some time, so that thieves can come.
fn linger() {
    let since = Instant::now();
    while since.elapsed() < Duration::from_micros(5) {
        thread::yield_now();
    }
}

/// Kvik's adaptive scheduler folds until the size is 0, but a wrapped piece never has size 0: only a thief ends it.
#[test]
fn wrap_iter_adaptive_on_one_thread() {
    everywhere(|| {
        for len in [0, 1, 2, 3, 64, 1000] {
            under_every_scheduler!((0..len).wrap_iter(), |it, name| {
                let pieces: Vec<_> = it.collect();
                assert!(pieces.iter().cloned().flatten().eq(0..len), "{len} under {name}");
            });
            let sum = (0..len).wrap_iter().map(|piece| piece.sum::<u64>()).adaptive().on(Inline).sum::<u64>();
            assert_eq!(sum, (0..len).sum::<u64>());
        }
        let v: Vec<u32> = (0..1000).collect();
        let len = v[..].wrap_iter().adaptive().nano_blocks(1, 4).map(<[u32]>::len).sum::<usize>();
        assert_eq!(len, v.len());
    });
}

/// Kvik's mutable slices do not survive a step, whatever their length.
#[test]
fn par_iter_mut_adaptive_at_any_length() {
    everywhere(|| {
        for len in (0..=70).chain([97, 127, 257, 1009, 4099]) {
            let mut v: Vec<usize> = (0..len).collect();
            let expected = |times: usize| (0..len).map(move |x| x + times);
            v.par_iter_mut().adaptive().for_each(|x| *x += 1);
            assert!(v.iter().copied().eq(expected(1)), "{len}");
            v.par_iter_mut().adaptive().nano_blocks(1, 2).for_each(|x| {
                if *x % 8 == 0 {
                    linger();
                }
                *x += 1;
            });
            assert!(v.iter().copied().eq(expected(2)), "{len}");
            v.par_iter_mut().rev().enumerate().adaptive().for_each(|(i, x)| {
                assert_eq!(*x, len - 1 - i + 2);
                *x += 1;
            });
            assert!(v.iter().copied().eq(expected(3)), "{len}");
            let zipped = v.par_iter_mut().zip(0..len).adaptive().by_uniform_blocks(16);
            zipped.for_each(|(x, y)| *x -= y);
            assert_eq!(v, vec![3; len]);
            v.par_chunks_mut(3).adaptive().for_each(|chunk| chunk.fill(chunk.len()));
            assert_eq!(v.iter().filter(|x| **x == 3).count(), len / 3 * 3);
        }
    });
}

/// In Kvik's code blocks end when the sizes end, and the rest is lost.
#[test]
fn a_finite_block_iterator_keeps_the_tail() {
    everywhere(|| {
        for len in [0, 1, 5, 6, 7, 100, 1000] {
            for sizes in [vec![], vec![1, 2, 3], vec![0], vec![100], vec![usize::MAX, 1]] {
                let items = || (0..len).into_par_iter().by_blocks(sizes.clone());
                assert!(items().collect::<Vec<_>>().into_iter().eq(0..len));
                assert_eq!(items().sum::<usize>(), (0..len).sum::<usize>());
                assert_eq!(items().filter(|x| x % 2 == 0).count(), len.div_ceil(2));
                assert_eq!(items().find_first(|&x| x + 1 == len), len.checked_sub(1));
                assert_eq!(items().find_last(|&x| x == 0), (len > 0).then_some(0));
                assert_eq!((0..len).into_par_iter().adaptive().by_blocks(sizes.clone()).count(), len);
                let mut blocks = (0..len).into_par_iter().blocks_iter(sizes.clone());
                assert!(blocks.items().eq(0..len));
                let mut v = vec![1; len];
                v.par_iter_mut().by_blocks(sizes.clone()).for_each(|x| *x += 1);
                assert_eq!(v, vec![2; len]);
            }
        }
    });
}

/// In Kvik's code cutting a block off counts as a division: the depth is used up soon, and later blocks are sequential.
#[test]
fn bound_depth_by_blocks_stays_parallel() {
    everywhere(|| {
        let sizes = || std::iter::repeat_n(80, 9);
        let len = 9 * 80 + 160;
        let expected = [vec![10; 72], vec![20; 8]].concat(); // 8 leaves per block, in each of 10
        let before: Vec<usize> =
            (0..len).wrap_iter().bound_depth(3).by_blocks(sizes()).map(|piece| piece.len()).collect();
        assert_eq!(before, expected);
        let after: Vec<usize> =
            (0..len).wrap_iter().by_blocks(sizes()).map(|piece| piece.len()).bound_depth(3).collect();
        assert_eq!(after, expected);
        let folded = || (0..len).into_par_iter().fold(|| 0, |count, _| count + 1).bound_depth(3);
        assert_eq!(folded().join().by_blocks(sizes()).collect::<Vec<usize>>(), expected);
        assert_eq!(folded().depjoin().by_blocks(sizes()).collect::<Vec<usize>>(), expected);
    });
}

/// The leaves of a block can be stolen: all except one are forked.
#[cfg(not(furcate_rayon))]
#[test]
fn bound_depth_by_blocks_forks() {
    let pool = testkit::pool(2);
    let forks = |run: &(dyn Fn() + Sync)| {
        let before = pool.stats().total().forks;
        pool.install(run);
        pool.stats().total().forks - before
    };
    let blocks = || (0..1000).into_par_iter().bound_depth(3).join().by_uniform_blocks(100);
    assert_eq!(forks(&|| assert_eq!(blocks().count(), 1000)), 10 * 7);
    let to_the_hit = forks(&|| assert_eq!(blocks().find_first(|x| *x == 555), Some(555)));
    assert!((5 * 7 + 1..=6 * 7).contains(&to_the_hit), "{to_the_hit} forks in 6 blocks"); // its block may end early
}

/// Kvik's `cap` takes a permit when it is asked whether it would divide. If no division follows, the permit is never
/// returned.
#[test]
fn cap_leaks_nothing() {
    everywhere(|| {
        for tokens in [1, 2, 3, 10] {
            let cap = Cap::new(tokens);
            let settled = |what: &str, name: &str| {
                // A part that was still offered when the call ended has been dropped, because the call has returned.
                assert_eq!(cap.available(), tokens, "{what}, under {name}");
            };
            let items = || (0..300_u32).into_par_iter().size_limit(2).with_policy(cap.clone());
            under_every_scheduler!(items(), |it, name| {
                assert_eq!(it.sum::<u32>(), (0..300).sum::<u32>());
                settled("all done", name);
            });
            under_every_scheduler!(items(), |it, name| {
                assert!(it.any(|x| x % 100 == 50));
                settled("an early end", name);
            });
            under_every_scheduler!(items(), |it, name| {
                let token = CancelToken::new();
                let stopped = it.inspect(|x| {
                    if *x == 77 {
                        token.cancel();
                    }
                });
                let _ = stopped.stop_on(&token).count();
                settled("a stop", name);
            });
            under_every_scheduler!(items(), |it, name| {
                let panicked = payload(|| {
                    it.for_each(|x| {
                        if x == 123 {
                            planned_panic()
                        }
                    })
                });
                assert!(panicked.is::<Planned>());
                settled("a panic", name);
            });
            under_every_scheduler!(items(), |it, name| {
                let inner =
                    |x: u32| (0..x % 8).into_par_iter().size_limit(1).with_policy(cap.clone()).count();
                assert_eq!(it.map(inner).sum::<usize>(), (0..300).map(|x| x % 8).sum::<usize>());
                settled("nested", name);
            });
        }
    });
}

/// A range that counts the divisions above it.
#[derive(Debug, PartialEq, Eq)]
struct Counted {
    range: std::ops::Range<usize>,
    depth: u32,
}

impl Divisible for Counted {
    fn size(&self) -> usize {
        self.range.len()
    }
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.range.divide_at(index);
        let depth = self.depth + 1;
        (Counted { range: left, depth }, Counted { range: right, depth })
    }
}

/// In Kvik the outermost policy wins, so that the order in which policies are named counts.
#[test]
fn size_limit_outside_and_inside_even_levels_agree() {
    everywhere(|| {
        for len in [0, 1, 2, 3, 7, 8, 64, 100, 1000] {
            for limit in [0, 1, 2, 3, 5, 30, 100, 2000] {
                let whole = || Counted { range: 0..len, depth: 0 }.wrap_iter();
                let outside: Vec<Counted> = whole().even_levels().size_limit(limit).collect();
                let inside: Vec<Counted> = whole().size_limit(limit).even_levels().collect();
                assert_eq!(outside, inside, "{len} items, limit {limit}");
                let even = |piece: &Counted| piece.depth.is_multiple_of(2);
                // A piece of one item cannot be divided in two once more: its empty side is dropped.
                assert!(outside.iter().all(|piece| even(piece) && piece.range.len() <= limit.max(1)));
                assert!(outside.into_iter().flat_map(|piece| piece.range).eq(0..len));
            }
        }
    });
}

/// Kvik's merge can be cut neither at an index nor from its back.
#[test]
fn merge_rev() {
    everywhere(|| {
        for len in [0, 1, 2, 7, 64, 65, 1000] {
            // Pairs of equal keys, marked by their side: the left one comes first.
            let left: Vec<(usize, char)> = (0..len).map(|x| (x / 3, 'l')).collect();
            let right: Vec<(usize, char)> = (0..len / 2).map(|x| (x, 'r')).collect();
            let mut expected = [&left[..], &right[..]].concat();
            expected.sort_by_key(|item| item.0);
            expected.reverse();
            let merged = || left.par_iter().merge_by_key(&right, |item| item.0).copied();
            under_every_scheduler!(merged().rev(), |it, name| {
                assert_eq!(it.collect::<Vec<_>>(), expected, "{len} under {name}");
            });
            assert_eq!(merged().rev().adaptive().find_first(|_| true), expected.first().copied());
            assert!(merged().rev().rev().eq(merged()));
            let last = merged().rev().skip(len / 2).position_last(|item| item.1 == 'r');
            assert_eq!(
                last,
                expected[(len / 2).min(expected.len())..].iter().rposition(|item| item.1 == 'r')
            );
        }
    });
}

/// In Kvik's code a thief spins until the task that it steals from answers; a worker that takes its own bait waits for a
/// task that lies below on its own stack.
#[test]
fn adaptive_inside_adaptive_after_yield_now() {
    everywhere(|| {
        let inner = |n: u64| {
            rayon::yield_now();
            testkit::engine::yield_now();
            (0..n).into_par_iter().adaptive().nano_blocks(1, 4).map(|x| x % 7).sum::<u64>()
        };
        let sequential = |n: u64| (0..n).map(|x| x % 7).sum::<u64>();
        let outer = (0..60_u64).into_par_iter().adaptive().map(|n| {
            testkit::engine::yield_now();
            let first = inner(n);
            testkit::engine::yield_now();
            first + inner(60 - n)
        });
        assert_eq!(outer.sum::<u64>(), (0..60).map(|n| sequential(n) + sequential(60 - n)).sum::<u64>());
        let pieces = (0..60_u64).wrap_iter().adaptive().map(|piece| piece.map(inner).sum::<u64>());
        assert_eq!(pieces.sum::<u64>(), (0..60).map(sequential).sum::<u64>());
        // Other work in between, which the same worker has forked.
        let (left, right) = testkit::engine::join(
            || (0..40).into_par_iter().adaptive().map(inner).sum::<u64>(),
            || (0..40).into_par_iter().adaptive().by_exponential_blocks().map(inner).sum::<u64>(),
        );
        assert_eq!((left, right), ((0..40).map(sequential).sum(), (0..40).map(sequential).sum()));
    });
}

/// The payload reaches the caller, whichever thread waits for the panicking task. In Kvik's code a thief waits for an
/// answer.
#[test]
fn a_panic_in_the_body() {
    everywhere(|| {
        const LEN: usize = 5000;
        for at in [0, 1, LEN / 2, LEN - 1] {
            under_every_scheduler!((0..LEN).into_par_iter(), |it, name| {
                let seen = AtomicUsize::new(0);
                let panicked = payload(|| {
                    it.for_each(|x| {
                        seen.fetch_add(1, Relaxed);
                        if x == at {
                            planned_panic();
                        }
                    });
                });
                assert!(panicked.is::<Planned>(), "{at} under {name}");
                assert!(seen.into_inner() <= LEN);
            });
            under_every_scheduler!((0..LEN).wrap_iter(), |it, name| {
                let panicked = payload(|| {
                    it.for_each(|piece| {
                        if piece.contains(&at) {
                            planned_panic();
                        }
                    });
                });
                assert!(panicked.is::<Planned>(), "{at} under {name}");
            });
            // The same for a panic in the reduction.
            let panicked = payload(|| {
                let whole = (0..LEN).into_par_iter().map(|x| (x, x)).force_depth(4).adaptive();
                whole.reduce_with(|(first, end), (begin, last)| {
                    assert_eq!(end + 1, begin);
                    if first <= at && at <= last && last - first >= LEN / 16 {
                        planned_panic();
                    }
                    (first, last)
                });
            });
            assert!(panicked.is::<Planned>());
            // The pool works as before.
            assert_eq!((0..LEN).into_par_iter().adaptive().sum::<usize>(), LEN * (LEN - 1) / 2);
        }
    });
}

/// After a panic the rest of the call is left out.
#[test]
fn after_a_panic_the_rest_stops() {
    everywhere(|| {
        const LEN: usize = 1_000_000;
        macro_rules! stops {
            ($items:expr) => {
                let seen = AtomicUsize::new(0);
                let panicked = payload(|| {
                    $items.for_each(|x: usize| {
                        if seen.fetch_add(1, Relaxed) == 10 {
                            planned_panic();
                        }
                        if x % 64 == 0 {
                            thread::yield_now();
                        }
                    });
                });
                assert!(panicked.is::<Planned>());
                let seen = seen.into_inner();
                assert!(seen < LEN * 9 / 10, "{seen} items of {LEN}: {}", stringify!($items));
            };
        }
        stops!((0..LEN).into_par_iter().adaptive());
        stops!((0..LEN).into_par_iter().adaptive().by_exponential_blocks());
        stops!((0..LEN).into_par_iter().join().by_uniform_blocks(1000));
        stops!((0..LEN).into_par_iter().size_limit(100).depjoin());
    });
}

/// Kvik's reversed iterators have no steps: the adaptive scheduler panics.
#[test]
fn rev_adaptive() {
    everywhere(|| {
        for len in (0..=33).chain([100, 1000]) {
            let backward: Vec<usize> = (0..len).rev().collect();
            let slow = |x: usize| {
                if x.is_multiple_of(16) {
                    linger();
                }
                x
            };
            let v: Vec<usize> = (0..len).collect();
            under_every_scheduler!(v.par_iter().rev(), |it, name| {
                assert_eq!(it.copied().map(slow).collect::<Vec<_>>(), backward, "{len} under {name}");
            });
            under_every_scheduler!((0..len).into_par_iter(), |it, name| {
                let text = it.rev().map(slow).fold(Vec::new, |mut v, x| {
                    v.push(x);
                    v
                });
                let text = text.reduce(Vec::new, |left, right| [left, right].concat());
                assert_eq!(text, backward, "{len} under {name}");
            });
            let twice = v.clone().into_par_iter().rev().skip(1).rev().adaptive().collect::<Vec<_>>();
            assert_eq!(twice, v[..len.saturating_sub(1)]);
            let zipped = v.par_iter().zip(0..len).rev().adaptive().nano_blocks(2, 2);
            assert!(
                zipped
                    .collect::<Vec<_>>()
                    .into_iter()
                    .map(|(a, b)| (*a, b))
                    .eq(backward.iter().map(|&x| (x, x)))
            );
        }
    });
}

/// Kvik's steps add their length to the start of a range, which overflows near the largest number.
#[test]
fn ranges_near_the_maximum() {
    macro_rules! check {
        ($($int:ident $under:ident),+) => {$({
            const MAX: $int = $int::MAX;
            const MIN: $int = $int::MIN;
            fn hit(x: &$int) -> bool {
                x % 5 == 3
            }
            macro_rules! as_std {
                ($ranges:expr) => {
                    for range in $ranges {
                        let expected: Vec<$int> = range.clone().collect();
                        $under!(range.clone().into_par_iter(), |it, name| {
                            assert_eq!(it.collect::<Vec<_>>(), expected, "{range:?} under {name}");
                        });
                        $under!(range.clone().into_par_iter().rev(), |it, name| {
                            assert_eq!(it.find_first(hit), range.clone().rev().find(hit), "{range:?} under {name}");
                        });
                        $under!(range.clone().wrap_iter(), |it, name| {
                            assert_eq!(it.map(Iterator::count).sum::<usize>(), expected.len(), "{range:?} under {name}");
                        });
                    }
                };
            }
            for len in [0, 1, 2, 7, 100] {
                as_std!([MAX - len..MAX, MIN..MIN + len]);
                as_std!([MAX - len..=MAX, MIN..=MIN + len]);
            }
            // All values of the type: only an early end finishes.
            $under!((MIN..=MAX).into_par_iter(), |it, name| {
                assert!(it.find_any(|_| true).is_some(), "under {name}");
            });
        })+};
    }
    everywhere(|| {
        check!(u64 under_every_scheduler, u32 under_two, usize under_two, i64 under_two, i128 under_two);
    });
}
