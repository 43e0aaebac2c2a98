use super::*;
use std::sync::Arc;
use testkit::wakes::WakeCount;

fn take<T>(taker: &Arc<WakeCount>, channel: &Channel<T>) -> Poll<Option<T>> {
    taker.with(|context| channel.poll_take(context))
}

#[test]
fn who_finds_no_room_waits_for_it() {
    let channel = Channel::new(2, 1);
    let (taker, sender) = (WakeCount::new(), WakeCount::new());
    assert!(take(&taker, &channel).is_pending());
    for item in 0..2 {
        assert!(sender.poll(&mut channel.send(item)).is_ready());
    }
    assert_eq!(taker.get(), 1);
    let mut third = channel.send(2);
    assert!(sender.poll(&mut third).is_pending() && sender.poll(&mut third).is_pending());
    assert_eq!(take(&taker, &channel), Poll::Ready(Some(0)));
    assert_eq!(sender.get(), 1);
    assert!(sender.poll(&mut third).is_ready());
    assert!(channel.end(Ok(())).is_ok());
    let rest: Vec<_> = (0..3).map(|_| take(&taker, &channel)).collect();
    assert_eq!(rest, [Poll::Ready(Some(1)), Poll::Ready(Some(2)), Poll::Ready(None)]);
}

#[test]
fn a_stream_may_change_its_task() {
    let channel = Channel::new(3, 1);
    let (one, two, sender) = (WakeCount::new(), WakeCount::new(), WakeCount::new());
    assert!(
        take(&one, &channel).is_pending()
            && take(&one, &channel).is_pending()
            && take(&two, &channel).is_pending()
    );
    assert!(sender.poll(&mut channel.send(1)).is_ready());
    assert_eq!((one.get(), two.get()), (0, 1), "who has polled last");
    assert_eq!(take(&two, &channel), Poll::Ready(Some(1)));
    assert!(sender.poll(&mut channel.send(2)).is_ready());
    assert_eq!((one.get(), two.get()), (0, 1), "nobody waits");
    assert_eq!(take(&one, &channel), Poll::Ready(Some(2)));
    assert!(take(&one, &channel).is_pending());
    assert!(channel.end(Ok(())).is_ok());
    assert_eq!((one.get(), take(&one, &channel)), (1, Poll::Ready(None)));
}

#[test]
fn a_call_is_passed_on() {
    let channel = Channel::new(1, 1);
    let (taker, one, two) = (WakeCount::new(), WakeCount::new(), WakeCount::new());
    assert!(one.poll(&mut channel.send(0)).is_ready());
    let (mut first, mut second) = (channel.send(1), channel.send(2));
    assert!(one.poll(&mut first).is_pending() && two.poll(&mut second).is_pending());
    assert_eq!(take(&taker, &channel), Poll::Ready(Some(0)));
    assert_eq!((one.get(), two.get()), (1, 0));
    drop(first);
    assert_eq!(two.get(), 1);
    assert!(two.poll(&mut second).is_ready());
    assert!(channel.lock().waiting.is_empty());
}

#[test]
fn many_at_once_wait_for_room_for_all() {
    let channel = Channel::new(4, 2);
    let (taker, sender) = (WakeCount::new(), WakeCount::new());
    for items in [vec![0, 1], vec![2, 3]] {
        assert!(sender.poll(&mut channel.room()).is_ready());
        channel.put(items);
    }
    let mut room = channel.room();
    assert!(sender.poll(&mut room).is_pending());
    assert_eq!((take(&taker, &channel), sender.get()), (Poll::Ready(Some(0)), 0));
    assert_eq!((take(&taker, &channel), sender.get()), (Poll::Ready(Some(1)), 1));
    assert!(sender.poll(&mut room).is_ready());
}

#[test]
fn a_closed_channel_keeps_nothing() {
    let item = Arc::new(());
    let (channel, sender) = (Channel::new(1, 1), WakeCount::new());
    assert!(sender.poll(&mut channel.send(Arc::clone(&item))).is_ready());
    let mut second = channel.send(Arc::clone(&item));
    assert!(sender.poll(&mut second).is_pending());
    channel.close();
    assert!(channel.stop().is_cancelled());
    assert_eq!((Arc::strong_count(&item), sender.get()), (2, 1));
    assert_eq!(sender.poll(&mut second), Poll::Ready(false));
    assert_eq!(sender.poll(&mut channel.send(Arc::clone(&item))), Poll::Ready(false));
    assert_eq!(sender.poll(&mut channel.room()), Poll::Ready(false));
    channel.put(vec![Arc::clone(&item)]);
    assert_eq!(Arc::strong_count(&item), 1);
    assert!(channel.end(Err(Box::new("a panic"))).is_err());
}

#[test]
fn nothing_comes_behind_the_end() {
    let (channel, taker, sender) = (Channel::new(1, 1), WakeCount::new(), WakeCount::new());
    let item = Arc::new(());
    assert!(sender.poll(&mut channel.send(Arc::clone(&item))).is_ready());
    let mut waits = channel.send(Arc::clone(&item));
    assert!(sender.poll(&mut waits).is_pending());
    assert!(channel.end(Err(Box::new("a panic"))).is_ok());
    assert_eq!(sender.get(), 1, "nobody waits for room any more");
    assert!(channel.stop().is_cancelled());
    assert_eq!(sender.poll(&mut waits), Poll::Ready(false));
    channel.put([Arc::clone(&item)]);
    assert!(matches!(take(&taker, &channel), Poll::Ready(Some(_))));
    assert_eq!(Arc::strong_count(&item), 1);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| take(&taker, &channel))).is_err());
    channel.put([item]);
    assert_eq!(take(&taker, &channel), Poll::Ready(None));
}

