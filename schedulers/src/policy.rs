//! *When* is something divided: the [`Policy`] trait and the policies of Kvik's paper.
//!
//! A policy is a small value that rides down the division tree. At each node the scheduler asks it about the node's
//! [`Task`] and gets a [`Verdict`]; where the task is divided, the policy is split into its children's policies.
//!
//! # Composition
//!
//! Policies are chained in pairs ([`Both`]); the strongest verdict of a chain counts, so the order in which they are
//! named makes no difference:
//!
//! > **must** beats **may not** beats **would** beats what the default would rather do.
//!
//! | policy | says *must* | says *may not* | says *would* |
//! |---|---|---|---|
//! | [`BoundDepth`]`(d)` | | from depth d on | above |
//! | [`SizeLimit`]`(n)` | | at n or fewer | above |
//! | [`ThiefSplitting`]`(n)` | | n levels below the last steal | above |
//! | [`JoinContext`]`(d)` | | at a right part that has not migrated, from depth d on | else |
//! | [`ForceDepth`]`(d)` | above depth d, while divisible | | |
//! | [`EvenLevels`] | at odd depths | | |
//! | [`Cap`]`(n)` | | (it refuses *forks*, see below) | |
//! | [`MinLen`]`(n)` | | where a half would be shorter than n | |
//! | [`MaxLen`]`(n)` | above n, while divisible | | |
//! | [`Auto`] | | | (*would rather*: a few parts per thread, more when stolen) |
//!
//! So a policy that says how to divide (the first four) takes the place of the default, [`Auto`]; one that only
//! constrains (the others) leaves the default to decide where it has no word.
//!
//! # Ending
//!
//! A policy may also say that enough is done ([`Policy::stopped`]): a token was cancelled ([`StopOn`]), a time is over
//! ([`Deadline`]). Of a chain, any one's word ends the computation. A parallel iterator's `stop_on` and `deadline` name
//! them in such a way that the result says whether all was done.
//!
//! # Forking
//!
//! Dividing is one thing, *forking* is another: a [`Cap`] that has no token left refuses the fork. A division that
//! only *would* be made is then not made; one that *must* be made is, but its parts run one after the other in the
//! same task. So the cap is exact and the forced shape of the tree is kept.
//!
//! Behind `io_await` each future that was pending makes a task as well, without a fork. There no cap could be exact, and a chain with one does
//! not compile: `max_in_flight` bounds the futures in flight instead.

mod any_policy;
mod auto;
mod both;
mod bound_depth;
mod cap;
mod deadline;
mod even_levels;
mod force_depth;
mod join_context;
mod len_bounds;
mod signals;
mod size_limit;
mod stop;
mod stop_on;
mod thief_splitting;
mod tokens;

pub use any_policy::AnyPolicy;
pub use auto::Auto;
pub use both::Both;
pub use bound_depth::BoundDepth;
pub use cap::Cap;
pub use deadline::Deadline;
pub use even_levels::EvenLevels;
pub use force_depth::ForceDepth;
pub use join_context::JoinContext;
pub use len_bounds::{MaxLen, MinLen};
pub use signals::StopSignals;
pub(crate) use signals::Stopped;
pub use size_limit::SizeLimit;
pub use stop::{Reason, Stop};
pub use stop_on::{CancelToken, Cancelled, StopOn};
pub use thief_splitting::ThiefSplitting;

/// What a policy is told about the task it decides on.
///
/// ```
/// use furcate::Task;
/// let task = Task::new(1000);
/// assert_eq!((task.len, task.depth, task.divisible, task.migrated), (1000, 0, true, false));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Task {
    /// How much there is to do, in the units of [`Divisible::size`](crate::Divisible::size).
    pub len: usize,
    /// Is there anything left to cut ([`Divisible::should_be_divided`](crate::Divisible::should_be_divided))?
    pub divisible: bool,
    /// How many divisions lie between the root and this task.
    pub depth: u32,
    /// Does another worker run the task than the one that forked it? What was not forked, be it that a side was empty
    /// or that a fork was [refused](Policy::permit_fork), has not migrated.
    pub migrated: bool,
    /// Whether the task holds much more than its size has said when it was divided last (a long inner iterator of a `flat_map`).
    /// Policies that count divisions below a steal begin anew here, too.
    pub grown: bool,
    /// Does another worker want work from the one that is asked?
    pub demand: bool,
    /// How many threads the executor has.
    pub threads: usize,
}

impl Task {
    /// The root of a computation over `len` units on one thread. Set the fields for anything else.
    #[must_use]
    pub const fn new(len: usize) -> Self {
        Task { len, divisible: len > 1, depth: 0, migrated: false, grown: false, demand: false, threads: 1 }
    }
}

