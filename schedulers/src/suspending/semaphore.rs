//! Permits for futures in flight: a fair semaphore, for one call or for several that share a [limit](super::Limit), with or without a rate.
//!
//! Tasks of a call wait for permits in lines. A call begins with new items, and gives the permits that come back to items in turns:
//!
//! ```text
//!   future of item a is ready ─> exchange: a gives its permit ──┬─> first new item    if at most n begun items wait
//!                                a joins the line of begun ─┐   └─> first begun item  otherwise
//!                                                           └─ ... a's turn: a makes its next future, with that permit
//! ```
//!
//! If each item kept its permit over all of its futures, the last permits would lie idle: of 100 items with 4 futures each and
//! 64 permits, 64 items take four turns, and the other 36 take four more. In turns they take seven.
//!
//! Calls with waiting tasks stand in a ring, in which each gets a permit in its turn:
//!
//! ```text
//!   call A   waits: a1 a2 a3 ──┐
//!   call B   waits: b1       ──┼── ring of calls ──> a1 b1 c1 a2 c2 a3     the order in which permits are handed out
//!   call C   waits: c1 c2    ──┘
//! ```
//!
//! # Invariants
//!
//! Let n be the number of permits of a call: the semaphore's number, or the call's own *bound* if the bound is less.
//!
//! 1. Permits given out and free permits are together as many as at the beginning. Of each bound, too.
//! 2. *No task holds more permits than it can use.* It holds those for the futures of its next step, while the loop lasts.
//! 3. *No permit lies idle while a task waits* that may have it: its call's bound allows it, it is not kept for the front (7), and the rate
//!    allows another future (else the timer is set). A permit that is given back goes to a waiting task, which is queued before (nearly) all
//!    tasks that were woken earlier. A waiting task that is dropped hands its permit on. While a task waits that may have any permit, other
//!    tasks cannot take permits. So every task that waits gets a permit, however many items and calls wait.
//! 4. *First come, first served* within a line, but for the first items (7), and *fair among calls*. A permit of a call goes to a new item
//!    while at most n begun items of the call wait; else to a begun one. In a search, items that have begun go first, because each of them may
//!    end the search.
//! 5. *At most 2n items of a call have begun* and have another future to come: n in flight, and n in line. For an item joins the line in the
//!    critical section that gives its permit to another one, and no new item begins while n + 1 are in line. (Not counted are the
//!    futures that one item begins beside its first.)
//! 6. Whenever the lock is free: the word has the bit `WAITING` exactly if a task waits that may have any permit; and `BEHIND` if one
//!    waits that leaves some to the front (and perhaps until the next permit is given back under the lock). With a bit, permits are given back under the lock only; with `WAITING`, taken there only.
//! 7. *From the front.* The *front* of a call is the first branch with an item that has not begun. A branch that is in front stays there
//!    until all its items have begun. As long as fewer than n items have begun there, the permits for the rest of the n are kept, and new
//!    items wait for permits in the order of their places. The result of a first item may end the call. So the owner of the left half
//!    begins it before a thief takes permits for the right half. A task is kept waiting in this way for 10 ms at most: after that no more
//!    permits are kept, as the front may compute, or block, before it begins its items.
//! 8. No waker is cloned, called or dropped under the lock: wakers are foreign code.

use crate::timer::Timer;
use furcate_pool::Priority;
#[cfg(not(loom))]
use furcate_pool::current_priority;
use furcate_pool::detach::{wake_first, wake_soon};
use furcate_pool::sync::clock;
use furcate_pool::sync::machine::atomic::Ordering::{Acquire, Relaxed, Release};
use furcate_pool::sync::machine::atomic::{AtomicU64, AtomicUsize};
use furcate_pool::sync::machine::{Mutex, MutexGuard};
use std::collections::{BTreeSet, VecDeque};
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

/// Models have no priorities.
#[cfg(loom)]
fn current_priority() -> Priority {
    Priority::Normal
}

/// The permits. A call takes part by a [`Room`].
#[derive(Debug)]
pub(super) struct Semaphore {
    permits: usize,
    /// Whether there are permits for all.
    is_unbounded: bool,
    /// Number of free permits, with the bits `WAITING` and `BEHIND`.
    pub(super) word: AtomicUsize,
    pub(super) rate: Option<Rate>,
    pub(super) place: Option<&'static Location<'static>>,
    pub(super) state: Mutex<State>,
}

