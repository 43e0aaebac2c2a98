//! `spread`: a chain over all ranks, and its terminals.

use crate::call::Search;
use crate::counters::{Counts, CountsTable};
use crate::drive::{Terminal, Travels, drive};
use crate::portable::Portable;
use crate::reductions::{
    Count, Each, FromIdentity, Gather, Hit, IsThere, Pick, Product as ProductReduction, Sum as SumReduction,
};
use crate::stop::{Interrupted, Stops};
use crate::world::World;
use furcate_adaptors::iter::{IntoParallelIterator, ParallelIterator, ProductOf, SchedulerOf, SumOf};
use furcate_schedulers::policy::{CancelToken, Deadline, Reason, StopOn};
use furcate_schedulers::{Reduction, Scheduler};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cmp::Ordering;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

impl World {
    /// Returns the counts of all ranks. A collective call.
    pub fn table(&self) -> CountsTable {
        let counts = self.counts().to_list();
        let ranks = (0..self.size()).into_par_iter().map(|_| counts.clone());
        let lists: Vec<Vec<u64>> = ranks.spread(self).collect();
        CountsTable(lists.iter().map(|list| Counts::from_list(list)).collect())
    }
}

/// `spread` on every chain whose parts can be [described](Portable).
///
/// Implemented for all such chains; there is nothing to implement.
pub trait SpreadOver: Portable {
    /// Runs the chain on all ranks of a world.
    ///
    /// The call is *collective*: every rank builds the same chain over the same source, and makes the call. Closures and data do not
    /// travel. Descriptions of parts and outputs do: positions, or for [`wrap_iter`](furcate_adaptors::iter::WrapIter::wrap_iter) and
    /// [`work`](furcate_adaptors::iter::WrapIter::work) the encoded pieces.
    ///
    /// Each rank begins with its share of the source. A rank whose whole pool is out of work asks another one, which divides a task
    /// and gives the right half away. Outputs are reduced in order, by the last finisher. No worker waits for another rank.
    ///
    /// Name it last, before the terminal. Policies and `io_await` are named before it; `stop_on` and `deadline` behind it, since they end the
    /// call on all ranks. Inside a rank the pool divides on demand ([`Adaptive`](furcate_schedulers::Adaptive)); behind `io_await` as
    /// policies say. A chain that names another scheduler does not compile: a part is given to another rank between two steps, and the
    /// other schedulers have none.
    ///
    /// ```compile_fail,E0080
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    /// Threads::new(2).run(|world| (0..9).into_par_iter().sequential().spread(world).sum::<i32>());
    /// ```
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    ///
    /// let words = ["to", "get", "her"];
    /// let texts = Threads::new(2).run(|world| {
    ///     words.par_iter().map(|word| word.to_string()).spread(world).reduce(String::new, |a, b| a + &b)
    /// });
    /// assert_eq!(texts, ["together", "together"]);
    /// ```
    fn spread(self, world: &World) -> Spread<'_, Self> {
        const { divides_on_demand::<Self>() };
        Spread { chain: self, world, stops: Stops::default(), reason: None, to_root: false }
    }
}

impl<I: Portable> SpreadOver for I {}

/// Refuses a scheduler that would be replaced without a word.
const fn divides_on_demand<I: Portable>() {
    assert!(
        SchedulerOf::<I>::FACTS.spreads,
        "a scheduler named before `spread` would have no effect: inside a rank work is divided on demand; leave the scheduler out, or name \
         `.adaptive()`; for one thread in each rank, run the program in a pool of one thread"
    );
}

/// A chain over all ranks: see [`SpreadOver::spread`]. Its terminals are collective calls, and return the same result on all ranks.
///
/// # Panics
///
/// All terminals panic on every rank if
///
/// - a closure panics on one of them: the message names the rank;
/// - the ranks make different calls: the message names both;
/// - a rank that is out of work hears of no work for the world's [timeout](World::with_timeout), if it has one.
#[must_use = "nothing is done until a terminal is called"]
pub struct Spread<'w, I> {
    chain: I,
    world: &'w World,
    stops: Stops,
    reason: Option<Arc<OnceLock<Reason>>>,
    to_root: bool,
}

impl<I: fmt::Debug> fmt::Debug for Spread<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spread")
            .field("chain", &self.chain)
            .field("world", &self.world)
            .finish_non_exhaustive()
    }
}

