//! A pool that takes its slots by the tokens of a jobserver.

use crate::support::suspended::Gate;
use crate::support::*;
use furcate_pool::{ThreadPool, ThreadPoolBuilder, block_on, join};
use jobserver::Client;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

/// Time in which a pool without work gives its tokens back.
const SOON: Duration = Duration::from_secs(5);

fn with_tokens(threads: usize, client: &Client) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).jobserver(client.clone()).build().expect("a pool")
}

fn client(tokens: usize) -> Client {
    Client::new(tokens).expect("a pipe")
}

/// Waits until all tokens are back.
fn assert_all_back(client: &Client, tokens: usize) {
    let since = Instant::now();
    while client.available().unwrap() != tokens {
        assert!(since.elapsed() < SOON, "{} of {tokens}", client.available().unwrap());
        thread::yield_now();
    }
}

/// A short leaf.
fn nap() {
    thread::sleep(Duration::from_micros(300));
}

/// Calls from inside and outside, with forks and spawned jobs.
fn calls(pool: &ThreadPool, crowd: &Crowd) {
    let ran = AtomicUsize::new(0);
    let leaf = || {
        crowd.while_in(nap);
        add(&ran);
    };
    pool.install(|| leaves(0..64, &|_| leaf()));
    take_part(pool, || leaves(0..32, &|_| leaf()), || leaves(0..32, &|_| leaf()));
    pool.scope(|scope| (0..64).for_each(|_| scope.spawn(|_| leaf())));
    assert_eq!(ran.into_inner(), 3 * 64);
}

#[test]
fn at_most_one_slot_more_than_tokens() {
    within(LONG, || {
        for (threads, tokens) in [(1, 2), (4, 0), (4, 1), (4, 2), (3, 7)] {
            let (client, crowd) = (client(tokens), Crowd::default());
            let pool = with_tokens(threads, &client);
            for _ in 0..5 {
                calls(&pool, &crowd);
                assert_all_back(&client, tokens);
            }
            let most = threads.min(tokens + 1);
            assert!(crowd.most() <= most, "{} of {most}", crowd.most());
        }
    });
}

#[test]
fn all_slots_are_used_when_there_are_tokens() {
    within(LONG, || {
        let (client, arrived) = (client(3), AtomicUsize::new(0));
        let pool = with_tokens(4, &client);
        pool.broadcast(|_| {
            add(&arrived);
            until(|| arrived.load(SeqCst) == 4);
        });
        let arrived = AtomicUsize::new(0);
        pool.install(|| {
            leaves(0..4, &|_| {
                add(&arrived);
                until(|| arrived.load(SeqCst) == 4);
            });
        });
        assert_all_back(&client, 3);
    });
}

/// In the middle of a call, too.
#[test]
fn a_token_without_work_is_given_back() {
    within(LONG, || {
        let client = client(3);
        let pool = with_tokens(4, &client);
        pool.install(|| {
            leaves(0..64, &|_| nap());
            assert_all_back(&client, 3);
        });
    });
}

#[test]
fn goes_on_without_tokens_and_takes_those_that_come() {
    within(LONG, || {
        let client = client(3);
        let taken: Vec<_> = (0..3).map(|_| client.acquire().unwrap()).collect();
        let (crowd, pool) = (Crowd::default(), with_tokens(4, &client));
        calls(&pool, &crowd);
        assert_eq!(crowd.most(), 1);
        let mut taken = Some(taken);
        let arrived = AtomicUsize::new(0);
        pool.install(|| {
            let wait = || {
                add(&arrived);
                until(|| arrived.load(SeqCst) == 4);
            };
            join(
                || {
                    leaves(0..8, &|_| nap());
                    drop(taken.take());
                    // The first of four that wait for each other.
                    wait();
                },
                || leaves(0..3, &|_| wait()),
            );
        });
        assert_all_back(&client, 3);
    });
}

