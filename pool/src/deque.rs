//! The worker's deque: pushes and pops without a fence, every job stealable at every moment.
//!
//! One owner pushes and pops at the *bottom*; thieves take from the *top*. As in Lace (van Dijk and van de Pol, "Lace:
//! Non-blocking Split Deque for Work-Stealing", 2014; in Rust: lace.rs by Daan Luth) a *split* divides the deque. Jobs
//! between top and split are shared, and stolen with one compare-and-swap. Jobs between split and bottom are private,
//! and pushed and popped with plain stores. A thief that finds nothing shared *requests a split* (`request_split`): the owner
//! shares jobs at its next push (`publish`). Lace stops there, so a worker inside a long leaf hides all of its private
//! jobs. Here a thief that gets no answer *steals a private job* itself (`steal_private`), at the price of a
//! [heavy fence](crate::sync::fence) on its own side.
//!
//! ```text
//!   index    top ──────── split ──────────────── bottom
//!               shared     │      private
//!            thieves: CAS  │  owner: plain stores     thief: CAS, heavy fence, CAS
//! ```
//!
//! # State
//!
//! `word` holds top and split (see [`word`]); it changes by compare-and-swap only:
//!
//! | from | to | by |
//! |---|---|---|
//! | private(t) | shared(t, s) | the owner, after a split was requested, at a push or (of spawned jobs) a pop |
//! | shared(t, s) | shared(t + 1, s), or private(t + 1) if t + 1 = s | a thief: it takes the job at t |
//! | shared(t, s) | shared(t, s') with t < s' < s | the owner: it is short of private jobs and takes some back |
//! | shared(t, t + 1) | private(t + 1) | the owner: it takes the last shared job |
//! | private(t) | reaching(t) | a thief: it begins to steal the private job at t |
//! | reaching(t) | private(t + 1) | that thief: it takes the job; or the owner: it takes the job before the thief |
//! | reaching(t) | private(t) | that thief: there was no job |
//! | reaching(t) | shared(t, s) | the owner, after a split was requested |
//!
//! Only the owner stores `bottom` and `limit`, with one exception: any thread may store 0 or 1 to `limit`, and the
//! owner then checks at its next push. `limit` is also the bottom at which the ring is full, so one comparison serves
//! both. An owner that [watches its pushes](Deque::watch) keeps it at 2, so that every push returns that it must check; and so does one
//! that was asked to share, for some pushes.
//!
//! # Invariants
//!
//! 1. A shared job at the top leaves the deque only by a change of the word that increments top. So a compare-and-swap
//!    on shared(t, s) finds the same job at `t` as the load before it, whatever happened between. (The exception is
//!    2^32 steals within one thief's step, as in every deque with 32-bit indices.) The same holds for reaching(t): only
//!    the thief that wrote it sets it back to private(t), so the word never returns to that value without that thief's
//!    knowledge.
//! 2. The owner takes the job at `b` without a compare-and-swap only if the word leaves the job to it. It reads that
//!    word after it has stored `bottom = b` and passed a light fence. A thief that wrote reaching(t) passes a heavy
//!    fence before it reads `bottom`. So either the owner sees the thief's word, and goes on by compare-and-swap, or
//!    the thief sees a bottom not above `t`, and gives up. (No thief steals private jobs of an *always-shared* deque: every job
//!    is shared at once, and stays shared.)
//! 3. An entry of the ring is overwritten only when its job's index is below top: after the owner read (acquire) a word
//!    that was written (release) by a thief after the thief had read the entry.
//! 4. Outgrown buffers live as long as the deque, unchanged: a thief that read the pointer to one of them finds in it
//!    every job that was in the deque when it grew. Together they are smaller than the buffer in use.
//! 5. The owner's calls nest: [`Deque::pop`] is called with the index that the last push without a pop returned; or, if
//!    that job was stolen, the deque is empty. While the job is not stolen, `bottom` is its index + 1 at that moment.
//!    Pops put `bottom` back to its value before the push, except pops that find their job stolen, or that take the
//!    last shared job; then all older jobs are gone. Indices whose lower halves are compared belong to jobs in the
//!    deque, or to the job pushed last. So the number of jobs that come and go while a stolen job runs does not matter.

mod buffer;
pub(crate) mod control;
#[cfg(all(test, loom))]
mod models;
pub(crate) mod spawn_deque;
#[cfg(all(test, not(loom)))]
mod tests;
mod word;

