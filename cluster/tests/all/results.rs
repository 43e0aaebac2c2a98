//! Every result equals the sequential one, on every rank.

use crate::support::{LONG, Random, busy, within};
use furcate::prelude::*;
use furcate_cluster::{SpreadOver, Threads, World};
use std::fmt::Debug;

/// Numbers of ranks and workers.
const WORLDS: [(usize, usize); 6] = [(1, 1), (1, 2), (2, 1), (3, 1), (4, 2), (8, 1)];

/// Checks that a program has this result on all ranks of all worlds.
#[track_caller]
fn everywhere<T: Debug + PartialEq + Send>(expected: &T, program: impl Fn(&World) -> T + Sync) {
    for (ranks, workers) in WORLDS {
        for result in Threads::new(ranks).workers(workers).run(&program) {
            assert_eq!(&result, expected, "{ranks} ranks of {workers} workers");
        }
    }
}

#[test]
fn lengths() {
    within(LONG, || {
        for len in [0_u64, 1, 2, 3, 7, 8, 9, 63, 1000] {
            everywhere(&(0..len).sum::<u64>(), |world| (0..len).into_par_iter().spread(world).sum());
            everywhere(&(0..len).collect::<Vec<_>>(), |world| {
                (0..len).into_par_iter().spread(world).collect()
            });
            everywhere(&len, |world| (0..len).into_par_iter().spread(world).count());
        }
    });
}

#[test]
fn terminals() {
    within(LONG, || {
        let v: Vec<u64> = (0..500).map(|i| i * 7919 % 503).collect();
        let v = &v[..];
        let odd = |x: &u64| x % 2 == 1;
        everywhere(&v.iter().sum::<u64>(), |world| v.par_iter().spread(world).sum::<u64>());
        everywhere(&v[..5].iter().map(|x| x % 9 + 1).product::<u64>(), |world| {
            v[..5].par_iter().map(|x| x % 9 + 1).spread(world).product::<u64>()
        });
        everywhere(&v.iter().copied().min(), |world| v.par_iter().copied().spread(world).min());
        everywhere(&v.iter().copied().max(), |world| v.par_iter().copied().spread(world).max());
        let key = |x: &u64| x % 10;
        let pairs = || v.iter().copied().enumerate().map(|(i, x)| (i as u64, x));
        everywhere(&pairs().min_by_key(|(_, x)| key(x)), |world| {
            let pairs = v.par_iter().copied().enumerate().map(|(i, x)| (i as u64, x));
            pairs.spread(world).min_by(|a, b| key(&a.1).cmp(&key(&b.1)))
        });
        everywhere(&pairs().max_by_key(|(_, x)| key(x)), |world| {
            let pairs = v.par_iter().copied().enumerate().map(|(i, x)| (i as u64, x));
            pairs.spread(world).max_by(|a, b| key(&a.1).cmp(&key(&b.1)))
        });
        everywhere(&v.iter().copied().reduce(|_, b| b), |world| {
            v.par_iter().copied().spread(world).reduce_with(|_, b| b)
        });
        everywhere(&None, |world| v[..0].par_iter().copied().spread(world).reduce_with(|_, b| b));
        everywhere(&(v.iter().filter(|x| odd(x)).count() as u64), |world| {
            v.par_iter().copied().filter(odd).spread(world).count()
        });
        for wanted in [0_u64, 250, 502, 1000] {
            everywhere(&v.contains(&wanted), |world| v.par_iter().spread(world).any(|x| *x == wanted));
            everywhere(&!v.contains(&wanted), |world| v.par_iter().spread(world).all(|x| *x != wanted));
            everywhere(&v.iter().copied().find(|x| *x == wanted), |world| {
                v.par_iter().copied().spread(world).find_any(|x| *x == wanted)
            });
            everywhere(&v.iter().copied().enumerate().find(|(_, x)| x % 100 == wanted % 100), |world| {
                v.par_iter().copied().enumerate().spread(world).find_first(|(_, x)| x % 100 == wanted % 100)
            });
        }
    });
}

