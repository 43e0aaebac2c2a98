//! Programs that must not compile (I5). Each block has a twin that does compile, so that the block fails for the
//! intended reason.

/// Items that are shared with other threads must be `Sync`.
///
/// ```
/// use furcate::prelude::*;
/// let cells = vec![std::sync::atomic::AtomicU32::new(1)];
/// cells.par_iter().for_each(|_| ());
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// let cells = vec![std::cell::Cell::new(1)];
/// cells.into_par_iter(); // Cell is Send: this is fine
/// let cells = vec![std::cell::Cell::new(1)];
/// IntoParallelIterator::into_par_iter(&cells);
/// ```
mod shared_items {}

/// Items that move to other threads must be `Send`.
///
/// ```
/// use furcate::prelude::*;
/// let shared = vec![std::sync::Arc::new(1)];
/// let _: Vec<_> = IntoParallelIterator::into_par_iter(shared).collect();
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// let shared = vec![std::rc::Rc::new(1)];
/// let _: Vec<_> = IntoParallelIterator::into_par_iter(shared).collect();
/// ```
mod owned_items {}

/// The results of a `map` must be `Send`.
///
/// ```
/// use furcate::prelude::*;
/// (0..3).into_par_iter().map(std::sync::Arc::new).for_each(drop);
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// (0..3).into_par_iter().map(std::rc::Rc::new).for_each(drop);
/// ```
mod made_items {}

/// Closures are shared by all tasks, so they cannot change captured variables.
///
/// ```
/// use furcate::prelude::*;
/// let sum = std::sync::atomic::AtomicU32::new(0);
/// (0..3).into_par_iter().for_each(|x| drop(sum.fetch_add(x, std::sync::atomic::Ordering::Relaxed)));
/// ```
///
/// ```compile_fail,E0594
/// use furcate::prelude::*;
/// let mut sum = 0;
/// (0..3).into_par_iter().for_each(|x| sum += x);
/// ```
mod mutating_closures {}

/// Captured variables must be `Sync`.
///
/// ```
/// use furcate::prelude::*;
/// let calls = std::sync::Mutex::new(0);
/// (0..3).into_par_iter().for_each(|_| *calls.lock().unwrap() += 1);
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// let calls = std::cell::RefCell::new(0);
/// (0..3).into_par_iter().for_each(|_| *calls.borrow_mut() += 1);
/// ```
mod captured_state {}

/// Borrowed items do not outlive their owner.
///
/// ```
/// use furcate::prelude::*;
/// let v = vec![1, 2, 3];
/// let largest = v.par_iter().max();
/// assert_eq!(largest, Some(&3));
/// ```
///
/// ```compile_fail,E0597
/// use furcate::prelude::*;
/// let largest = {
///     let v = vec![1, 2, 3];
///     v.par_iter().max()
/// };
/// assert_eq!(largest, Some(&3));
/// ```
mod escaping_items {}

/// Mutable pieces cannot be kept while the whole is used.
///
/// ```
/// use furcate::prelude::*;
/// let mut v = vec![1, 2, 3];
/// let pieces: Vec<&mut [i32]> = v.par_chunks_mut(2).collect();
/// drop(pieces);
/// v.push(4);
/// ```
///
/// ```compile_fail,E0499
/// use furcate::prelude::*;
/// let mut v = vec![1, 2, 3];
/// let pieces: Vec<&mut [i32]> = v.par_chunks_mut(2).collect();
/// v.push(4);
/// drop(pieces);
/// ```
mod escaping_pieces {}

/// The producer that an iterator lends does not outlive it.
///
/// ```
/// use furcate::prelude::*;
/// let mut numbers = vec![1, 2, 3].into_par_iter();
/// assert_eq!(numbers.producer().into_iter().count(), 3);
/// ```
///
/// ```compile_fail,E0597
/// use furcate::prelude::*;
/// let producer = {
///     let mut numbers = vec![1, 2, 3].into_par_iter();
///     numbers.producer()
/// };
/// assert_eq!(producer.into_iter().count(), 3);
/// ```
mod escaping_producers {}

