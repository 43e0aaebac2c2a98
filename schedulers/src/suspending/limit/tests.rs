use super::*;
use crate::suspending::room::Acquire;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::Poll;
use std::time::{Duration, Instant};
use testkit::wakes::WakeCount;

/// Polls; forgets the permit.
fn poll(acquire: &mut Acquire<'_>, count: &Arc<WakeCount>) -> bool {
    match count.poll(Pin::new(acquire)) {
        Poll::Ready(permit) => {
            mem::forget(permit);
            true
        }
        Poll::Pending => false,
    }
}

fn ticket(room: &Room) -> Acquire<'_> {
    room.acquire(LineKind::New, Place::FIRST)
}

#[test]
fn permits_go_round_among_calls_and_in_order_within_one() {
    let limit = Limit::new(1);
    let (many, one) = (Room::new(usize::MAX, Some(&limit)), Room::new(usize::MAX, Some(&limit)));
    assert_eq!((many.take(9, Place::FIRST), one.take(9, Place::FIRST), limit.in_use()), (1, 0, 1));
    let mut tickets: Vec<_> = (0..5).map(|i| ticket(if i == 4 { &one } else { &many })).collect();
    let counts: Vec<Arc<WakeCount>> = (0..5).map(|_| Arc::default()).collect();
    assert!(tickets.iter_mut().zip(&counts).all(|(ticket, count)| !poll(ticket, count)));
    assert_eq!(limit.waiting(), 5);
    let mut order = vec![];
    for _ in 0..5 {
        many.give_back(1);
        let next = (0..5).find(|i| !order.contains(i) && counts[*i].get() == 1).unwrap();
        order.push(next);
        assert_eq!(many.take(1, Place::FIRST), 0, "handed over, so nobody else can take it");
        assert!(poll(&mut tickets[next], &counts[next]));
    }
    assert_eq!(order, [0, 4, 1, 2, 3], "the call with one ticket waits for one of the others");
    many.give_back(1);
    assert_eq!((limit.in_use(), limit.waiting()), (0, 0));
}

#[test]
fn nobody_takes_a_permit_past_those_that_wait() {
    let limit = Limit::new(2);
    let (first, second) = (Room::new(usize::MAX, Some(&limit)), Room::new(usize::MAX, Some(&limit)));
    let count = WakeCount::new();
    assert_eq!(first.take(2, Place::FIRST), 2);
    let mut ticket = ticket(&second);
    assert!(!poll(&mut ticket, &count) && !poll(&mut ticket, &count), "polled again, it waits once");
    first.give_back(2);
    assert_eq!((limit.in_use(), first.take(9, Place::FIRST), limit.in_use()), (1, 1, 2));
    assert!(poll(&mut ticket, &count));
    assert_eq!(count.get(), 1);
}

#[test]
fn a_ticket_that_is_dropped_passes_its_permit_on() {
    let limit = Limit::new(1);
    let (member, count) = (Room::new(usize::MAX, Some(&limit)), WakeCount::new());
    assert_eq!(member.take(1, Place::FIRST), 1);
    let (mut first, mut second, mut third) = (ticket(&member), ticket(&member), ticket(&member));
    assert!([&mut first, &mut second, &mut third].into_iter().all(|ticket| !poll(ticket, &count)));
    drop(second);
    assert_eq!(limit.waiting(), 2);
    member.give_back(1);
    assert_eq!((count.get(), limit.waiting()), (1, 1));
    drop(first);
    assert_eq!((count.get(), limit.in_use()), (2, 1), "the first had it, and the third has it now");
    assert!(poll(&mut third, &count));
    member.give_back(1);
    drop(third);
    assert_eq!((limit.in_use(), limit.waiting()), (0, 0));
}

#[cfg(not(loom))] // models have no pool
#[test]
fn nobody_waits_while_there_are_permits() {
    const THREADS: usize = 4;
    for permits in [1, 3] {
        let (limit, held) = (Limit::new(permits), AtomicUsize::new(0));
        std::thread::scope(|threads| {
            for _ in 0..THREADS {
                threads.spawn(|| {
                    for _ in 0..1000 {
                        let permit = furcate_pool::block_on(limit.acquire());
                        assert!(held.fetch_add(1, Relaxed) < permits);
                        held.fetch_sub(1, Relaxed);
                        drop(permit);
                    }
                });
            }
        });
        assert_eq!((limit.in_use(), limit.waiting()), (0, 0));
    }
}

#[cfg(not(loom))]
#[test]
fn a_rate_is_kept_by_those_that_wait_and_those_that_do_not() {
    let limit = Limit::new(100).per_second(500);
    let begin = Instant::now();
    let member = Room::new(usize::MAX, Some(&limit));
    assert_eq!(member.take(100, Place::FIRST), 5, "the burst");
    for _ in 0..45 {
        std::mem::forget(furcate_pool::block_on(limit.acquire()));
    }
    assert!(begin.elapsed() >= Duration::from_millis(89), "45 in {:?}", begin.elapsed());
    member.give_back(50);
    assert_eq!(limit.in_use(), 0);
    // A pause gives no more than a burst.
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(member.take(100, Place::FIRST), 5);
}
