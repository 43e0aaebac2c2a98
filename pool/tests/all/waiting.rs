//! Workers that wait: the jobs they run meanwhile, and the threads that may run.

use crate::support::*;
use furcate_pool::{ThreadPool, ThreadPoolBuilder, WaitRule, join, scope, spawn};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const SIZES: [usize; 4] = [1, 2, 3, 8];

/// A join whose right half is stolen, if another worker comes soon.
fn stolen(left: impl FnOnce() + Send, right: impl FnOnce() + Send) {
    let begun = AtomicBool::new(false);
    join(
        || {
            (0..200)
                .take_while(|_| !begun.load(SeqCst))
                .for_each(|_| thread::sleep(Duration::from_micros(10)));
            left();
        },
        || {
            begun.store(true, SeqCst);
            right();
        },
    );
}

#[test]
fn a_lock_held_across_a_join_is_not_taken_by_the_waiting_thread() {
    // Z5: each job holds the lock while it waits for a stolen half, and the other jobs want the lock. If one of them
    // ran on top of the waiting frame, it would wait for itself.
    within(LONG, || {
        for rule in [WaitRule::Descendants, WaitRule::Leapfrog] {
            for threads in [2, 3, 8] {
                let pool = ruled(threads, rule);
                let (lock, count) = (Mutex::new(0), AtomicUsize::new(0));
                let job = || {
                    let mut held = lock.lock().unwrap();
                    stolen(|| add(&count), || spin(Duration::from_micros(300)));
                    *held += 1;
                };
                pool.scope(|s| (0..30).for_each(|_| s.spawn(|_| job())));
                pool.install(|| join(|| join(job, job), || join(job, job)));
                assert_eq!((count.into_inner(), lock.into_inner().unwrap()), (34, 34), "{rule:?} {threads}");
            }
        }
    });
}

#[test]
fn a_lock_held_across_a_scope_is_not_taken_by_the_waiting_thread() {
    // Z5.
    within(LONG, || {
        for rule in [WaitRule::Descendants, WaitRule::Leapfrog] {
            for threads in [2, 3, 8] {
                let (pool, lock) = (ruled(threads, rule), Mutex::new(0));
                pool.scope(|s| {
                    for _ in 0..60 {
                        s.spawn(|_| {
                            let mut held = lock.lock().unwrap();
                            scope(|t| (0..3).for_each(|_| t.spawn(|_| spin(Duration::from_micros(50)))));
                            *held += 1;
                        });
                    }
                });
                assert_eq!(lock.into_inner().unwrap(), 60, "{rule:?} {threads}");
            }
        }
    });
}

#[test]
fn waiting_does_not_grow_the_stack() {
    // Z6: thousands of jobs, each with a stolen half to wait for, on small stacks; and joins that steal while they wait.
    fn tree(depth: u32) -> usize {
        let block = std::hint::black_box([depth as u8; 512]);
        if depth == 0 {
            spin(Duration::from_micros(u64::from(block[0]) + 2));
            return 1;
        }
        let (a, b) = join(|| tree(depth - 1), || tree(depth - 1));
        a + b
    }
    within(LONG, || {
        for rule in [WaitRule::Descendants, WaitRule::Leapfrog] {
            for threads in [2, 3, 8] {
                let pool = ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .stack_size(256 << 10)
                    .wait_rule(rule)
                    .build()
                    .expect("a pool");
                let count = AtomicUsize::new(0);
                pool.scope(|s| {
                    for _ in 0..2000 {
                        s.spawn(|_| {
                            let _block = std::hint::black_box([0_u8; 2048]);
                            join(|| spin(Duration::from_micros(5)), || spin(Duration::from_micros(10)));
                            add(&count);
                        });
                    }
                });
                assert_eq!(count.into_inner(), 2000);
                assert_eq!(pool.install(|| tree(12)), 1 << 12);
            }
        }
    });
}