/// Set while a task waits that may have any permit.
pub(super) const WAITING: usize = 1 << (usize::BITS - 1);

/// Set while a task waits that leaves some permits to the front.
const BEHIND: usize = WAITING >> 1;

/// The number of free permits in the word. As many permits are no bound.
const FREE: usize = BEHIND - 1;

/// Time for which a task waits behind the front.
const PATIENCE: Duration = if cfg!(test) { Duration::from_secs(3600) } else { Duration::from_millis(10) };

/// The rate at which futures may begin: a token bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    pub(super) per_second: f64,
}

impl Rate {
    /// The number that may begin at once after a pause: a hundredth of the rate, and at least 1.
    fn burst(self) -> f64 {
        (self.per_second / 100.0).max(1.0)
    }
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// The calls, by their numbers. `None` for a number that no call has.
    calls: Vec<Option<Member>>,
    /// Numbers below that of the last call that no call has.
    vacant: Vec<usize>,
    /// Numbers of calls that [want](Wants) a permit, the next one's turn first.
    ring: VecDeque<usize>,
    /// How many of them want any permit.
    any: usize,
    /// Number of looks for a task to serve; wraps.
    served: u8,
    /// Futures that may begin at that time. `None` if all may, and before the first look.
    tokens: Option<(f64, Instant)>,
    /// Fires when the next future may begin. Set while only the rate keeps a task waiting.
    timer: Option<Timer>,
    /// Fires when no more permits are to be kept. Set while a call has tasks that wait behind its front.
    pub(super) patience: Option<Timer>,
}

/// A call, as the semaphore knows it.
#[derive(Debug)]
pub(super) struct Member {
    front: Arc<Front>,
    /// Number of permits.
    permits: usize,
    /// How many of these are free, if they are fewer than the semaphore's.
    pub(super) free: Option<usize>,
    lines: [Line; 3],
    /// Ticket of the next task that waits.
    next: u64,
    wants: Wants,
    priority: Priority,
    /// Branches with items that have not begun.
    pub(super) branches: BTreeSet<Place>,
}

/// Tasks that wait for permits, by place and ticket. Places count only for new items, and only while permits are kept.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// `None` for a task that has left the line; the first one has not.
    wakers: VecDeque<(Place, u64, Option<Waker>)>,
}

impl Line {
    fn is_empty(&self) -> bool {
        self.wakers.is_empty()
    }

    /// Returns the place of the first task.
    fn first(&self) -> Option<Place> {
        self.wakers.front().map(|&(place, ..)| place)
    }

    /// Adds a task with the greatest ticket so far.
    fn join(&mut self, place: Place, ticket: u64, waker: Waker) {
        let entry = (place, ticket, Some(waker));
        if self.wakers.back().is_none_or(|&(last, ..)| last <= place) {
            self.wakers.push_back(entry);
        } else {
            self.wakers.insert(self.wakers.partition_point(|&(other, ..)| other <= place), entry);
        }
    }

    /// Returns the waker of a task that waits.
    pub(super) fn waker(&mut self, place: Place, ticket: u64) -> Option<&mut Waker> {
        self.entry(place, ticket)?.as_mut()
    }

    fn entry(&mut self, place: Place, ticket: u64) -> Option<&mut Option<Waker>> {
        let index =
            self.wakers.binary_search_by_key(&(place, ticket), |&(place, ticket, _)| (place, ticket)).ok()?;
        Some(&mut self.wakers[index].2)
    }

    /// Removes a task that waits. Returns its waker.
    pub(super) fn leave(&mut self, place: Place, ticket: u64) -> Option<Waker> {
        let waker = self.entry(place, ticket)?.take();
        self.skip();
        waker
    }

    /// Removes the first task. Returns its place, its ticket and its waker.
    fn serve(&mut self) -> Option<(Place, u64, Waker)> {
        let (place, ticket, waker) = self.wakers.pop_front()?;
        self.skip();
        Some((place, ticket, waker?))
    }

    /// Skips tasks that have left.
    fn skip(&mut self) {
        while self.wakers.front().is_some_and(|(.., waker)| waker.is_none()) {
            self.wakers.pop_front();
        }
    }
}