/// A detached part may outlive the frame that detaches it, so it borrows nothing from there.
///
/// ```
/// use furcate::detach::{Detach, Detachable};
/// use furcate::{Context, Executor, Inline};
///
/// struct Part<'l>(&'l i32);
/// impl<'scope, 'l: 'scope, S> Detachable<'scope, S> for Part<'l> {
///     type Meeting = ();
///     fn run(self, _: &S, _: std::sync::Arc<()>, _: Context) {}
/// }
/// let outer = 1;
/// Inline.detached(|scope| {
///     scope.fork(|| (), Part(&outer));
/// });
/// ```
///
/// ```compile_fail,E0597
/// use furcate::detach::{Detach, Detachable};
/// use furcate::{Context, DefaultExecutor, Executor};
///
/// struct Part<'l>(&'l i32);
/// impl<'scope, 'l: 'scope, S> Detachable<'scope, S> for Part<'l> {
///     type Meeting = ();
///     fn run(self, _: &S, _: std::sync::Arc<()>, _: Context) {}
/// }
/// DefaultExecutor::default().detached(|scope| {
///     let inner = 1;
///     scope.fork(|| (), Part(&inner));
/// });
/// ```
mod escaping_parts {}

/// A detached part moves to another thread: it must be `Send`.
///
/// ```
/// use furcate::detach::Detachable;
/// struct Part(std::sync::Arc<i32>);
/// impl<'scope, S> Detachable<'scope, S> for Part {
///     type Meeting = ();
///     fn run(self, _: &S, _: std::sync::Arc<()>, _: furcate::Context) {}
/// }
/// ```
///
/// ```compile_fail,E0277
/// use furcate::detach::Detachable;
/// struct Part(std::rc::Rc<i32>);
/// impl<'scope, S> Detachable<'scope, S> for Part {
///     type Meeting = ();
///     fn run(self, _: &S, _: std::sync::Arc<()>, _: furcate::Context) {}
/// }
/// ```
mod detached_parts {}

/// Only an engine's `offers` makes the place where a task offers parts, and only lends it. A part in a forgotten place would outlive its computation.
///
/// ```
/// use furcate::detach::published::{Publish, offers};
/// fn nothing<'scope, S: Publish<'scope>, J: furcate::detach::Detachable<'scope, S>>(scope: &S) {
///     offers::<_, J, _, _>(scope, |_| ());
/// }
/// ```
///
/// ```compile_fail,E0624
/// use furcate::detach::published::{Publish, PublishedOffers};
/// fn nothing<'scope, S: Publish<'scope>, J: furcate::detach::Detachable<'scope, S>>(scope: &S) {
///     std::mem::forget(PublishedOffers::<S, J>::new(scope));
/// }
/// ```
mod forgotten_offers {}

/// The place where a task offers parts stays in its thread, and in its frame.
///
/// ```
/// use furcate::detach::{Detach, Detachable, Offers};
/// struct Part;
/// impl<'scope, S> Detachable<'scope, S> for Part {
///     type Meeting = ();
///     fn run(self, _: &S, _: std::sync::Arc<()>, _: furcate::Context) {}
/// }
/// fn offer<'scope, S: Detach<'scope>>(scope: &S) {
///     scope.offers(|offers| drop(offers.offer(Part)));
/// }
/// ```
///
/// ```compile_fail,E0277
/// use furcate::detach::{Detach, Detachable, Offers};
/// struct Part;
/// impl<'scope, S> Detachable<'scope, S> for Part {
///     type Meeting = ();
///     fn run(self, _: &S, _: std::sync::Arc<()>, _: furcate::Context) {}
/// }
/// fn offer<'scope, S: Detach<'scope>>(scope: &S) {
///     scope.offers(|offers| {
///         furcate::join(|| drop(offers.offer(Part)), || ());
///     });
/// }
/// ```
mod offers_elsewhere {}

/// An iterator that is not driven is a mistake, and the compiler warns of it.
///
/// ```
/// #![deny(unused_must_use)]
/// use furcate::prelude::*;
/// let lazy = (0..3).into_par_iter().map(|x| x + 1);
/// assert_eq!(lazy.sum::<i32>(), 6);
/// ```
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// use furcate::prelude::*;
/// (0..3).into_par_iter().map(|x| x + 1);
/// ```
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// use furcate::prelude::*;
/// (0..3).into_par_iter().bound_depth(2);
/// ```
mod must_use {}

/// A scheduler does not replace blocks; it is named before them.
///
/// ```
/// use furcate::prelude::*;
/// assert_eq!((0..9).into_par_iter().join().by_blocks([3, 3]).find_first(|x| x % 4 == 3), Some(3));
/// ```
///
/// ```compile_fail,E0080
/// use furcate::prelude::*;
/// assert_eq!((0..9).into_par_iter().by_blocks([3, 3]).join().find_first(|x| x % 4 == 3), Some(3));
/// ```
///
/// ```compile_fail,E0080
/// use furcate::prelude::*;
/// (0..9).into_par_iter().by_uniform_blocks(3).map(|x| x + 1).sequential().for_each(drop);
/// ```
mod forgotten_blocks {}

