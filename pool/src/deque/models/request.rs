//! Requests for a split: a request that comes too late for a push is not missed together with that push.

use super::*;
use crate::sync::atomic::{AtomicBool, Ordering::Relaxed};
use crate::sync::fence;

/// Either a thief that requests a split finds the job, or the owner is told to check at its push.
#[test]
fn a_push_or_its_asker_is_not_missed() {
    explore(None, || {
        let world = World::new(1, Deque::new(2, false));
        let saw_none = Arc::new(AtomicBool::new(false));
        let asker = {
            let saw_none = Arc::clone(&saw_none);
            world.thread(move |world| {
                world.deque.request_split();
                fence::heavy();
                saw_none.store(world.deque.is_empty(), Relaxed);
            })
        };
        let (index, look_up) = world.push_unpublished(0);
        asker.join().unwrap();
        assert!(look_up || !saw_none.load(Relaxed));
        assert!(world.pop(index, 0));
        world.end([]);
    });
}

/// An owner that publishes jobs sees everything written before the request.
fn question(put: fn(&Deque<Job>)) {
    explore(None, move || {
        let world = World::new(2, Deque::new(2, false));
        let told = Arc::new(AtomicBool::new(false));
        let asker = {
            let told = Arc::clone(&told);
            world.thread(move |world| {
                told.store(true, Relaxed);
                put(&world.deque);
            })
        };
        let (index, look_up) = world.push_unpublished(0);
        // SAFETY: this thread is the owner.
        if look_up && unsafe { world.deque.publish(false) } {
            assert!(told.load(Relaxed));
        }
        world.pop(index, 0);
        asker.join().unwrap();
        // A request that came too late for one push is there for the next, and met once.
        let index = world.push(1);
        assert!(told.load(Relaxed) && !world.deque.split_requested());
        world.pop(index, 1);
        world.end([]);
    });
}

#[test]
fn a_question_publishes() {
    question(Deque::request_split);
}

#[test]
fn a_poke_publishes() {
    question(Deque::poke);
}

/// A request stays while the owner begins and ends to watch its pushes.
#[test]
fn a_question_is_not_lost_when_the_owner_begins_to_watch() {
    explore(None, || {
        let world = World::new(2, Deque::starting_at(1, 2, false));
        let asker = world.thread(|world| world.deque.request_split());
        let index = {
            // SAFETY: this thread is the owner.
            unsafe { world.deque.watch(true) };
            let (index, look_up) = world.push_unpublished(0);
            assert!(look_up);
            // SAFETY: as above.
            unsafe {
                world.deque.publish(false);
                world.deque.watch(false);
            }
            index
        };
        world.pop(index, 0);
        asker.join().unwrap();
        // It was met by that push, or will be met by the next one.
        let shared = !world.deque.split_requested();
        let (index, look_up) = world.push_unpublished(1);
        assert!(shared || look_up);
        world.pop(index, 1);
        world.end([]);
    });
}
