//! Terminals: the results of parallel iterators, as [`Reduction`](furcate_schedulers::Reduction)s.
//!
//! Most terminals are one of seven shapes, given closures or a small strategy:
//!
//! | shape | a task's accumulator is | terminals |
//! |---|---|---|
//! | [`Visit`] | a state to which items are shown | `for_each`, `for_each_with`, `for_each_init`, `unzip`, `partition` |
//! | [`Reduce`] | a value into which items are folded | `reduce` |
//! | [`Totals`] | the result of std's `sum` or `product` | `sum`, `product` |
//! | [`Aggregated`] | the result of a method of std's `Iterator` | `count`, `min`, `max`, `reduce_with` ... |
//! | [`AnyHit`] | any hit | `any`, `all`, `find_any`, `find_map_any`, `position_any`, `eq` |
//! | [`OutermostHit`] | the hit nearest to one end | `find_first`, `find_last`, `position_first`, `cmp` ... |
//! | [`TryReduce`] | a value, or the failure instead | `try_reduce`, `try_reduce_with`, `try_for_each` ... |

mod aggregate;
mod any_hit;
mod outermost_hit;
mod picks;
mod reduce;
mod search_loop;
mod sums;
mod total;
mod try_reduce;
mod visit;

pub(crate) use aggregate::{Aggregate, Aggregated};
pub(crate) use any_hit::AnyHit;
pub(crate) use outermost_hit::{Back, Front, HitEnd, Nearest, OutermostHit};
pub(crate) use picks::{Max, MaxBy, Min, MinBy, ReduceWith};
pub(crate) use reduce::Reduce;
pub(crate) use search_loop::SearchLoop;
pub(crate) use sums::{Count, Product, Sum};
pub(crate) use total::{Total, Totals};
pub(crate) use try_reduce::TryReduce;
pub(crate) use visit::effects;
