//! Thieves that get a share, and thieves that are refused: because little is left, or because the victim is out of work.

use crate::support::other::Other;
use crate::support::{LONG, within};
use furcate::prelude::*;
use furcate::trace::{self, Event};
use furcate_cluster::transport::Message;
use furcate_cluster::{SpreadOver, Threads};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use testkit::spin;

/// Runs a loop over the numbers up to `2 * len`, of which rank 1 has the second half.
fn run(other: &Other, len: u64, work: impl Fn(u64) + Send + Sync + 'static) -> JoinHandle<u64> {
    other.run(move |world| {
        let items = (0..2 * len).into_par_iter().inspect(|&i| work(i - len));
        items.spread(&world).sum::<u64>()
    })
}

/// Returns the reply to a thief that comes at item `at` of `len`.
fn reply(len: u64, at: u64, work: impl Fn(u64) + Send + Sync + 'static) -> Message {
    let other = Other::default();
    let thief = other.clone();
    let rank = run(&other, len, move |i| {
        if i == at {
            thief.tell(Message::Request);
        }
        work(i);
    });
    let reply = other.sees(|message| matches!(message, Message::Refusal { .. } | Message::Share { .. }));
    other.tell(Message::Abort("the test has seen enough".to_owned()));
    assert!(rank.join().is_err());
    reply
}

/// The rest takes some ten microseconds. If the rank is interrupted just before the thief comes, it seems to be longer, so the loop is run again.
#[test]
fn a_task_that_ends_soon_is_not_divided() {
    within(LONG, || {
        let is_refused = || {
            let reply = reply(2000, 1980, |_| spin(Duration::from_nanos(200)));
            // A rank that looks at its mail after its last item says that it does not work.
            let Message::Refusal { works: true, rest } = reply else { return false };
            assert!(!rest.is_zero(), "it says when it will be out of work");
            true
        };
        assert!((0..500).any(|_| is_refused()));
    });
}

/// The rest takes ten milliseconds at least.
#[test]
fn a_task_that_goes_on_for_long_is_divided() {
    within(LONG, || {
        let sleep = |_| thread::sleep(Duration::from_micros(200));
        assert!(matches!(reply(20, 10, sleep), Message::Share { .. }));
    });
}

/// The first items of each share are cheap, and say nothing about the rest. A step that begins among them may hold some hundred units. A thief that was refused comes again.
/// The trace shows what the ranks gave and got. (It also has what other tests do meanwhile.)
#[test]
fn items_that_grow_expensive_are_stolen() {
    within(LONG, || {
        trace::start().unwrap();
        let counts = Threads::new(2).run(|world| {
            // Both ranks are there.
            assert_eq!((0..2_u64).into_par_iter().spread(world).count(), 2);
            let items = (0..4000_u64).into_par_iter().inspect(|&i| {
                if i >= 3500 {
                    thread::sleep(Duration::from_micros(200));
                }
            });
            assert_eq!(items.spread(world).count(), 4000);
            world.counts()
        });
        assert!(counts[1].given > 0 && counts[0].won > 0, "{counts:?}");
        let trace = trace::stop().unwrap();
        let count = |wanted| {
            let events = trace.threads().iter().flat_map(|thread| thread.events());
            events.filter(|event| event.event == wanted).count() as u64
        };
        assert!(count(Event::RankGive { rank: 0 }) >= counts[1].given);
        assert!(count(Event::RankSteal { rank: 1 }) >= counts[0].won);
    });
}

/// The thief comes when one item is left, so there is nothing to divide. It waits until the rank is out of work.
#[test]
fn waiting_thieves_are_refused_by_a_rank_that_becomes_idle() {
    within(LONG, || {
        let other = Other::default();
        let thief = other.clone();
        let rank = run(&other, 2, move |i| {
            if i == 0 {
                thief.tell(Message::Request);
            }
        });
        other.sees(|message| matches!(message, Message::Refusal { works: false, .. }));
        other.sees(|message| matches!(message, Message::Output { gap: 1, .. }));
        // No interruption, and the sum.
        other.tell(Message::End(vec![0, 6]));
        assert_eq!(rank.join().unwrap(), 6);
    });
}
