//! Terminals: what comes out of a parallel iterator, as [`Reduction`](furcate_schedulers::Reduction)s.
//!
//! Most terminals are one of seven shapes, given closures or a small strategy:
//!
//! | shape | a task's accumulator is | terminals |
//! |---|---|---|
//! | [`Visit`] | a state that items are shown to | `for_each`, `for_each_with`, `for_each_init`, `unzip`, `partition` |
//! | [`Reduce`] | a value that items are folded into | `reduce` |
//! | [`Totals`] | what std's `sum` or `product` returns | `sum`, `product` |
//! | [`Aggregated`] | what a method of std's `Iterator` returns | `count`, `min`, `max`, `reduce_with` ... |
//! | [`AnyHit`] | a hit, whichever | `any`, `all`, `find_any`, `find_map_any`, `position_any`, `eq` |
//! | [`OutermostHit`] | the hit nearest to one end | `find_first`, `find_last`, `position_first`, `cmp` ... |
//! | [`TryReduce`] | a value, or what is there instead | `try_reduce`, `try_reduce_with`, `try_for_each` ... |

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
pub(crate) use outermost_hit::{Back, End, Front, Nearest, OutermostHit};
pub(crate) use picks::{Max, MaxBy, Min, MinBy, ReduceWith};
pub(crate) use reduce::Reduce;
pub(crate) use search_loop::SearchLoop;
pub(crate) use sums::{Count, Product, Sum};
pub(crate) use total::{Total, Totals};
pub(crate) use try_reduce::TryReduce;
pub(crate) use visit::effects;