/// The kind of permit that a call's first task waits for. `Nothing` also while the call's bound allows no further permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wants {
    Nothing,
    /// A permit beside those that are kept for the front.
    Behind,
    Any,
}

/// The part of a call's state that its tasks read without the lock. Written with the lock held.
#[derive(Debug)]
pub(super) struct Front {
    /// The place of the front, or more than any place if no branch has entered.
    place: AtomicU64,
    /// Number of permits that are kept for the front (invariant 7). Never grows.
    pub(super) kept: AtomicUsize,
    /// For each line, the ticket of the last task that was served whose place means nothing: such tasks are served in the order of their
    /// tickets.
    served: [AtomicU64; 3],
}

/// The place of a branch in the division tree: the greater the place, the later the branch's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(pub(super) u64);

impl Place {
    /// The place of the whole, and of the first part of every division of it.
    pub(super) const FIRST: Place = Place(0);

    /// The place in the line when places mean nothing any more.
    pub(super) const LAST: Place = Place(u64::MAX);

    /// Returns the place of the right part, where the branch is divided after `depth` divisions. Below 64 divisions, parts share a place.
    pub(super) fn right(self, depth: u8) -> Place {
        Place(self.0 | (1_u64 << 63).checked_shr(depth.into()).unwrap_or(0))
    }
}

/// The line in which a task waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// For an item of a search that has begun: it has waited for a future before. It goes before all others.
    First,
    /// For any other item that has begun. It goes in turns with new ones.
    Begun,
    /// For the first future of an item.
    New,
}

impl LineKind {
    /// Wakes a task of this line that was served. It has waited longer than the tasks that were woken before.
    fn wake(self, waker: Waker) {
        match self {
            LineKind::First | LineKind::Begun => wake_first(waker),
            // Often a task that makes a future for each permit: not one task more for each permit that comes back.
            LineKind::New => wake_soon(waker),
        }
    }
}

impl Front {
    /// Makes the front of a call with so many permits; none are kept of those that have no bound.
    pub(super) fn new(permits: usize) -> Self {
        let kept = if permits < FREE { permits } else { 0 };
        Front { place: AtomicU64::new(u64::MAX), kept: AtomicUsize::new(kept), served: Default::default() }
    }

    /// Whether the task has been served. If not, or if its place means something, only a look with the lock held can tell.
    pub(super) fn has_served(&self, kind: LineKind, place: Place, ticket: u64) -> bool {
        // Acquire: pairs with the release in `Member::serve`, as the lock would: see `Semaphore::take`.
        place == Place::LAST && ticket <= self.served[kind as usize].load(Acquire)
    }

    pub(super) fn keeps_some(&self) -> bool {
        // Relaxed: see below.
        self.kept.load(Relaxed) > 0
    }

    /// Whether a branch has entered.
    pub(super) fn is_set(&self) -> bool {
        self.place.load(Relaxed) != u64::MAX
    }

    pub(super) fn is_at(&self, branch: Place) -> bool {
        self.place.load(Relaxed) == branch.0
    }

    /// Sets the place. Called with the lock held.
    pub(super) fn set(&self, branch: Option<Place>) {
        self.place.store(branch.map_or(u64::MAX, |branch| branch.0), Relaxed);
    }

    /// Returns the number of permits that a task leaves to the front (invariant 7). A hint without the lock.
    pub(super) fn kept(&self, kind: LineKind, place: Place) -> usize {
        // Relaxed: a branch that was in front stays there. One that does not know yet that it is in front looks again, under the lock.
        let is_free = kind != LineKind::New || place.0 <= self.place.load(Relaxed);
        if is_free { 0 } else { self.kept.load(Relaxed) }
    }
}

impl Member {
    pub(super) fn new(front: Arc<Front>, permits: usize, free: Option<usize>) -> Self {
        let (lines, branches) = Default::default();
        let priority = current_priority();
        Member { front, permits, free, lines, next: 0, wants: Wants::Nothing, priority, branches }
    }

    pub(super) fn line(&mut self, kind: LineKind) -> &mut Line {
        &mut self.lines[kind as usize]
    }

    /// Puts a task in a line. Returns its ticket.
    pub(super) fn wait(&mut self, kind: LineKind, place: Place, waker: Waker) -> u64 {
        self.next += 1;
        let ticket = self.next;
        self.line(kind).join(place, ticket, waker);
        ticket
    }