#[test]
fn never_more_run_than_there_are_threads() {
    // External threads, waiting workers that give their slots away, and workers of other pools: there are never too
    // many leaves at once.
    fn leaves(crowd: &Crowd, depth: u32) {
        if depth == 0 {
            return crowd.while_in(|| spin(Duration::from_micros(20)));
        }
        join(|| leaves(crowd, depth - 1), || leaves(crowd, depth - 1));
    }
    within(LONG, || {
        for rule in RULES {
            for threads in SIZES {
                let (pool, other) = (&ruled(threads, rule), &crate::support::pool(2));
                let crowd = &Crowd::default();
                thread::scope(|callers| {
                    for caller in 0..4 {
                        callers.spawn(move || {
                            for _ in 0..10 {
                                match caller {
                                    0 => _ = take_part(pool, || leaves(crowd, 4), || leaves(crowd, 4)),
                                    1 => pool.scope(|s| (0..16).for_each(|_| s.spawn(|_| leaves(crowd, 1)))),
                                    2 => pool.in_place_scope(|s| {
                                        (0..8).for_each(|_| s.spawn(|_| leaves(crowd, 2)))
                                    }),
                                    _ => pool.install(|| {
                                        let abroad = || other.install(|| pool.install(|| leaves(crowd, 3)));
                                        join(|| leaves(crowd, 2), abroad).1
                                    }),
                                }
                            }
                        });
                    }
                });
                assert!(
                    crowd.most() <= threads,
                    "{} leaves at once on {threads} threads, {rule:?}",
                    crowd.most()
                );
            }
        }
    });
}

#[test]
fn the_global_pool_is_not_crowded_by_its_guests() {
    within(LONG, || {
        let crowd = &Crowd::default();
        thread::scope(|callers| {
            for caller in 0..4 {
                callers.spawn(move || {
                    for _ in 0..100 {
                        let leaf = || crowd.while_in(|| spin(Duration::from_micros(20)));
                        if caller % 2 == 0 {
                            join(|| join(leaf, leaf), || join(leaf, leaf));
                        } else {
                            scope(|s| (0..4).for_each(|_| s.spawn(|_| leaf())));
                        }
                    }
                });
            }
        });
        assert!(crowd.most() <= furcate_pool::current_num_threads());
    });
}

/// A worker waits for a stolen half that takes until `spawned` has run. Returns whether that was before `limit`.
fn runs_while_a_worker_waits(pool: &ThreadPool, limit: Duration) -> bool {
    let ran = Arc::new(Flag::default());
    let set = Arc::clone(&ran);
    let seen = AtomicBool::new(false);
    pool.install(|| {
        let begun = Flag::default();
        join(
            || {
                begun.wait();
                spawn(move || set.set());
            },
            || {
                begun.set();
                // The other of the two threads waits for this half from now on.
                let since = std::time::Instant::now();
                while !ran.is_set() && since.elapsed() < limit {
                    thread::sleep(Duration::from_micros(100));
                }
                seen.store(ran.is_set(), SeqCst);
            },
        );
    });
    seen.into_inner()
}

#[test]
fn cores_are_busy_while_workers_wait() {
    within(LONG, || {
        let pool = ruled(2, WaitRule::Descendants);
        while pool.stats().total().handovers < 10 {
            assert!(
                runs_while_a_worker_waits(&pool, LONG / 2),
                "a spare thread takes the waiting one's place"
            );
        }
        assert!(runs_while_a_worker_waits(&ruled(2, WaitRule::Any), LONG / 2), "the waiting thread runs it");
        let strict = ruled(2, WaitRule::Leapfrog);
        assert!(!runs_while_a_worker_waits(&strict, Duration::from_millis(30)), "it is no descendant");
    });
}

/// One worker waits for a half whose thief forks nothing. A third worker offers a job, a fork or a spawned one, that no other
/// worker can run. Returns whether a thread ran the job before `limit`, the steals of halves, and the leapfrogs among them.
fn helped_while_a_worker_waits(rule: WaitRule, spawned: bool, limit: Duration) -> (bool, u64, u64) {
    let pool = ruled(3, rule);
    let (begun, ran, tried) =
        (Arc::new(Flag::default()), Arc::new(Flag::default()), Arc::new(Flag::default()));
    let seen = AtomicBool::new(false);
    thread::scope(|threads| {
        let (begins, over) = (&begun, &tried);
        threads.spawn(|| {
            pool.install(|| {
                join(
                    || begins.wait(),
                    || {
                        begins.set();
                        over.wait();
                    },
                )
            })
        });
        begun.wait();
        pool.install(|| {
            let look = || {
                let since = std::time::Instant::now();
                while !ran.is_set() && since.elapsed() < limit {
                    thread::sleep(Duration::from_micros(100));
                }
                seen.store(ran.is_set(), SeqCst);
                tried.set();
            };
            if spawned {
                let ran = Arc::clone(&ran);
                spawn(move || ran.set());
                look();
            } else {
                join(look, || ran.set());
            }
        });
    });
    let total = pool.stats().total();
    (seen.into_inner(), total.migrated, total.leapfrogs)
}

