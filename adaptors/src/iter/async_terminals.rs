//! The terminals that return a future.

use super::async_terminal::{AsyncTerminal, Collecting, Folded, Searched, SearchedFrom, Sorted, TryFolded};
use super::extend::extended_by;
use super::terminals::{Aggregated, Back, Count, Front, Max, Min, Product, Sum, Totals};
use super::{FromParallelIterator, ParallelExtend, ParallelIterator, ProductOf, SumOf, Try};
use either::Either;
use std::cmp::Ordering;
use std::collections::LinkedList;
use std::convert;

/// Terminals of a [`ParallelIterator`] that return a future of their result: while the computation waits for something, no thread
/// waits.
///
/// Every parallel iterator has them. Their order is that of the [terminals](ParallelIterator#methods) that a thread waits for, and
/// [`async_for_each`](Self::async_for_each) says what they have in common. The comparisons and positions of indexed iterators are
/// methods of [`IndexedParallelIterator`](super::IndexedParallelIterator).
///
/// ```
/// use furcate::prelude::*;
/// let sum = (0..1000_u64).into_par_iter().map(|x| async move { 2 * x }).io_await().async_sum::<u64>();
/// assert_eq!(futures_lite::future::block_on(sum), 999_000);
/// ```
pub trait AsyncTerminals: ParallelIterator {
    /// [`for_each`](ParallelIterator::for_each), as a future: while the computation waits for something, no thread waits, neither
    /// the caller's nor one of the pool.
    ///
    /// The `async_*` terminals own everything that they work with: anything that the chain borrows must be `'static`
    /// (use an `Arc`, say). They begin when the future is first polled, and dropping it cancels them: see
    /// [`AsyncTerminal`]. Any executor may poll the future. The engine is the one [named](ParallelIterator::on) in the chain; else
    /// the pool in which the future is first polled; else the global pool. A pool of your own is named as
    /// `Arc<ThreadPool>` or `&Arc<ThreadPool>`. On [`Inline`](furcate_pool::Inline) the first poll runs the whole
    /// computation.
    ///
    /// With [`io_await`](ParallelIterator::io_await), [`depjoin`](ParallelIterator::depjoin) or [`adaptive`](ParallelIterator::adaptive) a waiting
    /// computation holds no thread. With other schedulers, and with [blocks](ParallelIterator::by_blocks) behind `io_await`, one worker
    /// waits for the tasks of the computation.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    ///
    /// let sum = Arc::new(AtomicU32::new(0));
    /// let shared = Arc::clone(&sum);
    /// let done = (1..=4_u32)
    ///     .into_par_iter()
    ///     .map(|x| async move { x * x })
    ///     .io_await()
    ///     .async_for_each(move |x| drop(shared.fetch_add(x, Relaxed)));
    /// futures_lite::future::block_on(done);
    /// assert_eq!(sum.load(Relaxed), 30);
    /// ```
    #[doc(alias = "for_each_concurrent")]
    fn async_for_each<F>(self, op: F) -> AsyncTerminal<()>
    where
        Self: 'static,
        F: Fn(Self::Item) + Sync + Send + 'static,
    {
        self.map(op).async_reduce(|| (), |(), ()| ())
    }

    /// [`for_each_with`](ParallelIterator::for_each_with), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let done = (0..5).into_par_iter().async_for_each_with(sender, |sender, x| sender.send(x).unwrap());
    /// futures_lite::future::block_on(done);
    /// assert_eq!(receiver.iter().sum::<i32>(), 10);
    /// ```
    fn async_for_each_with<F, T>(self, init: T, op: F) -> AsyncTerminal<()>
    where
        Self: 'static,
        F: Fn(&mut T, Self::Item) + Sync + Send + 'static,
        T: Send + Clone + 'static,
    {
        self.map_with(init, op).async_for_each(drop)
    }

    /// [`for_each_init`](ParallelIterator::for_each_init), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let done = (0..5).into_par_iter().async_for_each_init(String::new, |text, x| text.push_str(&format!("{x}")));
    /// futures_lite::future::block_on(done);
    /// ```
    fn async_for_each_init<F, INIT, T>(self, init: INIT, op: F) -> AsyncTerminal<()>
    where
        Self: 'static,
        F: Fn(&mut T, Self::Item) + Sync + Send + 'static,
        INIT: Fn() -> T + Sync + Send + 'static,
        T: 'static,
    {
        self.map_init(init, op).async_for_each(drop)
    }