impl<'w, I: Portable> Spread<'w, I> {
    /// Runs a terminal whose result rank 0 alone gets. It is not sent to the other ranks, which return `None`.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    ///
    /// let squares = Threads::new(2).run(|world| {
    ///     (0..4).into_par_iter().map(|x| x * x).spread(world).to_root(|spread| spread.collect::<Vec<_>>())
    /// });
    /// assert_eq!(squares, [Some(vec![0, 1, 4, 9]), None]);
    /// ```
    pub fn to_root<T>(mut self, terminal: impl FnOnce(Self) -> T) -> Option<T> {
        self.to_root = true;
        let is_root = self.world.is_root();
        let result = terminal(self);
        is_root.then_some(result)
    }

    /// Ends the call on all ranks when the token is cancelled on one of them.
    ///
    /// ```
    /// use furcate::policy::{CancelToken, Reason};
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    ///
    /// let reasons = Threads::new(2).run(|world| {
    ///     let token = CancelToken::new();
    ///     let cancel = |x: u64| if x == 10 { token.cancel() } else { std::thread::yield_now() };
    ///     let count = (0..1 << 40).into_par_iter().inspect(|&x| cancel(x)).spread(world).stop_on(&token);
    ///     count.run(|spread| spread.count()).unwrap_err().reason()
    /// });
    /// assert_eq!(reasons, [Reason::Cancelled; 2]);
    /// ```
    pub fn stop_on(mut self, token: &CancelToken) -> Stoppable<'w, I> {
        self.stops.tokens.push(StopOn::new(token));
        Stoppable(self)
    }

    /// Ends the call on all ranks at a point in time.
    ///
    /// ```
    /// use furcate::policy::Reason;
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    /// use std::time::{Duration, Instant};
    ///
    /// let reasons = Threads::new(2).run(|world| {
    ///     let soon = Instant::now() + Duration::from_millis(5);
    ///     let endless = (0..1_u64 << 40).into_par_iter().map(|x| x ^ 1).spread(world).deadline(soon);
    ///     endless.run(|spread| spread.max()).unwrap_err().reason()
    /// });
    /// assert_eq!(reasons, [Reason::DeadlineExceeded; 2]);
    /// ```
    pub fn deadline(mut self, at: Instant) -> Stoppable<'w, I> {
        self.stops.deadlines.push(Deadline::new(at));
        Stoppable(self)
    }
}

impl<'w, I> Spread<'w, I> {
    /// Adapts the chain. All ranks get the result.
    pub(crate) fn of_all<J>(self, adapt: impl FnOnce(I) -> J) -> Spread<'w, J> {
        let Spread { chain, world, stops, reason, to_root: _ } = self;
        Spread { chain: adapt(chain), world, stops, reason, to_root: false }
    }
}

/// A chain over all ranks that a token or a deadline may end: see [`Spread::stop_on`] and [`Spread::deadline`].
#[must_use = "nothing is done until a terminal is called"]
#[derive(Debug)]
pub struct Stoppable<'w, I>(Spread<'w, I>);

impl<'w, I: Portable> Stoppable<'w, I> {
    /// Ends the call also when another token is cancelled.
    pub fn stop_on(self, token: &CancelToken) -> Self {
        self.0.stop_on(token)
    }

    /// Ends the call also at another point in time.
    pub fn deadline(self, at: Instant) -> Self {
        self.0.deadline(at)
    }

