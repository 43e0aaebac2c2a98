//! A schedule that is chosen at run time.

use crate::policy::{
    AnyPolicy, Auto, Both, BoundDepth, Cap, EvenLevels, ForceDepth, JoinContext, MaxLen, MinLen, Policy,
    SizeLimit, ThiefSplitting,
};
use crate::{Adaptive, AnyScheduler, Plan, Schedule};
use furcate_pool::AnyExecutor;
use std::fmt;
use std::str::FromStr;

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
///
/// // The words of a chain, in a text:
/// let plan: AnyPlan = "size_limit(250).depjoin()".parse().unwrap();
/// assert_eq!((0..1000).wrap_iter().with(&plan).count(), 4);
/// ```
///
/// The words are those methods of [`Plan`] that take only numbers: the policies, `join`, `depjoin`, `sequential`, `adaptive`,
/// and `nano_blocks` behind `adaptive`. Parentheses without a number may be left out. An empty text is the default.
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

/// A text names no [`AnyPlan`]. `Display` says which word is wrong, and which words there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsePlanError(String);

impl fmt::Display for ParsePlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}; a schedule is a chain of words such as `size_limit(4096).depjoin()`. Policies: bound_depth(n), force_depth(n), \
             even_levels(), size_limit(n), cap(n), join_context_policy(n), thief_splitting(n), with_min_len(n), with_max_len(n). \
             Schedulers: join(), depjoin(), sequential(), adaptive(), adaptive().nano_blocks(min, max)",
            self.0
        )
    }
}

impl std::error::Error for ParsePlanError {}

impl FromStr for AnyPlan {
    type Err = ParsePlanError;

    fn from_str(text: &str) -> Result<Self, ParsePlanError> {
        let (mut policy, mut scheduler) = (None, AnyScheduler::ByTerminal);
        for word in text.split('.').map(str::trim).filter(|_| !text.trim().is_empty()) {
            let wrong = |why: &str| ParsePlanError(format!("`{word}` {why}"));
            let (name, numbers) = match word.split_once('(') {
                None => (word, ""),
                Some((name, rest)) => (name, rest.strip_suffix(')').ok_or_else(|| wrong("lacks a `)`"))?),
            };
            let number = |text: &str| {
                let digits = text.trim().replace('_', "");
                let are_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
                digits.parse().ok().filter(|_| are_digits).ok_or_else(|| wrong("needs numbers"))
            };
            let numbers: Vec<usize> = match numbers.trim() {
                "" => vec![],
                numbers => numbers.split(',').map(number).collect::<Result<_, _>>()?,
            };
            let depth = |depth: usize| u32::try_from(depth).map_err(|_| wrong("is too deep"));
            let further = match (name.trim(), &numbers[..]) {
                ("bound_depth", &[n]) => and(policy.take(), BoundDepth::new(depth(n)?)),
                ("force_depth", &[n]) => and(policy.take(), ForceDepth::new(depth(n)?)),
                ("even_levels", []) => and(policy.take(), EvenLevels),
                ("size_limit", &[n]) => and(policy.take(), SizeLimit::new(n)),
                ("cap", [0]) => return Err(wrong("would let nothing run")),
                ("cap", &[n]) => and(policy.take(), Cap::new(n)),
                ("join_context_policy", &[n]) => and(policy.take(), JoinContext::new(depth(n)?)),
                ("thief_splitting", &[n]) => and(policy.take(), ThiefSplitting::new(depth(n)?)),
                ("with_min_len", &[n]) => and(policy.take(), MinLen::new(n)),
                ("with_max_len", &[n]) => and(policy.take(), MaxLen::new(n)),
                (name, numbers) => {
                    scheduler = match (name, numbers, scheduler) {
                        ("join", [], AnyScheduler::ByTerminal) => AnyScheduler::Join,
                        ("depjoin", [], AnyScheduler::ByTerminal) => AnyScheduler::DepJoin,
                        ("sequential", [], AnyScheduler::ByTerminal) => AnyScheduler::Sequential,
                        ("adaptive", [], AnyScheduler::ByTerminal) => AnyScheduler::Adaptive(Adaptive::new()),
                        ("nano_blocks", &[min, max], AnyScheduler::Adaptive(adaptive)) => {
                            AnyScheduler::Adaptive(adaptive.nano_blocks(min, max))
                        }
                        _ => return Err(wrong("is no word for a schedule here")),
                    };
                    continue;
                }
            };
            policy = Some(further);
        }
        Ok(Plan { policy: policy.unwrap_or_default(), scheduler, executor: AnyExecutor::default() })
    }
}

/// A further policy. Beside the first one there is the default, as in [`Plan`].
fn and(policy: Option<AnyPolicy>, further: impl Policy + Sync + 'static) -> AnyPolicy {
    match policy {
        None => AnyPolicy::of(Both::new(Auto::new(), further)),
        Some(policy) => AnyPolicy::of(Both::new(policy, further)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Node, Verdict};

    #[test]
    fn plans_are_parsed() {
        let parse = |text: &str| text.parse::<AnyPlan>();
        assert_eq!(parse(" ").unwrap().scheduler, AnyScheduler::ByTerminal);
        let AnyPlan { mut policy, scheduler, .. } =
            parse("size_limit(1_000) . bound_depth(3).adaptive.nano_blocks(2, 8)").unwrap();
        assert_eq!(scheduler, Adaptive::new().nano_blocks(2, 8).into());
        assert_eq!(policy.wants_split(&Node::new(1001)), Verdict::Would);
        assert_eq!(policy.wants_split(&Node::new(1000)), Verdict::MayNot);
        assert_eq!(policy.wants_split(&Node { depth: 3, ..Node::new(1001) }), Verdict::MayNot);
        for text in ["force_depth(2)", "even_levels()", "cap(4)", "thief_splitting(2).with_max_len(9)"] {
            assert!(parse(text).is_ok(), "{text}");
        }
        for text in ["join_context_policy(1).with_min_len(2).join()", "sequential", "depjoin()"] {
            assert!(parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn wrong_words_are_named() {
        for (text, wrong) in [
            ("size_limit(4096).deepjoin()", "`deepjoin()` is no word"),
            ("size_limit", "`size_limit` is no word"),
            ("nano_blocks(1, 2).adaptive()", "`nano_blocks(1, 2)` is no word"),
            ("size_limit(10", "lacks a `)`"),
            ("size_limit(-1)", "needs numbers"),
            ("cap(0)", "nothing run"),
            ("bound_depth(5000000000)", "too deep"),
            ("cap(4).", "`` is no word"),
            ("join().depjoin()", "`depjoin()` is no word"),
            ("join(,)", "needs numbers"),
            ("adaptive.nano_blocks(1,,2)", "needs numbers"),
            ("size_limit(+5)", "needs numbers"),
        ] {
            let error = text.parse::<AnyPlan>().unwrap_err().to_string();
            assert!(error.contains(wrong) && error.contains("thief_splitting(n)"), "{error}");
        }
    }
}