    /// [`try_for_each`](ParallelIterator::try_for_each), as a future: see [`async_for_each`](Self::async_for_each). The first
    /// failure drops pending futures.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let done = ["1", "two"].into_par_iter().async_try_for_each(|s| s.parse::<u8>().map(drop));
    /// assert!(futures_lite::future::block_on(done).is_err());
    /// ```
    #[doc(alias = "try_for_each_concurrent")]
    fn async_try_for_each<OP, R>(self, op: OP) -> AsyncTerminal<R>
    where
        Self: 'static,
        OP: Fn(Self::Item) -> R + Sync + Send + 'static,
        R: Try<Output = ()> + Send + 'static,
    {
        self.map(op).async_try_reduce(|| (), |(), ()| R::from_output(()))
    }

    /// [`try_for_each_with`](ParallelIterator::try_for_each_with), as a future: see [`async_for_each`](Self::async_for_each). The
    /// first failure drops pending futures.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let done = (0..5).into_par_iter().async_try_for_each_with(sender, |sender, x| sender.send(x));
    /// assert_eq!(futures_lite::future::block_on(done), Ok(()));
    /// assert_eq!(receiver.iter().sum::<i32>(), 10);
    /// ```
    fn async_try_for_each_with<OP, T, R>(self, init: T, op: OP) -> AsyncTerminal<R>
    where
        Self: 'static,
        OP: Fn(&mut T, Self::Item) -> R + Sync + Send + 'static,
        T: Send + Clone + 'static,
        R: Try<Output = ()> + Send + 'static,
    {
        self.map_with(init, op).async_try_reduce(|| (), |(), ()| R::from_output(()))
    }

    /// [`try_for_each_init`](ParallelIterator::try_for_each_init), as a future: see [`async_for_each`](Self::async_for_each). The
    /// first failure drops pending futures.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let done = (0..5_u32).into_par_iter().async_try_for_each_init(Vec::new, |seen, x| {
    ///     seen.push(x);
    ///     (x < 3).then_some(())
    /// });
    /// assert_eq!(futures_lite::future::block_on(done), None);
    /// ```
    fn async_try_for_each_init<OP, INIT, T, R>(self, init: INIT, op: OP) -> AsyncTerminal<R>
    where
        Self: 'static,
        OP: Fn(&mut T, Self::Item) -> R + Sync + Send + 'static,
        INIT: Fn() -> T + Sync + Send + 'static,
        T: 'static,
        R: Try<Output = ()> + Send + 'static,
    {
        self.map_init(init, op).async_try_reduce(|| (), |(), ()| R::from_output(()))
    }

    /// [`reduce`](ParallelIterator::reduce), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let text = ["to", "get", "her"].into_par_iter().map(String::from).async_reduce(String::new, |a, b| a + &b);
    /// assert_eq!(futures_lite::future::block_on(text), "together");
    /// ```
    fn async_reduce<OP, ID>(self, identity: ID, op: OP) -> AsyncTerminal<Self::Item>
    where
        Self: 'static,
        OP: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send + 'static,
        ID: Fn() -> Self::Item + Sync + Send + 'static,
    {
        AsyncTerminal::new(self, Folded { identity, op }, convert::identity)
    }

    /// [`reduce_with`](ParallelIterator::reduce_with), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let most = (0..4).into_par_iter().async_reduce_with(|a, b| a.max(b));
    /// assert_eq!(futures_lite::future::block_on(most), Some(3));
    /// ```
    fn async_reduce_with<OP>(self, op: OP) -> AsyncTerminal<Option<Self::Item>>
    where
        Self: 'static,
        OP: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send + 'static,
    {
        AsyncTerminal::reduced(self, op, convert::identity)
    }

