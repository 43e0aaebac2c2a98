//! The worker's deque: pushes and pops without a fence, every job stealable at every moment.
//!
//! One owner pushes and pops at the *bottom*; thieves take from the *top*. As in Lace (van Dijk and van de Pol, "Lace:
//! Non-blocking Split Deque for Work-Stealing", 2014; in Rust: lace.rs by Daan Luth) a *split* parts the deque: what lies between
//! top and split is shared, and stolen with one compare-and-swap; what lies between split and bottom is private, and pushed and popped
//! with plain stores. A thief that finds nothing shared asks the owner to share, which it does at its next push. Lace
//! stops there, so a worker inside a long leaf hides all of its private jobs. Here a thief that gets no answer reaches
//! into the private part itself, at the price of a [heavy fence](crate::fence) on its own side.
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
//! | private(t) | shared(t, s) | the owner, asked to share, after a push or, of spawned jobs, a pop |
//! | shared(t, s) | shared(t + 1, s), or private(t + 1) if t + 1 = s | a thief: the job at t is its |
//! | shared(t, s) | shared(t, s') with t < s' < s | the owner, short of private jobs, takes some back |
//! | shared(t, t + 1) | private(t + 1) | the owner takes the last shared job |
//! | private(t) | reaching(t) | a thief reaches for the private job at t |
//! | reaching(t) | private(t + 1) | that thief: the job is its; or the owner takes the job away from it |
//! | reaching(t) | private(t) | that thief: there was no job after all |
//! | reaching(t) | shared(t, s) | the owner, asked to share |
//!
//! `bottom` and `limit` are the owner's, except that anybody may store 0 or 1 to `limit`: the owner looks up at its
//! next push. `limit` is also where the ring is full, so one comparison serves both.
//!
//! # Invariants
//!
//! 1. A job at the top that is shared leaves the deque only by a change of the word that increments top. So a
//!    compare-and-swap on shared(t, s) finds the same job at `t` as the load before it, whatever happened between (but
//!    for 2^32 steals within one thief's step, as in every deque with 32-bit indices). The same holds for reaching(t):
//!    only the thief that wrote it takes it back to private(t), so it never returns behind that thief's back.
//! 2. The owner takes the job at `b` without a compare-and-swap only if, after it stored `bottom = b` and passed a
//!    light fence, the word leaves `b` to it. A thief that wrote reaching(t) passes a heavy fence before it reads
//!    `bottom`. So either the owner sees the word, and goes on by compare-and-swap, or the thief sees a bottom not
//!    above `t`, and gives up. (Nobody reaches into an *eager* deque: every job is shared at once, and stays so.)
//! 3. A slot is overwritten only when its job's index is below top: after the owner read (acquire) a word written
//!    (release) by the thief that had read the slot before.
//! 4. Buffers outgrown live as long as the deque, unchanged: a thief that read one of them finds in it every job that
//!    was in the deque when it grew. Together they are smaller than the one in use.
//! 5. The owner's calls nest: [`Deque::pop`] is called with the index that the last push without a pop returned, or,
//!    when that job was stolen, the deque is empty. While it is not stolen, `bottom` is right behind it at that moment:
//!    pops put it back where it was, but for those that find their job stolen, or the last one shared; then all older ones
//!    are gone. Indices whose lower halves are compared belong to jobs that are in the deque, or to the last one pushed: so
//!    it does not matter how many jobs come and go while a job that was stolen is run.

mod buffer;
#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;
mod word;

use crate::fence;
use crate::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use buffer::Buffer;
use crossbeam_utils::CachePadded;
use std::cell::UnsafeCell;
use std::ptr::NonNull;
use word::{State, Word, distance};

/// What came of an attempt to steal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Steal<T> {
    /// A job, the thief's alone now.
    Job(NonNull<T>),
    /// There is none, or none that the thief wants.
    Empty,
    /// There are private ones only; the owner was asked to share, and a thief in a hurry can
    /// [reach](Deque::steal_private) for them.
    Private,
    /// Another thread got in between; trying again makes sense.
    Lost,
}

/// A deque of pointers to jobs. It neither owns nor touches what they point to.
pub(crate) struct Deque<T> {
    owner: CachePadded<Owner<T>>,
    word: CachePadded<AtomicU64>,
    /// Every job is shared at once and stays so; nobody reaches.
    always_shared: bool,
}

/// What the owner touches at every push and pop, and thieves only when they find nothing shared.
struct Owner<T> {
    /// Index behind the newest job. Stored by the owner only.
    bottom: AtomicU64,
    /// The bottom at which the owner must look up: where the ring is full, or 0 when somebody asks, or 1 for other
    /// reasons to look up, as in an eager deque always.
    limit: AtomicU64,
    /// Stored by the owner only.
    buffer: AtomicPtr<Buffer<T>>,
    /// Outgrown buffers; the owner's (invariant 4).
    outgrown: UnsafeCell<Vec<*mut Buffer<T>>>,
}

