//! The settings of a pool: each module is one setting of the [builder](crate::ThreadPoolBuilder).

mod fairness;
pub(crate) mod runtime;
mod saturation;
mod suspension;

pub use fairness::Fairness;
pub use saturation::{Saturation, SaturationCause};
pub use suspension::Suspension;