use crate::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use crate::sync::counter::Counter;
use crate::sync::fence;
use buffer::{Buffer, Ring};
use crossbeam_utils::CachePadded;
use std::cell::UnsafeCell;
use std::ptr::NonNull;
use word::{Word, WordState, distance};

/// The result of an attempt to steal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Steal<T> {
    /// A job, which belongs to the thief alone now.
    Job(NonNull<T>),
    /// There is no job, or none that the thief wants.
    Empty,
    /// There are only private jobs. A split was requested, and a thief in a hurry can
    /// [steal a private one](Deque::steal_private).
    Private,
    /// Another thread was faster. Trying again makes sense.
    Lost,
}

/// A deque of pointers to jobs. It neither owns the jobs nor accesses them.
pub(crate) struct Deque<T> {
    owner: CachePadded<Owner<T>>,
    word: CachePadded<AtomicU64>,
    /// Whether every job is shared at once and stays shared. Then no thief steals private jobs.
    always_shared: bool,
}

/// The fields that the owner accesses at every push and pop, and thieves only when they find nothing shared.
struct Owner<T> {
    /// Index of the newest job, plus one. Stored by the owner only.
    bottom: AtomicU64,
    /// The bottom at which the owner must check: the bottom at which the ring is full; or 0 if a split was requested;
    /// or 1 if there is another reason to check, as there always is in an always-shared deque; or [`WATCHED`], for an owner that watches
    /// its pushes or shares [ahead](AHEAD).
    limit: AtomicU64,
    /// The buffer in use. Stored by the owner only.
    buffer: AtomicPtr<Buffer<T>>,
    /// The ring of that buffer. Accessed by the owner only.
    ring: UnsafeCell<Ring<T>>,
    /// Outgrown buffers. Accessed by the owner only (invariant 4).
    outgrown: UnsafeCell<Vec<*mut Buffer<T>>>,
    /// Whether the owner checks at every push. Stored by the owner only.
    watched: AtomicBool,
    /// Number of pushes to come that share [ahead](AHEAD). Accessed by the owner only.
    ahead: UnsafeCell<u32>,
    /// Times that the owner has shared jobs.
    grown: Counter,
    /// Times that the owner has taken shared jobs back.
    shrunk: Counter,
}

/// Number of pushes that share their jobs after a request, the first one of which answers it. (Lace shares half of the private jobs at each request,
/// and no more.) A thief that finds only private jobs waits, and then interrupts all cores; an owner that shares ahead pays some 20 ns for a job.
/// Where requests are rare, so are these pushes.
const AHEAD: u32 = 16;

/// The limit of an owner that watches its pushes or shares [ahead](AHEAD). Each push of the second job or a later one reaches it.
const WATCHED: u64 = 2;

// SAFETY: all fields are atomics except `ring`, `outgrown` and `ahead`. Only the owner accesses those: the methods that do so are unsafe and
// demand it. The deque holds pointers that it never dereferences; the thread that takes one is responsible for its use.
unsafe impl<T> Sync for Deque<T> {}
// SAFETY: as above, and the vector's pointers belong to the deque; nothing is bound to the thread that made it.
unsafe impl<T> Send for Deque<T> {}

impl<T> Deque<T> {
    /// Makes an empty deque with room for `capacity` jobs, a power of two, before it grows. `always_shared` if heavy fences do
    /// not pair with light ones.
    pub(crate) fn new(capacity: usize, always_shared: bool) -> Self {
        Self::starting_at(0, capacity, always_shared)
    }

    /// As `new`, with the given index for the first job: 1 or more for an owner that may [watch](Self::watch) all its pushes.
    pub(crate) fn starting_at(index: u64, capacity: usize, always_shared: bool) -> Self {
        let buffer = Buffer::new(capacity);
        let ring = UnsafeCell::new(buffer.ring());
        let deque = Deque {
            owner: CachePadded::new(Owner {
                bottom: AtomicU64::new(index),
                limit: AtomicU64::new(0),
                buffer: AtomicPtr::new(Box::into_raw(buffer)),
                ring,
                outgrown: UnsafeCell::default(),
                watched: AtomicBool::new(false),
                ahead: UnsafeCell::new(0),
                grown: Counter::default(),
                shrunk: Counter::default(),
            }),
            word: CachePadded::new(AtomicU64::new(Word::private(index as u32).bits())),
            always_shared,
        };
        deque.owner.limit.store(deque.unrequested(deque.room(index, index as u32)), Relaxed);
        deque
    }

