//! `par_bridge`: a sequential iterator feeds all threads.

use crate::random::mix_often;
use crate::{Case, Size};
use rayon::prelude::*;

fn case(count: u64, rounds: u32) -> Case {
    let f = move |i| mix_often(i, rounds);
    Case::of((0..count).map(f).fold(0, u64::wrapping_add), move || {
        (0..count).par_bridge().map(f).reduce(|| 0, u64::wrapping_add)
    })
}

/// Items of some 3 us.
pub(super) fn coarse(size: Size) -> Case {
    case(size.pick(100_000, 1000), 1000)
}

/// Items of some 0.1 us.
pub(super) fn fine(size: Size) -> Case {
    case(size.pick(1_000_000, 1000), 30)
}
