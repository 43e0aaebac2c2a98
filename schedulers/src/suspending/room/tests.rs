use super::super::reserve::Reserve;
use super::*;
use crate::suspending::semaphore::Impatience;
use std::pin::pin;
use std::sync::atomic::AtomicUsize;
use std::task::{Wake, Waker};
use testkit::wakes::WakeCount;

/// The room of a call without a limit.
fn own(permits: usize) -> Room {
    Room::new(permits, None)
}

fn free(room: &Room) -> usize {
    room.semaphore.free()
}

/// Number of free permits of the call's own bound.
fn bound(room: &Room) -> Option<usize> {
    room.semaphore.lock().member(room.call).free
}

fn word(room: &Room) -> usize {
    room.semaphore.word.load(Relaxed)
}

fn poll(acquire: Pin<&mut Acquire<'_>>, count: &Arc<WakeCount>) -> bool {
    count.poll(acquire).is_ready()
}

fn take_new(room: &Room) -> Option<Permit<'_>> {
    room.try_acquire(Place::FIRST)
}

#[test]
fn as_many_as_there_are() {
    let room = own(2);
    let (one, two) = (take_new(&room), take_new(&room));
    assert!(one.is_some() && two.is_some() && take_new(&room).is_none());
    drop(one);
    assert_eq!(free(&room), 1);
    let unbounded = own(usize::MAX);
    assert!(
        (0..1000).all(|_| { take_new(&unbounded).is_some_and(|_| unbounded.semaphore.free() > 1 << 40) })
    );
}

#[test]
fn whoever_waits_is_woken_once() {
    let (room, count) = (own(1), WakeCount::new());
    let permit = take_new(&room);
    let (mut first, mut second) =
        (pin!(room.acquire(LineKind::New, Place::FIRST)), pin!(room.acquire(LineKind::New, Place::FIRST)));
    assert!(!poll(first.as_mut(), &count) && !poll(second.as_mut(), &count));
    assert_eq!(count.get(), 0);
    drop(permit);
    assert_eq!(count.get(), 1);
    assert!(poll(first, &count), "the permit, which is dropped at once");
    assert_eq!(count.get(), 2);
    assert!(poll(second, &count));
}

/// Permits go from thread to thread: no thread waits for ever, and no permit is lost.
#[cfg(not(loom))] // models have no pool
#[test]
fn nobody_waits_while_there_are_permits() {
    const THREADS: usize = 4;
    for permits in [1, 2, 3] {
        let (room, held) = (own(permits), AtomicUsize::new(0));
        std::thread::scope(|threads| {
            // Each thread begins the items of one branch. The first thread's branch is the front.
            let places: Vec<_> = (0..THREADS as u64).map(Place).collect();
            places.windows(2).for_each(|two| room.enter([two[0], two[1]]));
            for place in places {
                let (room, held) = (&room, &held);
                threads.spawn(move || {
                    for round in 0..2000 {
                        let permit = furcate_pool::block_on(room.acquire(LineKind::New, place));
                        assert!(held.fetch_add(1, Relaxed) < permits);
                        if round % 8 == 0 {
                            std::thread::yield_now();
                        }
                        held.fetch_sub(1, Relaxed);
                        drop(permit);
                    }
                    room.leave(place);
                });
            }
        });
        assert_eq!(free(&room), permits);
        assert_eq!(word(&room), permits, "nobody waits any more");
    }
}

const RIGHT: Place = Place(1 << 63);

#[test]
fn permits_are_kept_for_the_front() {
    let (room, count) = (own(5), WakeCount::new());
    assert_eq!((room.take(1, RIGHT), Place::FIRST.right(0)), (1, RIGHT), "nothing is known of a front");
    room.enter([Place::FIRST, RIGHT]);
    assert_eq!(room.take(9, RIGHT), 0);
    let mut behind = Box::pin(room.acquire(LineKind::New, RIGHT));
    assert!(!poll(behind.as_mut(), &count));
    assert_eq!((room.take(2, Place::FIRST), free(&room), room.semaphore.is_wanted()), (2, 2, false));
    room.give_back(1);
    assert_eq!((free(&room), count.get()), (3, 0), "it is kept, too");
    room.has_begun(Place::FIRST, 3);
    assert_eq!((free(&room), count.get()), (2, 1), "two are kept");
    assert!(poll(behind.as_mut(), &count), "the permit, which is dropped at once");
    assert_eq!(free(&room), 3);
    room.leave(Place::FIRST);
    assert_eq!(room.take(9, RIGHT), 3, "it is in front now");
}

