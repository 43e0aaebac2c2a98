//! Limits that several calls share: a semaphore, optionally with a rate limiter.
//!
//! ```text
//!   call A   waits: a1 a2 a3 ──┐
//!   call B   waits: b1       ──┼── ring of calls ──> a1 b1 c1 a2 c2 a3     the order in which permits are handed out
//!   call C   waits: c1 c2    ──┘
//! ```
//!
//! # Invariants
//!
//! 1. Permits handed out and free permits are together as many as at the beginning. A permit that was handed to a ticket and not yet
//!    collected counts as handed out.
//! 2. *First come, first served.* While a ticket waits, each permit is handed to a ticket. Others cannot take one.
//! 3. *Fair among calls.* Calls with waiting tickets stand in a ring, in which each gets a permit in its turn. So the wait for a
//!    permit does not depend on how many tickets another call has. A call's lines are served by the rule of the call's
//!    [own](super::in_flight) permits: under a limit of n permits, a new item begins while at most n begun items wait. So a call has at
//!    most 2n items that have begun and have another future to come.
//! 4. *No permit lies idle while a ticket waits*, unless the rate does not allow another future. Then the timer is set.
//! 5. No waker is called under the lock.

use super::in_flight::LineKind;
use crate::timer::Timer;
use furcate_pool::trace::{self, Traced};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt::{self, Write};
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

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
/// Cost: a lock for each future, and one when it is ready.
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
    shared: Arc<LimitShared>,
}

struct LimitShared {
    permits: usize,
    rate: Option<Rate>,
    /// Where it was made.
    place: &'static Location<'static>,
    /// For the timer, and for dumps.
    this: Weak<LimitShared>,
    state: Mutex<LimitState>,
}

struct LimitState {
    free: usize,
    /// Calls with tickets that wait, each once: the next one's turn first.
    ring: VecDeque<Call>,
    /// The tickets of each call in the ring.
    waiting: HashMap<Call, TicketLines>,
    /// Tickets that have a permit and have not collected it.
    granted: HashSet<u64>,
    /// The number of the next ticket.
    next: u64,
    /// Futures that may begin now. Without a rate it is not used.
    tokens: RateTokens,
    /// Fires when the next future may begin. Set while only the rate keeps a ticket waiting.
    timer: Option<Timer>,
}

/// The tickets of a call, by number: the oldest ones first.
#[derive(Default)]
struct TicketLines {
    first: BTreeMap<u64, Waker>,
    begun: BTreeMap<u64, Waker>,
    new: BTreeMap<u64, Waker>,
}

impl TicketLines {
    fn line(&mut self, kind: LineKind) -> &mut BTreeMap<u64, Waker> {
        match kind {
            LineKind::First => &mut self.first,
            LineKind::Begun => &mut self.begun,
            LineKind::New => &mut self.new,
        }
    }

    fn len(&self) -> usize {
        self.first.len() + self.begun.len() + self.new.len()
    }

    /// Takes the next ticket, where there are so many permits (invariant 3).
    fn next(&mut self, permits: usize) -> Option<(LineKind, u64, Waker)> {
        let mut order = LineKind::order(self.begun.len(), permits).into_iter();
        order.find_map(|kind| self.line(kind).pop_first().map(|(ticket, waker)| (kind, ticket, waker)))
    }
}

/// A call's number.
type Call = u64;

fn next_call() -> Call {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // Relaxed: each number only has to be unique.
    NEXT.fetch_add(1, Relaxed)
}

/// The rate at which futures may begin: a token bucket.
#[derive(Clone, Copy, Debug)]
struct Rate {
    per_second: f64,
    /// The number that may begin at once after a pause: a hundredth of `per_second`, and at least 1.
    burst: f64,
}

struct RateTokens {
    number: f64,
    at: Instant,
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
        let mut state = LimitState::new(permits);
        state.tokens.number = rate.map_or(0.0, |rate| rate.burst);
        let state = Mutex::new(state);
        let shared =
            |this: &Weak<LimitShared>| LimitShared { permits, rate, place, this: Weak::clone(this), state };
        let shared = Arc::new_cyclic(shared);
        trace::register(Weak::<LimitShared>::clone(&shared.this));
        Limit { shared }
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
        let (permits, per_second) = (self.shared.permits, f64::from(futures));
        let rate = Rate { per_second, burst: (per_second / 100.0).max(1.0) };
        Limit::with(permits, Some(rate), Location::caller())
    }

    /// Returns how many futures may be in flight at once.
    #[must_use]
    pub fn permits(&self) -> usize {
        self.shared.permits
    }

    /// Returns how many permits are handed out now.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.shared.permits - self.shared.lock().free
    }

    /// Returns how many tasks wait for a permit now: tasks of calls, each of which may have many futures to begin, and callers of
    /// [`acquire`](Self::acquire).
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.shared.lock().waiting()
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
        let member = self.join();
        async move {
            let mut ticket = Ticket::of(&member, LineKind::New);
            std::future::poll_fn(|context| ticket.poll(context)).await;
            LimitPermit { limit: Limit { shared: Arc::clone(&member.shared) } }
        }
    }

    /// Adds a call under this limit.
    pub(super) fn join(&self) -> Member {
        Member { shared: Arc::clone(&self.shared), call: next_call() }
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
        self.limit.shared.give_back(1);
    }
}