    /// [`try_reduce`](ParallelIterator::try_reduce), as a future: see [`async_for_each`](Self::async_for_each). The first failure
    /// drops pending futures.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let product = [Some(2), Some(100), Some(3)].into_par_iter().async_try_reduce(|| 1_u8, u8::checked_mul);
    /// assert_eq!(futures_lite::future::block_on(product), None);
    /// ```
    fn async_try_reduce<T, OP, ID>(self, identity: ID, op: OP) -> AsyncTerminal<Self::Item>
    where
        Self: 'static,
        OP: Fn(T, T) -> Self::Item + Sync + Send + 'static,
        ID: Fn() -> T + Sync + Send + 'static,
        Self::Item: Try<Output = T>,
    {
        let result = |result: Option<Self::Item>| result.expect("every task begins with an identity");
        AsyncTerminal::new(self, TryFolded::new(move || Some(identity()), op), result)
    }

    /// [`try_reduce_with`](ParallelIterator::try_reduce_with), as a future: see [`async_for_each`](Self::async_for_each). The first
    /// failure drops pending futures.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let product = [Some(2), Some(100), Some(3)].into_par_iter().async_try_reduce_with(u8::checked_mul);
    /// assert_eq!(futures_lite::future::block_on(product), Some(None));
    /// ```
    fn async_try_reduce_with<T, OP>(self, op: OP) -> AsyncTerminal<Option<Self::Item>>
    where
        Self: 'static,
        OP: Fn(T, T) -> Self::Item + Sync + Send + 'static,
        Self::Item: Try<Output = T>,
    {
        AsyncTerminal::new(self, TryFolded::new(|| None, op), convert::identity)
    }

    /// [`sum`](ParallelIterator::sum), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let sum = (0..1000_u64).into_par_iter().map(|x| async move { 2 * x }).io_await().async_sum::<u64>();
    /// assert_eq!(futures_lite::future::block_on(sum), 999_000);
    /// ```
    fn async_sum<S>(self) -> AsyncTerminal<S>
    where
        Self: 'static,
        S: SumOf<Self::Item> + 'static,
    {
        AsyncTerminal::new(self, Totals::new(Sum::new()), convert::identity)
    }

    /// [`product`](ParallelIterator::product), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let product = (1..6_u32).into_par_iter().map(|x| async move { x }).io_await().async_product::<u32>();
    /// assert_eq!(futures_lite::future::block_on(product), 120);
    /// ```
    fn async_product<P>(self) -> AsyncTerminal<P>
    where
        Self: 'static,
        P: ProductOf<Self::Item> + 'static,
    {
        AsyncTerminal::new(self, Totals::new(Product::new()), convert::identity)
    }

    /// [`count`](ParallelIterator::count), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let even = (0..1000).into_par_iter().filter(|x| x % 2 == 0).async_count();
    /// assert_eq!(futures_lite::future::block_on(even), 500);
    /// ```
    fn async_count(self) -> AsyncTerminal<usize>
    where
        Self: 'static,
    {
        AsyncTerminal::new(self, Aggregated(Count), convert::identity)
    }

    /// [`min`](ParallelIterator::min), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let min = [3, 1, 2].into_par_iter().async_min();
    /// assert_eq!(futures_lite::future::block_on(min), Some(1));
    /// ```
    fn async_min(self) -> AsyncTerminal<Option<Self::Item>>
    where
        Self: 'static,
        Self::Item: Ord,
    {
        AsyncTerminal::new(self, Aggregated(Min), convert::identity)
    }

    /// [`max`](ParallelIterator::max), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let max = [3, 1, 2].into_par_iter().async_max();
    /// assert_eq!(futures_lite::future::block_on(max), Some(3));
    /// ```
    fn async_max(self) -> AsyncTerminal<Option<Self::Item>>
    where
        Self: 'static,
        Self::Item: Ord,
    {
        AsyncTerminal::new(self, Aggregated(Max), convert::identity)
    }

    /// [`min_by`](ParallelIterator::min_by), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let min = [0.3, 0.1, 0.2_f64].into_par_iter().async_min_by(|a, b| a.total_cmp(b));
    /// assert_eq!(futures_lite::future::block_on(min), Some(0.1));
    /// ```
    fn async_min_by<F>(self, compare: F) -> AsyncTerminal<Option<Self::Item>>
    where
        Self: 'static,
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Sync + Send + 'static,
    {
        let op = move |left, right| if compare(&left, &right).is_gt() { right } else { left };
        AsyncTerminal::reduced(self, op, convert::identity)
    }

