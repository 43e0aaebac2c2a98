//! The order in which workers run jobs that are ready.

/// The order in which a worker looks for its next job.
///
/// | | own spawned jobs | woken tasks | forks of others | jobs from outside |
/// |---|---|---|---|---|
/// | [`Balanced`](Fairness::Balanced) | first | second | third | fourth |
/// | [`WokenFirst`](Fairness::WokenFirst) | second | first | third | fourth |
///
/// Under both, every 64th job of a worker comes from a queue that is last otherwise. A queue that no worker has served for a
/// millisecond is served next. Workers in the middle of a computation do not serve it themselves: at their next fork or
/// nano-loop they give their slot to a thread that does.
///
/// ```
/// use furcate::{Fairness, ThreadPoolBuilder};
/// let pool = ThreadPoolBuilder::new().num_threads(2).fairness(Fairness::WokenFirst).build().unwrap();
/// assert_eq!(pool.install(|| furcate::join(|| 1, || 2)), (1, 2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fairness {
    /// The newest spawned job comes first: its data is likely to be in the caches, and queues stay short.
    #[default]
    Balanced,
    /// Tasks that were woken come before jobs that were spawned: for servers, in which the requests that have begun are to
    /// end before others begin. Costs a look at the queues of woken tasks, one load for each slot, before every job.
    WokenFirst,
}
