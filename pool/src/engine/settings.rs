//! The settings of a pool: each module is one setting of the [builder](crate::ThreadPoolBuilder).

mod fairness;
mod priority;
pub(crate) mod runtime;
mod saturation;
mod suspension;

pub use fairness::Fairness;
pub(crate) use priority::has_priorities;
pub use priority::{current_priority, with_priority};
pub use saturation::{Saturation, SaturationCause};
pub use suspension::Suspension;