    /// Whether the first new item that waits may have any permit. False if none waits.
    fn is_first_new_free(&self) -> bool {
        let first = self.lines[LineKind::New as usize].first();
        first.is_some_and(|place| self.front.kept(LineKind::New, place) == 0)
    }

    /// Whether a task waits that may have any permit, if the call's bound allows it another one.
    pub(super) fn is_wanted(&self) -> bool {
        let [first, begun, _] = &self.lines;
        !first.is_empty() || !begun.is_empty() || self.is_first_new_free()
    }

    /// Returns the number of permits that the call leaves to its front, if it gets one.
    fn kept(&self) -> usize {
        // Relaxed: see `Front::kept`.
        if self.wants == Wants::Behind { self.front.kept.load(Relaxed) } else { 0 }
    }

    /// Returns how many permits the call's own bound allows beside `kept` ones, and how many of the semaphore's are to be left. The permits
    /// that are kept are the call's own, if it has a bound.
    pub(super) fn beside(&self, kept: usize) -> (usize, usize) {
        self.free.map_or((usize::MAX, kept), |free| (free.saturating_sub(kept), 0))
    }

    /// Takes the task that gets the call's next permit out of its line (invariant 4).
    fn serve(&mut self) -> Option<(LineKind, Waker)> {
        let order = if self.lines[LineKind::Begun as usize].wakers.len() <= self.permits {
            [LineKind::First, LineKind::New, LineKind::Begun]
        } else {
            [LineKind::First, LineKind::Begun, LineKind::New]
        };
        let takes_new = self.wants == Wants::Behind || self.is_first_new_free();
        let mut open = order.into_iter().filter(|&kind| kind != LineKind::New || takes_new);
        let (kind, (place, ticket, waker)) =
            open.find_map(|kind| Some((kind, self.lines[kind as usize].serve()?)))?;
        if place == Place::LAST {
            // Release: the task may go on without the lock.
            self.front.served[kind as usize].store(ticket, Release);
        }
        Some((kind, waker))
    }
}

impl State {
    /// Adds a call. Returns its number.
    pub(super) fn join(&mut self, member: Member) -> usize {
        let Some(call) = self.vacant.pop() else {
            self.calls.push(Some(member));
            return self.calls.len() - 1;
        };
        self.calls[call] = Some(member);
        call
    }

    /// Removes a call. None of its tasks waits.
    pub(super) fn leave(&mut self, call: usize) {
        self.calls[call] = None;
        self.vacant.push(call);
    }

    pub(super) fn member(&mut self, call: usize) -> &mut Member {
        self.calls[call].as_mut().expect("the call has a room")
    }

    /// Spends tokens, if there is a rate; or returns some that were not used. The next look cuts them to a burst.
    pub(super) fn spend(&mut self, tokens: isize) {
        if let Some((number, _)) = &mut self.tokens {
            *number -= tokens as f64;
        }
    }

    /// Returns how many tasks wait, and in how many calls.
    pub(super) fn waiting(&self) -> (usize, usize) {
        let tasks = |member: &Member| {
            member.lines.iter().flat_map(|line| &line.wakers).filter(|(.., waker)| waker.is_some()).count()
        };
        let of_calls = self.calls.iter().flatten().map(tasks).filter(|&tasks| tasks > 0);
        of_calls.fold((0, 0), |(tasks, calls), of_call| (tasks + of_call, calls + 1))
    }

    /// Makes what a call wants, and the ring, agree with its lines.
    pub(super) fn refresh(&mut self, call: usize) {
        let member = self.member(call);
        let now = if member.free == Some(0) {
            Wants::Nothing
        } else if member.is_wanted() {
            Wants::Any
        } else if !member.lines[LineKind::New as usize].is_empty() {
            Wants::Behind
        } else {
            Wants::Nothing
        };
        match (self.set_wants(call, now), now) {
            (Wants::Nothing, Wants::Behind | Wants::Any) => self.ring.push_back(call),
            (Wants::Behind | Wants::Any, Wants::Nothing) => self.ring.retain(|&other| other != call),
            _ => {}
        }
    }

