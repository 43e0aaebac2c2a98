//! A schedule that is chosen at run time.

use crate::policy::AnyPolicy;
use crate::{AnyScheduler, Plan, Schedule};
use furcate_pool::AnyExecutor;

/// A plan whose three parts are chosen at run time.
///
/// ```
/// use furcate::policy::{AnyPolicy, SizeLimit};
/// use furcate::prelude::*;
/// use furcate::{AnyExecutor, AnyPlan, AnyScheduler};
///
/// let mut plan = AnyPlan::default();
/// plan.policy = SizeLimit::new(250).into(); // if the command line says so
/// assert_eq!((0..1000).wrap_iter().with(&plan).count(), 4);
/// ```
pub type AnyPlan = Plan<AnyPolicy, AnyScheduler, AnyExecutor>;

/// A [`Schedule`] that is chosen at run time: `&dyn DynSchedule`, `Box<dyn DynSchedule>`, `Arc<dyn DynSchedule>`.
///
/// Every schedule of `'static` parts is one, if its scheduler is one of [`AnyScheduler`], and its executor one of
/// [`AnyExecutor`]. Policies that stop a computation are named at the chain, by `stop_on` and `deadline`.
///
/// Cost: that of [`AnyPolicy`], [`AnyScheduler`] and [`AnyExecutor`]: a branch per question, and the code of a chain for
/// each of the schedulers. Behind `dyn`, the policy may be any, so the default scheduler takes it for one that [says how to
/// divide](crate::Policy::DECIDES): it does not choose division on demand for data that are costly to cut.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::{DynSchedule, Plan};
///
/// let schedules: [(&str, Box<dyn DynSchedule>); 4] = [
///     ("default", Box::new(Plan::new())),
///     ("pages", Box::new(Plan::new().size_limit(4096))),
///     ("on demand", Box::new(Plan::new().adaptive().nano_blocks(16, 256))),
///     ("off", Box::new(Plan::new().sequential())),
/// ];
/// for (name, schedule) in &schedules {
///     let sum: u64 = (0..10_000_u64).into_par_iter().with(schedule).sum();
///     assert_eq!(sum, 49_995_000, "{name}");
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be chosen at run time",
    note = "a schedule behind `dyn DynSchedule` has a `'static` policy that is `Sync`, a scheduler of `AnyScheduler` (without blocks), and an executor of `AnyExecutor`: the default one, or an `Arc<ThreadPool>`"
)]
pub trait DynSchedule: Send + Sync {
    /// Returns the three answers, with a policy that is fresh for one run.
    fn any_plan(&self) -> AnyPlan;
}

impl<S> DynSchedule for S
where
    S: Schedule<Policy: Sync + 'static, Scheduler: Into<AnyScheduler>, Executor: Into<AnyExecutor>> + Sync,
{
    fn any_plan(&self) -> AnyPlan {
        let Plan { policy, scheduler, executor } = self.plan();
        Plan { policy: AnyPolicy::of(policy), scheduler: scheduler.into(), executor: executor.into() }
    }
}

impl Schedule for dyn DynSchedule + '_ {
    type Policy = AnyPolicy;
    type Scheduler = AnyScheduler;
    type Executor = AnyExecutor;

    fn plan(&self) -> AnyPlan {
        self.any_plan()
    }
}
