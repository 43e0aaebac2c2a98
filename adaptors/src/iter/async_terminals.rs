//! The terminals that return a future, and those behind a stop: both are made from one table.

use super::async_terminal::AsyncTerminal;
use super::collect::SortInto;
use super::extend::extended_by;
use super::terminals::{
    Aggregated, AnyHit, Collecting, Count, First, Last, Max, Min, Product, Reduce, Sum, Totals, TryReduce,
};
use super::{FromParallelIterator, ParallelExtend, ParallelIterator, ProductOf, SumOf, Try};
use either::Either;
use std::cmp::Ordering;
use std::collections::LinkedList;
use std::convert;

/// The terminals of a chain `$I`, for a macro that declares them. An entry has the names of the blocking and of the awaited form, generics, arguments,
/// result, bounds, further bounds of the awaited form, the awaited form's body, and an example: items, call, result. Its documentation is that of the
/// awaited form.
macro_rules! terminals {
    ($declare:ident, $I:ident) => {
        $declare! {
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
            fn for_each, async_for_each[F](op: F) -> ()
            where [F: Fn($I::Item) + Sync + Send]
            by |items| items.map(op).async_reduce(|| (), |(), ()| ());
            example "(0..9).into_par_iter()", "for_each(|x| assert!(x < 9))" => "()";

            /// [`for_each_with`](ParallelIterator::for_each_with), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let (sender, receiver) = std::sync::mpsc::channel();
            /// let done = (0..5).into_par_iter().async_for_each_with(sender, |sender, x| sender.send(x).unwrap());
            /// futures_lite::future::block_on(done);
            /// assert_eq!(receiver.iter().sum::<i32>(), 10);
            /// ```
            fn for_each_with, async_for_each_with[F, T](init: T, op: F) -> ()
            where [F: Fn(&mut T, $I::Item) + Sync + Send, T: Send + Clone]
            by |items| items.map_with(init, op).async_for_each(drop);
            example "(0..9).into_par_iter()", "for_each_with(0, |sum, x| *sum += x)" => "()";

            /// [`for_each_init`](ParallelIterator::for_each_init), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let done = (0..5).into_par_iter().async_for_each_init(String::new, |text, x| text.push_str(&format!("{x}")));
            /// futures_lite::future::block_on(done);
            /// ```
            fn for_each_init, async_for_each_init[F, INIT, T](init: INIT, op: F) -> ()
            where [F: Fn(&mut T, $I::Item) + Sync + Send, INIT: Fn() -> T + Sync + Send]
            by |items| items.map_init(init, op).async_for_each(drop);
            example "(0..9).into_par_iter()", "for_each_init(|| 0, |sum, x| *sum += x)" => "()";

            /// [`try_for_each`](ParallelIterator::try_for_each), as a future: see [`async_for_each`](Self::async_for_each). The first
            /// failure drops pending futures.
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let done = ["1", "two"].into_par_iter().async_try_for_each(|s| s.parse::<u8>().map(drop));
            /// assert!(futures_lite::future::block_on(done).is_err());
            /// ```
            #[doc(alias = "try_for_each_concurrent")]
            fn try_for_each, async_try_for_each[OP, R](op: OP) -> R
            where [OP: Fn($I::Item) -> R + Sync + Send, R: Try<Output = ()> + Send]
            by |items| items.map(op).async_try_reduce(|| (), |(), ()| R::from_output(()));
            example "(0..9).into_par_iter()", "try_for_each(|x| (x < 5).then_some(()))" => "None";

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
            fn try_for_each_with, async_try_for_each_with[OP, T, R](init: T, op: OP) -> R
            where [OP: Fn(&mut T, $I::Item) -> R + Sync + Send, T: Send + Clone, R: Try<Output = ()> + Send]
            by |items| items.map_with(init, op).async_try_reduce(|| (), |(), ()| R::from_output(()));
            example "(0..9).into_par_iter()", "try_for_each_with(5, |n, x| (x < *n).then_some(()))" => "None";

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
            fn try_for_each_init, async_try_for_each_init[OP, INIT, T, R](init: INIT, op: OP) -> R
            where [OP: Fn(&mut T, $I::Item) -> R + Sync + Send, INIT: Fn() -> T + Sync + Send, R: Try<Output = ()> + Send]
            by |items| items.map_init(init, op).async_try_reduce(|| (), |(), ()| R::from_output(()));
            example "(0..9).into_par_iter()", "try_for_each_init(|| 5, |n, x| (x < *n).then_some(()))" => "None";

            /// [`reduce`](ParallelIterator::reduce), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let text = ["to", "get", "her"].into_par_iter().map(String::from).async_reduce(String::new, |a, b| a + &b);
            /// assert_eq!(futures_lite::future::block_on(text), "together");
            /// ```
            fn reduce, async_reduce[ID, OP](identity: ID, op: OP) -> $I::Item
            where [OP: Fn($I::Item, $I::Item) -> $I::Item + Sync + Send, ID: Fn() -> $I::Item + Sync + Send]
            by |items| AsyncTerminal::new(items, Reduce { identity, op }, convert::identity);
            example "(0..9).into_par_iter()", "reduce(|| 0, |a, b| a + b)" => "36";

            /// [`reduce_with`](ParallelIterator::reduce_with), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let most = (0..4).into_par_iter().async_reduce_with(|a, b| a.max(b));
            /// assert_eq!(futures_lite::future::block_on(most), Some(3));
            /// ```
            fn reduce_with, async_reduce_with[OP](op: OP) -> Option<$I::Item>
            where [OP: Fn($I::Item, $I::Item) -> $I::Item + Sync + Send]
            by |items| AsyncTerminal::reduced(items, op, convert::identity);
            example "(0..9).into_par_iter()", "reduce_with(|a, b| a + b)" => "Some(36)";

            /// [`try_reduce`](ParallelIterator::try_reduce), as a future: see [`async_for_each`](Self::async_for_each). The first failure
            /// drops pending futures.
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let product = [Some(2), Some(100), Some(3)].into_par_iter().async_try_reduce(|| 1_u8, u8::checked_mul);
            /// assert_eq!(futures_lite::future::block_on(product), None);
            /// ```
            fn try_reduce, async_try_reduce[T, OP, ID](identity: ID, op: OP) -> $I::Item
            where [OP: Fn(T, T) -> $I::Item + Sync + Send, ID: Fn() -> T + Sync + Send, $I::Item: Try<Output = T>]
            by |items| {
        let result = |result: Option<$I::Item>| result.expect("every task begins with an identity");
        AsyncTerminal::new(items, TryReduce::new(move || Some(identity()), op), result)
    };
            example "[Some(2), Some(3)].into_par_iter()", "try_reduce(|| 1_u8, u8::checked_mul)" => "Some(6)";

            /// [`try_reduce_with`](ParallelIterator::try_reduce_with), as a future: see [`async_for_each`](Self::async_for_each). The first
            /// failure drops pending futures.
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let product = [Some(2), Some(100), Some(3)].into_par_iter().async_try_reduce_with(u8::checked_mul);
            /// assert_eq!(futures_lite::future::block_on(product), Some(None));
            /// ```
            fn try_reduce_with, async_try_reduce_with[T, OP](op: OP) -> Option<$I::Item>
            where [OP: Fn(T, T) -> $I::Item + Sync + Send, $I::Item: Try<Output = T>]
            by |items| AsyncTerminal::new(items, TryReduce::new(|| None, op), convert::identity);
            example "[Some(2), None].into_par_iter()", "try_reduce_with(u8::checked_mul)" => "Some(None)";

            /// [`sum`](ParallelIterator::sum), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let sum = (0..1000_u64).into_par_iter().map(|x| async move { 2 * x }).io_await().async_sum::<u64>();
            /// assert_eq!(futures_lite::future::block_on(sum), 999_000);
            /// ```
            fn sum, async_sum[T]() -> T
            where [T: SumOf<$I::Item>]
            by |items| AsyncTerminal::new(items, Totals::new(Sum::new()), convert::identity);
            example "(0..9).into_par_iter()", "sum::<i32>()" => "36";

            /// [`product`](ParallelIterator::product), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let product = (1..6_u32).into_par_iter().map(|x| async move { x }).io_await().async_product::<u32>();
            /// assert_eq!(futures_lite::future::block_on(product), 120);
            /// ```
            fn product, async_product[T]() -> T
            where [T: ProductOf<$I::Item>]
            by |items| AsyncTerminal::new(items, Totals::new(Product::new()), convert::identity);
            example "(1..5).into_par_iter()", "product::<i32>()" => "24";

            /// [`count`](ParallelIterator::count), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let even = (0..1000).into_par_iter().filter(|x| x % 2 == 0).async_count();
            /// assert_eq!(futures_lite::future::block_on(even), 500);
            /// ```
            fn count, async_count[]() -> usize
            where []
            by |items| AsyncTerminal::new(items, Aggregated(Count), convert::identity);
            example "(0..9).into_par_iter()", "count()" => "9";

            /// [`min`](ParallelIterator::min), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let min = [3, 1, 2].into_par_iter().async_min();
            /// assert_eq!(futures_lite::future::block_on(min), Some(1));
            /// ```
            fn min, async_min[]() -> Option<$I::Item>
            where [$I::Item: Ord]
            by |items| AsyncTerminal::new(items, Aggregated(Min), convert::identity);
            example "(0..9).into_par_iter()", "min()" => "Some(0)";

            /// [`max`](ParallelIterator::max), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let max = [3, 1, 2].into_par_iter().async_max();
            /// assert_eq!(futures_lite::future::block_on(max), Some(3));
            /// ```
            fn max, async_max[]() -> Option<$I::Item>
            where [$I::Item: Ord]
            by |items| AsyncTerminal::new(items, Aggregated(Max), convert::identity);
            example "(0..9).into_par_iter()", "max()" => "Some(8)";

            /// [`min_by`](ParallelIterator::min_by), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let min = [0.3, 0.1, 0.2_f64].into_par_iter().async_min_by(|a, b| a.total_cmp(b));
            /// assert_eq!(futures_lite::future::block_on(min), Some(0.1));
            /// ```
            fn min_by, async_min_by[F](compare: F) -> Option<$I::Item>
            where [F: Sync + Send + Fn(&$I::Item, &$I::Item) -> Ordering]
            by |items| {
        let op = move |left, right| if compare(&left, &right).is_gt() { right } else { left };
        AsyncTerminal::reduced(items, op, convert::identity)
    };
            example "(0..9).into_par_iter()", "min_by(|a, b| b.cmp(a))" => "Some(8)";

            /// [`max_by`](ParallelIterator::max_by), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let max = [0.3, 0.1, 0.2_f64].into_par_iter().async_max_by(|a, b| a.total_cmp(b));
            /// assert_eq!(futures_lite::future::block_on(max), Some(0.3));
            /// ```
            fn max_by, async_max_by[F](compare: F) -> Option<$I::Item>
            where [F: Sync + Send + Fn(&$I::Item, &$I::Item) -> Ordering]
            by |items| {
        let op = move |left, right| if compare(&left, &right).is_gt() { left } else { right };
        AsyncTerminal::reduced(items, op, convert::identity)
    };
            example "(0..9).into_par_iter()", "max_by(|a, b| b.cmp(a))" => "Some(0)";

            /// [`min_by_key`](ParallelIterator::min_by_key), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let min = [-3_i32, 1, -1].into_par_iter().async_min_by_key(|x| x.abs());
            /// assert_eq!(futures_lite::future::block_on(min), Some(1));
            /// ```
            fn min_by_key, async_min_by_key[K, F](key: F) -> Option<$I::Item>
            where [K: Ord + Send, F: Sync + Send + Fn(&$I::Item) -> K]
            by |items| {
        let keyed = items.map(move |item| (key(&item), item));
        let op = |left: (K, $I::Item), right: (K, $I::Item)| if left.0 > right.0 { right } else { left };
        AsyncTerminal::reduced(keyed, op, |found| found.map(|(_, item)| item))
    };
            example "(0..9_i32).into_par_iter()", "min_by_key(|x| (x - 4).abs())" => "Some(4)";

            /// [`max_by_key`](ParallelIterator::max_by_key), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let max = [-3_i32, 1, -1].into_par_iter().async_max_by_key(|x| x.abs());
            /// assert_eq!(futures_lite::future::block_on(max), Some(-3));
            /// ```
            fn max_by_key, async_max_by_key[K, F](key: F) -> Option<$I::Item>
            where [K: Ord + Send, F: Sync + Send + Fn(&$I::Item) -> K]
            by |items| {
        let keyed = items.map(move |item| (key(&item), item));
        let op = |left: (K, $I::Item), right: (K, $I::Item)| if left.0 > right.0 { left } else { right };
        AsyncTerminal::reduced(keyed, op, |found| found.map(|(_, item)| item))
    };
            example "(0..9_i32).into_par_iter()", "max_by_key(|x| (x - 4).abs())" => "Some(8)";

            /// [`any`](ParallelIterator::any), as a future: see [`async_for_each`](Self::async_for_each). The first hit drops pending
            /// futures.
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let any = (0..1000).into_par_iter().async_any(|x| x == 7);
            /// assert!(futures_lite::future::block_on(any));
            /// ```
            fn any, async_any[P](predicate: P) -> bool
            where [P: Fn($I::Item) -> bool + Sync + Send]
            by |items| {
        let search = move |item| predicate(item).then_some(());
        AsyncTerminal::new(items, AnyHit::new(search), |hit: Option<()>| hit.is_some())
    };
            example "(0..9).into_par_iter()", "any(|x| x == 7)" => "true";

            /// [`all`](ParallelIterator::all), as a future: see [`async_for_each`](Self::async_for_each). The first item for which the
            /// predicate is false drops pending futures.
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let all = (0..1000).into_par_iter().async_all(|x| x < 7);
            /// assert!(!futures_lite::future::block_on(all));
            /// ```
            fn all, async_all[P](predicate: P) -> bool
            where [P: Fn($I::Item) -> bool + Sync + Send]
            by |items| {
        let search = move |item| (!predicate(item)).then_some(());
        AsyncTerminal::new(items, AnyHit::new(search), |hit: Option<()>| hit.is_none())
    };
            example "(0..9).into_par_iter()", "all(|x| x == 7)" => "false";

            /// [`find_any`](ParallelIterator::find_any), as a future: see [`async_for_each`](Self::async_for_each). The first hit drops
            /// pending futures.
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let seven = (0..1000).into_par_iter().async_find_any(|x| x % 8 == 7 && *x < 10);
            /// assert_eq!(futures_lite::future::block_on(seven), Some(7));
            /// ```
            fn find_any, async_find_any[P](predicate: P) -> Option<$I::Item>
            where [P: Fn(&$I::Item) -> bool + Sync + Send]
            by |items| {
        let search = move |item| predicate(&item).then_some(item);
        AsyncTerminal::new(items, AnyHit::new(search), convert::identity)
    };
            example "(0..9).into_par_iter()", "find_any(|&x| x == 7)" => "Some(7)";

            /// [`find_first`](ParallelIterator::find_first), as a future: see [`async_for_each`](Self::async_for_each). Futures before the
            /// hit are awaited; then all others that are pending are dropped.
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let first = (0..1000).into_par_iter().async_find_first(|x| x % 8 == 7);
            /// assert_eq!(futures_lite::future::block_on(first), Some(7));
            /// ```
            fn find_first, async_find_first[P](predicate: P) -> Option<$I::Item>
            where [P: Fn(&$I::Item) -> bool + Sync + Send]
            by |items| {
        let search = move |item| predicate(&item).then_some(item);
        AsyncTerminal::new(items, First::new(search), convert::identity)
    };
            example "(0..9).into_par_iter()", "find_first(|&x| x > 3)" => "Some(4)";

            /// [`find_last`](ParallelIterator::find_last), as a future: see [`async_for_each`](Self::async_for_each). Futures behind the
            /// hit are awaited; then all others that are pending are dropped.
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let last = (0..1000).into_par_iter().async_find_last(|x| x % 8 == 7);
            /// assert_eq!(futures_lite::future::block_on(last), Some(999));
            /// ```
            fn find_last, async_find_last[P](predicate: P) -> Option<$I::Item>
            where [P: Fn(&$I::Item) -> bool + Sync + Send]
            by |items| {
        let search = move |item| predicate(&item).then_some(item);
        AsyncTerminal::new(items, Last::new(search), convert::identity)
    };
            example "(0..9).into_par_iter()", "find_last(|&x| x < 3)" => "Some(2)";

            /// [`find_map_any`](ParallelIterator::find_map_any), as a future: see [`async_for_each`](Self::async_for_each). The first hit
            /// drops pending futures.
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let number = ["a", "4", "b"].into_par_iter().async_find_map_any(|s| s.parse::<u32>().ok());
            /// assert_eq!(futures_lite::future::block_on(number), Some(4));
            /// ```
            fn find_map_any, async_find_map_any[P, R](search: P) -> Option<R>
            where [P: Fn($I::Item) -> Option<R> + Sync + Send, R: Send]
            by |items| AsyncTerminal::new(items, AnyHit::new(search), convert::identity);
            example "[\"a\", \"4\"].into_par_iter()", "find_map_any(|s| s.parse::<u8>().ok())" => "Some(4)";

            /// [`find_map_first`](ParallelIterator::find_map_first), as a future: see [`async_for_each`](Self::async_for_each). Futures
            /// before the hit are awaited; then all others that are pending are dropped.
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let number = ["a", "4", "b"].into_par_iter().async_find_map_first(|s| s.parse::<u32>().ok());
            /// assert_eq!(futures_lite::future::block_on(number), Some(4));
            /// ```
            fn find_map_first, async_find_map_first[P, R](search: P) -> Option<R>
            where [P: Fn($I::Item) -> Option<R> + Sync + Send, R: Send]
            by |items| AsyncTerminal::new(items, First::new(search), convert::identity);
            example "[\"3\", \"4\"].into_par_iter()", "find_map_first(|s| s.parse::<u8>().ok())" => "Some(3)";

            /// [`find_map_last`](ParallelIterator::find_map_last), as a future: see [`async_for_each`](Self::async_for_each). Futures
            /// behind the hit are awaited; then all others that are pending are dropped.
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let number = ["a", "4", "b"].into_par_iter().async_find_map_last(|s| s.parse::<u32>().ok());
            /// assert_eq!(futures_lite::future::block_on(number), Some(4));
            /// ```
            fn find_map_last, async_find_map_last[P, R](search: P) -> Option<R>
            where [P: Fn($I::Item) -> Option<R> + Sync + Send, R: Send]
            by |items| AsyncTerminal::new(items, Last::new(search), convert::identity);
            example "[\"3\", \"4\"].into_par_iter()", "find_map_last(|s| s.parse::<u8>().ok())" => "Some(4)";

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
            fn collect, async_collect[C]() -> C
            where [C: FromParallelIterator<$I::Item>] [C: Send]
            by |items| AsyncTerminal::new(items, Collecting::<C>::new(), C::from_par_lists);
            example "(0..3).into_par_iter()", "collect::<Vec<_>>()" => "vec![0, 1, 2]";

            /// [`collect_vec_list`](ParallelIterator::collect_vec_list), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let lists = (0..100).into_par_iter().filter(|x| x % 2 == 0).async_collect_vec_list();
            /// let lists = futures_lite::future::block_on(lists);
            /// assert_eq!(lists.into_iter().flatten().count(), 50);
            /// ```
            fn collect_vec_list, async_collect_vec_list[]() -> LinkedList<Vec<$I::Item>>
            where []
            by |items| AsyncTerminal::new(items, Collecting::<Vec<$I::Item>>::new(), convert::identity);
            example "(0..0).into_par_iter()", "collect_vec_list()" => "Default::default()";

            /// [`unzip`](ParallelIterator::unzip), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let both = (0..4).into_par_iter().map(|x| (x, x * x)).async_unzip::<_, _, Vec<_>, Vec<_>>();
            /// assert_eq!(futures_lite::future::block_on(both), (vec![0, 1, 2, 3], vec![0, 1, 4, 9]));
            /// ```
            fn unzip, async_unzip[A, B, FromA, FromB]() -> (FromA, FromB)
            where [$I: ParallelIterator<Item = (A, B)>, FromA: Default + Send + ParallelExtend<A>, FromB: Default + Send + ParallelExtend<B>, A: Send, B: Send]
            by |items| {
        let sort = |(a, b), left: &mut Vec<A>, right: &mut Vec<B>| {
            left.push(a);
            right.push(b);
        };
        AsyncTerminal::new(items, SortInto::new(sort), extended_by)
    };
            example "[(1, 'a'), (2, 'b')].into_par_iter()", "unzip::<_, _, Vec<_>, String>()" => "(vec![1, 2], \"ab\".to_string())";

            /// [`partition`](ParallelIterator::partition), as a future: see [`async_for_each`](Self::async_for_each).
            ///
            /// ```
            /// use furcate::prelude::*;
            /// let both = (0..6).into_par_iter().async_partition::<Vec<_>, Vec<_>, _>(|x| x % 2 == 0);
            /// assert_eq!(futures_lite::future::block_on(both), (vec![0, 2, 4], vec![1, 3, 5]));
            /// ```
            fn partition, async_partition[A, B, P](predicate: P) -> (A, B)
            where [
        A: Default + Send + ParallelExtend<$I::Item>,
        B: Default + Send + ParallelExtend<$I::Item>,
        P: Fn(&$I::Item) -> bool + Sync + Send
    ]
            by |items| {
        items.async_partition_map(
            move |item| if predicate(&item) { Either::Left(item) } else { Either::Right(item) },
        )
    };
            example "(0..4).into_par_iter()", "partition::<Vec<_>, Vec<_>, _>(|x| x % 2 == 0)" => "(vec![0, 2], vec![1, 3])";

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
            fn partition_map, async_partition_map[A, B, P, L, R](classify: P) -> (A, B)
            where [
        A: Default + Send + ParallelExtend<L>,
        B: Default + Send + ParallelExtend<R>,
        P: Fn($I::Item) -> Either<L, R> + Sync + Send,
        L: Send,
        R: Send
    ]
            by |items| {
        let sort = move |item, left: &mut Vec<L>, right: &mut Vec<R>| match classify(item) {
            Either::Left(item) => left.push(item),
            Either::Right(item) => right.push(item),
        };
        AsyncTerminal::new(items, SortInto::new(sort), extended_by)
    };
            example "[Ok(1), Err('a')].into_par_iter()", "partition_map::<Vec<i32>, String, _, _, _>(|x| match x {
            Ok(x) => either::Either::Left(x),
            Err(c) => either::Either::Right(c),
        })" => "(vec![1], \"a\".to_string())";
        }
    };
}
pub(super) use terminals;

macro_rules! awaited {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident, $async_name:ident[$($Param:ident),*]($($arg:ident: $Arg:ty),*) -> $Out:ty
        where [$($bounds:tt)*] $([$($async_bounds:tt)*])?
        by |$items:ident| $body:expr;
        example $example:literal, $call:literal => $result:literal;
    )+) => {$(
        $(#[$attribute])*
        fn $async_name<$($Param),*>(self $(, $arg: $Arg)*) -> AsyncTerminal<$Out>
        where
            Self: 'static,
            $($Param: 'static,)*
            $($bounds)*
            $(, $($async_bounds)*)?
        {
            let $items = self;
            $body
        }
    )+};
}

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
    terminals!(awaited, Self);
}

impl<I: ParallelIterator> AsyncTerminals for I {}
