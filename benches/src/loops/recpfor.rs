//! RecPFor: loops over n items, then the same twice with n/2.

use super::{Loop, Nested};

/// Some parallel loops over n uneven items, one after the other, then a parallel loop over two halves, each of which does
/// the same with n/2 items; and so on.
#[derive(Clone, Copy, Debug)]
pub struct RecPFor(pub u64);

/// Loops one after the other on each level.
const LOOPS: u64 = 3;

/// The shortest loop.
const SHORTEST: u64 = 16;

impl Nested for RecPFor {
    fn name(&self) -> String {
        format!("recpfor({})", self.0)
    }

    fn run(&self, on: &impl Loop) -> u64 {
        level(on, self.0, 1)
    }
}

fn level(on: &impl Loop, n: u64, seed: u64) -> u64 {
    let loops = (0..LOOPS).map(|i| on.sum(0..n, |x| item(seed ^ (x * LOOPS + i))));
    let here = loops.fold(0, u64::wrapping_add);
    if n <= SHORTEST {
        return here;
    }
    here.wrapping_add(on.sum(0..2, |half| level(on, n / 2, seed * 2 + half)))
}

/// Computes an item of some 50 to 500 ns.
fn item(x: u64) -> u64 {
    let mut hash = x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for _ in 0..32 + (hash >> 32) % 256 {
        hash = (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    }
    hash >> 32
}
