//! Long outputs, which stay where they were made until they are wanted.

use crate::support::other::Other;
use crate::support::{LONG, text, within};
use furcate::prelude::*;
use furcate_cluster::transport::{Envelope, Malformed, Message};
use furcate_cluster::{Counts, SpreadOver, Threads, Transport, World};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Length of each string.
const LEN: usize = 20_000;

type Mailbox = Mutex<VecDeque<(usize, Envelope)>>;

/// Ranks in a row: each rank steals from the one before it, and rank 0 from the next one. So a part goes from rank to rank.
#[derive(Debug)]
struct Row {
    rank: usize,
    mail: Arc<[Mailbox]>,
}

impl Transport for Row {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.mail.len()
    }

    fn send(&self, to: usize, envelope: &Envelope) -> usize {
        let to = match envelope.message {
            Message::Request | Message::Withdrawal => self.rank.checked_sub(1).unwrap_or(1),
            _ => to,
        };
        self.mail[to].lock().unwrap().push_back((self.rank, envelope.clone()));
        envelope.encode().len()
    }

    fn poll(&self) -> Option<(usize, Result<Envelope, Malformed>)> {
        let (from, envelope) = self.mail[self.rank].lock().unwrap().pop_front()?;
        Some((from, Ok(envelope)))
    }

    fn wait(&self, _: Duration) {
        thread::sleep(Duration::from_micros(50));
    }
}

