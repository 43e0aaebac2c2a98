//! Which of the jobs that are ready a pool's workers run first.

/// Which of the jobs that are ready a worker runs first, when it has ended one.
///
/// | | own spawned jobs | woken tasks | forks of others | jobs from outside |
/// |---|---|---|---|---|
/// | [`Balanced`](Fairness::Balanced) | first | second | third | fourth |
/// | [`WokenFirst`](Fairness::WokenFirst) | second | first | third | fourth |
///
/// Under both, the 64th job of a worker is one that the others keep waiting, and a queue that nobody has served for a
/// millisecond is served next, also by workers in the middle of a computation: at their next fork or nano-loop they give their
/// slot to a thread that does so.
///
/// ```
/// use furcate::{Fairness, ThreadPoolBuilder};
/// let pool = ThreadPoolBuilder::new().num_threads(2).fairness(Fairness::WokenFirst).build().unwrap();
/// assert_eq!(pool.install(|| furcate::join(|| 1, || 2)), (1, 2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fairness {
    /// What a worker has spawned last comes first: it is likely to be in the caches, and queues stay short.
    #[default]
    Balanced,
    /// Tasks that were woken come before jobs that were spawned: for servers, in which the requests that have begun are to
    /// end before others begin. Costs a look at the queues of woken tasks, one load for each slot, before every job.
    WokenFirst,
}
