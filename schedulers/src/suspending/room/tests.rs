use super::*;
use std::pin::pin;
use std::sync::Arc;
use testkit::wakes::WakeCount;

fn poll(acquire: Pin<&mut Acquire<'_>>, count: &Arc<WakeCount>) -> Option<()> {
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
    let room = Room::new(5, None);
    let free = || room.own.free();
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
    let unbounded = Room::new(usize::MAX, None);
    assert_eq!((Reserve::new(&unbounded, None, Place::FIRST).fill(9), unbounded.own.free()), (9, usize::MAX));
}

#[test]
fn a_reserve_given_back_wakes_as_many_as_it_had() {
    let (room, count) = (Room::new(2, None), WakeCount::new());
    let reserve = Reserve::new(&room, None, Place::FIRST);
    assert_eq!(reserve.fill(2), 2);
    let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(room.acquire(LineKind::New, Place::FIRST))).collect();
    assert!(waiting.iter_mut().all(|acquire| poll(acquire.as_mut(), &count).is_none()));
    drop(reserve);
    assert_eq!(count.get(), 2);
    assert!(waiting.iter_mut().take(2).all(|acquire| poll(acquire.as_mut(), &count).is_some()));
}

#[test]
fn both_bounds_hold() {
    let limit = Limit::new(3);
    let (narrow, wide) = (Room::new(2, Some(&limit)), Room::new(9, Some(&limit)));
    let (of_narrow, of_wide) =
        (Reserve::new(&narrow, None, Place::FIRST), Reserve::new(&wide, None, Place::FIRST));
    assert_eq!((of_narrow.fill(9), limit.in_use()), (2, 2));
    assert_eq!((of_wide.fill(9), limit.in_use(), wide.own.free()), (1, 3, 8));
    drop(of_narrow);
    assert_eq!((of_wide.fill(9), limit.in_use(), wide.own.free(), narrow.own.free()), (3, 3, 6, 2));
    drop(of_wide);
    assert_eq!((limit.in_use(), wide.own.free()), (0, 9));
}

#[test]
fn what_waits_for_the_limit_gives_back_its_own_permit_when_it_is_dropped() {
    let (limit, count) = (Limit::new(1), WakeCount::new());
    let (holder, room) = (Room::new(1, Some(&limit)), Room::new(1, Some(&limit)));
    let held = holder.try_acquire(Place::FIRST).unwrap();
    let mut waits = Box::pin(room.acquire(LineKind::New, Place::FIRST));
    assert!(poll(waits.as_mut(), &count).is_none());
    assert_eq!((room.own.free(), limit.waiting()), (0, 1));
    let mut second = pin!(room.acquire(LineKind::New, Place::FIRST));
    assert!(poll(second.as_mut(), &count).is_none());
    assert_eq!(limit.waiting(), 1, "the second one waits for its own call first");
    drop(waits);
    assert_eq!((limit.waiting(), count.get()), (0, 1));
    assert!(poll(second.as_mut(), &count).is_none());
    drop(held);
    assert_eq!((limit.in_use(), count.get()), (1, 2), "handed over");
    assert!(poll(second.as_mut(), &count).is_some());
    room.give_back(1);
    assert_eq!((limit.in_use(), room.own.free()), (0, 1));
}

/// An item that waits for its next future holds no permit of the limit. No permit is unused while a task waits.
#[test]
fn an_exchange_gives_both_permits_to_tasks_that_wait() {
    let (limit, count) = (Limit::new(2), WakeCount::new());
    let (one, other) = (Room::new(1, Some(&limit)), Room::new(9, Some(&limit)));
    let permit = one.try_acquire(Place::FIRST).unwrap();
    assert!(!one.is_wanted());
    let mut kept = Box::pin(one.exchange(permit, LineKind::Begun, Place::FIRST));
    assert!(poll(kept.as_mut(), &count).is_some(), "nobody waits");
    // Another task of the call waits.
    let mut new = Box::pin(one.acquire(LineKind::New, Place::FIRST));
    assert!(poll(new.as_mut(), &count).is_none() && one.is_wanted());
    let mut begun = Box::pin(one.exchange(Permit(&one), LineKind::Begun, Place::FIRST));
    assert!(poll(begun.as_mut(), &count).is_none());
    assert_eq!((limit.in_use(), count.get()), (0, 1));
    assert!(poll(new.as_mut(), &count).is_some() && limit.in_use() == 1);
    one.give_back(1);
    assert!(poll(begun.as_mut(), &count).is_some() && limit.in_use() == 1);
    // A task of another call waits.
    let _held = other.try_acquire(Place::FIRST).unwrap();
    let mut waits = Box::pin(other.acquire(LineKind::New, Place::FIRST));
    assert!(poll(waits.as_mut(), &count).is_none() && one.is_wanted() && !one.own.is_wanted());
    let mut begun = Box::pin(one.exchange(Permit(&one), LineKind::Begun, Place::FIRST));
    assert!(poll(begun.as_mut(), &count).is_none());
    assert!(poll(waits.as_mut(), &count).is_some(), "it has the permit");
    drop(begun);
    assert_eq!((one.own.free(), limit.in_use(), limit.waiting()), (1, 2, 0));
    other.give_back(1);
    drop(one.exchange(one.try_acquire(Place::FIRST).unwrap(), LineKind::Begun, Place::FIRST));
    assert_eq!((one.own.free(), limit.in_use()), (1, 1), "dropped before it was polled");
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
    assert!(poll(new.as_mut(), &count).is_none());
    let mut next = pin!(reserve.acquire(LineKind::First));
    assert!(poll(next.as_mut(), &count).is_none());
    assert_eq!((limit.in_use(), limit.waiting()), (0, 2));
    while count.get() == 0 {
        std::thread::yield_now();
    }
    assert!(poll(next, &count).is_some(), "before the new one, which has waited longer");
    assert!(poll(new, &count).is_none());
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
    assert_eq!((limit.in_use(), room.own.free()), (0, 9));
}

/// The code behind `io_await` may call a chain under the same limit.
#[test]
fn the_last_permit_of_an_item_comes_back_to_the_limit() {
    for limit in [Limit::new(1), Limit::new(1).per_second(1)] {
        let room = Room::new(9, Some(&limit));
        let reserve = Reserve::new(&room, None, Place::FIRST);
        reserve.put(reserve.take().unwrap(), false);
        assert_eq!((limit.in_use(), room.own.free()), (0, 9));
    }
    let room = Room::new(9, None);
    let reserve = Reserve::new(&room, None, Place::FIRST);
    reserve.put(reserve.take().unwrap(), false);
    assert_eq!(room.own.free(), 8, "only this call's items wait for it");
}