    /// Returns how often the owner has moved the split: up, and down.
    pub(crate) fn splits(&self) -> (u64, u64) {
        (self.owner.grown.get(), self.owner.shrunk.get())
    }

    pub(crate) fn is_always_shared(&self) -> bool {
        self.always_shared
    }

    /// Returns the limit to store if no split is requested.
    fn unrequested(&self, room: u64) -> u64 {
        if self.always_shared {
            1
        } else if self.is_watched() {
            room.min(WATCHED)
        } else {
            room
        }
    }

    /// Whether the owner checks at every push. Relaxed: it matters to the owner alone.
    fn is_watched(&self) -> bool {
        self.owner.watched.load(Relaxed)
    }

    /// Requests a split: at its next push the owner checks and [publishes](Deque::publish) jobs.
    ///
    /// Release: an owner that publishes jobs sees everything written before the request. A caller that must not miss a
    /// push passes a heavy fence and looks once more: the owner stores `bottom`, passes a light fence and then loads
    /// `limit`.
    pub(crate) fn request_split(&self) {
        self.owner.limit.store(0, Release);
    }

    /// Makes the owner check at its next push, without a request for a split.
    pub(crate) fn poke(&self) {
        self.owner.limit.store(1, Release);
    }

    /// Whether a split was requested and the owner has not checked since. One relaxed load.
    #[inline]
    pub(crate) fn split_requested(&self) -> bool {
        self.owner.limit.load(Relaxed) == 0
    }

    /// Whether the owner is to check: [`split_requested`](Self::split_requested), or poked. (Always true for an always-shared deque.)
    #[inline]
    pub(crate) fn poked(&self) -> bool {
        self.owner.limit.load(Relaxed) <= 1
    }

    /// Requests a split, without a store if that is requested already: so thieves that look again and again leave the
    /// cache line to the owner.
    fn request_split_once(&self) {
        if !self.split_requested() {
            self.request_split();
        }
    }

    /// Whether there are no jobs. The answer may be outdated when another thread gets it.
    pub(crate) fn is_empty(&self) -> bool {
        // Relaxed: callers that need more have passed a fence.
        let bottom = self.owner.bottom.load(Relaxed);
        distance(self.word().top(), bottom as u32) <= 0
    }

    /// Returns the index of the next job. Called by the owner.
    #[inline]
    pub(crate) fn next_index(&self) -> u64 {
        // Relaxed: the owner's own store.
        self.owner.bottom.load(Relaxed)
    }

    /// Whether the job of that index, which the owner has not popped, was stolen. Called by the owner, or for a hint.
    #[inline]
    pub(crate) fn is_gone(&self, index: u64) -> bool {
        distance(self.word().top(), index as u32) < 0
    }

    /// Whether the job of that index, if it is still there, is the newest one. Called by the owner.
    #[inline]
    pub(crate) fn is_newest(&self, index: u64) -> bool {
        // Relaxed: the owner's own store.
        self.owner.bottom.load(Relaxed) == index + 1
    }

    /// Loads the word. Acquire: a thread that finds a job shared sees the job, its entry and the buffer as they were
    /// when the job was shared. An owner that finds top moved sees that the thief has read the entry (invariant 3).
    #[inline(always)]
    fn word(&self) -> Word {
        Word::new(self.word.load(Acquire))
    }

    /// Changes the word. Release on success: publishes the shared jobs and the read of the entry. As a
    /// read-modify-write, it also continues the release sequences of earlier changes of the word. No acquire: `from`
    /// was loaded with one, and if the word was written anew since, the job at its top is still the same (invariant 1).
    fn change(&self, from: Word, to: Word) -> bool {
        self.word.compare_exchange(from.bits(), to.bits(), Release, Relaxed).is_ok()
    }

    fn buffer(&self) -> &Buffer<T> {
        // Acquire pairs with the release in `grow`: the copied entries are there.
        // SAFETY: the pointer comes from `Box::into_raw`, and the buffer lives as long as the deque (invariant 4).
        unsafe { &*self.owner.buffer.load(Acquire) }
    }