/// An engine does not take the place of one with a priority; it is named before the priority.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::{Pool, Priority::Urgent};
/// assert_eq!((0..9).into_par_iter().on(Pool).priority(Urgent).sum::<i32>(), 36);
/// ```
///
/// ```compile_fail,E0080
/// use furcate::prelude::*;
/// use furcate::{Pool, Priority::Urgent};
/// assert_eq!((0..9).into_par_iter().priority(Urgent).on(Pool).sum::<i32>(), 36);
/// ```
mod forgotten_priority {}

/// Blocks of blocks are only blocks, and one sequence of sizes says the same. (Of two schedulers, the second one
/// replaces the first.)
///
/// ```
/// use furcate::prelude::*;
/// assert_eq!((0..9).into_par_iter().sequential().join().by_blocks([3, 3]).count(), 9);
/// ```
///
/// ```compile_fail,E0080
/// use furcate::prelude::*;
/// assert_eq!((0..9).into_par_iter().join().by_blocks([3, 3]).by_uniform_blocks(2).count(), 9);
/// ```
///
/// ```compile_fail,E0080
/// use furcate::prelude::*;
/// assert_eq!((0..9).into_par_iter().by_exponential_blocks().map(|x| x + 1).by_exponential_blocks().count(), 9);
/// ```
mod blocks_of_blocks {}

/// The length of steps (`nano_blocks`) belongs to the adaptive scheduler, and is named with it.
///
/// ```
/// use furcate::prelude::*;
/// (0..9).into_par_iter().adaptive().nano_blocks(1, 4).map(|x| x + 1).by_blocks([3]).for_each(drop);
/// ```
///
/// ```compile_fail,E0599
/// use furcate::prelude::*;
/// (0..9).into_par_iter().nano_blocks(1, 4).adaptive().for_each(drop);
/// ```
///
/// ```compile_fail,E0599
/// use furcate::prelude::*;
/// (0..9).into_par_iter().adaptive().by_blocks([3]).nano_blocks(1, 4).for_each(drop);
/// ```
///
/// ```compile_fail,E0599
/// use furcate::prelude::*;
/// (0..9).into_par_iter().depjoin().nano_blocks(1, 4).for_each(drop);
/// ```
mod nano_blocks {}

/// A value that is named as a policy, a scheduler, or an engine must be one.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::{Inline, Join, policy::BoundDepth};
/// (0..9).into_par_iter().with_policy(BoundDepth::new(3)).with_scheduler(Join).on(Inline).for_each(drop);
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// (0..9).into_par_iter().with_policy(3).for_each(drop);
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// (0..9).into_par_iter().with_scheduler(furcate::policy::BoundDepth::new(3)).for_each(drop);
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// (0..9).into_par_iter().on(8).for_each(drop);
/// ```
mod answers {}

/// A schedule is chained before the terminal, and before a stop: terminals behind a stop return a `Result`.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::policy::CancelToken;
/// let sum: i32 = (0..9).into_par_iter().bound_depth(3).sum();
/// let token = CancelToken::new();
/// assert_eq!((0..9).into_par_iter().map(|x| x + 1).bound_depth(3).stop_on(&token).sum::<i32>(), Ok(sum + 9));
/// ```
///
/// ```compile_fail,E0599
/// use furcate::prelude::*;
/// let sum = (0..9).into_par_iter().sum::<i32>().bound_depth(3);
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// use furcate::policy::CancelToken;
/// let token = CancelToken::new();
/// let _ = (0..9).into_par_iter().stop_on(&token).position_first(|x| x == 3);
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// use furcate::policy::CancelToken;
/// let token = CancelToken::new();
/// let _ = (0..9).into_par_iter().stop_on(&token).into_stream(3);
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// use furcate::policy::CancelToken;
/// let token = CancelToken::new();
/// let _ = (0..9).into_par_iter().stop_on(&token).into_iter_ordered(3);
/// ```
mod order_of_words {}

