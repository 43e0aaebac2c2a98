//! Limits that several calls share.

use super::room::Room;
use super::semaphore::{LineKind, Place, Rate, Semaphore, WAITING};
use furcate_pool::trace::{self, Traced};
use std::fmt::{self, Write};
use std::mem;
use std::panic::Location;
use std::sync::{Arc, Weak};

/// A limit that several calls share: how many of their futures may be in flight at once, and how many may begin in a second.
///
/// A limit is a *semaphore*, and with `per_second` a *rate limiter*. Clones share the permits. Chains take it
/// with `.io_await().limit(&limit)`; code that is no chain takes a permit by [`acquire`](Self::acquire).
///
/// Permits are handed out first come, first served, and fairly among calls: a call that waits with a thousand tasks and one
/// that waits with one get a permit by turns. A permit comes back when its future is ready, or is dropped: by a
/// cancelled call, a timeout or a panic.
///
/// An item that waits for several futures gets a permit for each of them. Under a limit of n permits, a call begins new items while at
/// most n of its items wait for a permit for their next future. So at most n futures of a call are in flight, and at most `2 * n` of
/// its items have begun and wait for another future.
///
/// Neither a future that holds a permit nor the code between two `io_await`s should wait for a call under the same limit: an item keeps
/// its permit until it makes its next future. If all permits are held in this way, none of the calls goes on. The code behind the last
/// `io_await` may call such chains, but not in a search.
///
/// Cost: an atomic operation for some futures, and one when each is ready; a lock for each if tasks wait, or there is a rate, or the call has a
/// bound of its own that is less.
///
/// ```
/// use furcate::Limit;
/// use furcate::prelude::*;
/// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
///
/// // One for the whole program: the database takes 4 connections.
/// let limit = Limit::new(4);
/// let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
/// let query = |x: u64| {
///     let (now, most) = (&now, &most);
///     async move {
///         most.fetch_max(now.fetch_add(1, Relaxed) + 1, Relaxed);
///         async_io::Timer::after(std::time::Duration::from_millis(1)).await;
///         now.fetch_sub(1, Relaxed);
///         x
///     }
/// };
/// std::thread::scope(|handlers| {
///     for _ in 0..3 {
///         handlers.spawn(|| {
///             let sum = (0..50).into_par_iter().map(query).io_await().limit(&limit).sum::<u64>();
///             assert_eq!(sum, 1225);
///         });
///     }
/// });
/// assert!(most.into_inner() <= 4 && limit.in_use() == 0);
/// ```
#[derive(Clone)]
pub struct Limit {
    semaphore: Arc<Semaphore>,
}

impl Limit {
    /// Lets at most `permits` futures be in flight at once, counted over all calls under this limit.
    ///
    /// # Panics
    ///
    /// If `permits` is 0.
    ///
    /// ```
    /// let limit = furcate::Limit::new(256);
    /// assert_eq!((limit.permits(), limit.in_use()), (256, 0));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn new(permits: usize) -> Self {
        assert!(permits > 0, "a limit of 0 would never let a future begin: `Limit::new` needs at least 1");
        Limit::with(permits, None, Location::caller())
    }

    fn with(permits: usize, rate: Option<Rate>, place: &'static Location<'static>) -> Self {
        let semaphore = Semaphore::new(permits, rate, Some(place));
        let this: Weak<Semaphore> = Arc::downgrade(&semaphore);
        trace::register(this);
        Limit { semaphore }
    }

    /// Returns a limit with the same number of permits that also lets at most `futures` futures begin in a second.
    ///
    /// The rate is kept evenly (a token bucket): in any `t` seconds at most `futures * t` futures begin, plus a burst of
    /// a hundredth of `futures`, or of 1 if that is more. The new limit shares no permits with clones made before.
    ///
    /// # Panics
    ///
    /// If `futures` is 0.
    ///
    /// ```
    /// use furcate::Limit;
    /// use furcate::prelude::*;
    /// use std::time::{Duration, Instant};
    ///
    /// let (limit, begin) = (Limit::new(64).per_second(1000), Instant::now());
    /// let count = (0..50).into_par_iter().map(|x| async move { x }).io_await().limit(&limit).count();
    /// assert!(count == 50 && begin.elapsed() >= Duration::from_millis(39)); // 10 at once, 40 in 40 ms
    /// ```
    #[must_use]
    #[track_caller]
    pub fn per_second(self, futures: u32) -> Self {
        assert!(futures > 0, "at a rate of 0 no future would ever begin: `per_second` needs at least 1");
        let rate = Rate { per_second: f64::from(futures) };
        Limit::with(self.permits(), Some(rate), Location::caller())
    }

    /// Returns how many futures may be in flight at once.
    #[must_use]
    pub fn permits(&self) -> usize {
        self.semaphore.permits()
    }

    /// Returns how many permits are handed out now.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.semaphore.in_use()
    }

    /// Returns how many tasks wait for a permit now: tasks of calls, each of which may have many futures to begin, and callers of
    /// [`acquire`](Self::acquire).
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.semaphore.lock().waiting().0
    }

    /// Waits for a permit, for code that is no chain. Dropping the permit gives it back.
    ///
    /// ```
    /// let limit = furcate::Limit::new(1);
    /// furcate::block_on(async {
    ///     let permit = limit.acquire().await;
    ///     assert_eq!(limit.in_use(), 1);
    ///     drop(permit);
    /// });
    /// assert_eq!(limit.in_use(), 0);
    /// ```
    pub fn acquire(&self) -> impl Future<Output = LimitPermit> + Send + 'static + use<> {
        let limit = self.clone();
        async move {
            if limit.semaphore.has_rate() || limit.semaphore.take(1, 0, WAITING) == 0 {
                let room = Room::new(usize::MAX, Some(&limit));
                // The permit outlives the room.
                mem::forget(room.acquire(LineKind::New, Place::FIRST).await);
            }
            LimitPermit { limit }
        }
    }

    pub(super) fn semaphore(&self) -> Arc<Semaphore> {
        Arc::clone(&self.semaphore)
    }
}

/// The right to one future under a [`Limit`]: see [`Limit::acquire`]. Given back when dropped.
#[derive(Debug)]
#[must_use = "dropped, it is given back at once"]
pub struct LimitPermit {
    limit: Limit,
}

impl Drop for LimitPermit {
    fn drop(&mut self) {
        self.limit.semaphore.give_back_one();
    }
}

/// Whether both are clones of one limit.
impl PartialEq for Limit {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.semaphore, &other.semaphore)
    }
}

impl Eq for Limit {}

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut limit = f.debug_struct("Limit");
        limit.field("permits", &self.permits()).field("in_use", &self.in_use());
        limit.field("per_second", &self.semaphore.rate.map(|rate| rate.per_second));
        limit.finish_non_exhaustive()
    }
}

impl Traced for Semaphore {
    fn dump(&self, out: &mut String) {
        let Some(place) = self.place else { return };
        // A text takes whatever is written.
        let _ = write!(out, "limit of {} permits, made at {place}", self.permits());
        if let Some(rate) = self.rate {
            let _ = write!(out, ", and of {} futures per second", rate.per_second);
        }
        // Not waited for: a thread that hangs may hold the lock.
        let _ = match self.state.try_lock() {
            Ok(state) => {
                let (tasks, calls) = state.waiting();
                writeln!(
                    out,
                    "; permits in use: {}, tasks that wait for one: {tasks}, in calls: {calls}",
                    self.in_use()
                )
            }
            Err(_) => writeln!(out, "; a thread uses it at this moment"),
        };
    }
}

#[cfg(test)]
mod tests;