// SAFETY: all fields are atomics but `outgrown`, which only the owner touches: the methods that do are unsafe and
// demand it. The deque holds pointers that it never dereferences; whoever gets one answers for its use.
unsafe impl<T> Sync for Deque<T> {}
// SAFETY: as above, and the vector's pointers are the deque's own; nothing is bound to the thread that made it.
unsafe impl<T> Send for Deque<T> {}

impl<T> Deque<T> {
    /// An empty deque with room for `capacity` jobs, a power of two, before it grows. `always_shared` where heavy fences do
    /// not pair with light ones.
    pub(crate) fn new(capacity: usize, always_shared: bool) -> Self {
        Self::starting_at(0, capacity, always_shared)
    }

    /// As `new`, with the given index for the first job.
    fn starting_at(index: u64, capacity: usize, always_shared: bool) -> Self {
        let deque = Deque {
            owner: CachePadded::new(Owner {
                bottom: AtomicU64::new(index),
                limit: AtomicU64::new(0),
                buffer: AtomicPtr::new(Box::into_raw(Buffer::new(capacity))),
                outgrown: UnsafeCell::default(),
            }),
            word: CachePadded::new(AtomicU64::new(Word::private(index as u32).bits())),
            always_shared,
        };
        deque.owner.limit.store(deque.unrequested(deque.room(index, index as u32)), Relaxed);
        deque
    }

    pub(crate) fn is_always_shared(&self) -> bool {
        self.always_shared
    }

    /// The limit when nobody asks.
    fn unrequested(&self, room: u64) -> u64 {
        if self.always_shared { 1 } else { room }
    }

    /// Asks the owner to look up at its next push, which will then [answer](Deque::publish).
    ///
    /// Release: an owner that answers sees what was written before the question. A caller that must not miss a push
    /// passes a heavy fence and looks once more: the owner stores `bottom`, passes a light fence and then loads
    /// `limit`.
    pub(crate) fn request_split(&self) {
        self.owner.limit.store(0, Release);
    }

    /// As [`request_split`](Self::request_split), where nobody wants work yet but the owner should look up.
    pub(crate) fn poke(&self) {
        self.owner.limit.store(1, Release);
    }

    /// Has somebody asked, and the owner not looked up since? One relaxed load.
    #[inline]
    pub(crate) fn split_requested(&self) -> bool {
        self.owner.limit.load(Relaxed) == 0
    }

    /// As [`split_requested`](Self::split_requested), or nudged. (An eager deque always is.)
    #[inline]
    pub(crate) fn poked(&self) -> bool {
        self.owner.limit.load(Relaxed) <= 1
    }

    /// Asks without a store where somebody else has: thieves that look again and again leave the owner its cache line.
    fn request_split_once(&self) {
        if !self.split_requested() {
            self.request_split();
        }
    }

    /// Are there no jobs? Another thread's answer is old when it gets it.
    pub(crate) fn is_empty(&self) -> bool {
        // Relaxed: callers that need more have passed a fence.
        let bottom = self.owner.bottom.load(Relaxed);
        distance(self.word().top(), bottom as u32) <= 0
    }

    /// Has the job of that index, which the owner has not popped, been stolen? Asked by the owner.
    #[inline]
    pub(crate) fn is_gone(&self, index: u64) -> bool {
        distance(self.word().top(), index as u32) < 0
    }

    /// Is the job of that index, if it is still there, the newest one? Asked by the owner.
    #[inline]
    pub(crate) fn is_newest(&self, index: u64) -> bool {
        // Relaxed: the owner's own store.
        self.owner.bottom.load(Relaxed) == index + 1
    }

    /// Acquire: whoever finds a job shared sees the job, the slot and the buffer as they were when it was shared; the
    /// owner that finds top moved sees that the thief has read the slot (invariant 3).
    #[inline(always)]
    fn word(&self) -> Word {
        Word::new(self.word.load(Acquire))
    }

    /// Release on success: publishes the jobs shared and the slot read; being a read-modify-write, it also goes on with
    /// the releases of those that changed the word before. No acquire: `from` was loaded with one, and where it was
    /// written anew since, the job at its top is still the same (invariant 1).
    fn change(&self, from: Word, to: Word) -> bool {
        self.word.compare_exchange(from.bits(), to.bits(), Release, Relaxed).is_ok()
    }

    fn buffer(&self) -> &Buffer<T> {
        // Acquire pairs with the release in `grow`: the slots copied are there.
        // SAFETY: the pointer comes from `Box::into_raw`, and the buffer lives as long as the deque (invariant 4).
        unsafe { &*self.owner.buffer.load(Acquire) }
    }

