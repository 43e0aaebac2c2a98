//! The ring of one thread: invariant 1 of [`trace`](crate::trace).

use crate::process::ThreadClock;
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};
use std::time::Duration;

/// Number of events in a chunk of the ring, which is allocated when the ring first reaches it.
const CHUNK: usize = 1024;

/// One event: the time and the kind, and the payload.
type Place = [AtomicU64; 2];

/// The last events of one thread.
pub(super) struct Ring {
    chunks: Box<[OnceLock<Box<[Place]>>]>,
    /// Number of all events so far. Written by the thread.
    len: AtomicU64,
    name: Option<String>,
    clock: ThreadClock,
    /// Processor time that the thread had used before.
    used_before: Option<Duration>,
}

impl Ring {
    /// Makes an empty ring for so many events, at least, for the calling thread.
    pub(super) fn new(events: usize) -> Self {
        let chunks = events.div_ceil(CHUNK).max(1).next_power_of_two();
        let clock = ThreadClock::default();
        clock.set_to_current();
        Ring {
            chunks: (0..chunks).map(|_| OnceLock::new()).collect(),
            len: AtomicU64::new(0),
            name: crate::sync::machine::thread::current().name().map(str::to_owned),
            used_before: clock.used(),
            clock,
        }
    }

    /// Returns the processor time that the thread has used since; `None` if it has ended, or the system does not tell.
    pub(super) fn processor_time(&self) -> Option<Duration> {
        Some(self.clock.used()?.saturating_sub(self.used_before?))
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn room(&self) -> u64 {
        (self.chunks.len() * CHUNK) as u64
    }

    /// Adds an event. Called by the thread that the ring belongs to.
    pub(super) fn push(&self, words: [u64; 2]) {
        // Relaxed: the thread's own store.
        let index = self.len.load(Relaxed);
        let place = (index % self.room()) as usize;
        let chunk = self.chunks[place / CHUNK].get_or_init(|| (0..CHUNK).map(|_| Place::default()).collect());
        // Release: a reader that sees one of the words below also sees that the event before was published.
        fence(Release);
        for (place, word) in chunk[place % CHUNK].iter().zip(words) {
            place.store(word, Relaxed);
        }
        // Release: a reader that sees this number finds the event.
        self.len.store(index + 1, Release);
    }

    /// Returns a copy of the last events, the oldest first, and the number of events before them.
    pub(super) fn read(&self) -> (Vec<[u64; 2]>, u64) {
        // Acquire pairs with the release of the number.
        let end = self.len.load(Acquire);
        let begin = end.saturating_sub(self.room());
        let copy = |index: u64| {
            let place = (index % self.room()) as usize;
            // An event that was published has its chunk.
            let chunk = self.chunks[place / CHUNK].get().expect("the chunk of an event was allocated");
            chunk[place % CHUNK].each_ref().map(|word| word.load(Relaxed))
        };
        let mut events: Vec<_> = (begin..end).map(copy).collect();
        // Acquire pairs with the release fence of a `push` that has overwritten an event above.
        fence(Acquire);
        // The thread may be writing the event of number `now`, in the place of the event that is `room` events older.
        let now = self.len.load(Relaxed);
        let intact = (now + 1).saturating_sub(self.room()).clamp(begin, end);
        events.drain(..(intact - begin) as usize);
        (events, intact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn the_last_events_are_kept_and_the_others_counted() {
        let ring = Ring::new(1);
        assert_eq!(ring.read(), (vec![], 0));
        (0..10).for_each(|n| ring.push([n, n + 1]));
        assert_eq!(ring.read(), ((0..10).map(|n| [n, n + 1]).collect(), 0));
        (10..5000).for_each(|n| ring.push([n, n + 1]));
        // One place may be in use for the next event.
        let begin = 5001 - CHUNK as u64;
        assert_eq!(ring.read(), ((begin..5000).map(|n| [n, n + 1]).collect(), begin));
    }

    /// Copies that are made while the thread writes hold whole events, with no gap between them.
    #[test]
    fn a_copy_holds_whole_events_while_the_thread_writes() {
        let (ring, stop) = (Ring::new(1), AtomicBool::new(false));
        std::thread::scope(|threads| {
            threads.spawn(|| {
                (0_u64..).take_while(|_| !stop.load(Relaxed)).for_each(|n| ring.push([n, !n]));
            });
            for _ in 0..2000 {
                let (events, lost) = ring.read();
                for ([n, not_n], expected) in events.into_iter().zip(lost..) {
                    assert_eq!((n, not_n), (expected, !expected));
                }
            }
            stop.store(true, Relaxed);
        });
    }
}