#[test]
fn chains() {
    within(LONG, || {
        let v: Vec<u32> = (0..300).collect();
        let v = &v[..];
        everywhere(&v.iter().rev().copied().collect::<Vec<_>>(), |world| {
            v.par_iter().copied().rev().spread(world).collect()
        });
        everywhere(&v.iter().copied().zip(5..).skip(3).step_by(2).collect::<Vec<(u32, u32)>>(), |world| {
            v.par_iter().copied().zip(5..1000_u32).skip(3).step_by(2).spread(world).collect::<Vec<_>>()
        });
        everywhere(&v.iter().copied().chain(7..20).collect::<Vec<_>>(), |world| {
            v.par_iter().copied().chain(7..20).spread(world).collect()
        });
        everywhere(&v.chunks(7).map(|chunk| chunk.iter().sum()).collect::<Vec<u32>>(), |world| {
            v.par_iter().copied().chunks(7).map(|chunk| chunk.iter().sum::<u32>()).spread(world).collect()
        });
        everywhere(&v.iter().flat_map(|x| 0..x % 5).collect::<Vec<_>>(), |world| {
            v.par_iter().flat_map_iter(|x| 0..x % 5).spread(world).collect()
        });
        // A source that owns its elements.
        let texts = || (0..300).map(|i: u32| i.to_string()).collect::<Vec<_>>();
        everywhere(&texts(), |world| texts().into_par_iter().spread(world).collect());
        // A task's state, and one item for each task.
        everywhere(&v.to_vec(), |world| {
            v.par_iter()
                .map_init(
                    || 0,
                    |seen, x| {
                        *seen += 1;
                        *x + *seen - *seen
                    },
                )
                .spread(world)
                .collect()
        });
        everywhere(&v.iter().map(u32::to_string).collect::<String>(), |world| {
            let tasks = v.par_iter().fold(String::new, |text, x| text + &x.to_string());
            tasks.spread(world).reduce(String::new, |a, b| a + &b)
        });
        // Policies.
        everywhere(&(v.len() as u64), |world| {
            v.par_iter().bound_depth(2).with_min_len(3).cap(2).spread(world).count()
        });
    });
}

/// Slices in pieces.
#[test]
fn chunks_and_windows() {
    within(LONG, || {
        let v: Vec<u32> = (0..203).collect();
        let v = &v[..];
        let sums = |pieces: &mut dyn Iterator<Item = &[u32]>| {
            pieces.map(|piece| piece.iter().sum()).collect::<Vec<u32>>()
        };
        let sum = |piece: &[u32]| piece.iter().sum::<u32>();
        everywhere(&sums(&mut v.chunks(7)), |world| v.par_chunks(7).map(sum).spread(world).collect());
        everywhere(&sums(&mut v.chunks_exact(7)), |world| {
            v.par_chunks_exact(7).map(sum).spread(world).collect()
        });
        everywhere(&sums(&mut v.rchunks(7)), |world| v.par_rchunks(7).map(sum).spread(world).collect());
        everywhere(&sums(&mut v.rchunks_exact(7)), |world| {
            v.par_rchunks_exact(7).map(sum).spread(world).collect()
        });
        everywhere(&sums(&mut v.windows(5)), |world| v.par_windows(5).map(sum).spread(world).collect());
        everywhere(&sums(&mut v[..3].windows(5)), |world| {
            v[..3].par_windows(5).map(sum).spread(world).collect()
        });
        everywhere(&sums(&mut v.chunks(9)), |world| {
            let mut own = v.to_vec();
            own.par_chunks_mut(9).map(|piece| sum(piece)).spread(world).collect()
        });
        everywhere(&v.chunks(7).map(|piece| piece.iter().sum()).collect::<Vec<u32>>(), |world| {
            v.par_iter().fold_chunks(7, || 0, |a, b| a + b).spread(world).collect()
        });
        everywhere(&v.chunks(4).map(|piece| piece.iter().sum()).collect::<Vec<u32>>(), |world| {
            v.par_iter().fold_chunks_with(4, 0, |a, b| a + b).spread(world).collect()
        });
    });
}