    /// Takes the oldest shared job, if `wanted` still says so after the thief has seen that there is one. Asks the
    /// owner to share when nothing is shared, or when it took the last shared job.
    pub(crate) fn steal(&self, wanted: impl Fn() -> bool) -> Steal<T> {
        let word = self.word();
        match word.state() {
            State::Shared { top, split } => {
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
            State::Private { .. } => {
                self.request_split_once();
                if self.is_empty() { Steal::Empty } else { Steal::Private }
            }
            State::Reaching { .. } => Steal::Lost,
        }
    }

    /// Takes the oldest private job, if nothing is shared and `wanted` still says so after the thief has seen that
    /// there is one. `fenced` is called when a heavy fence is passed.
    #[cold]
    pub(crate) fn steal_private(&self, wanted: impl Fn() -> bool, fenced: impl FnOnce()) -> Steal<T> {
        let word = self.word();
        let State::Private { top } = word.state() else {
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
        // Acquire pairs with the releases of `bottom`: the job, its slot and its buffer are there.
        let bottom = self.owner.bottom.load(Acquire);
        if distance(top, bottom as u32) <= 0 || !wanted() {
            // If this fails the owner has seen the word, and left another one.
            let _ = self.change(reaching, word);
            return Steal::Empty;
        }
        let job = self.buffer().read(u64::from(top));
        if self.change(reaching, Word::private(top.wrapping_add(1))) { taken(job) } else { Steal::Lost }
    }
}

fn taken<T>(job: *mut T) -> Steal<T> {
    Steal::Job(NonNull::new(job).expect("a slot between top and bottom holds a job"))
}

/// The owner's side.
impl<T> Deque<T> {
    /// Puts a job at the bottom. Returns its index, and whether the owner should look up and
    /// [answer](Deque::publish): at once, before the next push.
    ///
    /// # Safety
    ///
    /// The caller is the deque's owner: no other thread calls any of these methods at the same time.
    #[inline(always)]
    pub(crate) unsafe fn push(&self, job: NonNull<T>) -> (u64, bool) {
        let owner = &*self.owner;
        let index = owner.bottom.load(Relaxed); // its own store
        // SAFETY: as in `buffer`; Relaxed suffices for the owner's own store.
        let buffer = unsafe { &*owner.buffer.load(Relaxed) };
        // There is room: `publish` saw to it after the push before.
        buffer.write(index, job.as_ptr());
        // Release pairs with the acquire in `steal_private`: slot and job are there.
        owner.bottom.store(index + 1, Release);
        // Between this store and the load: whoever asks passes a heavy fence and looks at `bottom`.
        fence::light();
        (index, index + 1 >= owner.limit.load(Relaxed))
    }

    /// Takes back the job of that index, the newest one: true if it is the owner's again, false if it was stolen.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push); and `index` is what the last push without a pop returned (invariant 5).
    #[inline(always)]
    pub(crate) unsafe fn pop(&self, index: u64) -> bool {
        if !self.is_newest(index) {
            // A job pushed later was the oldest one, so this one is gone (invariant 5). The lower halves of indices must
            // not be asked: they may be any distance apart.
            return false;
        }
        // Release: a thief that reads this bottom still finds the jobs below it published, see `steal_private`.
        self.owner.bottom.store(index, Release);
        fence::light(); // invariant 2
        self.word().leaves(index) || self.pop_shared(index)
    }

    /// The newest job, for owners that keep no indices.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    pub(crate) unsafe fn pop_newest(&self) -> Option<NonNull<T>> {
        let (index, job) = self.newest()?;
        // SAFETY: the caller is the owner; it is the newest job's index.
        unsafe { self.pop(index) }.then_some(job)
    }

    /// Shares half of the private jobs, at least one, if a thief asks and nothing is shared: for an owner that takes jobs back without
    /// pushing others. The question stays, because it may be that of a worker that goes to sleep: such a
    /// worker needs an answer to the next push.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    #[inline]
    pub(crate) unsafe fn share_if_requested(&self) {
        if self.split_requested() && matches!(self.word().state(), State::Private { .. }) {
            // Relaxed: the owner's own store.
            self.share_of(self.owner.bottom.load(Relaxed), |private| private.div_ceil(2));
        }
    }

    /// Takes the newest job if it is that one.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    pub(crate) unsafe fn pop_newest_if(&self, job: NonNull<T>) -> bool {
        // SAFETY: the caller is the owner; it is the newest job's index.
        self.newest().is_some_and(|(index, newest)| newest == job && unsafe { self.pop(index) })
    }

    /// The newest job and its index, if there is one; it may be stolen meanwhile. For the owner.
    fn newest(&self) -> Option<(u64, NonNull<T>)> {
        if self.is_empty() {
            return None;
        }
        let index = self.owner.bottom.load(Relaxed) - 1;
        let job = NonNull::new(self.buffer().read(index)).expect("a slot below bottom holds a job");
        Some((index, job))
    }

