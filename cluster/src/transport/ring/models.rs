//! Models of the ring: messages arrive once, in order and whole, also if the ring has to be used over and over.

use super::{Reader, Writer};
use crate::transport::models::{Memory, explore};
use loom::thread;

/// Reads messages until there are so many.
fn read(reader: &mut Reader<Memory>, number: usize) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    while messages.len() < number {
        match reader.receive() {
            Some(message) => messages.push(message),
            None => thread::yield_now(),
        }
    }
    messages
}

/// Two messages that fit.
#[test]
fn messages_are_seen_with_the_counter() {
    explore(3, || {
        let memory = Memory::ring(4);
        let (mut writer, mut reader) = (Writer::new(memory.clone()), Reader::new(memory));
        let writes = thread::spawn(move || {
            writer.send(&[7]);
            writer.send(&[8]);
            assert!(writer.is_flushed());
        });
        assert_eq!(read(&mut reader, 2), [[7], [8]]);
        writes.join().unwrap();
    });
}

/// A ring of two words, which each message fills: the second message is written over the first one.
#[test]
fn room_is_made_by_the_reader() {
    explore(2, || {
        let memory = Memory::ring(2);
        let (mut writer, mut reader) = (Writer::new(memory.clone()), Reader::new(memory));
        let writes = thread::spawn(move || {
            writer.send(&[7]);
            writer.send(&[8]);
            while !writer.is_flushed() {
                if !writer.flush() {
                    thread::yield_now();
                }
            }
        });
        assert_eq!(read(&mut reader, 2), [[7], [8]]);
        writes.join().unwrap();
    });
}

/// A message that is longer than the ring arrives in parts.
#[test]
fn long_messages_arrive_whole() {
    explore(2, || {
        let memory = Memory::ring(1);
        let (mut writer, mut reader) = (Writer::new(memory.clone()), Reader::new(memory));
        let writes = thread::spawn(move || {
            writer.send(&[7; 9]);
            while !writer.is_flushed() {
                if !writer.flush() {
                    thread::yield_now();
                }
            }
        });
        assert_eq!(read(&mut reader, 1), [[7; 9]]);
        writes.join().unwrap();
    });
}