    /// Sets what a call wants; the ring is the caller's affair. Returns what the call has wanted.
    fn set_wants(&mut self, call: usize, now: Wants) -> Wants {
        let before = mem::replace(&mut self.member(call).wants, now);
        self.any = self.any + usize::from(now == Wants::Any) - usize::from(before == Wants::Any);
        before
    }
}

impl Semaphore {
    /// Makes the semaphore of a call, or that of a [limit](super::Limit) with the place where the limit is made.
    pub(super) fn new(
        permits: usize,
        rate: Option<Rate>,
        place: Option<&'static Location<'static>>,
    ) -> Arc<Self> {
        let is_unbounded = place.is_none() && permits >= FREE;
        let word = AtomicUsize::new(permits.min(FREE));
        Arc::new(Semaphore { permits, is_unbounded, word, rate, place, state: Mutex::default() })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with this lock")
    }

    pub(super) fn permits(&self) -> usize {
        self.permits
    }

    pub(super) fn has_rate(&self) -> bool {
        self.rate.is_some()
    }

    /// Returns the number of free permits: a hint without the lock.
    pub(super) fn free(&self) -> usize {
        self.word.load(Relaxed) & FREE
    }

    /// Returns the number of permits that are given out.
    pub(super) fn in_use(&self) -> usize {
        self.permits.min(FREE) - self.free()
    }

    /// Whether a task waits that may have any permit: a hint without the lock.
    pub(super) fn is_wanted(&self) -> bool {
        self.word.load(Relaxed) & WAITING != 0
    }

    /// Takes permits: so many, or as many as there are beside `kept` ones; none if the word has the bit `unless`.
    ///
    /// Acquire: pairs with the release in `give_back`. The task sees results found by the permit's last holder (invariant 6 of the
    /// scheduler). With Relaxed it might begin an item that is not needed any more, and wait for it for ever. A permit that is handed
    /// to a waiting task goes through the lock, or through [`Front::served`], which orders the two as well: whoever serves a task has got the
    /// permit by this acquire, from a former holder of the lock, or from the same thread.
    pub(super) fn take(&self, most: usize, kept: usize, unless: usize) -> usize {
        if self.is_unbounded {
            return most;
        }
        let taken = |word: usize| match word & unless {
            0 => (word & FREE).saturating_sub(kept).min(most),
            _ => 0,
        };
        let take = |word: usize| Some(taken(word)).filter(|&taken| taken > 0).map(|taken| word - taken);
        self.word.fetch_update(Acquire, Relaxed, take).map_or(0, taken)
    }

    /// Gives permits back, if no task waits.
    pub(super) fn give_back(&self, permits: usize) -> bool {
        let add = |word: usize| (word <= FREE).then(|| word + permits);
        self.is_unbounded || self.word.fetch_update(Release, Relaxed, add).is_ok()
    }

    /// Gives a permit back that no call has: to a task that waits, if there is one.
    pub(super) fn give_back_one(self: &Arc<Self>) {
        if !self.give_back(1) {
            self.hand_out(self.lock(), 1);
        }
    }

