//! Nothing but forks.

use crate::{Case, Size};

pub(super) fn fib(size: Size) -> Case {
    let n = size.pick(33, 20);
    let (mut a, mut b) = (0_u64, 1);
    for _ in 0..n {
        (a, b) = (b, a + b);
    }
    Case::of(a, move || forked(n))
}

fn forked(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = rayon::join(|| forked(n - 1), || forked(n - 2));
    a + b
}