    /// Runs a terminal. The result is the same on all ranks.
    ///
    /// # Errors
    ///
    /// If a token or a deadline has ended the call, and at least one item was left out.
    pub fn run<T>(self, terminal: impl FnOnce(Spread<'w, I>) -> T) -> Result<T, Interrupted<T>> {
        let Stoppable(mut spread) = self;
        let reason = Arc::clone(spread.reason.get_or_insert_default());
        let done = terminal(spread);
        match reason.get() {
            None => Ok(done),
            Some(&reason) => Err(Interrupted { done, reason }),
        }
    }
}

impl<I: Portable<Form: Travels<I>>> Spread<'_, I> {
    #[track_caller]
    pub(crate) fn call<R>(self, name: &'static str, search: Search, reduction: R) -> R::Output
    where
        R: Reduction<I::Item> + Sync,
        R::Output: Serialize + DeserializeOwned,
    {
        let Spread { chain, world, stops, reason, to_root } = self;
        let (output, ended) = drive(
            chain,
            world,
            &stops,
            Terminal { name, place: Location::caller(), reduction, search, to_root },
        );
        if let (Some(reason), Some(ended)) = (reason, ended) {
            reason.get_or_init(|| ended);
        }
        output
    }

    /// Calls a function with each item, on the rank that works on it.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    ///
    /// let seen = AtomicU32::new(0);
    /// Threads::new(2).run(|world| (0..100).into_par_iter().spread(world).for_each(|_| drop(seen.fetch_add(1, Relaxed))));
    /// assert_eq!(seen.into_inner(), 100);
    /// ```
    #[track_caller]
    pub fn for_each<F: Fn(I::Item) + Sync + Send>(self, op: F) {
        self.call("for_each", Search::No, Each(&op));
    }

    /// Adds all items up.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    /// assert_eq!(Threads::new(2).run(|world| (0..100).into_par_iter().spread(world).sum::<i32>()), [4950; 2]);
    /// ```
    #[track_caller]
    pub fn sum<S: SumOf<I::Item> + Serialize + DeserializeOwned>(self) -> S {
        self.call("sum", Search::No, SumReduction::<S>::new())
    }

    /// Multiplies all items.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    /// assert_eq!(Threads::new(2).run(|world| (1..6).into_par_iter().spread(world).product::<i32>()), [120; 2]);
    /// ```
    #[track_caller]
    pub fn product<S: ProductOf<I::Item> + Serialize + DeserializeOwned>(self) -> S {
        self.call("product", Search::No, ProductReduction::<S>::new())
    }

    /// Counts the items. The number is a `u64` on every machine, since it travels, and may be larger than one machine's memory.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    /// let thirds = |world: &_| (0..100).into_par_iter().filter(|x| x % 3 == 0).spread(world).count();
    /// assert_eq!(Threads::new(2).run(thirds), [34; 2]);
    /// ```
    #[track_caller]
    pub fn count(self) -> u64 {
        self.call("count", Search::No, Count)
    }

    /// Collects all items, in order. All of them travel to all ranks.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    /// let squares = |world: &_| (0..5).into_par_iter().map(|x| x * x).spread(world).collect::<Vec<_>>();
    /// assert_eq!(Threads::new(2).run(squares), [[0, 1, 4, 9, 16]; 2]);
    /// ```
    #[track_caller]
    pub fn collect<C: FromIterator<I::Item>>(self) -> C
    where
        I::Item: Serialize + DeserializeOwned,
    {
        self.call("collect", Search::No, Gather).into_iter().collect()
    }

    /// Reduces all items by an associative operation, in order.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    /// let text = |world: &_| (0..5).into_par_iter().map(|x| x.to_string()).spread(world).reduce(String::new, |a, b| a + &b);
    /// assert_eq!(Threads::new(2).run(text), ["01234"; 2]);
    /// ```
    #[track_caller]
    pub fn reduce<D, F>(self, identity: D, op: F) -> I::Item
    where
        D: Fn() -> I::Item + Sync + Send,
        F: Fn(I::Item, I::Item) -> I::Item + Sync + Send,
        I::Item: Serialize + DeserializeOwned,
    {
        self.call("reduce", Search::No, FromIdentity { identity: &identity, op: &op })
    }

    /// Reduces all items by an associative operation, in order; `None` without items.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    /// let last = |world: &_| (0..5).into_par_iter().spread(world).reduce_with(|_, b| b);
    /// assert_eq!(Threads::new(2).run(last), [Some(4); 2]);
    /// ```
    #[track_caller]
    pub fn reduce_with<F>(self, op: F) -> Option<I::Item>
    where
        F: Fn(I::Item, I::Item) -> I::Item + Sync + Send,
        I::Item: Serialize + DeserializeOwned,
    {
        self.call("reduce_with", Search::No, Pick(&op))
    }

    /// Returns the least item; of equal ones the first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    /// assert_eq!(Threads::new(2).run(|world| [3, 1, 2].par_iter().copied().spread(world).min()), [Some(1); 2]);
    /// ```
    #[track_caller]
    pub fn min(self) -> Option<I::Item>
    where
        I::Item: Ord + Serialize + DeserializeOwned,
    {
        self.least("min", Ord::cmp)
    }

    /// Returns the greatest item; of equal ones the last.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    /// assert_eq!(Threads::new(2).run(|world| [3, 1, 2].par_iter().copied().spread(world).max()), [Some(3); 2]);
    /// ```
    #[track_caller]
    pub fn max(self) -> Option<I::Item>
    where
        I::Item: Ord + Serialize + DeserializeOwned,
    {
        self.greatest("max", Ord::cmp)
    }

    /// Returns the least item by a comparison; of equal ones the first.
    #[track_caller]
    pub fn min_by<F>(self, compare: F) -> Option<I::Item>
    where
        F: Fn(&I::Item, &I::Item) -> Ordering + Sync + Send,
        I::Item: Serialize + DeserializeOwned,
    {
        self.least("min_by", compare)
    }

    #[track_caller]
    fn least<F>(self, name: &'static str, compare: F) -> Option<I::Item>
    where
        F: Fn(&I::Item, &I::Item) -> Ordering + Sync + Send,
        I::Item: Serialize + DeserializeOwned,
    {
        let op = |a, b| if compare(&a, &b) == Ordering::Greater { b } else { a };
        self.call(name, Search::No, Pick(&op))
    }

    /// Returns the greatest item by a comparison; of equal ones the last.
    #[track_caller]
    pub fn max_by<F>(self, compare: F) -> Option<I::Item>
    where
        F: Fn(&I::Item, &I::Item) -> Ordering + Sync + Send,
        I::Item: Serialize + DeserializeOwned,
    {
        self.greatest("max_by", compare)
    }

    #[track_caller]
    fn greatest<F>(self, name: &'static str, compare: F) -> Option<I::Item>
    where
        F: Fn(&I::Item, &I::Item) -> Ordering + Sync + Send,
        I::Item: Serialize + DeserializeOwned,
    {
        let op = |a, b| if compare(&a, &b) == Ordering::Greater { a } else { b };
        self.call(name, Search::No, Pick(&op))
    }

    /// Whether the predicate is true for any item. A hit ends the search on all ranks.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    /// assert_eq!(Threads::new(2).run(|world| (0..1_u64 << 40).into_par_iter().spread(world).any(|x| x == 7)), [true; 2]);
    /// ```
    #[track_caller]
    pub fn any<F: Fn(I::Item) -> bool + Sync + Send>(self, predicate: F) -> bool {
        self.call("any", Search::Any, IsThere(&predicate))
    }

    /// Whether the predicate is true for all items. The first item for which it is not ends the search on all ranks.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    /// assert_eq!(Threads::new(2).run(|world| (0..1_u64 << 40).into_par_iter().spread(world).all(|x| x < 7)), [false; 2]);
    /// ```
    #[track_caller]
    pub fn all<F: Fn(I::Item) -> bool + Sync + Send>(self, predicate: F) -> bool {
        !self.call("all", Search::Any, IsThere(&|item| !predicate(item)))
    }

    /// Returns any item for which the predicate is true. A hit ends the search on all ranks.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    /// let hit = |world: &_| (0..1_u64 << 40).into_par_iter().spread(world).find_any(|x| x % 1000 == 7).is_some();
    /// assert_eq!(Threads::new(2).run(hit), [true; 2]);
    /// ```
    #[track_caller]
    pub fn find_any<F>(self, predicate: F) -> Option<I::Item>
    where
        F: Fn(&I::Item) -> bool + Sync + Send,
        I::Item: Serialize + DeserializeOwned,
    {
        self.call("find_any", Search::Any, Hit(&predicate))
    }

    /// Returns the first item for which the predicate is true. A hit ends the search of everything behind it, on all ranks, if the
    /// chain's parts have positions; the pieces of `wrap_iter` are all searched.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{SpreadOver, Threads};
    /// let hit = |world: &_| (0..1_u64 << 40).into_par_iter().spread(world).find_first(|x| x % 1000 == 7);
    /// assert_eq!(Threads::new(2).run(hit), [Some(7); 2]);
    /// ```
    #[track_caller]
    pub fn find_first<F>(self, predicate: F) -> Option<I::Item>
    where
        F: Fn(&I::Item) -> bool + Sync + Send,
        I::Item: Serialize + DeserializeOwned,
    {
        self.call("find_first", Search::First, Hit(&predicate))
    }
}