    /// [`max_by`](ParallelIterator::max_by), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let max = [0.3, 0.1, 0.2_f64].into_par_iter().async_max_by(|a, b| a.total_cmp(b));
    /// assert_eq!(futures_lite::future::block_on(max), Some(0.3));
    /// ```
    fn async_max_by<F>(self, compare: F) -> AsyncTerminal<Option<Self::Item>>
    where
        Self: 'static,
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Sync + Send + 'static,
    {
        let op = move |left, right| if compare(&left, &right).is_gt() { left } else { right };
        AsyncTerminal::reduced(self, op, convert::identity)
    }

    /// [`min_by_key`](ParallelIterator::min_by_key), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let min = [-3_i32, 1, -1].into_par_iter().async_min_by_key(|x| x.abs());
    /// assert_eq!(futures_lite::future::block_on(min), Some(1));
    /// ```
    fn async_min_by_key<K, F>(self, key: F) -> AsyncTerminal<Option<Self::Item>>
    where
        Self: 'static,
        K: Ord + Send + 'static,
        F: Fn(&Self::Item) -> K + Sync + Send + 'static,
    {
        let keyed = self.map(move |item| (key(&item), item));
        let op = |left: (K, Self::Item), right: (K, Self::Item)| if left.0 > right.0 { right } else { left };
        AsyncTerminal::reduced(keyed, op, |found| found.map(|(_, item)| item))
    }

    /// [`max_by_key`](ParallelIterator::max_by_key), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let max = [-3_i32, 1, -1].into_par_iter().async_max_by_key(|x| x.abs());
    /// assert_eq!(futures_lite::future::block_on(max), Some(-3));
    /// ```
    fn async_max_by_key<K, F>(self, key: F) -> AsyncTerminal<Option<Self::Item>>
    where
        Self: 'static,
        K: Ord + Send + 'static,
        F: Fn(&Self::Item) -> K + Sync + Send + 'static,
    {
        let keyed = self.map(move |item| (key(&item), item));
        let op = |left: (K, Self::Item), right: (K, Self::Item)| if left.0 > right.0 { left } else { right };
        AsyncTerminal::reduced(keyed, op, |found| found.map(|(_, item)| item))
    }

    /// [`any`](ParallelIterator::any), as a future: see [`async_for_each`](Self::async_for_each). The first hit drops pending
    /// futures.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let any = (0..1000).into_par_iter().async_any(|x| x == 7);
    /// assert!(futures_lite::future::block_on(any));
    /// ```
    fn async_any<P>(self, predicate: P) -> AsyncTerminal<bool>
    where
        Self: 'static,
        P: Fn(Self::Item) -> bool + Sync + Send + 'static,
    {
        let search = move |item| predicate(item).then_some(());
        AsyncTerminal::new(self, Searched::new(search), |hit: Option<()>| hit.is_some())
    }

    /// [`all`](ParallelIterator::all), as a future: see [`async_for_each`](Self::async_for_each). The first item for which the
    /// predicate is false drops pending futures.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let all = (0..1000).into_par_iter().async_all(|x| x < 7);
    /// assert!(!futures_lite::future::block_on(all));
    /// ```
    fn async_all<P>(self, predicate: P) -> AsyncTerminal<bool>
    where
        Self: 'static,
        P: Fn(Self::Item) -> bool + Sync + Send + 'static,
    {
        let search = move |item| (!predicate(item)).then_some(());
        AsyncTerminal::new(self, Searched::new(search), |hit: Option<()>| hit.is_none())
    }

    /// [`find_any`](ParallelIterator::find_any), as a future: see [`async_for_each`](Self::async_for_each). The first hit drops
    /// pending futures.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let seven = (0..1000).into_par_iter().async_find_any(|x| x % 8 == 7 && *x < 10);
    /// assert_eq!(futures_lite::future::block_on(seven), Some(7));
    /// ```
    fn async_find_any<P>(self, predicate: P) -> AsyncTerminal<Option<Self::Item>>
    where
        Self: 'static,
        P: Fn(&Self::Item) -> bool + Sync + Send + 'static,
    {
        let search = move |item| predicate(&item).then_some(item);
        AsyncTerminal::new(self, Searched::new(search), convert::identity)
    }

