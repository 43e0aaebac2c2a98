//! An owner that has stopped pushing: it takes jobs back, and [shares](Deque::share_if_requested) after a thief has
//! requested a split.

use super::super::WordState;
use super::*;
use crate::sync::atomic::{AtomicBool, Ordering::Relaxed};
use crate::sync::fence;

impl World {
    /// Takes the newest job, and then shares others if a split was requested. Returns false if there is no job.
    fn pop_and_share(&self) -> bool {
        let popped = self.pop_newest();
        turn();
        // SAFETY: called by the main thread only.
        unsafe { self.deque.share_if_requested() };
        popped
    }
}

/// A thief has requested a split. When the owner has taken one job back, the thief finds the oldest one shared, and
/// sees it as it was pushed.
#[test]
fn an_owner_that_takes_a_job_back_shares_the_oldest() {
    explore(None, || {
        let world = World::new(2, Deque::new(4, false));
        world.deque.request_split();
        let thief = world.thread(|world| {
            while matches!(world.deque.word().state(), WordState::Private { .. }) {
                loom::thread::yield_now();
            }
            assert!(matches!(world.steal(), Steal::Job(_)));
        });
        (0..2).for_each(|job| _ = world.push_unpublished(job));
        assert!(world.pop_and_share());
        world.end([thief]);
    });
}

/// A worker that is about to sleep requests a split, and finds no job. The owner takes all jobs back. It is still told
/// to check at its next push, since sharing does not answer that worker.
#[test]
fn a_question_outlives_the_sharing() {
    explore(Some(3), || {
        let world = World::new(3, Deque::new(4, false));
        (0..2).for_each(|job| _ = world.push(job));
        let saw_none = Arc::new(AtomicBool::new(false));
        let sleeper = {
            let saw_none = Arc::clone(&saw_none);
            world.thread(move |world| {
                world.deque.request_split();
                fence::heavy();
                saw_none.store(world.deque.is_empty(), Relaxed);
            })
        };
        while world.pop_and_share() {}
        let (index, look_up) = world.push_unpublished(2);
        sleeper.join().unwrap();
        assert!(look_up || !saw_none.load(Relaxed));
        assert!(world.pop(index, 2));
        world.end([]);
    });
}

/// The owner takes back and shares while one thief requests a split and then steals, and one steals a private job: each
/// job is taken once.
#[test]
fn sharing_under_a_thief_that_asks_and_one_that_reaches() {
    explore(Some(2), || {
        let world = World::new(2, Deque::new(2, false));
        (0..2).for_each(|job| _ = world.push(job));
        let thieves = [
            world.thread(|world| {
                let _ = world.steal();
                let _ = world.steal();
            }),
            world.thread(|world| _ = world.steal_private()),
        ];
        while world.pop_and_share() {}
        world.end(thieves);
    });
}
