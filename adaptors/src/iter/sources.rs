//! Sources without a collection behind them: a file for each.

mod empty;
mod from_producer;
mod once;
mod repeat;
mod repeat_n;

pub use empty::{Empty, empty};
pub use from_producer::{FromProducer, from_producer};
pub use once::{Once, once};
pub use repeat::{Repeat, RepeatProducer, repeat};
pub use repeat_n::{Copies, RepeatN, repeat_n};