#[test]
fn new_items_are_served_from_the_front() {
    let (room, count) = (own(1), WakeCount::new());
    room.enter([Place::FIRST, RIGHT]);
    room.enter([Place::FIRST, Place::FIRST.right(1)]);
    assert_eq!(room.take(1, Place::FIRST), 1);
    let [mut last, mut middle, mut first] = [RIGHT, Place::FIRST.right(1), Place::FIRST]
        .map(|place| Box::pin(room.acquire(LineKind::New, place)));
    assert!([&mut last, &mut middle, &mut first].into_iter().all(|wait| !poll(wait.as_mut(), &count)));
    room.give_back(1);
    assert!(count.get() == 1 && !poll(last.as_mut(), &count) && !poll(middle.as_mut(), &count));
    assert!(poll(first.as_mut(), &count), "the permit, which is dropped at once");
    assert_eq!((free(&room), count.get()), (1, 1), "it is kept");
    room.leave(Place::FIRST);
    assert!(count.get() == 2 && !poll(last.as_mut(), &count), "the middle one is in front now");
    drop(middle);
    room.leave(Place::FIRST.right(1));
    assert!(count.get() == 3 && poll(last.as_mut(), &count));
    room.leave(RIGHT);
    assert_eq!(word(&room), 1);
}

#[test]
fn nothing_is_kept_once_the_first_items_have_begun() {
    let (room, count) = (own(10), WakeCount::new());
    room.enter([Place::FIRST, RIGHT]);
    assert_eq!((room.take(3, Place::FIRST), room.take(9, RIGHT)), (3, 0));
    let mut behind = Box::pin(room.acquire(LineKind::New, RIGHT));
    assert!(!poll(behind.as_mut(), &count));
    room.has_begun(RIGHT, 5);
    room.has_begun(Place::FIRST, 3);
    assert_eq!(count.get(), 0, "the other seven are kept");
    room.has_begun(Place::FIRST, 4);
    assert!(count.get() == 1 && poll(behind.as_mut(), &count), "three are kept, of seven that are free");
    assert_eq!(room.take(9, RIGHT), 4);
    room.has_begun(Place::FIRST, 3);
    assert!(!room.keeps_some());
    assert_eq!(room.take(9, RIGHT), 3);
    // First come, first served from now on.
    let [mut one, mut other] =
        [RIGHT, Place::FIRST].map(|place| Box::pin(room.acquire(LineKind::New, place)));
    assert!(!poll(one.as_mut(), &count) && !poll(other.as_mut(), &count));
    room.give_back(1);
    assert!(poll(one.as_mut(), &count));
}

/// A permit that comes back goes to a task behind the front, if more are free than are kept.
#[test]
fn what_is_not_kept_is_handed_out() {
    let (room, count) = (own(4), WakeCount::new());
    room.enter([Place::FIRST, RIGHT]);
    assert_eq!(room.take(2, Place::FIRST), 2);
    room.has_begun(Place::FIRST, 2);
    let mut behind = Box::pin(room.acquire(LineKind::New, RIGHT));
    assert!(!poll(behind.as_mut(), &count), "two are free, and kept");
    room.give_back(1);
    assert_eq!((count.get(), free(&room)), (1, 2));
    assert!(poll(behind.as_mut(), &count), "the permit, which is dropped at once");
    // Several permits at once, for a task of each kind.
    let [mut begun, mut new] =
        [LineKind::Begun, LineKind::New].map(|kind| Box::pin(room.acquire(kind, RIGHT)));
    assert_eq!(room.take(9, Place::FIRST), 3);
    assert!(!poll(begun.as_mut(), &count) && !poll(new.as_mut(), &count));
    room.give_back(4);
    assert_eq!((count.get(), free(&room)), (3, 2));
}

/// The permits that are kept are the call's own: other calls may have the limit's.
#[test]
fn permits_are_kept_within_a_bound() {
    let (limit, count) = (Limit::new(10), WakeCount::new());
    let (room, other) = (Room::new(2, Some(&limit)), Room::new(9, Some(&limit)));
    room.enter([Place::FIRST, RIGHT]);
    assert_eq!((other.take(6, Place::FIRST), room.take(2, RIGHT)), (6, 0));
    let mut behind = Box::pin(room.acquire(LineKind::New, RIGHT));
    assert!(!poll(behind.as_mut(), &count) && room.semaphore.lock().patience.is_some());
    assert_eq!((room.take(2, Place::FIRST), bound(&room)), (2, Some(0)));
    other.give_back(3);
    other.enter([Place::FIRST, RIGHT]);
    other.leave(Place::FIRST);
    assert_eq!((count.get(), bound(&room), limit.in_use()), (0, Some(0), 5), "the bound holds");
    room.has_begun(Place::FIRST, 2);
    room.give_back(1);
    assert!(count.get() == 1 && poll(behind.as_mut(), &count), "the permit, which is dropped at once");
    room.give_back(1);
    other.give_back(3);
    assert_eq!((bound(&room), limit.in_use()), (Some(2), 0));
}