#[test]
fn random_leapfrogging_steals_forks_of_other_workers_than_the_thief() {
    within(LONG, || {
        let helped = |rule, spawned: bool| {
            let helps = rule == WaitRule::Any || rule == WaitRule::RandomLeapfrog && !spawned;
            helped_while_a_worker_waits(
                rule,
                spawned,
                if helps { LONG / 2 } else { Duration::from_millis(30) },
            )
        };
        // The half that is waited for is stolen in all cases.
        assert_eq!(helped(WaitRule::Leapfrog, false), (false, 1, 0));
        assert_eq!(
            helped(WaitRule::RandomLeapfrog, false),
            (true, 2, 0),
            "the fork of a worker that is not the thief"
        );
        assert_eq!(helped(WaitRule::RandomLeapfrog, true), (false, 1, 0), "forks only");
        assert_eq!(helped(WaitRule::Any, false), (true, 2, 0));
        assert_eq!(helped(WaitRule::Any, true), (true, 1, 0));
    });
}

#[test]
fn waiting_workers_help_their_thieves() {
    // Leapfrogging: the stolen half forks, and the worker that waits for it runs some of those forks. Together they
    // need two threads at once.
    within(LONG, || {
        for rule in RULES {
            let pool = ruled(2, rule);
            for _ in 0..50 {
                let (begun, met) = (Flag::default(), Flag::default());
                pool.install(|| {
                    join(
                        || begun.wait(),
                        || {
                            begun.set();
                            join(|| met.wait(), || met.set());
                        },
                    );
                });
            }
        }
    });
}

/// An irregular tree, as in the Unbalanced Tree Search benchmark: each node's seed determines its number of children.
fn children(seed: u64, depth: u32) -> Vec<u64> {
    let mut random = Random(seed);
    let most = if depth == 0 { 40 } else { 8 };
    // Most nodes have none, and the others several: on average a little less than one.
    let number = if depth == 0 {
        most
    } else if random.below(8) == 0 {
        random.below(most)
    } else {
        0
    };
    let number = if depth > 0 && depth < 4 { random.below(most) } else { number };
    (0..number).map(|_| random.next()).collect()
}

fn sequential(seed: u64, depth: u32) -> usize {
    1 + children(seed, depth).into_iter().map(|child| sequential(child, depth + 1)).sum::<usize>()
}

fn joined(seed: u64, depth: u32) -> usize {
    fn sum(seeds: &[u64], depth: u32) -> usize {
        match seeds {
            [] => 0,
            [one] => joined(*one, depth),
            _ => {
                let (left, right) = seeds.split_at(seeds.len() / 2);
                let (a, b) = join(|| sum(left, depth), || sum(right, depth));
                a + b
            }
        }
    }
    1 + sum(&children(seed, depth), depth + 1)
}

fn scoped(seed: u64, depth: u32) -> usize {
    let below = AtomicUsize::new(1);
    scope(|s| {
        for child in children(seed, depth) {
            let below = &below;
            s.spawn(move |_| _ = below.fetch_add(joined_or_scoped(child, depth + 1), SeqCst));
        }
    });
    below.into_inner()
}

fn joined_or_scoped(seed: u64, depth: u32) -> usize {
    if seed % 2 == 0 { joined(seed, depth) } else { scoped(seed, depth) }
}

#[test]
fn irregular_trees_are_counted_right() {
    within(LONG, || {
        for rule in RULES {
            for threads in SIZES {
                let pool = ruled(threads, rule);
                for seed in 1..=4 {
                    let expected = sequential(seed, 0);
                    assert!(expected > 1000, "seed {seed} has a tree of {expected} nodes");
                    assert_eq!(
                        pool.install(|| joined(seed, 0)),
                        expected,
                        "join, {rule:?}, {threads}, {seed}"
                    );
                    assert_eq!(
                        pool.install(|| scoped(seed, 0)),
                        expected,
                        "scope, {rule:?}, {threads}, {seed}"
                    );
                }
            }
        }
        assert_eq!(joined(5, 0), sequential(5, 0));
        assert_eq!(scoped(5, 0), sequential(5, 0));
    });
}