/// The result of a computation that may have ended early cannot be overlooked.
///
/// ```
/// #![deny(unused_must_use)]
/// use furcate::prelude::*;
/// use furcate::policy::CancelToken;
/// let token = CancelToken::new();
/// (0..9).into_par_iter().stop_on(&token).for_each(drop).unwrap();
/// ```
///
/// ```compile_fail,E0308
/// use furcate::prelude::*;
/// use furcate::policy::CancelToken;
/// let token = CancelToken::new();
/// let sum: i32 = (0..9).into_par_iter().stop_on(&token).sum::<i32>();
/// ```
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// use furcate::prelude::*;
/// use furcate::policy::CancelToken;
/// let token = CancelToken::new();
/// (0..9).into_par_iter().stop_on(&token).for_each(drop);
/// ```
mod interruptions {}

/// A type that cannot be divided cannot be scheduled.
///
/// ```
/// use furcate::prelude::*;
/// let v = [1, 2, 3];
/// v[..].wrap_iter().by_blocks([1]).for_each(drop);
/// ```
///
/// ```compile_fail,E0599
/// use furcate::prelude::*;
/// struct Whole;
/// Whole.wrap_iter().by_blocks([1]).for_each(drop);
/// ```
///
/// ```compile_fail,E0599
/// use furcate::prelude::*;
/// let sum: i32 = (0..9).adaptive().sum(); // std's iterators know nothing of it
/// ```
mod indivisible {}

/// Block sizes can be iterated over again and again.
///
/// ```
/// use furcate::prelude::*;
/// (0..9).into_par_iter().by_blocks(vec![1, 2]).for_each(drop);
/// (0..9).into_par_iter().by_blocks(std::iter::successors(Some(1), |size| Some(size * 3))).for_each(drop);
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// (0..9).into_par_iter().by_blocks(3).for_each(drop);
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// let (_, sizes) = std::sync::mpsc::channel::<usize>();
/// (0..9).into_par_iter().by_blocks(sizes).for_each(drop);
/// ```
mod block_sizes {}

/// Blocks do not outlive the value that lends them.
///
/// ```
/// use furcate::prelude::*;
/// let mut blocks = vec![1, 2, 3].into_par_iter().blocks_iter([2]);
/// assert_eq!(blocks.items().last(), Some(3));
/// ```
///
/// ```compile_fail,E0597
/// use furcate::prelude::*;
/// let block = {
///     let mut blocks = vec![1, 2, 3].into_par_iter().blocks_iter([2]);
///     blocks.iter().next().unwrap()
/// };
/// assert_eq!(block.count(), 2);
/// ```
mod escaping_blocks {}

/// Positions need exact lengths.
///
/// ```
/// use furcate::prelude::*;
/// let _: Vec<_> = (0..9).into_par_iter().enumerate().filter(|(_, x)| x % 2 == 0).collect();
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// let _: Vec<_> = (0..9).into_par_iter().filter(|x| x % 2 == 0).enumerate().collect();
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// let _: Vec<_> = "abc".par_chars().rev().collect();
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// let odd = (0..9).into_par_iter().filter(|x| x % 2 == 1);
/// let _: Vec<_> = (0..9).into_par_iter().zip(odd).collect();
/// ```
///
/// ```compile_fail,E0599
/// use furcate::prelude::*;
/// (0..9).wrap_iter().position_first(|piece| piece.is_empty());
/// ```
///
/// ```compile_fail,E0599
/// use furcate::prelude::*;
/// let mut v = vec![];
/// (0..9).into_par_iter().flat_map_iter(|x| 0..x).collect_into_vec(&mut v);
/// ```
mod positions {}

/// Both sides of a merge must allow looks at their items; an iterator by mutable reference does not.
///
/// ```
/// use furcate::prelude::*;
/// let (left, right) = ([1, 3], [2]);
/// left.par_iter().merge(right.par_iter()).for_each(drop);
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// let (mut left, mut right) = ([1, 3], [2]);
/// left.par_iter_mut().merge(right.par_iter_mut()).for_each(drop);
/// ```
mod merged_items {}

/// A function that takes schedules can refuse those that end early, as the example `merge_sort` does.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::{Plan, Schedule};
/// fn whole_sum<S: Schedule>(schedule: S) -> i32 {
///     const { assert!(!S::Policy::STOPS) };
///     (0..9).into_par_iter().with(schedule).sum()
/// }
/// assert_eq!(whole_sum(Plan::new().cap(2)), 36);
/// ```
///
/// ```compile_fail,E0080
/// use furcate::policy::{CancelToken, StopOn};
/// use furcate::prelude::*;
/// use furcate::{Plan, Schedule};
/// fn whole_sum<S: Schedule>(schedule: S) -> i32 {
///     const { assert!(!S::Policy::STOPS) };
///     (0..9).into_par_iter().with(schedule).sum()
/// }
/// whole_sum(Plan::new().with_policy(StopOn::new(&CancelToken::new())));
/// ```
mod refused_stops {}

