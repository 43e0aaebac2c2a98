//! The division tree, as every scheduler walks it: branches, the facts of a call, the lengths of steps.

pub(crate) mod alarm;
pub(crate) mod branch;
pub(crate) mod call;
pub(crate) mod frames;
pub(crate) mod in_turn;
pub(crate) mod pace;
mod part;
mod sequential;

pub use part::{Division, Fork, OutputOf, Part, PartScheduler};
pub use sequential::Sequential;
