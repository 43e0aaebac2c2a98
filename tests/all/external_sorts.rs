//! Sorts that are called from outside the pool keep the promises of the global pool: its threads, its stacks and its
//! index.
#![cfg(not(furcate_rayon))]

use furcate::ThreadPoolBuilder;
use furcate::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use testkit::process::{good_child, plays};
use testkit::{LONG, within};

/// Uses about this many kilobytes of stack.
fn deep(kilobytes: usize) -> u8 {
    let block = std::hint::black_box([kilobytes as u8; 1024]);
    if kilobytes == 0 { 0 } else { deep(kilobytes - 1).wrapping_add(block[0]) }
}

#[test]
fn comparisons_and_keys_run_in_threads_of_the_pool() {
    if !plays("caller") {
        const TEST: &str = "external_sorts::comparisons_and_keys_run_in_threads_of_the_pool";
        return good_child(TEST, "caller", &[]);
    }
    within(LONG, || {
        ThreadPoolBuilder::new()
            .num_threads(2)
            .stack_size(64 << 20)
            .thread_name(|number| format!("sorter-{number}"))
            .build_global()
            .expect("the first pool of this process");
        let (calls, outside, unnamed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let look = || {
            // Far more stack than the calling thread has.
            if calls.fetch_add(1, SeqCst) % 5000 == 0 {
                deep(16 << 10);
            }
            outside.fetch_add(usize::from(furcate::current_thread_index().is_none()), SeqCst);
            let is_named = thread::current().name().is_some_and(|name| name.starts_with("sorter-"));
            unnamed.fetch_add(usize::from(!is_named), SeqCst);
        };
        for len in [2_u64, 100, 3000, 20_000] {
            let shuffled: Vec<u64> = (0..len).map(|x| x.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20).collect();
            macro_rules! check {
                ($sort:ident, $($argument:expr)?) => {{
                    let mut v = shuffled.clone();
                    let before = calls.load(SeqCst);
                    v.$sort($($argument)?);
                    assert!(v.is_sorted() && calls.load(SeqCst) > before);
                    assert_eq!(outside.swap(0, SeqCst), 0, "{} of {len}: calls outside the pool", stringify!($sort));
                    assert_eq!(unnamed.swap(0, SeqCst), 0, "{} of {len}: calls in other threads", stringify!($sort));
                }};
            }
            let key = |x: &u64| {
                look();
                *x
            };
            let compare = |a: &u64, b: &u64| {
                look();
                a.cmp(b)
            };
            check!(par_sort_by, compare);
            check!(par_sort_by_key, key);
            check!(par_sort_by_cached_key, key);
            check!(par_sort_unstable_by, compare);
            check!(par_sort_unstable_by_key, key);
        }
    });
}