/// Sources that are in the same order on all ranks.
#[test]
fn collections() {
    use std::collections::{BTreeMap, BTreeSet, LinkedList, VecDeque};
    within(LONG, || {
        let all: Vec<u32> = (0..203).collect();
        let queue = || {
            let mut queue: VecDeque<u32> = (50..203).collect();
            (0..50).rev().for_each(|x| queue.push_front(x)); // in two pieces
            queue
        };
        everywhere(&all, |world| queue().into_par_iter().spread(world).collect());
        everywhere(&all, |world| queue().par_iter().copied().spread(world).collect());
        everywhere(&all, |world| queue().par_iter_mut().map(|x| *x).spread(world).collect());
        everywhere(&all, |world| LinkedList::from_iter(0..203).into_par_iter().spread(world).collect());
        everywhere(&all, |world| LinkedList::from_iter(0..203).par_iter().copied().spread(world).collect());
        everywhere(&all, |world| BTreeSet::from_iter(0..203).into_par_iter().spread(world).collect());
        everywhere(&all, |world| BTreeSet::from_iter(0..203).par_iter().copied().spread(world).collect());
        let pairs: Vec<(u32, u32)> = (0..203).map(|x| (x, x * x)).collect();
        let map = || BTreeMap::from_iter(pairs.clone());
        everywhere(&pairs, |world| map().into_par_iter().spread(world).collect());
        everywhere(&pairs, |world| map().par_iter().map(|(x, y)| (*x, *y)).spread(world).collect());
        everywhere(&pairs, |world| map().par_iter_mut().map(|(x, y)| (*x, *y)).spread(world).collect());
        everywhere(&all[20..100].to_vec(), |world| {
            let mut own = all.clone();
            let drained = own.par_drain(20..100).spread(world).collect();
            assert!(own.into_iter().eq((0..20).chain(100..203)), "the range is removed on every rank");
            drained
        });
        everywhere(&vec![3], |world| Some(3).into_par_iter().spread(world).collect());
        everywhere(&vec![], |world| None::<u32>.into_par_iter().spread(world).collect::<Vec<_>>());
        everywhere(&vec![3], |world| Ok::<_, ()>(3).into_par_iter().spread(world).collect());
        everywhere(&vec![3], |world| furcate::iter::once(3).spread(world).collect());
        everywhere(&vec![3; 50], |world| furcate::iter::repeat_n(3, 50).spread(world).collect());
        everywhere(&vec![], |world| furcate::iter::empty::<u32>().spread(world).collect::<Vec<_>>());
    });
}

#[test]
fn adaptors_with_places() {
    within(LONG, || {
        let numbers = |range: std::ops::Range<u32>| range.into_par_iter();
        for (left, right) in [(100, 100), (100, 7), (3, 90), (0, 5), (0, 0)] {
            let mut turns = Vec::new();
            let (mut a, mut b) = (0..left, 500..500 + right);
            while a.start < a.end || b.start < b.end {
                turns.extend(a.next());
                turns.extend(b.next());
            }
            everywhere(&turns, |world| {
                numbers(0..left).interleave(numbers(500..500 + right)).spread(world).collect()
            });
            let short = (2 * left.min(right) + u32::from(left > right)) as usize;
            everywhere(&turns[..short].to_vec(), |world| {
                numbers(0..left).interleave_shortest(numbers(500..500 + right)).spread(world).collect()
            });
        }
        for len in [0_u32, 1, 2, 60] {
            let with_commas: Vec<u32> = (0..len).flat_map(|x| [99, x]).skip(1).collect();
            everywhere(&with_commas, |world| numbers(0..len).intersperse(99).spread(world).collect());
        }
        everywhere(&(0..100).step_by(7).collect::<Vec<_>>(), |world| {
            numbers(0..100).positions(|x| x % 7 == 0).spread(world).collect()
        });
        everywhere(&(0..100).collect::<Vec<_>>(), |world| {
            numbers(0..100).panic_fuse().spread(world).collect()
        });
    });
}

