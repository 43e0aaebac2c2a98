//! Shared by the tests of this crate.

pub(crate) mod other;

pub(crate) use testkit::panics::text;
pub(crate) use testkit::{LONG, Random, within};

/// Keeps the processor busy for some time that depends on the item.
pub(crate) fn busy(turns: u64) -> u64 {
    (0..turns).fold(turns, |x, i| std::hint::black_box(x.wrapping_mul(31).wrapping_add(i)))
}
