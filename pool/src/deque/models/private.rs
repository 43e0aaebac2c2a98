//! An owner that is busy with its private jobs, and thieves that request a split or steal private jobs.

use super::*;

/// The owner is inside a long leaf. A thief requests a split, and then takes the oldest of the private jobs without the
/// owner. A second thief may be faster, or interfere.
#[test]
fn an_owner_in_a_long_leaf_hides_nothing() {
    explore(None, || {
        let world = World::new(2, Deque::new(4, false));
        let indices = [0, 1].map(|job| world.push(job));
        let rival = world.thread(|world| _ = world.steal_any());
        let mut stolen = 0;
        while stolen == 0 && !world.deque.is_empty() {
            if let Steal::Job(_) = world.steal_any() {
                stolen += 1;
            }
            loom::thread::yield_now();
        }
        rival.join().unwrap();
        let left = [1, 0].into_iter().filter(|&job| world.pop(indices[job], job)).count();
        assert!(stolen + left <= 2 && left < 2);
        world.end([]);
    });
}

/// A thief that found only private jobs has requested a split, and the owner shares its jobs at its next push. Then it takes the newer one back,
/// against the thief of the older one.
#[test]
fn an_owner_that_was_asked_shares() {
    explore(None, || {
        let world = World::new(2, Deque::new(4, false));
        let first = world.push(0);
        let thief = world.thread(|world| assert!(matches!(world.steal(), Steal::Private)));
        thief.join().unwrap();
        let second = world.push(1);
        let thief = world.thread(|world| {
            // The owner moves the split down once.
            let stolen = Some(world.steal()).filter(|stolen| !matches!(stolen, Steal::Lost));
            assert!(matches!(stolen.unwrap_or_else(|| world.steal()), Steal::Job(_)));
        });
        assert!(world.pop(second, 1));
        thief.join().unwrap();
        assert!(!world.pop(first, 0));
        world.end([]);
    });
}

/// The owner pops its private jobs, at first without a compare-and-swap, while two thieves steal the oldest private
/// one.
#[test]
fn private_pops_under_two_reaching_thieves() {
    explore(Some(3), || {
        let world = World::new(2, Deque::new(2, false));
        let indices = [0, 1].map(|job| world.push(job));
        let thieves = [0, 1].map(|_| world.thread(|world| _ = world.steal_private()));
        for job in [1, 0] {
            world.pop(indices[job], job);
        }
        world.end(thieves);
    });
}

/// A thief that finds the bottom stored by a pop sees the job below as it was pushed. The job is pushed at an index
/// used before, since the heavy fence by itself publishes the job because of which the thief came.
#[test]
fn a_pop_publishes_what_is_below() {
    explore(Some(3), || {
        let world = World::new(3, Deque::new(4, false));
        let index = world.push(0);
        let thief = world.thread(|world| _ = world.steal_private());
        world.pop(index, 0);
        let indices = [1, 2].map(|job| world.push(job));
        for job in [2, 1] {
            world.pop(indices[job - 1], job);
        }
        world.end([thief]);
    });
}

/// The owner pops the job at an index and pushes another one there, while a thief steals a private job at that index.
#[test]
fn an_index_used_again_under_a_reaching_thief() {
    explore(None, || {
        let world = World::new(2, Deque::new(2, false));
        let index = world.push(0);
        let thief = world.thread(|world| _ = world.steal_private());
        world.pop(index, 0);
        let index = world.push(1);
        world.pop(index, 1);
        world.end([thief]);
    });
}

/// The owner publishes jobs while one thief steals a private job and the other one the job that the owner shares.
#[test]
fn an_answer_to_a_reaching_thief() {
    explore(Some(2), || {
        let world = World::new(2, Deque::new(2, false));
        let first = world.push(0);
        let thieves =
            [world.thread(|world| _ = world.steal_private()), world.thread(|world| _ = world.steal())];
        let second = world.push(1);
        world.pop(second, 1);
        world.pop(first, 0);
        world.end(thieves);
    });
}

/// An owner that keeps no indices takes the newest of two jobs, again and again, while a thief takes any of them.
#[test]
fn the_newest_jobs_under_a_thief() {
    explore(Some(3), || {
        let world = World::new(2, Deque::new(2, false));
        world.push(0);
        let thief = world.thread(|world| _ = world.steal_any());
        world.push(1);
        while world.pop_newest() {}
        world.end([thief]);
    });
}
