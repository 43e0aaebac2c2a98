//! Chains of a priority: every closure of the computation sees it, on whichever thread it runs.
//!
//! Not on the engine of rayon, which knows no priorities.
#![cfg(not(furcate_rayon))]

use furcate::Priority::{Background, Normal, Urgent};
use furcate::prelude::*;
use furcate::{Limit, Plan, Priority, block_on, current_priority};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testkit::pool;
use testkit::time::{LONG, spin, within};

#[test]
fn the_items_of_a_chain_have_its_priority() {
    within(LONG, || {
        for priority in Priority::ALL {
            let seen = move |x: u64| {
                spin(Duration::from_micros(20));
                assert_eq!(current_priority(), priority);
                x
            };
            let pool = Arc::new(pool(3));
            let numbers = || (0..200_u64).into_par_iter().map(seen).on(&pool).priority(priority);
            let sums: [u64; 5] = [
                numbers().sum(),
                numbers().size_limit(1).join().sum(),
                numbers().size_limit(1).depjoin().sum(),
                numbers().adaptive().sum(),
                numbers().by_uniform_blocks(50).sum(),
            ];
            assert_eq!(sums, [19_900; 5]);
            let plan = Plan::new().size_limit(7).on(&pool).priority(priority);
            assert_eq!((0..200).into_par_iter().map(seen).with(plan).sum::<u64>(), 19_900);
            let waits = move |x| async move {
                furcate_schedulers::Timer::after(Duration::from_micros(100)).await;
                seen(x)
            };
            let awaited =
                || (0..200).into_par_iter().map(waits).io_await().map(seen).on(&pool).priority(priority);
            assert_eq!(awaited().sum::<u64>(), 19_900);
            let shared = Arc::clone(&pool);
            let chain =
                (0..200).into_par_iter().map(waits).io_await().map(seen).on(shared).priority(priority);
            assert_eq!(block_on(chain.async_sum::<u64>()), 19_900);
        }
        assert_eq!(current_priority(), Normal);
    });
}

/// Three calls wait for one permit, which another task holds until all three have asked for it.
#[test]
fn a_limit_hands_out_by_priority() {
    within(LONG, || {
        let (limit, order) = (Limit::new(1), Arc::new(Mutex::new(Vec::new())));
        let held = block_on(limit.acquire());
        let asks = |priority: Priority| {
            let (limit, order) = (limit.clone(), Arc::clone(&order));
            furcate::with_priority(priority, || {
                furcate::spawn_future(async move {
                    let permit = limit.acquire().await;
                    order.lock().unwrap().push(priority);
                    drop(permit);
                })
            })
        };
        let calls: VecDeque<_> = [Background, Normal, Urgent].map(asks).into();
        testkit::until(|| limit.waiting() == 3);
        drop(held);
        calls.into_iter().for_each(block_on);
        assert_eq!(*order.lock().unwrap(), [Urgent, Normal, Background]);
    });
}