    /// Takes the oldest shared job, if `wanted` still returns true after the thief has seen that there is a job.
    /// Requests a split if nothing is shared, or if this was the last shared job.
    pub(crate) fn steal(&self, wanted: impl Fn() -> bool) -> Steal<T> {
        let word = self.word();
        match word.state() {
            WordState::Shared { top, split } => {
                // The ring index is the same modulo any capacity (a power of two below 2^32).
                let job = self.buffer().read(u64::from(top));
                if !wanted() {
                    return Steal::Empty;
                }
                if !self.change(word, Word::shared(top.wrapping_add(1), split)) {
                    return Steal::Lost;
                }
                if top.wrapping_add(1) == split {
                    self.request_split_once();
                }
                taken(job)
            }
            WordState::Private { .. } => {
                self.request_split_once();
                if self.is_empty() { Steal::Empty } else { Steal::Private }
            }
            WordState::Reaching { .. } => Steal::Lost,
        }
    }

    /// Takes the oldest private job, if nothing is shared and `wanted` still returns true after the thief has seen that
    /// there is a job. Calls `fenced` after a heavy fence.
    #[cold]
    pub(crate) fn steal_private(&self, wanted: impl Fn() -> bool, fenced: impl FnOnce()) -> Steal<T> {
        let word = self.word();
        let WordState::Private { top } = word.state() else {
            return Steal::Lost;
        };
        if self.always_shared || self.is_empty() {
            return Steal::Empty;
        }
        let reaching = Word::reaching(top);
        if !self.change(word, reaching) {
            return Steal::Lost;
        }
        fence::heavy(); // invariant 2
        fenced();
        // Acquire pairs with the releases of `bottom`: the job, its ring entry and its buffer are there.
        let bottom = self.owner.bottom.load(Acquire);
        if distance(top, bottom as u32) <= 0 || !wanted() {
            // If this fails, the owner has seen the word and changed it.
            let _ = self.change(reaching, word);
            return Steal::Empty;
        }
        let job = self.buffer().read(u64::from(top));
        if self.change(reaching, Word::private(top.wrapping_add(1))) { taken(job) } else { Steal::Lost }
    }
}

fn taken<T>(job: *mut T) -> Steal<T> {
    Steal::Job(NonNull::new(job).expect("an entry between top and bottom holds a job"))
}

/// The methods of the owner.
impl<T> Deque<T> {
    /// Puts a job at the bottom. Returns its index, and whether the owner must check: if so, it calls
    /// [`publish`](Deque::publish) before the next push.
    ///
    /// # Safety
    ///
    /// The caller is the deque's owner: no other thread calls any of these methods at the same time.
    #[inline(always)]
    pub(crate) unsafe fn push(&self, job: NonNull<T>) -> (u64, bool) {
        let owner = &*self.owner;
        let index = owner.bottom.load(Relaxed); // its own store
        // There is room: `publish` has made it after the push before.
        // SAFETY: the caller is the owner, and the buffer lives as long as the deque (invariant 4).
        unsafe { (*owner.ring.get()).write(index, job.as_ptr()) };
        // Release pairs with the acquire in `steal_private`: ring entry and job are there.
        owner.bottom.store(index + 1, Release);
        // Between this store and the load: a thread that requests a split passes a heavy fence and looks at `bottom`.
        fence::light();
        (index, index + 1 >= owner.limit.load(Relaxed))
    }

    /// Takes back the job of that index, the newest one. Returns true if the job is the owner's again, false if it was
    /// stolen.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push); and `index` was returned by the last push without a pop (invariant 5).
    #[inline(always)]
    pub(crate) unsafe fn pop(&self, index: u64) -> bool {
        // Relaxed: the owner's own store. The bottom is decremented, not the index incremented: else the compiler keeps both numbers while
        // the left half runs, in two registers.
        let bottom = self.owner.bottom.load(Relaxed);
        if bottom.wrapping_sub(1) != index {
            // A job pushed later was the oldest one, so this one is gone (invariant 5). The lower halves of the indices
            // must not be compared: the indices may be any distance apart.
            return false;
        }
        // Release: a thief that reads this bottom still finds the jobs below it published, see `steal_private`.
        self.owner.bottom.store(index, Release);
        fence::light(); // invariant 2
        self.word().leaves(index) || self.pop_shared(index)
    }

