//! A ring buffer in memory that two processes share: one writes bytes, the other reads them.
//!
//! ```text
//!   words:  [ written | ...7 unused | read | ...7 unused | data ............................ ]
//!             writer's                reader's
//! ```
//!
//! `written` and `read` count words from the beginning, and never wrap. Their difference is the number of words in the ring. The two lie in
//! cache lines of their own. A message is its length in bytes, and its bytes in words, the last one filled up with zeros. A message
//! may be longer than the ring: the writer then continues when the reader has made room.
//!
//! # Invariants
//!
//! 1. *One writer, one reader.* Only the [`Writer`] stores `written` and data, only the [`Reader`] stores `read`.
//! 2. *No data race.* Every word is atomic. A data word is read after an acquire load of `written` that covers it, and written again after an
//!    acquire load of `read` that covers it.
//! 3. *No trust.* If the other process has overwritten the counters, or a length, then wrong bytes are read, and no more: a ring never holds more
//!    words than its size, and memory for a message is allocated as its words arrive.

use furcate_pool::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::collections::VecDeque;
use std::ops::Deref;

/// Number of words in front of the data.
pub(super) const HEADER: usize = 16;

const WRITTEN: usize = 0;
const READ: usize = 8;

/// Returns the number of words of a ring for so many words of data.
pub(super) const fn words(data: usize) -> usize {
    HEADER + data
}

/// Returns the word at a position.
fn data(memory: &[AtomicU64], position: u64) -> &AtomicU64 {
    let size = (memory.len() - HEADER) as u64;
    &memory[HEADER + (position % size) as usize]
}

/// The writing end of a ring, and the messages that did not find room.
#[derive(Debug)]
pub(super) struct Writer<M> {
    memory: M,
    written: u64,
    /// Words that were not written yet.
    rest: VecDeque<u64>,
}

impl<M: Deref<Target = [AtomicU64]>> Writer<M> {
    /// Makes the writing end of a ring whose memory is zeroed.
    pub(super) fn new(memory: M) -> Self {
        assert!(memory.len() > HEADER, "a ring needs room for data");
        Writer { memory, written: 0, rest: VecDeque::new() }
    }

    /// Appends a message. Returns whether anything was written.
    pub(super) fn send(&mut self, message: &[u8]) -> bool {
        let words = message.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        });
        let words = std::iter::once(message.len() as u64).chain(words);
        if self.rest.is_empty() && self.room() > message.len().div_ceil(8) as u64 {
            words.for_each(|word| self.put(word));
            self.publish();
            return true;
        }
        self.rest.extend(words);
        self.flush()
    }

    /// Returns the number of words for which there is room.
    fn room(&self) -> u64 {
        // Acquire: pairs with the release in `receive`. The words that are written over have been read. (The models do not show this pair: loom
        // has no loads that return a value which is stored later.)
        let read = self.memory[READ].load(Acquire);
        let size = (self.memory.len() - HEADER) as u64;
        // A reader that has overwritten its counter gets wrong words, or none (invariant 3).
        size.saturating_sub(self.written.wrapping_sub(read))
    }

    /// Writes a word, for which there is room.
    fn put(&mut self, word: u64) {
        // Relaxed: published by `written`.
        data(&self.memory, self.written).store(word, Relaxed);
        self.written += 1;
    }

    fn publish(&self) {
        // Release: pairs with the acquire in `receive`. The words are read after the counter that covers them.
        self.memory[WRITTEN].store(self.written, Release);
    }

    /// Writes as many words as there is room for. Returns whether any were written.
    pub(super) fn flush(&mut self) -> bool {
        if self.rest.is_empty() {
            return false;
        }
        let room = self.room().min(self.rest.len() as u64);
        for _ in 0..room {
            let word = self.rest.pop_front().expect("it was counted");
            self.put(word);
        }
        self.publish();
        room > 0
    }

    /// Returns the number of words that wait for room.
    pub(super) fn waiting(&self) -> usize {
        self.rest.len()
    }

    /// Whether all messages have been written.
    pub(super) fn is_flushed(&self) -> bool {
        self.waiting() == 0
    }
}

/// The reading end of a ring, and a message of which a part has arrived.
#[derive(Debug)]
pub(super) struct Reader<M> {
    memory: M,
    read: u64,
    /// Number of bytes of the message that arrives, if its length is known.
    len: Option<u64>,
    bytes: Vec<u8>,
}

impl<M: Deref<Target = [AtomicU64]>> Reader<M> {
    /// Makes the reading end of a ring whose memory is zeroed.
    pub(super) fn new(memory: M) -> Self {
        assert!(memory.len() > HEADER, "a ring needs room for data");
        Reader { memory, read: 0, len: None, bytes: Vec::new() }
    }