/// A future that is awaited continues in any thread, so it must be `Send`, and so must its output.
///
/// ```
/// use furcate::prelude::*;
/// let shared = |x: usize| async move {
///     let x = std::sync::Arc::new(x);
///     futures_lite::future::yield_now().await;
///     *x
/// };
/// assert_eq!((0..9).into_par_iter().map(shared).io_await().sum::<usize>(), 36);
/// ```
///
/// ```compile_fail
/// use furcate::prelude::*;
/// let shared = |x: usize| async move {
///     let x = std::rc::Rc::new(x);
///     futures_lite::future::yield_now().await;
///     *x
/// };
/// assert_eq!((0..9).into_par_iter().map(shared).io_await().sum::<usize>(), 36);
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// let gives = |x: usize| async move { std::rc::Rc::new(x) };
/// (0..9).into_par_iter().map(gives).io_await().for_each(drop);
/// ```
mod awaited_futures {}

/// Only futures can be awaited.
///
/// ```
/// use furcate::prelude::*;
/// (0..9).into_par_iter().map(std::future::ready).io_await().for_each(drop);
/// ```
///
/// ```compile_fail,E0277
/// use furcate::prelude::*;
/// (0..9).into_par_iter().io_await().for_each(drop);
/// ```
mod awaited_items {}

/// Futures may borrow values that outlive the call. Neither the futures nor their outputs outlive the borrowed values,
/// and futures do not borrow from the closure's arguments.
///
/// ```
/// use furcate::prelude::*;
/// let names = vec![String::from("a"), String::from("bc")];
/// let names = &names;
/// let lengths: Vec<&str> = (0..2).into_par_iter().map(|i| async move { names[i].as_str() }).io_await().collect();
/// assert_eq!(lengths, ["a", "bc"]);
/// ```
///
/// ```compile_fail,E0597
/// use furcate::prelude::*;
/// let lengths: Vec<&str> = {
///     let names = vec![String::from("a"), String::from("bc")];
///     let names = &names;
///     (0..2).into_par_iter().map(|i| async move { names[i].as_str() }).io_await().collect()
/// };
/// assert_eq!(lengths, ["a", "bc"]);
/// ```
///
/// ```compile_fail,E0373
/// use furcate::prelude::*;
/// let doubled: Vec<usize> = (0..2).into_par_iter().map(|i| async { i * 2 }).io_await().collect();
/// ```
///
/// ```compile_fail
/// use furcate::prelude::*;
/// let words = vec![String::from("a"), String::from("bc")];
/// let lengths: Vec<usize> = words.into_par_iter().map(|s| {
///     let s = &s;
///     async move { s.len() }
/// }).io_await().collect();
/// ```
///
/// ```compile_fail,E0502
/// use furcate::prelude::*;
/// let mut numbers = vec![1, 2, 3];
/// let awaited = numbers.par_iter_mut().map(|x| async move { *x += 1 }).io_await();
/// assert_eq!(numbers.len(), 3);
/// awaited.for_each(drop);
/// ```
mod escaping_futures {}

/// An awaited terminal owns everything that it works with, also its engine.
///
/// ```
/// use furcate::prelude::*;
/// use std::sync::Arc;
/// let (v, pool) = (Arc::new(vec![1, 2]), Arc::new(furcate::ThreadPoolBuilder::new().num_threads(1).build().unwrap()));
/// let sum = (0..2_usize).into_par_iter().map(move |i| v[i]).on(pool).async_sum::<i32>();
/// assert_eq!(futures_lite::future::block_on(sum), 3);
/// ```
///
/// ```compile_fail,E0597
/// use furcate::prelude::*;
/// let v = vec![1, 2];
/// let sum = v.par_iter().async_sum::<i32>();
/// ```
///
/// ```compile_fail,E0373
/// use furcate::prelude::*;
/// let v = vec![1, 2];
/// let sum = (0..2_usize).into_par_iter().map(|i| v[i]).async_sum::<i32>();
/// ```
///
/// ```compile_fail,E0597
/// use furcate::prelude::*;
/// let pool = furcate::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let sum = (0..2).into_par_iter().on(&pool).async_sum::<i32>();
/// ```
mod escaping_computations {}