/// A job that was queued while no slot was free, and one that no other thread helps with.
#[test]
fn queued_jobs_run_beside_a_long_one_when_a_token_comes() {
    within(LONG, || {
        let client = client(1);
        let taken = client.acquire().unwrap();
        let pool = with_tokens(2, &client);
        let (begun, ran) = (Flag::default(), AtomicBool::new(false));
        pool.in_place_scope(|scope| {
            scope.spawn(|_| {
                begun.set();
                until(|| ran.load(SeqCst));
            });
            until(|| begun.is_set());
            scope.spawn(|_| ran.store(true, SeqCst));
            drop(taken);
        });
        assert_all_back(&client, 1);
    });
}

#[test]
fn two_pools_share_the_tokens() {
    within(LONG, || {
        let (client, crowd) = (client(2), Crowd::default());
        let pools = [with_tokens(4, &client), with_tokens(4, &client)];
        thread::scope(|threads| {
            for pool in &pools {
                threads.spawn(|| (0..5).for_each(|_| calls(pool, &crowd)));
            }
        });
        assert!(crowd.most() <= 4, "{}", crowd.most());
        assert_all_back(&client, 2);
        // One pool in the jobs of the other.
        pools[0].install(|| leaves(0..8, &|_| pools[1].install(|| leaves(0..8, &|_| nap()))));
        assert_all_back(&client, 2);
    });
}

#[test]
fn a_pool_that_ends_gives_its_tokens_back() {
    within(LONG, || {
        let client = client(3);
        for _ in 0..20 {
            let pool = with_tokens(4, &client);
            (0..16).for_each(|_| pool.spawn(nap));
            drop(pool);
            assert_all_back(&client, 3);
        }
        // While it has requested a token that does not come.
        let taken: Vec<_> = (0..3).map(|_| client.acquire().unwrap()).collect();
        let pool = with_tokens(4, &client);
        pool.install(|| leaves(0..16, &|_| nap()));
        drop(pool);
        drop(taken);
        assert_all_back(&client, 3);
    });
}

#[test]
fn a_panic_keeps_no_token() {
    quiet_panics();
    within(LONG, || {
        let client = client(2);
        let pool = with_tokens(3, &client);
        for nth in 0..20 {
            let count = AtomicUsize::new(0);
            let leaf = || {
                nap();
                assert!(count.fetch_add(1, SeqCst) != nth, "on purpose");
            };
            assert!(catch_unwind(AssertUnwindSafe(|| pool.install(|| leaves(0..24, &|_| leaf())))).is_err());
            assert_all_back(&client, 2);
        }
    });
}

/// A job that blocks gives up its slot. All tokens come back, and there need not be any.
#[test]
fn jobs_may_wait_for_each_other() {
    within(LONG, || {
        for tokens in [0, 1] {
            let client = client(tokens);
            let pool = with_tokens(3, &client);
            pool.install(|| {
                let gate = Gate::default();
                join(|| block_on(gate.wait()), || gate.open());
            });
            assert_all_back(&client, tokens);
        }
    });
}

#[test]
fn the_building_thread_may_be_one_of_the_pool() {
    within(LONG, || {
        let client = client(1);
        let pool =
            ThreadPoolBuilder::new().num_threads(3).use_current_thread().jobserver(client.clone()).build();
        let (pool, crowd) = (pool.unwrap(), Crowd::default());
        pool.install(|| leaves(0..64, &|_| crowd.while_in(nap)));
        assert!(crowd.most() <= 2);
        assert_all_back(&client, 1);
    });
}

/// The pool's last job drops the pool, and goes on alone.
#[test]
fn a_pool_that_is_dropped_by_its_own_job_gives_its_tokens_back() {
    within(LONG, || {
        let (client, ended) = (client(3), Arc::new(Flag::default()));
        let pool = Arc::new(with_tokens(4, &client));
        let (own, tokens, ends) = (Arc::clone(&pool), client.clone(), Arc::clone(&ended));
        pool.spawn(move || {
            until(|| Arc::strong_count(&own) == 1);
            let arrived = AtomicUsize::new(0);
            leaves(0..4, &|_| {
                add(&arrived);
                // The last handle, while four threads have slots.
                until(|| arrived.load(SeqCst) == 4);
            });
            drop(own);
            assert_all_back(&tokens, 3);
            ends.set();
        });
        drop(pool);
        ended.wait();
    });
}