    /// Takes the next message, if it has arrived whole.
    pub(super) fn receive(&mut self) -> Option<Vec<u8>> {
        // Acquire: pairs with the release in `flush`.
        let written = self.memory[WRITTEN].load(Acquire);
        let size = (self.memory.len() - HEADER) as u64;
        // A writer that has overwritten its counter sends wrong words, but no more than a ring holds (invariant 3).
        let end = self.read + written.saturating_sub(self.read).min(size);
        let begin = self.read;
        let message = self.take(end);
        if self.read > begin {
            // Release: pairs with the acquire in `flush`. The words are written over after they were read.
            self.memory[READ].store(self.read, Release);
        }
        message
    }

    /// Takes words up to a position, or to the end of a message.
    fn take(&mut self, end: u64) -> Option<Vec<u8>> {
        loop {
            if let Some(len) = self.len
                && self.bytes.len() as u64 >= len
            {
                self.len = None;
                self.bytes.truncate(len as usize);
                return Some(std::mem::take(&mut self.bytes));
            }
            if self.read == end {
                return None;
            }
            // Relaxed: ordered by the load of `written`.
            let word = data(&self.memory, self.read).load(Relaxed);
            self.read += 1;
            match self.len {
                None => self.len = Some(word),
                Some(_) => self.bytes.extend(word.to_le_bytes()),
            }
        }
    }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    /// Memory that two threads share, as two processes do.
    #[derive(Clone)]
    struct Memory(Arc<Vec<AtomicU64>>);

    impl Deref for Memory {
        type Target = [AtomicU64];
        fn deref(&self) -> &[AtomicU64] {
            &self.0
        }
    }

    fn ring(data: usize) -> (Writer<Memory>, Reader<Memory>, Memory) {
        let memory = Memory(Arc::new((0..words(data)).map(|_| AtomicU64::new(0)).collect()));
        (Writer::new(memory.clone()), Reader::new(memory.clone()), memory)
    }

    fn message(number: usize) -> Vec<u8> {
        (0..number * 7 % 61).map(|i| (number + i) as u8).collect()
    }

    #[test]
    fn messages_arrive_once_and_in_order() {
        let (mut writer, mut reader, _) = ring(5);
        let mut arrived = Vec::new();
        for number in 0..200 {
            writer.send(&message(number));
            if number % 3 == 0 {
                arrived.extend(reader.receive());
            }
        }
        // Most messages are longer than the ring.
        while !writer.is_flushed() {
            arrived.extend(std::iter::from_fn(|| reader.receive()));
            writer.flush();
        }
        arrived.extend(std::iter::from_fn(|| reader.receive()));
        assert!(arrived.into_iter().eq((0..200).map(message)));
    }

    /// A message that does not find room at once is followed by others, which have to wait for it.
    #[test]
    fn a_message_waits_behind_one_that_waits() {
        let (mut writer, mut reader, _) = ring(4);
        assert!(writer.send(&[1; 24]), "it fills the ring");
        assert!(writer.is_flushed());
        assert!(!writer.send(&[2; 1]));
        assert_eq!(reader.receive(), Some(vec![1; 24]));
        assert!(writer.send(&[3; 1]));
        assert!(writer.is_flushed());
        assert_eq!(reader.receive(), Some(vec![2; 1]));
        assert_eq!(reader.receive(), Some(vec![3; 1]));
        assert_eq!(reader.receive(), None);
    }

    #[test]
    fn two_threads_agree_on_all_messages() {
        let (mut writer, mut reader, _) = ring(8);
        let writes = thread::spawn(move || {
            (0..20_000).for_each(|number| _ = writer.send(&message(number)));
            while !writer.is_flushed() {
                writer.flush();
                thread::yield_now();
            }
        });
        for number in 0..20_000 {
            let arrived = loop {
                if let Some(arrived) = reader.receive() {
                    break arrived;
                }
                thread::yield_now();
            };
            assert_eq!(arrived, message(number), "message {number}");
        }
        writes.join().unwrap();
        assert_eq!(reader.receive(), None);
    }

    /// Counters and lengths that a faulty process has overwritten cause wrong messages or none, and no panic.
    #[test]
    fn wrong_counters_do_no_harm() {
        for wrong in [u64::MAX, u64::MAX / 2, 1, 0] {
            for at in [WRITTEN, READ, HEADER, HEADER + 1] {
                let (mut writer, mut reader, memory) = ring(8);
                writer.send(&message(3));
                memory[at].store(wrong, Relaxed);
                for number in 0..50 {
                    writer.send(&message(number));
                    drop(reader.receive());
                }
            }
        }
    }
}