/// Puts long strings together on four ranks in a row, of which rank 0 has all the work at first. Returns the counts.
fn long_strings(inline: u64) -> Vec<Counts> {
    let strings = |i: u64| {
        if i < 100 {
            thread::sleep(Duration::from_millis(1));
            char::from(b'a' + (i % 26) as u8).to_string().repeat(LEN)
        } else {
            String::new()
        }
    };
    let expected: String = (0..100).map(strings).collect();
    let mail: Arc<[Mailbox]> = (0..4).map(|_| Mailbox::default()).collect();
    thread::scope(|scope| {
        let ranks: Vec<_> = (0..4)
            .map(|rank| {
                let (mail, strings, expected) = (Arc::clone(&mail), &strings, &expected);
                scope.spawn(move || {
                    let world = World::new(Row { rank, mail }).with_inline(inline);
                    let pool = furcate::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
                    pool.install(|| {
                        let spread = (0..400).into_par_iter().map(strings).spread(&world);
                        let text = spread.to_root(|spread| spread.reduce(String::new, |a, b| a + &b));
                        assert!(text.is_none_or(|text| text == *expected));
                        world.counts()
                    })
                })
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

fn sum(counts: &[Counts], count: impl Fn(&Counts) -> u64) -> f64 {
    counts.iter().map(count).sum::<u64>() as f64
}

/// Rank 0 wants all strings, and makes some of them.
#[test]
fn long_outputs_are_sent_about_once() {
    within(LONG, || {
        for _ in 0..5 {
            let counts = long_strings(4096);
            let sent = sum(&counts, |counts| counts.bytes) / (100.0 * LEN as f64);
            assert!(sent < 1.5, "{sent} times the output: {counts:?}");
            assert!(sum(&counts, |counts| counts.fetched) >= 1.0, "{counts:?}");
            assert!(sum(&long_strings(u64::MAX), |counts| counts.fetched + counts.moved) == 0.0);
        }
    });
}

/// The destination of a join node's output, as a message has it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Link {
    Top,
    Gap { rank: usize, gap: u64 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Far {
    rank: usize,
    id: u64,
    len: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Part {
    Inline(Vec<u8>),
    At(Far),
}

/// Rank 1 gives half of its share away, and holds the output of the other half. The rank that has stolen holds a longer output. So the join node
/// goes there, without any output. Then the test fetches rank 1's output.
fn node_of_two(then: impl FnOnce(&Other, u64)) -> Result<(), String> {
    let other = Other::default();
    let thief = other.clone();
    let rank = other.run(move |world| {
        let strings = (0..40_u64).into_par_iter().map(|i| {
            if i == 25 {
                thief.tell(Message::Request);
            }
            thread::sleep(Duration::from_millis(1));
            "a".repeat(1000)
        });
        strings.spread(&world).reduce(String::new, |a, b| a + &b).len()
    });
    let Message::Share { gap, .. } = other.sees(|message| matches!(message, Message::Share { .. })) else {
        unreachable!()
    };
    let held = Far { rank: 0, id: 77, len: 1 << 40 };
    other.tell(Message::Held { gap, bytes: postcard::to_allocvec(&(0_u8, held)).unwrap() });
    let Message::Node(bytes) = other.sees(|message| matches!(message, Message::Node(_))) else {
        unreachable!()
    };
    assert!(bytes.len() < 100, "no output is in it: {bytes:?}");
    let (reason, up, parts) = postcard::from_bytes::<(u8, Link, Vec<Part>)>(&bytes).unwrap();
    assert_eq!((reason, up), (0, Link::Gap { rank: 0, gap: 1 }));
    let [Part::At(Far { rank: 1, id, len }), Part::At(Far { rank: 0, id: 77, .. }), ref last] = parts[..]
    else {
        panic!("{parts:?}")
    };
    assert!((5000..20_000).contains(&len), "the strings from 20 to 30 or so: {len}");
    assert_eq!(last, &Part::Inline(vec![0, 40, 0]), "nothing is behind the gap");
    other.tell(Message::Fetch { id, ticket: 5 });
    let Message::Fetched { ticket: 5, bytes } =
        other.sees(|message| matches!(message, Message::Fetched { .. }))
    else {
        panic!("another fetch")
    };
    let (_, _, text) = postcard::from_bytes::<(u8, u64, String)>(&bytes).unwrap();
    assert!(text.len() as u64 <= len && text.len() as u64 + 5 > len && text.bytes().all(|byte| byte == b'a'));
    then(&other, id);
    let end = rank.join().map_err(|payload| text_of(&*payload))?;
    assert_eq!(end, 3);
    Ok(())
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    text(payload).to_owned()
}

/// Every rank gets the result, and none sends it more than twice.
#[test]
fn the_result_goes_down_a_tree() {
    within(LONG, || {
        let results = Threads::new(7).run(|world| {
            let bytes: Vec<u8> = (0..100_000_u32).into_par_iter().map(|i| i as u8).spread(world).collect();
            let sum: u64 = (0..7_u64).into_par_iter().spread(world).sum();
            (bytes.len(), sum, world.counts().bytes)
        });
        for (rank, (len, sum, bytes)) in results.into_iter().enumerate() {
            assert_eq!((len, sum), (100_000, 21));
            // Besides the result, each item may be sent as a part of an output.
            assert!(bytes < 320_000, "rank {rank} has sent {bytes} bytes");
        }
    });
}

#[test]
fn a_node_goes_to_the_longest_output() {
    within(LONG, || {
        let end = |other: &Other, _| other.tell(Message::End(postcard::to_allocvec(&(0_u8, "end")).unwrap()));
        assert_eq!(node_of_two(end), Ok(()));
    });
}

#[test]
fn forged_messages_about_held_outputs_end_the_call() {
    let far = |rank| postcard::to_allocvec(&(0_u8, Far { rank, id: 1, len: 1 })).unwrap();
    let node = |up, part| postcard::to_allocvec(&(0_u8, up, vec![part])).unwrap();
    let part = |rank| Part::At(Far { rank, id: 12345, len: 1 });
    let up = || Link::Gap { rank: 0, gap: 1 };
    let forged = [
        (None, "does not hold it"),
        (Some(Message::Fetch { id: 12345, ticket: 0 }), "does not hold it"),
        (Some(Message::Fetched { ticket: 12345, bytes: vec![0, 40, 0] }), "has not asked for"),
        (Some(Message::Fetched { ticket: 0, bytes: vec![] }), "cannot be decoded"),
        (Some(Message::Held { gap: 12345, bytes: far(0) }), "which this rank does not have"),
        (Some(Message::Held { gap: 0, bytes: far(1) }), "cannot be decoded"),
        (Some(Message::Node(vec![1, 2, 3])), "cannot be decoded"),
        (Some(Message::Node(node(Link::Top, part(0)))), "cannot be decoded"),
        (Some(Message::Node(node(Link::Gap { rank: 2, gap: 0 }, part(0)))), "cannot be decoded"),
        (Some(Message::Node(node(up(), part(1)))), "does not hold it"),
        (Some(Message::Node(node(up(), part(2)))), "of rank 2, of 2"),
        (Some(Message::Node(node(up(), Part::Inline(vec![])))), "cannot be decoded"),
        (
            Some(Message::Node(node(Link::Gap { rank: 1, gap: 12345 }, Part::Inline(vec![0, 40, 0])))),
            "does not have",
        ),
    ];
    within(LONG, move || {
        for (message, expected) in forged {
            // A second fetch of the same output, if there is no message.
            let then =
                |other: &Other, id| other.tell(message.clone().unwrap_or(Message::Fetch { id, ticket: 6 }));
            let text = node_of_two(then).unwrap_err();
            assert!(text.contains(expected), "{message:?}: {text}");
        }
    });
}

#[test]
fn short_outputs_are_not_held() {
    within(LONG, || {
        let counts = Threads::new(3).run(|world| {
            for i in 0..100 {
                assert_eq!((0..1000 + i).into_par_iter().spread(world).count(), 1000 + i);
            }
            world.counts()
        });
        assert!(counts.iter().all(|counts| counts.fetched == 0 && counts.moved == 0));
    });
}