#[test]
fn nobody_waits_long_behind_the_front() {
    let (room, count) = (own(2), WakeCount::new());
    room.enter([Place::FIRST, RIGHT]);
    assert_eq!(room.take(2, RIGHT), 0);
    let mut behind = Box::pin(room.acquire(LineKind::New, RIGHT));
    assert!(!poll(behind.as_mut(), &count));
    assert!(room.semaphore.lock().patience.is_some() && room.keeps_some());
    Arc::new(Impatience(Arc::clone(&room.semaphore))).wake();
    assert!(count.get() == 1 && poll(behind.as_mut(), &count) && !room.keeps_some());
    assert_eq!(room.take(9, RIGHT), 2);
}

#[test]
fn an_item_keeps_its_permit_if_nobody_waits() {
    let (room, count) = (own(1), WakeCount::new());
    let exchange = room.exchange(take_new(&room).unwrap(), LineKind::Begun, Place::FIRST);
    assert!(poll(pin!(exchange), &count), "the permit, which is dropped at once");
    drop(room.exchange(take_new(&room).unwrap(), LineKind::Begun, Place::FIRST));
    assert_eq!((free(&room), room.semaphore.is_wanted()), (1, false), "dropped before it was polled");
}

/// Two permits. New items begin while at most two begun ones wait; then begun ones go on, first come, first served.
#[test]
fn items_get_permits_in_turns() {
    const ITEMS: usize = 5;
    let (room, new) = (own(2), WakeCount::new());
    let mut in_use = vec![take_new(&room).unwrap(), take_new(&room).unwrap()];
    // A task that begins one new item after the other.
    let mut first = Box::pin(room.acquire(LineKind::New, Place::FIRST));
    assert!(!poll(first.as_mut(), &new));
    let mut begun: Vec<_> = Vec::new();
    for item in 0..ITEMS {
        let count = WakeCount::new();
        let mut exchange = Box::pin(room.exchange(in_use.remove(0), LineKind::Begun, Place::FIRST));
        assert!(!poll(exchange.as_mut(), &count));
        begun.push((exchange, count));
        let woken = |begun: &[(_, Arc<WakeCount>)]| begun.iter().filter(|(_, count)| count.get() > 0).count();
        if item < 2 {
            assert_eq!((new.get(), woken(&begun)), (item + 1, 0), "a new item begins");
            let Poll::Ready(permit) = first.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
                panic!()
            };
            in_use.push(permit);
            first.set(room.acquire(LineKind::New, Place::FIRST));
            assert!(!poll(first.as_mut(), &new));
        } else {
            assert_eq!((new.get(), woken(&begun)), (2, item - 1), "a begun item goes on");
            let (exchange, count) = &mut begun[item - 2];
            assert_eq!(count.get(), 1, "the one that has waited longest");
            let Poll::Ready(permit) = exchange.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
                panic!()
            };
            in_use.push(permit);
        }
    }
    drop(in_use);
    assert_eq!(new.get(), 3, "an item has ended");
    drop((first, begun));
    assert_eq!((free(&room), room.semaphore.is_wanted()), (2, false));
}

#[test]
fn items_of_a_search_that_have_begun_go_first() {
    let (room, new, begun) = (own(1), WakeCount::new(), WakeCount::new());
    let permit = take_new(&room);
    let mut next = pin!(room.acquire(LineKind::New, Place::FIRST));
    let mut first = pin!(room.acquire(LineKind::First, Place::FIRST));
    assert!(!poll(next.as_mut(), &new) && !poll(first.as_mut(), &begun));
    drop(permit);
    assert_eq!((new.get(), begun.get()), (0, 1));
    assert!(poll(first, &begun), "the permit, which is dropped at once");
    assert!(poll(next, &new));
}

#[test]
fn a_wake_is_passed_on() {
    let (room, count) = (own(1), WakeCount::new());
    let permit = take_new(&room);
    let mut first = Box::pin(room.acquire(LineKind::New, Place::FIRST));
    let mut second = pin!(room.acquire(LineKind::New, Place::FIRST));
    assert!(!poll(first.as_mut(), &count) && !poll(second.as_mut(), &count));
    drop(permit);
    drop(first);
    assert_eq!(count.get(), 2, "it was woken, and did not take the permit");
    assert!(poll(second, &count));
}