/// Whether both are clones of one limit.
impl PartialEq for Limit {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl Eq for Limit {}

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut limit = f.debug_struct("Limit");
        limit.field("permits", &self.permits()).field("in_use", &self.in_use());
        limit.field("per_second", &self.shared.rate.map(|rate| rate.per_second));
        limit.finish_non_exhaustive()
    }
}

/// A call under a limit.
pub(super) struct Member {
    shared: Arc<LimitShared>,
    call: Call,
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").field("call", &self.call).finish_non_exhaustive()
    }
}

impl Member {
    /// Takes `most` permits, or as many as are free; none while a ticket waits (invariant 2). Returns how many.
    pub(super) fn take(&self, most: usize) -> usize {
        self.shared.take(&mut self.shared.lock(), most)
    }

    pub(super) fn give_back(&self, permits: usize) {
        self.shared.give_back(permits);
    }

    /// Gives back permits with which no future has begun.
    pub(super) fn give_back_unused(&self, permits: usize) {
        self.shared.give_back_unused(permits);
    }

    /// Lets another future begin with a permit that a future had, if no ticket waits and the rate allows it.
    pub(super) fn renew(&self) -> bool {
        let mut state = self.shared.lock();
        let renewed = state.ring.is_empty() && self.shared.tokens(&mut state) > 0;
        if renewed {
            self.shared.spend(&mut state, 1);
        }
        renewed
    }

    /// Returns the number of permits, free or not.
    pub(super) fn permits(&self) -> usize {
        self.shared.permits
    }

    /// Whether a ticket waits.
    pub(super) fn is_wanted(&self) -> bool {
        !self.shared.lock().ring.is_empty()
    }

    /// Whether a permit is for one future only, because the rate counts each of them.
    pub(super) fn has_rate(&self) -> bool {
        self.shared.rate.is_some()
    }
}

/// A place in the line for one permit. Its drop leaves the line.
#[derive(Debug)]
pub(super) struct Ticket<'s> {
    member: &'s Member,
    kind: LineKind,
    /// Number in the line. `None` before the ticket waits, and after its permit was collected.
    number: Option<u64>,
    /// Whether it exchanges a permit for another one, at its first poll.
    gives: bool,
}

impl<'s> Ticket<'s> {
    pub(super) fn of(member: &'s Member, kind: LineKind) -> Self {
        Ticket { member, kind, number: None, gives: false }
    }

    /// Makes a ticket for the next future of an item. The permit of the item's last future belongs to the ticket from
    /// now on. It is given back in the critical section in which the ticket joins the line.
    pub(super) fn exchange(member: &'s Member, kind: LineKind) -> Self {
        Ticket { member, kind, number: None, gives: true }
    }

    /// Collects a permit. The caller gives it back to the member.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let shared = &self.member.shared;
        // Cloned, and dropped, without the lock: a waker is foreign code (invariant 5).
        let waker = context.waker().clone();
        let _before = {
            let mut state = shared.lock();
            if mem::take(&mut self.gives) {
                state.free += 1;
            }
            if self.number.is_some_and(|number| state.granted.remove(&number)) {
                self.number = None;
                return Poll::Ready(());
            }
            if self.number.is_none() && shared.take(&mut state, 1) == 1 {
                return Poll::Ready(());
            }
            let number = *self.number.get_or_insert_with(|| {
                state.next += 1;
                state.next
            });
            state.wait(self.member.call, self.kind, number, waker)
        };
        // If only the rate keeps the ticket waiting, this sets the timer.
        shared.hand_out();
        Poll::Pending
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if self.gives {
            self.member.give_back(1);
        }
        let Some(number) = self.number else { return };
        let shared = &self.member.shared;
        let mut state = shared.lock();
        if state.granted.remove(&number) {
            drop(state);
            shared.give_back_unused(1);
        } else {
            let _waker = state.leave(self.member.call, self.kind, number);
            drop(state);
        }
    }
}

impl LimitState {
    fn new(permits: usize) -> Self {
        LimitState {
            free: permits,
            ring: VecDeque::new(),
            waiting: HashMap::new(),
            granted: HashSet::new(),
            next: 0,
            tokens: RateTokens { number: 0.0, at: Instant::now() },
            timer: None,
        }
    }

    /// Returns the number of tickets that wait.
    fn waiting(&self) -> usize {
        self.waiting.values().map(TicketLines::len).sum()
    }

    /// Puts a ticket in the line, or replaces its waker. Returns the waker before.
    fn wait(&mut self, call: Call, kind: LineKind, ticket: u64, waker: Waker) -> Option<Waker> {
        let LimitState { waiting, ring, .. } = self;
        let lines = waiting.entry(call).or_insert_with(|| {
            ring.push_back(call);
            TicketLines::default()
        });
        lines.line(kind).insert(ticket, waker)
    }

