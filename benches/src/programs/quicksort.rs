//! Quicksort in place: a partition, which is serial, before every fork.

use super::Program;
use crate::fork::Fork;

/// Slices of this length are left to std.
const CUTOFF: usize = 2_048;

/// Sorts random `u64`, forking the two sides of every partition.
#[derive(Debug)]
pub struct Quicksort {
    data: Vec<u64>,
}

impl Quicksort {
    /// `n` random numbers.
    #[must_use]
    pub fn new(n: usize) -> Self {
        // SplitMix64.
        let random = |i: u64| {
            let mut z = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        };
        Self { data: (0..n as u64).map(random).collect() }
    }
}

/// Partitions by Hoare's method with the median of three: nothing on the left is greater than anything on the right.
/// Neither side is empty, if there are two elements.
fn partition(v: &mut [u64]) -> (&mut [u64], &mut [u64]) {
    let last = v.len() - 1;
    let (a, b, c) = (v[0], v[last / 2], v[last]);
    // The median is not the last element alone, so that the right side gets one: `j` leaves it at once, or with a swap.
    let pivot = a.min(b).max(a.max(b).min(c));
    let (mut i, mut j) = (0, last);
    loop {
        while v[i] < pivot {
            i += 1;
        }
        while v[j] > pivot {
            j -= 1;
        }
        if i >= j {
            return v.split_at_mut(j + 1);
        }
        v.swap(i, j);
        i += 1;
        j -= 1;
    }
}

fn plain(v: &mut [u64]) {
    if v.len() <= CUTOFF {
        return v.sort_unstable();
    }
    let (left, right) = partition(v);
    plain(left);
    plain(right);
}

fn forked<F: Fork>(fork: &F, v: &mut [u64]) {
    if v.len() <= CUTOFF {
        return v.sort_unstable();
    }
    let (left, right) = partition(v);
    fork.join(|fork| forked(fork, left), |fork| forked(fork, right));
}

impl Program for Quicksort {
    type Input = Vec<u64>;
    type Output = Vec<u64>;

    fn name(&self) -> String {
        format!("quicksort({})", self.data.len())
    }

    fn input(&self) -> Vec<u64> {
        self.data.clone()
    }

    fn serial(&self, mut v: Vec<u64>) -> Vec<u64> {
        plain(&mut v);
        v
    }

    fn forked<F: Fork>(&self, fork: &F, mut v: Vec<u64>) -> Vec<u64> {
        forked(fork, &mut v);
        v
    }

    fn check(&self, output: &Vec<u64>) {
        let mut sorted = self.data.clone();
        sorted.sort_unstable();
        assert!(*output == sorted, "not what std's sort gives");
    }
}

#[cfg(test)]
mod tests {
    use super::partition;

    /// All short slices of few values.
    #[test]
    fn partitions() {
        for len in 2..=7 {
            for code in 0..3_usize.pow(len) {
                let mut v: Vec<u64> = (0..len).map(|place| (code / 3_usize.pow(place) % 3) as u64).collect();
                let before = v.clone();
                let (left, right) = partition(&mut v);
                assert!(!left.is_empty() && !right.is_empty(), "{before:?}: {left:?}, {right:?}");
                assert!(left.iter().max() <= right.iter().min(), "{before:?}: {left:?}, {right:?}");
            }
        }
    }
}
