//! Many calls from a thread outside the pool, each of them short.

use crate::random::mix;
use crate::{Case, Size};
use rayon::prelude::*;
use std::time::Duration;

fn sum(items: u64) -> u64 {
    (0..items).into_par_iter().map(mix).reduce(|| 0, u64::wrapping_add)
}

fn case(calls: usize, items: u64, call: impl Fn(u64) -> u64 + 'static) -> Case {
    let expected = (0..items).map(mix).fold(0, u64::wrapping_add);
    Case::of(vec![expected; calls], move || (0..calls).map(|_| call(items)).collect())
}

pub(super) fn tiny(size: Size) -> Case {
    case(size.pick(30_000, 100), 1000, sum)
}

pub(super) fn small(size: Size) -> Case {
    case(size.pick(10_000, 100), 10_000, sum)
}

pub(super) fn medium(size: Size) -> Case {
    case(size.pick(2000, 20), 100_000, sum)
}

/// With a millisecond between one and the next.
pub(super) fn apart(size: Size) -> Case {
    case(size.pick(200, 3), 100_000, |items| {
        std::thread::sleep(Duration::from_millis(1));
        sum(items)
    })
}

/// Into a pool of the program's own.
pub(super) fn installs(size: Size) -> Case {
    let pool = rayon::ThreadPoolBuilder::new().build().expect("threads can be started");
    case(size.pick(10_000, 100), 10_000, move |items| pool.install(|| sum(items)))
}
