//! The contracts between a chain and its scheduler, and the schedule that a chain names.

mod any_scheduler;
mod by_terminal;
mod computation;
mod default_executor;
#[cfg(not(loom))]
mod dyn_schedule;
mod reduction;
mod schedule;
mod scheduler;
mod workload;

pub use any_scheduler::AnyScheduler;
pub use by_terminal::ByTerminal;
pub use computation::Computation;
pub use default_executor::DefaultExecutor;
#[cfg(not(loom))]
pub use dyn_schedule::{AnyPlan, DynSchedule, ParsePlanError};
pub use reduction::{Ends, Reduction};
pub use schedule::{Plan, PlanOf, Schedule};
pub use scheduler::{Scheduler, SchedulerFacts};
pub use workload::Workload;