    /// `pop` where the word does not leave the job to the owner at first sight.
    #[cold]
    fn pop_shared(&self, index: u64) -> bool {
        let b = index as u32;
        loop {
            let word = self.word();
            let top = word.top();
            if distance(top, b) < 0 {
                // Stolen, so all older ones are too: the deque is empty.
                let behind = index.wrapping_add_signed(i64::from(distance(b, top)));
                // Relaxed: publishes nothing, for there is no job below a bottom that is not above top.
                self.owner.bottom.store(behind, Relaxed);
                return false;
            }
            let taken = match word.state() {
                // Where another thief's steal or our own earlier turn has brought the split down.
                _ if word.leaves(index) => return true,
                // A thief reaches for an older one.
                State::Reaching { .. } if b != top => return true,
                // For the last one, the change of the word decides; top passes it (invariant 1).
                State::Reaching { .. } | State::Shared { .. } if b == top => {
                    self.change(word, Word::private(top.wrapping_add(1)))
                }
                // Half of what is shared comes back, or in an eager deque only this one; the one at the top stays
                // (invariant 1).
                _ => {
                    let older = distance(top, b).unsigned_abs();
                    let kept = if self.always_shared { older } else { older.div_ceil(2) };
                    if self.change(word, Word::shared(top, top.wrapping_add(kept))) {
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

    /// Looks up after a push: shares, if somebody asked, half of the private jobs, at least one; makes room for the
    /// next push. Returns true if somebody asked or nudged. If the owner would rather `wait`, the question stays, and
    /// nothing is shared.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    #[cold]
    pub(crate) unsafe fn publish(&self, wait: impl FnOnce() -> bool) -> bool {
        let bottom = self.owner.bottom.load(Relaxed);
        let mut room = self.room(bottom, self.word().top());
        if bottom >= room {
            // SAFETY: the caller is the owner.
            unsafe { self.grow(bottom) };
            room = self.room(bottom, self.word().top());
        }
        // A swap, so that no question is overwritten unseen: one that came before is answered here, with all that
        // was written before it (acquire); one that comes later stays. No release: who else loads `limit` acquires
        // nothing by it.
        let split_requested = self.owner.limit.swap(self.unrequested(room), Acquire) <= 1;
        if split_requested && !self.always_shared && wait() {
            self.request_split();
            return true;
        }
        if split_requested {
            self.share_of(bottom, |private| if self.always_shared { private } else { private.div_ceil(2) });
        }
        split_requested
    }

    /// Shares every job there is.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    pub(crate) unsafe fn share_all(&self) {
        self.share_of(self.owner.bottom.load(Relaxed), |private| private);
    }

    /// Shares `part` of so many private jobs.
    fn share_of(&self, bottom: u64, part: impl Fn(u32) -> u32) {
        loop {
            let word = self.word();
            let (top, split) = match word.state() {
                State::Shared { top, split } => (top, split),
                State::Private { top } | State::Reaching { top } => (top, top),
            };
            let private = distance(split, bottom as u32);
            if private <= 0 {
                return;
            }
            let more = part(private.unsigned_abs());
            if self.change(word, Word::shared(top, split.wrapping_add(more))) {
                return;
            }
        }
    }

    /// The bottom at which the buffer is full.
    fn room(&self, bottom: u64, top: u32) -> u64 {
        let jobs = distance(top, bottom as u32).max(0).unsigned_abs();
        bottom - u64::from(jobs) + self.buffer().capacity() as u64
    }

    /// Moves to a buffer of twice the size.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    unsafe fn grow(&self, bottom: u64) {
        let old = self.buffer();
        let new = Buffer::new(old.capacity() * 2);
        let jobs = distance(self.word().top(), bottom as u32).max(0).unsigned_abs();
        for index in bottom - u64::from(jobs)..bottom {
            new.write(index, old.read(index));
        }
        // Release: a thief that finds the new buffer finds its slots filled. One that still uses the old one finds
        // there what it is after (invariant 4), for a job pushed later is published after this.
        let old = self.owner.buffer.swap(Box::into_raw(new), Release);
        // SAFETY: the caller is the owner, so nobody else uses the vector.
        unsafe { (*self.owner.outgrown.get()).push(old) };
    }
}

impl<T> Drop for Deque<T> {
    fn drop(&mut self) {
        // Relaxed: whoever drops the deque has synchronised with all its users.
        let last = self.owner.buffer.load(Relaxed);
        for buffer in self.owner.outgrown.get_mut().drain(..).chain([last]) {
            // SAFETY: from `Box::into_raw`, each one once, and nobody uses it any more.
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
