//! What happens to a worker's deque when the worker's task suspends.

/// Action of a worker when the task that it runs is pending and has spawned jobs that are still in its deque.
///
/// | | [`Proactive`](Suspension::Proactive) | [`Parsimonious`](Suspension::Parsimonious) |
/// |---|---|---|
/// | jobs spawned by the task | stay together with the task: the deque suspends as a whole | the newest is the worker's next job |
/// | the worker | takes another deque, and looks for work elsewhere | goes on with the newest job of its deque |
/// | when the task is woken | the deque is resumable: other workers steal from it, then mug it, with the task at its bottom | the task is stealable by itself |
/// | from | ProWS (Singer, Xu and Lee, *Proactive Work Stealing for Futures*, PPoPP 2019), in the form of ProWS-R (Neil Weidinger 2022), which is for Rust | Muller and Acar, *Latency-Hiding Work Stealing*, SPAA 2016 |
///
/// If the deque holds nothing but the suspending task, the two are the same. They differ for tasks that
/// [spawn](crate::Scope::spawn_future) others, or [join](crate::ScopeHandle::join_async) them, and for chains with
/// [`io_await`](https://docs.rs/furcate). On a pool that is [built](crate::ThreadPoolBuilder::suspension) to be proactive, a chain's parts
/// are spawned, and the rest of a leaf whose item is pending suspends with the item. On any other pool the worker goes on with the leaf's
/// next item, which is faster if waits are short. Both ways run all jobs, in an order that no program can rely on. The bench `latency`
/// shows their costs (`policy:`).
///
/// ```
/// use furcate::{Suspension, ThreadPoolBuilder};
/// let pool = ThreadPoolBuilder::new().num_threads(2).suspension(Suspension::Parsimonious).build().unwrap();
/// assert_eq!(pool.install(|| furcate::block_on(async { 1 })), 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Suspension {
    /// The deque suspends with its task.
    #[default]
    Proactive,
    /// The task suspends alone.
    Parsimonious,
}
