//! The order in which workers run jobs that are ready.

/// The order in which a worker looks for its next job.
///
/// | | own spawned jobs | woken tasks | forks of others | jobs from outside |
/// |---|---|---|---|---|
/// | [`Balanced`](Fairness::Balanced) | first | second, the oldest first | third | fourth |
/// | [`WokenFirst`](Fairness::WokenFirst) | second | first, the oldest first | third | fourth |
/// | [`FairQueueing`](Fairness::FairQueueing) | by turns | by turns, and so do their calls | last | by turns |
///
/// Under the first two, every 64th job of a worker comes from a queue that is last otherwise. A queue that no worker has served for
/// some milliseconds is served next. Workers in the middle of a computation do not serve it themselves: at their next fork or
/// nano-loop they give their slot to a thread that does. A worker in a long leaf comes to neither. After 4 ms of processor time more, a
/// thread borrows its slot and runs woken tasks for a millisecond, while the leaf goes on. So where each worker has a core, a task that is
/// woken begins within some 20 ms under every rule, whatever the workers compute, unless tasks that were woken before take longer. (That takes
/// a thread more, which pools with a spawn handler do not start, and a system that tells the processor time of threads. A job from outside
/// waits for a fork, a nano-loop, or the end of a leaf.)
///
/// ```
/// use furcate::{Fairness, ThreadPoolBuilder};
/// let pool = ThreadPoolBuilder::new().num_threads(2).fairness(Fairness::FairQueueing).build().unwrap();
/// assert_eq!(pool.install(|| furcate::join(|| 1, || 2)), (1, 2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fairness {
    /// The newest spawned job comes first: its data is likely to be in the caches, and queues stay short.
    #[default]
    Balanced,
    /// Tasks that were woken come before jobs that were spawned, so requests that have begun end before others begin.
    /// Costs a look at the queues of woken tasks, one load for each slot, before every job.
    WokenFirst,
    /// For servers, in which small calls should not wait for large ones. Calls with woken tasks take turns of a
    /// millisecond each (deficit round robin: Shreedhar and Varghese 1995). A call is a scope: a chain that waits, or a
    /// [`scope`](crate::scope()). Futures spawned without a scope count as one call.
    ///
    /// A call with n others in front of it waits n / P milliseconds on P threads, however many tasks the others have queued. If tasks are
    /// longer than a millisecond, it waits for one task of each other call.
    ///
    /// The time is measured from a task's begin to its end, and includes waits in between. A task that loses its slot in the middle is
    /// charged at once, and not for the time without a slot. While a thread waits for its own call in the middle of a job, it runs tasks of
    /// this call out of turn.
    ///
    /// Costs, for each woken task, two looks at the clock and a lock of the whole pool, which is held three times for some instructions.
    FairQueueing,
}