/// Polls; forgets the permit.
fn keep(acquire: Pin<&mut Acquire<'_>>, count: &Arc<WakeCount>) -> Option<()> {
    match count.poll(acquire) {
        Poll::Ready(permit) => {
            mem::forget(permit);
            Some(())
        }
        Poll::Pending => None,
    }
}

#[test]
fn a_reserve_holds_what_there_is_and_gives_it_back() {
    let room = own(5);
    let free = || free(&room);
    let reserve = Reserve::new(&room, room.try_acquire(Place::FIRST), Place::FIRST);
    assert_eq!((reserve.fill(1), free()), (1, 4));
    assert_eq!((reserve.fill(3), free()), (3, 2));
    assert_eq!((reserve.fill(9), free()), (5, 0));
    let (permit, another) = (reserve.take(), reserve.take());
    assert!(permit.is_some() && room.try_acquire(Place::FIRST).is_none());
    another.map(|permit| reserve.put(permit, true)).unwrap();
    reserve.empty();
    assert_eq!((free(), reserve.take().is_some(), reserve.fill(0)), (4, true, 0));
    drop((reserve, permit));
    assert_eq!(free(), 5);
    let unbounded = own(usize::MAX);
    assert_eq!(Reserve::new(&unbounded, None, Place::FIRST).fill(usize::MAX), usize::MAX);
}

#[test]
fn a_reserve_given_back_wakes_as_many_as_it_had() {
    let (room, count) = (own(2), WakeCount::new());
    let reserve = Reserve::new(&room, None, Place::FIRST);
    assert_eq!(reserve.fill(2), 2);
    let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(room.acquire(LineKind::New, Place::FIRST))).collect();
    assert!(waiting.iter_mut().all(|acquire| keep(acquire.as_mut(), &count).is_none()));
    drop(reserve);
    assert_eq!(count.get(), 2);
    assert!(waiting.iter_mut().take(2).all(|acquire| keep(acquire.as_mut(), &count).is_some()));
}

#[test]
fn both_bounds_hold() {
    let limit = Limit::new(3);
    let (narrow, wide) = (Room::new(2, Some(&limit)), Room::new(9, Some(&limit)));
    let (of_narrow, of_wide) =
        (Reserve::new(&narrow, None, Place::FIRST), Reserve::new(&wide, None, Place::FIRST));
    assert_eq!((of_narrow.fill(9), limit.in_use()), (2, 2));
    assert_eq!((of_wide.fill(9), limit.in_use(), bound(&narrow)), (1, 3, Some(0)));
    drop(of_narrow);
    assert_eq!((of_wide.fill(9), limit.in_use(), bound(&narrow), bound(&wide)), (3, 3, Some(2), None));
    drop(of_wide);
    assert_eq!(limit.in_use(), 0);
}

/// A call whose own bound allows no future keeps no other call from the limit's permits, and gets its turn when it may.
#[test]
fn a_bound_holds_nobody_else_up() {
    let (limit, count, of_other) = (Limit::new(2), WakeCount::new(), WakeCount::new());
    let (narrow, other) = (Room::new(1, Some(&limit)), Room::new(9, Some(&limit)));
    let held = narrow.try_acquire(Place::FIRST).unwrap();
    let mut waits = Box::pin(narrow.acquire(LineKind::New, Place::FIRST));
    assert!(keep(waits.as_mut(), &count).is_none() && narrow.is_wanted() && !other.is_wanted());
    let of_others = other.try_acquire(Place::FIRST);
    assert!(of_others.is_some());
    drop(held);
    assert_eq!((limit.in_use(), count.get(), bound(&narrow)), (2, 1, Some(0)), "handed over");
    let mut second = pin!(narrow.acquire(LineKind::New, Place::FIRST));
    let mut third = pin!(other.acquire(LineKind::New, Place::FIRST));
    assert!(keep(second.as_mut(), &count).is_none() && keep(third.as_mut(), &of_other).is_none());
    drop(waits);
    assert_eq!(
        (limit.waiting(), count.get(), of_other.get()),
        (1, 1, 1),
        "the other call has waited for a permit, this one for its own"
    );
    assert!(keep(third, &of_other).is_some());
    drop(of_others);
    assert!(count.get() == 2 && keep(second, &count).is_some());
    narrow.give_back(1);
    other.give_back(1);
    assert_eq!((limit.in_use(), limit.waiting(), bound(&narrow)), (0, 0, Some(1)));
}