    /// Serves tasks that wait, as far as there are permits, and makes the word agree with the lines (invariants 3 and 6). So many permits are
    /// the caller's, and in no word.
    pub(super) fn hand_out<'a>(self: &'a Arc<Self>, mut state: MutexGuard<'a, State>, mut held: usize) {
        loop {
            let served = self.serve(&mut state, held > 0);
            let rest = mem::take(&mut held).saturating_sub(served.is_some().into());
            if rest > 0 {
                // Release: as in `give_back`.
                self.word.fetch_add(rest, Release);
            }
            self.set_patience(&mut state);
            let bits = match (state.any, state.ring.len()) {
                (0, 0) => 0,
                (0, _) => BEHIND,
                (any, all) if any == all => WAITING,
                _ => WAITING | BEHIND,
            };
            let settled = |word: usize| Some(word & FREE | bits).filter(|&settled| settled != word);
            // Relaxed: this hands out no permits. A permit that is given back from now on is handed to a task.
            let word = self.word.fetch_update(Relaxed, Relaxed, settled).unwrap_or_else(|same| same);
            drop(state);
            let is_over = bits == 0 || word & FREE == 0;
            match served {
                Some((kind, waker)) => kind.wake(waker),
                // The rest may serve a task that leaves some to the front. And a permit may have been given back just before a bit was set.
                None if rest == 0 && word & !FREE == bits => return,
                None => {}
            }
            if is_over {
                return;
            }
            state = self.lock();
        }
    }

    /// Serves the next task: with a permit that the caller holds, or else with a free one.
    fn serve(self: &Arc<Self>, state: &mut State, is_held: bool) -> Option<(LineKind, Waker)> {
        if state.ring.is_empty() || (!is_held && self.free() == 0) {
            return None;
        }
        while self.tokens(state) == 0 {
            if self.set_timer(state) {
                return None;
            }
        }
        let State { ring, calls, served, .. } = state;
        let may_have = |call: usize| {
            let member = calls[call].as_ref().expect("it is in the ring");
            let (own, kept) = member.beside(member.kept());
            own > 0 && if is_held { kept == 0 } else { self.take(1, kept, 0) > 0 }
        };
        // By priority; but every eighth permit goes to the call whose turn it is, so that none starves.
        *served = served.wrapping_add(1);
        let by_turn = *served % 8 == 0;
        let is_of =
            |call: usize, priority| calls[call].as_ref().is_some_and(|member| member.priority == priority);
        let next =
            |priority| ring.iter().position(|&call| (by_turn || is_of(call, priority)) && may_have(call));
        let turn = Priority::ALL.into_iter().rev().find_map(next)?;
        let call = ring.remove(turn).expect("just seen");
        state.spend(1);
        let member = state.member(call);
        let served = member.serve();
        if let Some(free) = &mut member.free {
            *free -= 1;
        }
        // It is not in the ring now. If it wants another permit, its next turn is the last one.
        state.set_wants(call, Wants::Nothing);
        state.refresh(call);
        served
    }
}

/// The rate.
impl Semaphore {
    /// Returns how many futures may begin now.
    pub(super) fn tokens(&self, state: &mut State) -> usize {
        let Some(rate) = self.rate else { return usize::MAX };
        let now = clock::now();
        let (number, at) = state.tokens.unwrap_or((rate.burst(), now));
        let since = now.saturating_duration_since(at).as_secs_f64();
        let number = (number + since * rate.per_second).min(rate.burst());
        state.tokens = Some((number, now));
        number as usize
    }

    /// Sets the timer for the next token (invariant 3). Returns `false` if there is a token by now.
    fn set_timer(self: &Arc<Self>, state: &mut State) -> bool {
        let (Some(rate), Some((number, at)), None) = (self.rate, state.tokens, &state.timer) else {
            return true;
        };
        // Rounded up, so that there is a token when the timer fires.
        let time = Duration::from_secs_f64((1.0 - number) / rate.per_second);
        state.timer = set(Timer::at(at + time + Duration::from_micros(1)), Arc::clone(self).into());
        state.timer.is_some()
    }
}

/// Sets a timer for a waker. Returns none if the timer is ready by now, and wakes nobody.
fn set(mut timer: Timer, alarm: Waker) -> Option<Timer> {
    Pin::new(&mut timer).poll(&mut Context::from_waker(&alarm)).is_pending().then_some(timer)
}

/// The next future may begin.
impl Wake for Semaphore {
    fn wake(self: Arc<Self>) {
        let mut state = self.lock();
        let timer = state.timer.take();
        self.hand_out(state, 0);
        drop(timer);
    }
}

/// Wakes the tasks that have waited behind the front for too long.
pub(super) struct Impatience(pub(super) Arc<Semaphore>);

impl Semaphore {
    /// Sets the timer for tasks that wait behind a front.
    fn set_patience(self: &Arc<Self>, state: &mut State) {
        // A target without threads cannot start the timers' thread. It needs none: its one thread begins the items of the front.
        let has_threads = !cfg!(target_family = "wasm");
        while state.ring.len() > state.any && state.patience.is_none() && has_threads {
            state.patience = set(Timer::after(PATIENCE), Arc::new(Impatience(Arc::clone(self))).into());
        }
    }
}

impl Wake for Impatience {
    fn wake(self: Arc<Self>) {
        let mut state = self.0.lock();
        let timer = state.patience.take();
        for call in state.ring.clone() {
            if state.member(call).wants == Wants::Behind {
                // Relaxed: written with the lock held; see `Front::kept`.
                state.member(call).front.kept.store(0, Relaxed);
                state.refresh(call);
            }
        }
        self.0.hand_out(state, 0);
        drop(timer);
    }
}