/// What a policy says about dividing a task; the strongest (last) of a chain counts.
///
/// `bool`s convert: `true` is [`Would`](Self::Would), `false` is [`MayNot`](Self::MayNot).
///
/// ```
/// use furcate::Verdict;
/// assert!(Verdict::Must > Verdict::MayNot && Verdict::MayNot > Verdict::Would);
/// assert_eq!(Verdict::from(false), Verdict::MayNot);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// No word on it. If nobody has one, the task is not divided.
    Pass,
    /// Would rather not: the default's no, which any other word overrules.
    RatherNot,
    /// Would rather: the default's yes, which any other word overrules.
    Rather,
    /// Would divide, if nobody says that it may not be.
    Would,
    /// May not be divided, unless it must.
    MayNot,
    /// Must be divided, even if there is nothing left to cut.
    Must,
}

impl Verdict {
    /// Is the task to be divided?
    #[inline]
    #[must_use]
    pub fn divides(self, task: &Task) -> bool {
        match self {
            Verdict::Pass | Verdict::RatherNot | Verdict::MayNot => false,
            Verdict::Rather | Verdict::Would => task.divisible,
            Verdict::Must => true,
        }
    }

    #[inline]
    pub(crate) fn is_must(self) -> bool {
        self == Verdict::Must
    }
}

impl From<bool> for Verdict {
    #[inline]
    fn from(divide: bool) -> Self {
        if divide { Verdict::Would } else { Verdict::MayNot }
    }
}

/// When is a task divided?
///
/// One method is enough; a policy that changes on its way down adds [`split`](Self::split).
///
/// ```
/// use furcate::{Policy, Task, Verdict};
///
/// /// Divides down to one part per thread.
/// #[derive(Clone)]
/// struct OnePerThread;
///
/// impl Policy for OnePerThread {
///     fn wants_split(&mut self, task: &Task) -> Verdict {
///         (1_usize << task.depth < task.threads).into()
///     }
/// }
/// # let mut task = Task::new(10);
/// # assert_eq!(OnePerThread.wants_split(&task), Verdict::MayNot);
/// # task.threads = 2;
/// # assert_eq!(OnePerThread.wants_split(&task), Verdict::Would);
/// ```
///
/// # Contract
///
/// 1. A clone is a fresh policy for another computation: it shares configuration (and what is meant to be shared, as
///    the tokens of a [`Cap`]) but holds nothing of the original's.
/// 2. Asking twice is asking once, for [`wants_split`](Self::wants_split) and [`permit_fork`](Self::permit_fork).
/// 3. What a policy holds for its task it gives back when dropped; schedulers drop it when the task's own work is done.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say when to divide",
    note = "policies are named by methods (`.bound_depth(3)`, `.size_limit(100)` ...); `with_policy` takes those of `furcate::policy`, or a type of your own that implements `Policy` (one method: `wants_split`)"
)]
pub trait Policy: Clone + Send {
    /// Can the policy end a computation before all is done?
    ///
    /// If so, schedulers ask [`stopped`](Self::stopped) before they begin a task and between its nano-loops.
    const STOPS: bool = false;

    /// Does the policy say how to divide, in the place of the default? One that only constrains divisions, and has no
    /// word on most, does not.
    ///
    /// Where nobody does, the [default scheduler](crate::ByTerminal) may divide by another measure than the default
    /// policy.
    const DECIDES: bool = true;

    /// Whether the policy bounds the number of live tasks, as [`Cap`] does.
    ///
    /// [`Suspending`](crate::Suspending) takes no such policy: what follows a future that was pending is a task that no fork has
    /// made, and that no policy is asked about.
    const CAPS: bool = false;

    /// Whether this value of the policy [bounds the number of live tasks](Self::CAPS): for policies that are chosen at run time.
    fn caps(&self) -> bool {
        Self::CAPS
    }

    /// Is enough done? Once it says yes it stays with it. Asked only if [`STOPS`](Self::STOPS), and only where something
    /// is left: after a yes it is not done.
    #[inline]
    fn stopped(&self) -> bool {
        false
    }

    /// Says by what it will stop, for schedulers that wait: nobody asks [`stopped`](Self::stopped) while all tasks are
    /// suspended, or queued. When a signal comes, no item begins any more, however many are queued. By default there is none.
    fn watch(&self, signals: &mut StopSignals) {
        let _ = signals;
    }

    /// Does this policy want the task to be divided?
    fn wants_split(&mut self, task: &Task) -> Verdict;

    /// The policies of the left and the right part. By default two copies.
    ///
    /// The worker goes on with the left part, and lays the right one ready for others. Where a side is empty, the other
    /// one goes on with the left part's policy.
    #[inline]
    fn split(self, task: &Task) -> (Self, Self) {
        let _ = task;
        (self.clone(), self)
    }

    /// May the parts of a division that has been decided on run in parallel? If yes, takes what the fork needs.
    #[inline]
    fn permit_fork(&mut self, task: &Task) -> bool {
        let _ = task;
        true
    }

    /// Gives back what [`permit_fork`](Self::permit_fork) took: the fork is not made.
    #[inline]
    fn return_permit(&mut self) {}
}

#[cfg(test)]
mod tests;