#[test]
fn a_panic_comes_behind_the_items() {
    let (channel, taker) = (Channel::new(1, 1), WakeCount::new());
    assert!(taker.poll(&mut channel.send(1)).is_ready());
    assert!(channel.end(Err(Box::new("a panic"))).is_ok());
    assert_eq!(take(&taker, &channel), Poll::Ready(Some(1)));
    let taken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| take(&taker, &channel)));
    assert_eq!(*taken.unwrap_err().downcast::<&str>().unwrap(), "a panic");
    assert_eq!(take(&taker, &channel), Poll::Ready(None));
}

fn items(items: &[u32]) -> Items<u32> {
    match *items {
        [] => Items::UpToOne(None),
        [item] => Items::UpToOne(Some(item)),
        _ => Items::Many(items.to_vec()),
    }
}

fn begin<T>(walk: &Arc<WakeCount>, channel: &Channel<T>) -> Poll<Option<u64>> {
    walk.with(|context| channel.poll_begin(context))
}

#[test]
fn units_come_in_order_and_begin_when_there_is_room() {
    let channel = Channel::new(3, 1);
    let (taker, walk) = (WakeCount::new(), WakeCount::new());
    let begun: Vec<_> = (0..4).map(|_| begin(&walk, &channel)).collect();
    assert_eq!(begun, [Poll::Ready(Some(0)), Poll::Ready(Some(1)), Poll::Ready(Some(2)), Poll::Pending]);
    assert!(take(&taker, &channel).is_pending());
    channel.arrive(1, items(&[10]));
    channel.arrive(2, items(&[20]));
    assert_eq!((taker.get(), walk.get()), (0, 0), "the first one is under way");
    channel.arrive(0, items(&[0]));
    assert_eq!((taker.get(), walk.get()), (1, 0), "nothing was taken");
    assert_eq!((take(&taker, &channel), walk.get()), (Poll::Ready(Some(0)), 1));
    assert_eq!(begin(&walk, &channel), Poll::Ready(Some(3)));
    assert!(begin(&walk, &channel).is_pending());
    channel.arrive(3, items(&[]));
    assert_eq!(walk.get(), 2, "it gave nothing, and leaves its room");
    let rest: Vec<_> = (0..3).map(|_| take(&taker, &channel)).collect();
    assert_eq!(rest, [Poll::Ready(Some(10)), Poll::Ready(Some(20)), Poll::Pending]);
}

/// A unit of many items takes the room of all of them once they are there.
#[test]
fn units_of_many_items() {
    let channel = Channel::new(2, 1);
    let (taker, walk) = (WakeCount::new(), WakeCount::new());
    assert_eq!(begin(&walk, &channel), Poll::Ready(Some(0)));
    channel.arrive(0, items(&[1, 2, 3]));
    assert!(begin(&walk, &channel).is_pending());
    assert_eq!((take(&taker, &channel), walk.get()), (Poll::Ready(Some(1)), 0));
    assert_eq!((take(&taker, &channel), walk.get()), (Poll::Ready(Some(2)), 1));
    assert_eq!(begin(&walk, &channel), Poll::Ready(Some(1)));
}

/// The task that begins units is woken once for several units, or at once if the queue is empty.
#[test]
fn few_wakes_for_many_units() {
    const CAPACITY: u32 = 64;
    let channel = Channel::new(CAPACITY as usize, 1);
    let (taker, walk) = (WakeCount::new(), WakeCount::new());
    for number in 0..u64::from(CAPACITY) {
        assert_eq!(begin(&walk, &channel), Poll::Ready(Some(number)));
        channel.arrive(number, items(&[0]));
    }
    assert!(begin(&walk, &channel).is_pending());
    let woken: Vec<_> = (0..8).map(|_| (take(&taker, &channel), walk.get()).1).collect();
    assert_eq!(woken, [0, 0, 0, 0, 0, 0, 0, 1]);
    let channel = Channel::new(CAPACITY as usize, 1);
    while begin(&walk, &channel).is_ready() {}
    channel.arrive(0, items(&[0]));
    assert_eq!((take(&taker, &channel), walk.get()), (Poll::Ready(Some(0)), 2));
}

#[test]
fn no_unit_begins_behind_the_end() {
    for closes in [false, true] {
        let (channel, walk, taker) = (Channel::new(2, 1), WakeCount::new(), WakeCount::new());
        let item = Arc::new(());
        let unit = || Items::UpToOne(Some(Arc::clone(&item)));
        for number in 0..2 {
            assert_eq!(begin(&walk, &channel), Poll::Ready(Some(number)));
        }
        assert!(begin(&walk, &channel).is_pending());
        channel.arrive(1, unit());
        if closes {
            channel.close();
        } else {
            assert!(channel.end(Err(Box::new("a panic"))).is_ok());
        }
        assert_eq!((walk.get(), begin(&walk, &channel)), (1, Poll::Ready(None)));
        channel.arrive(0, unit());
        assert_eq!(Arc::strong_count(&item), 1, "what lay ahead is dropped, and what comes later");
        let taken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| take(&taker, &channel)));
        assert_eq!(taken.is_err(), !closes);
    }
}
