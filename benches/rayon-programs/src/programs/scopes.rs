//! Spawned jobs.

use crate::random::mix_often;
use crate::{Case, Size};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Scopes that spawn from one loop.
pub(super) fn spawns(size: Size) -> Case {
    let (scopes, jobs) = (size.pick(200_u64, 2), 1000_u64);
    let f = |i| mix_often(i, 300);
    let expected = (0..scopes * jobs).map(f).fold(0, u64::wrapping_add);
    Case::of(expected, move || {
        let sum = AtomicU64::new(0);
        let sum = &sum;
        for first in (0..scopes).map(|scope| scope * jobs) {
            rayon::scope(|scope| {
                for i in first..first + jobs {
                    scope.spawn(move |_| _ = sum.fetch_add(f(i), Relaxed));
                }
            });
        }
        sum.load(Relaxed)
    })
}

/// Jobs that spawn two jobs each.
pub(super) fn tree(size: Size) -> Case {
    let depth = size.pick(19, 8);
    fn node<'scope>(scope: &rayon::Scope<'scope>, sum: &'scope AtomicU64, depth: u32) {
        if depth == 0 {
            sum.fetch_add(1, Relaxed);
            return;
        }
        scope.spawn(move |scope| node(scope, sum, depth - 1));
        scope.spawn(move |scope| node(scope, sum, depth - 1));
    }
    Case::of(1_u64 << depth, move || {
        let sum = AtomicU64::new(0);
        rayon::scope(|scope| node(scope, &sum, depth));
        sum.into_inner()
    })
}