    /// Takes the newest job, for owners that keep no indices.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    pub(crate) unsafe fn pop_newest(&self) -> Option<NonNull<T>> {
        let (index, job) = self.newest()?;
        // SAFETY: the caller is the owner; it is the newest job's index.
        unsafe { self.pop(index) }.then_some(job)
    }

    /// Shares half of the private jobs, at least one, if a split was requested and nothing is shared: for an owner that
    /// takes jobs back without pushing others. The request stays, since it may come from a worker that goes to sleep:
    /// such a worker needs to learn of the next push.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    #[inline]
    pub(crate) unsafe fn share_if_requested(&self) {
        if self.split_requested() && matches!(self.word().state(), WordState::Private { .. }) {
            // Relaxed: the owner's own store.
            self.share_of(self.owner.bottom.load(Relaxed), |private| private.div_ceil(2));
        }
    }

    /// Takes the newest job if it is `job`.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    pub(crate) unsafe fn pop_newest_if(&self, job: NonNull<T>) -> bool {
        // SAFETY: the caller is the owner; it is the newest job's index.
        self.newest().is_some_and(|(index, newest)| newest == job && unsafe { self.pop(index) })
    }

    /// Returns the newest job and its index, if there is one. The job may be stolen meanwhile. Called by the owner.
    fn newest(&self) -> Option<(u64, NonNull<T>)> {
        if self.is_empty() {
            return None;
        }
        let index = self.owner.bottom.load(Relaxed) - 1;
        let job = NonNull::new(self.buffer().read(index)).expect("an entry below bottom holds a job");
        Some((index, job))
    }

    /// The slow path of `pop`: the word does not leave the job to the owner at first sight.
    #[cold]
    fn pop_shared(&self, index: u64) -> bool {
        let b = index as u32;
        loop {
            let word = self.word();
            let top = word.top();
            if distance(top, b) < 0 {
                // Stolen, so all older jobs are stolen, too: the deque is empty.
                let behind = index.wrapping_add_signed(i64::from(distance(b, top)));
                // Relaxed: publishes nothing, since no job lies below a bottom that is not above top.
                self.owner.bottom.store(behind, Relaxed);
                return false;
            }
            let taken = match word.state() {
                // Another thief's steal, or an earlier turn of this loop, has moved the split down.
                _ if word.leaves(index) => return true,
                // A thief steals an older private job.
                WordState::Reaching { .. } if b != top => return true,
                // For the last job, the change of the word decides; top passes it (invariant 1).
                WordState::Reaching { .. } | WordState::Shared { .. } if b == top => {
                    self.change(word, Word::private(top.wrapping_add(1)))
                }
                // Half of the shared jobs come back, or in an always-shared deque only this one. The job at the top stays
                // (invariant 1).
                _ => {
                    let older = distance(top, b).unsigned_abs();
                    let kept = if self.always_shared { older } else { older.div_ceil(2) };
                    if self.change(word, Word::shared(top, top.wrapping_add(kept))) {
                        self.owner.shrunk.add();
                        return true;
                    }
                    false
                }
            };
            if taken {
                // Relaxed: as above.
                self.owner.bottom.store(index + 1, Relaxed);
                return true;
            }
        }
    }

    /// Checks after a push. If a split was requested, shares the private jobs and returns true; the next pushes then [share ahead](AHEAD). If the owner
    /// was poked, shares half of the private jobs, at least one, and returns true. Makes room for the next push. If `waits`, the request
    /// stays, and nothing is shared.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    #[cold]
    pub(crate) unsafe fn publish(&self, waits: bool) -> bool {
        let bottom = self.owner.bottom.load(Relaxed);
        let mut room = self.room(bottom, self.word().top());
        // SAFETY: the caller is the owner.
        let ahead = unsafe { &mut *self.owner.ahead.get() };
        if bottom < room && *ahead == 0 && self.owner.limit.load(Relaxed) == WATCHED && self.is_watched() {
            return false;
        }
        if bottom >= room {
            // SAFETY: the caller is the owner.
            unsafe { self.grow(bottom) };
            room = self.room(bottom, self.word().top());
        }
        if waits && self.poked() {
            return true;
        }
        // A swap, so that no request is overwritten unseen. An earlier request is met here, and everything written
        // before it is visible (acquire). A later request stays. No release: other threads that load `limit` acquire
        // nothing by it.
        *ahead = if self.split_requested() { AHEAD } else { ahead.saturating_sub(1) };
        let limit = self.unrequested(if *ahead > 0 { room.min(WATCHED) } else { room });
        let poked = self.owner.limit.swap(limit, Acquire) <= 1;
        if poked || *ahead > 0 && !waits {
            let shares_all = self.always_shared || *ahead > 0;
            self.share_of(bottom, |private| if shares_all { private } else { private.div_ceil(2) });
        }
        poked
    }

    /// Has the next pushes share [ahead](AHEAD): the owner runs a stolen job, so thieves are about.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    pub(crate) unsafe fn share_ahead(&self) {
        // SAFETY: the caller is the owner.
        unsafe { *self.owner.ahead.get() = AHEAD };
        self.poke();
    }

    /// Has every push return that the owner must check, or only those with a reason. (Not the push of index 0: see
    /// [`starting_at`](Self::starting_at).) In an always-shared deque all pushes do so in any case.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    pub(crate) unsafe fn watch(&self, watches: bool) {
        if self.is_watched() == watches {
            return;
        }
        self.owner.watched.store(watches, Relaxed);
        let limit = self.owner.limit.load(Relaxed);
        if limit > 1 {
            // Relaxed: the owner's own store.
            let bottom = self.owner.bottom.load(Relaxed);
            let unrequested = self.unrequested(self.room(bottom, self.word().top()));
            // If this fails, the owner was asked to check meanwhile: `publish` stores the new limit. Relaxed: other threads that load
            // the limit acquire nothing by it.
            let _ = self.owner.limit.compare_exchange(limit, unrequested, Relaxed, Relaxed);
        }
    }

    /// Shares all jobs.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    pub(crate) unsafe fn share_all(&self) {
        self.share_of(self.owner.bottom.load(Relaxed), |private| private);
    }

    /// Shares `part` of the private jobs, where `part` maps their number to the number of jobs to share.
    fn share_of(&self, bottom: u64, part: impl Fn(u32) -> u32) {
        loop {
            let word = self.word();
            let (top, split) = match word.state() {
                WordState::Shared { top, split } => (top, split),
                WordState::Private { top } | WordState::Reaching { top } => (top, top),
            };
            let private = distance(split, bottom as u32);
            if private <= 0 {
                return;
            }
            let more = part(private.unsigned_abs());
            if self.change(word, Word::shared(top, split.wrapping_add(more))) {
                self.owner.grown.add();
                return;
            }
        }
    }

    /// Returns the bottom at which the buffer is full.
    fn room(&self, bottom: u64, top: u32) -> u64 {
        let jobs = distance(top, bottom as u32).max(0).unsigned_abs();
        bottom - u64::from(jobs) + self.buffer().capacity() as u64
    }

    /// Moves the jobs to a buffer of twice the size.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    unsafe fn grow(&self, bottom: u64) {
        let old = self.buffer();
        let new = Buffer::new(old.capacity() * 2);
        let ring = new.ring();
        let jobs = distance(self.word().top(), bottom as u32).max(0).unsigned_abs();
        for index in bottom - u64::from(jobs)..bottom {
            // SAFETY: the buffer lives.
            unsafe { ring.write(index, old.read(index)) };
        }
        // Release: a thief that finds the new buffer finds its entries filled. A thief that still uses the old buffer
        // finds its job there (invariant 4), since a job pushed later is published after this.
        let old = self.owner.buffer.swap(Box::into_raw(new), Release);
        // SAFETY: the caller is the owner, so nobody else uses the ring and the vector.
        unsafe {
            *self.owner.ring.get() = ring;
            (*self.owner.outgrown.get()).push(old);
        }
    }
}

impl<T> Drop for Deque<T> {
    fn drop(&mut self) {
        // Relaxed: the thread that drops the deque has synchronized with all its users.
        let last = self.owner.buffer.load(Relaxed);
        for buffer in self.owner.outgrown.get_mut().drain(..).chain([last]) {
            // SAFETY: from `Box::into_raw`, each one once, and no thread uses it any more.
            drop(unsafe { Box::from_raw(buffer) });
        }
    }
}

impl<T> std::fmt::Debug for Deque<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deque")
            .field("word", &self.word())
            .field("bottom", &self.owner.bottom.load(Relaxed))
            .finish_non_exhaustive()
    }
}