    /// [`find_first`](ParallelIterator::find_first), as a future: see [`async_for_each`](Self::async_for_each). Futures before the
    /// hit are awaited; then all others that are pending are dropped.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let first = (0..1000).into_par_iter().async_find_first(|x| x % 8 == 7);
    /// assert_eq!(futures_lite::future::block_on(first), Some(7));
    /// ```
    fn async_find_first<P>(self, predicate: P) -> AsyncTerminal<Option<Self::Item>>
    where
        Self: 'static,
        P: Fn(&Self::Item) -> bool + Sync + Send + 'static,
    {
        let search = move |item| predicate(&item).then_some(item);
        AsyncTerminal::new(self, SearchedFrom::new(Front, search), convert::identity)
    }

    /// [`find_last`](ParallelIterator::find_last), as a future: see [`async_for_each`](Self::async_for_each). Futures behind the
    /// hit are awaited; then all others that are pending are dropped.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let last = (0..1000).into_par_iter().async_find_last(|x| x % 8 == 7);
    /// assert_eq!(futures_lite::future::block_on(last), Some(999));
    /// ```
    fn async_find_last<P>(self, predicate: P) -> AsyncTerminal<Option<Self::Item>>
    where
        Self: 'static,
        P: Fn(&Self::Item) -> bool + Sync + Send + 'static,
    {
        let search = move |item| predicate(&item).then_some(item);
        AsyncTerminal::new(self, SearchedFrom::new(Back, search), convert::identity)
    }

    /// [`find_map_any`](ParallelIterator::find_map_any), as a future: see [`async_for_each`](Self::async_for_each). The first hit
    /// drops pending futures.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let number = ["a", "4", "b"].into_par_iter().async_find_map_any(|s| s.parse::<u32>().ok());
    /// assert_eq!(futures_lite::future::block_on(number), Some(4));
    /// ```
    fn async_find_map_any<P, R>(self, search: P) -> AsyncTerminal<Option<R>>
    where
        Self: 'static,
        P: Fn(Self::Item) -> Option<R> + Sync + Send + 'static,
        R: Send + 'static,
    {
        AsyncTerminal::new(self, Searched::new(search), convert::identity)
    }

    /// [`find_map_first`](ParallelIterator::find_map_first), as a future: see [`async_for_each`](Self::async_for_each). Futures
    /// before the hit are awaited; then all others that are pending are dropped.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let number = ["a", "4", "b"].into_par_iter().async_find_map_first(|s| s.parse::<u32>().ok());
    /// assert_eq!(futures_lite::future::block_on(number), Some(4));
    /// ```
    fn async_find_map_first<P, R>(self, search: P) -> AsyncTerminal<Option<R>>
    where
        Self: 'static,
        P: Fn(Self::Item) -> Option<R> + Sync + Send + 'static,
        R: Send + 'static,
    {
        AsyncTerminal::new(self, SearchedFrom::new(Front, search), convert::identity)
    }

    /// [`find_map_last`](ParallelIterator::find_map_last), as a future: see [`async_for_each`](Self::async_for_each). Futures
    /// behind the hit are awaited; then all others that are pending are dropped.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let number = ["a", "4", "b"].into_par_iter().async_find_map_last(|s| s.parse::<u32>().ok());
    /// assert_eq!(futures_lite::future::block_on(number), Some(4));
    /// ```
    fn async_find_map_last<P, R>(self, search: P) -> AsyncTerminal<Option<R>>
    where
        Self: 'static,
        P: Fn(Self::Item) -> Option<R> + Sync + Send + 'static,
        R: Send + 'static,
    {
        AsyncTerminal::new(self, SearchedFrom::new(Back, search), convert::identity)
    }

    /// [`collect`](ParallelIterator::collect), as a future: see [`async_for_each`](Self::async_for_each). It collects in order,
    /// into every type that `collect` can make.
    ///
    /// The items are gathered in vectors, and the collection is made of those at the end. For a `Result` of a
    /// collection, the first error drops pending futures.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let squares = (0..4_u32).into_par_iter().map(|x| async move { x * x }).io_await().async_collect::<Vec<_>>();
    /// assert_eq!(futures_lite::future::block_on(squares), [0, 1, 4, 9]);
    ///
    /// let parsed = ["1", "2", "3"].into_par_iter().map(str::parse::<u8>).async_collect::<Result<Vec<_>, _>>();
    /// assert_eq!(futures_lite::future::block_on(parsed), Ok(vec![1, 2, 3]));
    /// ```
    #[doc(alias = "join_all")]
    #[doc(alias = "try_join_all")]
    fn async_collect<C>(self) -> AsyncTerminal<C>
    where
        Self: 'static,
        C: FromParallelIterator<Self::Item> + Send + 'static,
    {
        AsyncTerminal::new(self, Collecting::<C>::new(), C::from_par_lists)
    }