/// Items behind `io_await` wait in the rank's own pool.
#[test]
fn futures() {
    within(LONG, || {
        let expected: Vec<u32> = (0..300).collect();
        everywhere(&expected, |world| {
            let items = (0..300_u32).into_par_iter().map(|x| async move {
                if x % 7 == 0 {
                    futures_lite::future::yield_now().await;
                }
                x
            });
            items.io_await().spread(world).collect()
        });
    });
}

/// Rank 0 has all the work. The order is kept although parts are stolen.
#[test]
fn uneven_work_is_stolen_in_order() {
    within(LONG, || {
        let expected: String = (0..400_u32).map(|x| format!("{x} ")).collect();
        for (ranks, workers) in [(2, 1), (3, 1), (4, 2)] {
            let results = Threads::new(ranks).workers(workers).run(|world| {
                // All ranks are there.
                assert_eq!((0..8_u64).into_par_iter().spread(world).count(), 8);
                let before = world.counts();
                let items = (0..400_u32).into_par_iter().map(|x| {
                    if x < 100 {
                        std::thread::sleep(std::time::Duration::from_millis(2));
                    }
                    format!("{x} ")
                });
                let text = items.spread(world).reduce(String::new, |a, b| a + &b);
                let counts = world.counts();
                (text, counts.won - before.won, counts.given - before.given)
            });
            assert!(results.iter().all(|(text, ..)| *text == expected));
            let won: u64 = results.iter().map(|(_, won, _)| won).sum();
            assert!(won > 0, "rank 0 has 200 ms of work, and the others nothing");
            let given: u64 = results.iter().map(|(.., given)| given).sum();
            assert_eq!(won, given, "every share that is given arrives");
        }
    });
}

#[test]
fn random_lengths_and_loads() {
    within(LONG, || {
        let mut random = Random(11);
        for _ in 0..60 {
            let (len, ranks, workers) = (random.index(300) as u64, 1 + random.index(5), 1 + random.index(2));
            let seed = random.next();
            let load =
                move |x: u64| busy(Random(seed ^ x).next() % 8 * (Random(seed ^ (x / 40)).next() % 2000));
            let results = Threads::new(ranks).workers(workers).run(|world| {
                (0..len).into_par_iter().inspect(|&x| _ = load(x)).spread(world).collect::<Vec<_>>()
            });
            assert!(results.iter().all(|result| result.iter().copied().eq(0..len)), "{len} on {ranks}");
        }
    });
}

#[test]
fn ten_thousand_short_calls() {
    within(LONG, || {
        Threads::new(2).run(|world| {
            for i in 0..10_000_u64 {
                let len = i % 4;
                assert_eq!((0..len).into_par_iter().spread(world).sum::<u64>(), (0..len).sum());
            }
        });
    });
}

#[test]
fn a_vector_that_owns_its_elements_drops_each_once() {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    within(LONG, || {
        struct Counted<'a>(&'a AtomicUsize);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, SeqCst);
            }
        }
        let drops = AtomicUsize::new(0);
        Threads::new(3).run(|world| {
            let all: Vec<_> = (0..100).map(|_| Counted(&drops)).collect();
            all.into_par_iter().spread(world).for_each(drop);
        });
        assert_eq!(drops.into_inner(), 300, "every rank has a vector of its own");
    });
}

#[test]
fn the_table_has_a_line_for_each_rank() {
    within(LONG, || {
        let tables = Threads::new(3).run(|world| {
            (0..1000_u64).into_par_iter().map(busy).spread(world).max();
            world.table()
        });
        for table in tables {
            assert_eq!(table.ranks().len(), 3);
            assert!(table.ranks().iter().all(|counts| counts.calls >= 1 && counts.shares >= 1));
            assert_eq!(table.to_string().lines().count(), 4);
        }
    });
}
