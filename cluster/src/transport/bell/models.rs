//! A model of the bell: when it does not ring, there is no mail.

use super::{Seen, ring};
use crate::transport::models::{Memory, explore};
use crate::transport::ring::{Reader, Writer};
use loom::thread;

/// As `Shared::poll`: takes the next message.
fn poll(seen: &Seen, bell: &Memory, rings: &mut [Reader<Memory>]) -> Option<Vec<u8>> {
    let looked = seen.look(&bell[0]);
    let message = rings.iter_mut().find_map(Reader::receive);
    if message.is_none() {
        seen.note(looked);
    }
    message
}

/// Two senders, and a receiver that polls once at any time. When both have sent, a receiver that polls as long as the bell rings has all
/// messages.
#[test]
fn no_mail_is_missed() {
    explore(3, || {
        let bell = Memory::ring(1);
        let memory = [Memory::ring(2), Memory::ring(2)];
        let mut rings = memory.clone().map(Reader::new);
        let senders = memory.map(|memory| {
            let bell = bell.clone();
            thread::spawn(move || {
                if Writer::new(memory).send(&[7]) {
                    ring(&bell[0]);
                }
            })
        });
        let seen = Seen::new();
        let mut arrived = 0;
        // The receiver does not wait for the senders: they may be at any point.
        while seen.has_rung(&bell[0]) {
            arrived += usize::from(poll(&seen, &bell, &mut rings).is_some());
        }
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        while seen.has_rung(&bell[0]) {
            arrived += usize::from(poll(&seen, &bell, &mut rings).is_some());
        }
        assert_eq!(arrived, 2, "no bell rings, and a message lies in a ring");
    });
}
