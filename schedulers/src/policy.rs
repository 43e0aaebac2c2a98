//! The [`Policy`] trait, which says when a part is divided, and the policies of Kvik's paper.
//!
//! A policy is a small value that is passed down the division tree. At each node the scheduler asks the policy about
//! the node's [`Node`] and gets a [`Verdict`]. If the node is divided, the policy is split into its children's
//! policies.
//!
//! # Composition
//!
//! Policies are chained in pairs ([`Both`]). The strongest verdict of a chain counts, so the order in which policies
//! are named makes no difference:
//!
//! > **must** beats **too short** beats **too long** beats **may not** beats **would** beats the default's *would rather*.
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
//! | [`MinLen`]`(n)` | | *too short*: where a half would be shorter than n | |
//! | [`MaxLen`]`(n)` | *too long*: above n, while divisible | | |
//! | [`Auto`] | | | (*would rather*: a few parts per thread, more when stolen) |
//!
//! So a policy that says how to divide (the first four) takes the place of the default, [`Auto`]. A policy that only
//! constrains divisions (the others) leaves the rest to the default.
//!
//! # Ending
//!
//! A policy may also say that the computation is to end ([`Policy::stopped`]), because a token was cancelled
//! ([`StopOn`]) or a deadline has passed ([`Deadline`]). Any one policy of a chain can end the computation. The methods
//! `stop_on` and `deadline` of a parallel iterator name these policies in such a way that the result says whether all
//! items were processed.
//!
//! # Forking
//!
//! Dividing and *forking* are two decisions: a [`Cap`] that has no token left refuses the fork. A division that only
//! *would* be made is then not made. A division that *must* be made is made, but its parts run one after the other in
//! the same task. So the cap is exact, and the forced shape of the tree is kept.
//!
//! After `io_await`, each future that was pending makes a task as well, without a fork. No cap could be exact there,
//! and a chain with one does not compile: `max_in_flight` bounds the futures in flight instead.

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

/// The facts by which a policy decides about a node of the division tree.
///
/// ```
/// use furcate::Node;
/// let node = Node::new(1000);
/// assert_eq!((node.len, node.depth, node.divisible, node.migrated), (1000, 0, true, false));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Node {
    /// Size of the part, in the units of [`Divisible::size`](crate::Divisible::size).
    pub len: usize,
    /// Whether anything is left to cut ([`Divisible::should_be_divided`](crate::Divisible::should_be_divided)).
    pub divisible: bool,
    /// Number of divisions between the root and this node.
    pub depth: u32,
    /// Whether the part runs on another worker than the one that forked it. A part that was not forked has not
    /// migrated: there is no fork if one side of the division was empty, or if the fork was
    /// [refused](Policy::permit_fork). In a root: whether the call came from outside the [engine](furcate_pool::Executor::is_entered). (Blocks of `by_blocks`
    /// and of searches, chains that wait for futures, awaited calls, and calls that [gather](crate::Reduction::GATHERS) on one thread count as calls
    /// from inside.)
    pub migrated: bool,
    /// Whether the part holds much more than its size said when it was last divided (a long inner iterator of a
    /// `flat_map`). Policies that count divisions below a steal begin anew here, too.
    pub grown: bool,
    /// Number of threads of the executor.
    pub threads: usize,
}

impl Node {
    /// Returns the root of a computation over `len` units on one thread. Set the fields for anything else.
    #[must_use]
    pub const fn new(len: usize) -> Self {
        Node { len, divisible: len > 1, depth: 0, migrated: false, grown: false, threads: 1 }
    }
}

/// A policy's opinion about dividing a node. The strongest (last) verdict of a chain counts.
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
    /// No opinion. If no policy of the chain has one, the part is not divided.
    Pass,
    /// Would rather not divide: the default's no. Any stronger verdict overrules it.
    RatherNot,
    /// Would rather divide: the default's yes. Any stronger verdict overrules it.
    Rather,
    /// Would divide, unless another policy says `MayNot`.
    Would,
    /// May not be divided, unless another policy says `TooLong` or `Must`.
    MayNot,
    /// Is divided because it is too long, unless another policy says `TooShort`.
    TooLong,
    /// Is not divided because its halves would be too short, unless another policy says `Must`.
    TooShort,
    /// Must be divided, even if there is nothing left to cut.
    Must,
}

impl Verdict {
    /// Whether the node is divided under this verdict.
    #[inline]
    #[must_use]
    pub fn divides(self, node: &Node) -> bool {
        match self {
            Verdict::Pass | Verdict::RatherNot | Verdict::MayNot | Verdict::TooShort => false,
            Verdict::Rather | Verdict::Would | Verdict::TooLong => node.divisible,
            Verdict::Must => true,
        }
    }