/// An item that waits for its next future holds no permit of the limit. No permit is unused while a task waits.
#[test]
fn an_exchange_gives_both_permits_to_tasks_that_wait() {
    let (limit, count) = (Limit::new(2), WakeCount::new());
    let (one, other) = (Room::new(1, Some(&limit)), Room::new(9, Some(&limit)));
    let permit = one.try_acquire(Place::FIRST).unwrap();
    assert!(!one.is_wanted());
    let mut kept = Box::pin(one.exchange(permit, LineKind::Begun, Place::FIRST));
    assert!(keep(kept.as_mut(), &count).is_some(), "nobody waits");
    // Another task of the call waits.
    let mut new = Box::pin(one.acquire(LineKind::New, Place::FIRST));
    assert!(keep(new.as_mut(), &count).is_none() && one.is_wanted());
    let mut begun = Box::pin(one.exchange(Permit(&one), LineKind::Begun, Place::FIRST));
    assert!(keep(begun.as_mut(), &count).is_none());
    assert_eq!((limit.in_use(), count.get()), (1, 1));
    assert!(keep(new.as_mut(), &count).is_some());
    one.give_back(1);
    assert!(keep(begun.as_mut(), &count).is_some() && limit.in_use() == 1);
    // A task of another call waits.
    let _held = other.try_acquire(Place::FIRST).unwrap();
    let mut waits = Box::pin(other.acquire(LineKind::New, Place::FIRST));
    assert!(keep(waits.as_mut(), &count).is_none() && one.is_wanted());
    let mut begun = Box::pin(one.exchange(Permit(&one), LineKind::Begun, Place::FIRST));
    assert!(keep(begun.as_mut(), &count).is_none());
    assert!(keep(waits.as_mut(), &count).is_some(), "it has the permit");
    drop(begun);
    assert_eq!((bound(&one), limit.in_use(), limit.waiting()), (Some(1), 2, 0));
    other.give_back(1);
    drop(one.exchange(one.try_acquire(Place::FIRST).unwrap(), LineKind::Begun, Place::FIRST));
    assert_eq!((bound(&one), limit.in_use()), (Some(1), 1), "dropped before it was polled");
}

/// Under a rate, the permit of a future that is ready goes to the item's next future, and to no new item.
#[test]
fn a_spent_permit_is_exchanged() {
    let limit = Limit::new(1).per_second(1);
    let (room, count) = (Room::new(9, Some(&limit)), WakeCount::new());
    let reserve = Reserve::new(&room, None, Place::FIRST);
    reserve.put(reserve.take().unwrap(), true);
    assert_eq!((room.try_acquire(Place::FIRST).is_some(), limit.in_use()), (false, 1), "kept");
    assert!(reserve.take().is_none(), "the rate allows one in a second");
    let mut new = pin!(room.acquire(LineKind::New, Place::FIRST));
    assert!(keep(new.as_mut(), &count).is_none());
    let mut next = pin!(reserve.acquire(LineKind::First));
    assert!(keep(next.as_mut(), &count).is_none());
    assert_eq!((limit.in_use(), limit.waiting()), (0, 2));
    while count.get() == 0 {
        std::thread::yield_now();
    }
    assert!(keep(next, &count).is_some(), "before the new one, which has waited longer");
    assert!(keep(new, &count).is_none());
    room.give_back(1);
}

#[test]
fn a_spent_permit_is_renewed_or_given_back() {
    let limit = Limit::new(1).per_second(1_000_000);
    let room = Room::new(9, Some(&limit));
    let reserve = Reserve::new(&room, None, Place::FIRST);
    for _ in 0..3 {
        reserve.put(reserve.take().unwrap(), true);
    }
    assert_eq!((reserve.fill(5), limit.in_use()), (1, 1), "given back, and taken again");
    reserve.put(reserve.take().unwrap(), true);
    reserve.empty();
    assert_eq!(limit.in_use(), 0);
}

/// The code behind `io_await` may call a chain under the same limit.
#[test]
fn the_last_permit_of_an_item_comes_back_to_the_limit() {
    for limit in [Limit::new(1), Limit::new(1).per_second(1)] {
        let room = Room::new(9, Some(&limit));
        let reserve = Reserve::new(&room, None, Place::FIRST);
        reserve.put(reserve.take().unwrap(), false);
        assert_eq!(limit.in_use(), 0);
    }
    let room = own(9);
    let reserve = Reserve::new(&room, None, Place::FIRST);
    reserve.put(reserve.take().unwrap(), false);
    assert_eq!(free(&room), 8, "only this call's items wait for it");
}
