//! *What* is divided: data, and how a task folds its part in steps.

mod divisible;
mod peek;
mod producer;
mod steps;
mod suspendable;

pub use divisible::Divisible;
pub use peek::PeekProducer;
pub use producer::{Facts, IndexedProducer, Producer};
pub use steps::{ByRef, FoldFacts, InPart, NeverLater, NextStep, StepFold, Steps, StepsFacts, Wrapping};
pub use suspendable::{Blocking, Suspendable};