    /// Whether no division may be made that a thief asks for.
    pub(crate) fn forbids(self) -> bool {
        matches!(self, Verdict::MayNot | Verdict::TooShort)
    }
}

impl From<bool> for Verdict {
    #[inline]
    fn from(divide: bool) -> Self {
        if divide { Verdict::Would } else { Verdict::MayNot }
    }
}

/// Says when a part is divided.
///
/// One method is enough. A policy that changes on its way down the tree also implements [`split`](Self::split).
///
/// ```
/// use furcate::{Policy, Node, Verdict};
///
/// /// Divides down to one part per thread.
/// #[derive(Clone)]
/// struct OnePerThread;
///
/// impl Policy for OnePerThread {
///     fn wants_split(&mut self, node: &Node) -> Verdict {
///         (1_usize << node.depth < node.threads).into()
///     }
/// }
/// # let mut node = Node::new(10);
/// # assert_eq!(OnePerThread.wants_split(&node), Verdict::MayNot);
/// # node.threads = 2;
/// # assert_eq!(OnePerThread.wants_split(&node), Verdict::Would);
/// ```
///
/// # Contract
///
/// 1. A clone is a fresh policy for another computation. It shares configuration, and state that is meant to be shared
///    (such as the tokens of a [`Cap`]), but holds no resource of the original.
/// 2. Asking twice is asking once, for [`wants_split`](Self::wants_split) and [`permit_fork`](Self::permit_fork).
/// 3. A policy gives back all resources that it holds for its task when it is dropped. Schedulers drop it when the
///    task's own work is done.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say when to divide",
    note = "policies are named by methods (`.bound_depth(3)`, `.size_limit(100)` ...); `with_policy` takes those of `furcate::policy`, or a type of your own that implements `Policy` (one method: `wants_split`)"
)]
pub trait Policy: Clone + Send {
    /// Whether the policy can end a computation before its last item.
    ///
    /// If so, schedulers ask [`stopped`](Self::stopped) before they begin a task and between its steps.
    const STOPS: bool = false;

    /// Whether the policy says how to divide, in place of the default. False for a policy that only constrains
    /// divisions and passes on most tasks.
    ///
    /// If no policy of a chain decides, the [default scheduler](crate::ByTerminal) may divide by another measure than
    /// the default policy.
    const DECIDES: bool = true;

    /// Whether the policy bounds the number of live tasks, as [`Cap`] does.
    ///
    /// [`Suspending`](crate::Suspending) takes no such policy: the work after a future that was pending is a task that
    /// no fork has made and about which no policy is asked.
    const CAPS: bool = false;

    /// Whether this value of the policy [bounds the number of live tasks](Self::CAPS). Needed for policies that are
    /// chosen at run time.
    fn caps(&self) -> bool {
        Self::CAPS
    }

    /// Whether the computation is to end. Once this returns `true`, it always does. Asked only if
    /// [`STOPS`](Self::STOPS), and only while units are left: after `true` the remaining units are not processed.
    #[inline]
    fn stopped(&self) -> bool {
        false
    }

    /// Names the signals by which the policy will stop, for schedulers that suspend tasks: while all tasks are
    /// suspended or queued, no worker calls [`stopped`](Self::stopped). When a signal comes, no further item begins,
    /// however many are queued. By default there is no signal.
    fn watch(&self, signals: &mut StopSignals) {
        let _ = signals;
    }

    /// Says whether this policy wants the part to be divided.
    fn wants_split(&mut self, node: &Node) -> Verdict;

    /// Returns the policies of the left and the right part. By default, returns two copies.
    ///
    /// The worker goes on with the left part, and pushes the right one for others to steal. If one side is empty, the
    /// other one goes on with the left part's policy.
    #[inline]
    fn split(self, node: &Node) -> (Self, Self) {
        let _ = node;
        (self.clone(), self)
    }

    /// Whether the parts of a division that has been decided on may run in parallel. If so, takes the resources that
    /// the fork needs.
    #[inline]
    fn permit_fork(&mut self, node: &Node) -> bool {
        let _ = node;
        true
    }

    /// Gives back the resources that [`permit_fork`](Self::permit_fork) took, because the fork is not made.
    #[inline]
    fn return_permit(&mut self) {}

    /// Returns the policy for an iterator of which each unit is `units` units (at least 1) of the one that this policy was named on.
    /// [`MinLen`], [`MaxLen`] and [`SizeLimit`] count in units, and so count the new ones; by default nothing changes.
    ///
    /// `chunks`, `fold_chunks` and `step_by` make such iterators: `with_min_len(32)` in front of `chunks(4)` means 8 chunks, as in rayon.
    #[inline]
    #[must_use]
    fn in_batches(self, units: usize) -> Self {
        let _ = units;
        self
    }
}

#[cfg(test)]
mod tests;