    /// [`collect_vec_list`](ParallelIterator::collect_vec_list), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let lists = (0..100).into_par_iter().filter(|x| x % 2 == 0).async_collect_vec_list();
    /// let lists = futures_lite::future::block_on(lists);
    /// assert_eq!(lists.into_iter().flatten().count(), 50);
    /// ```
    fn async_collect_vec_list(self) -> AsyncTerminal<LinkedList<Vec<Self::Item>>>
    where
        Self: 'static,
    {
        AsyncTerminal::new(self, Collecting::<Vec<Self::Item>>::new(), convert::identity)
    }

    /// [`unzip`](ParallelIterator::unzip), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let both = (0..4).into_par_iter().map(|x| (x, x * x)).async_unzip::<_, _, Vec<_>, Vec<_>>();
    /// assert_eq!(futures_lite::future::block_on(both), (vec![0, 1, 2, 3], vec![0, 1, 4, 9]));
    /// ```
    fn async_unzip<A, B, FromA, FromB>(self) -> AsyncTerminal<(FromA, FromB)>
    where
        Self: ParallelIterator<Item = (A, B)> + 'static,
        FromA: Default + Send + ParallelExtend<A> + 'static,
        FromB: Default + Send + ParallelExtend<B> + 'static,
        A: Send + 'static,
        B: Send + 'static,
    {
        let sort = |(a, b), left: &mut Vec<A>, right: &mut Vec<B>| {
            left.push(a);
            right.push(b);
        };
        AsyncTerminal::new(self, Sorted::new(sort), extended_by)
    }

    /// [`partition`](ParallelIterator::partition), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let both = (0..6).into_par_iter().async_partition::<Vec<_>, Vec<_>, _>(|x| x % 2 == 0);
    /// assert_eq!(futures_lite::future::block_on(both), (vec![0, 2, 4], vec![1, 3, 5]));
    /// ```
    fn async_partition<A, B, P>(self, predicate: P) -> AsyncTerminal<(A, B)>
    where
        Self: 'static,
        A: Default + Send + ParallelExtend<Self::Item> + 'static,
        B: Default + Send + ParallelExtend<Self::Item> + 'static,
        P: Fn(&Self::Item) -> bool + Sync + Send + 'static,
    {
        self.async_partition_map(
            move |item| if predicate(&item) { Either::Left(item) } else { Either::Right(item) },
        )
    }

    /// [`partition_map`](ParallelIterator::partition_map), as a future: see [`async_for_each`](Self::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use either::Either;
    /// let both = [1, -2, 3].into_par_iter().async_partition_map::<Vec<_>, Vec<_>, _, _, _>(|x: i32| match u32::try_from(x) {
    ///     Ok(x) => Either::Left(x),
    ///     Err(_) => Either::Right(x),
    /// });
    /// assert_eq!(futures_lite::future::block_on(both), (vec![1, 3], vec![-2]));
    /// ```
    fn async_partition_map<A, B, P, L, R>(self, classify: P) -> AsyncTerminal<(A, B)>
    where
        Self: 'static,
        A: Default + Send + ParallelExtend<L> + 'static,
        B: Default + Send + ParallelExtend<R> + 'static,
        P: Fn(Self::Item) -> Either<L, R> + Sync + Send + 'static,
        L: Send + 'static,
        R: Send + 'static,
    {
        let sort = move |item, left: &mut Vec<L>, right: &mut Vec<R>| match classify(item) {
            Either::Left(item) => left.push(item),
            Either::Right(item) => right.push(item),
        };
        AsyncTerminal::new(self, Sorted::new(sort), extended_by)
    }
}

impl<I: ParallelIterator> AsyncTerminals for I {}