    /// Takes a ticket out of the line.
    fn leave(&mut self, call: Call, kind: LineKind, ticket: u64) -> Option<Waker> {
        let lines = self.waiting.get_mut(&call)?;
        let waker = lines.line(kind).remove(&ticket);
        if lines.len() == 0 {
            self.waiting.remove(&call);
            self.ring.retain(|&other| other != call);
        }
        waker
    }

    /// Takes the next ticket out of the lines, if there are `permits` permits in all (invariant 3).
    fn next(&mut self, permits: usize) -> Option<(LineKind, u64, Waker)> {
        let call = self.ring.pop_front()?;
        let lines = self.waiting.get_mut(&call)?;
        let next = lines.next(permits);
        if lines.len() == 0 {
            self.waiting.remove(&call);
        } else {
            self.ring.push_back(call);
        }
        next
    }
}

impl Traced for LimitShared {
    fn dump(&self, out: &mut String) {
        // A text takes whatever is written.
        let _ = write!(out, "limit of {} permits, made at {}", self.permits, self.place);
        if let Some(rate) = self.rate {
            let _ = write!(out, ", and of {} futures per second", rate.per_second);
        }
        // Not waited for: a thread that hangs may hold the lock.
        let _ = match self.state.try_lock() {
            Ok(state) => writeln!(
                out,
                "; permits in use: {}, tasks that wait for one: {}, in calls: {}",
                self.permits - state.free,
                state.waiting(),
                state.ring.len()
            ),
            Err(_) => writeln!(out, "; a thread uses it at this moment"),
        };
    }
}

impl LimitShared {
    fn lock(&self) -> MutexGuard<'_, LimitState> {
        self.state.lock().expect("nobody panics with this lock")
    }

    /// See [`Member::take`].
    fn take(&self, state: &mut LimitState, most: usize) -> usize {
        if !state.ring.is_empty() {
            return 0;
        }
        let taken = most.min(state.free).min(self.tokens(state));
        state.free -= taken;
        self.spend(state, taken);
        taken
    }

    fn give_back_unused(&self, permits: usize) {
        if permits > 0 {
            self.earn(&mut self.lock(), permits);
            self.give_back(permits);
        }
    }

    fn give_back(&self, permits: usize) {
        if permits > 0 {
            self.lock().free += permits;
            self.hand_out();
        }
    }

    /// Hands free permits to waiting tickets.
    fn hand_out(&self) {
        loop {
            let (kind, waker) = {
                let mut state = self.lock();
                if state.free == 0 || state.ring.is_empty() {
                    return;
                }
                if self.tokens(&mut state) == 0 {
                    if self.set_timer(&mut state) {
                        return;
                    }
                    continue;
                }
                let Some((kind, ticket, waker)) = state.next(self.permits) else { return };
                state.free -= 1;
                self.spend(&mut state, 1);
                state.granted.insert(ticket);
                (kind, waker)
            };
            kind.wake(waker);
        }
    }
}

impl LimitShared {
    /// Returns how many futures may begin now.
    fn tokens(&self, state: &mut LimitState) -> usize {
        let Some(rate) = self.rate else { return usize::MAX };
        let (tokens, now) = (&mut state.tokens, Instant::now());
        let since = now.saturating_duration_since(tokens.at).as_secs_f64();
        *tokens = RateTokens { number: (tokens.number + since * rate.per_second).min(rate.burst), at: now };
        tokens.number as usize
    }

    fn spend(&self, state: &mut LimitState, tokens: usize) {
        if self.rate.is_some() {
            state.tokens.number -= tokens as f64;
        }
    }

    /// Returns tokens that were not used. The next look cuts them to a burst.
    fn earn(&self, state: &mut LimitState, tokens: usize) {
        if self.rate.is_some() {
            state.tokens.number += tokens as f64;
        }
    }

    /// Sets the timer for the next token (invariant 4). Returns `false` if there is a token by now.
    fn set_timer(&self, state: &mut LimitState) -> bool {
        let Some(rate) = self.rate.filter(|_| state.timer.is_none()) else { return true };
        // Rounded up, so that there is a token when the timer fires.
        let time = Duration::from_secs_f64((1.0 - state.tokens.number) / rate.per_second);
        let mut timer = Timer::at(state.tokens.at + time + Duration::from_micros(1));
        let alarm = Waker::from(Arc::new(LimitTimer(Weak::clone(&self.this))));
        let is_set = Pin::new(&mut timer).poll(&mut Context::from_waker(&alarm)).is_pending();
        state.timer = is_set.then_some(timer);
        is_set
    }
}

/// Wakes a limit when its timer fires.
struct LimitTimer(Weak<LimitShared>);

impl Wake for LimitTimer {
    fn wake(self: Arc<Self>) {
        if let Some(shared) = self.0.upgrade() {
            let timer = shared.lock().timer.take();
            drop(timer);
            shared.hand_out();
        }
    }
}

#[cfg(test)]
mod tests;
