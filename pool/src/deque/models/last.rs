//! The last jobs, for which owner and thieves compete: each is taken once.

use super::*;

/// Two thieves steal the only job, shared; the owner pops it.
fn last_shared(always_shared: bool) {
    explore(Some(3), move || {
        let world = World::new(1, Deque::new(2, always_shared));
        let index = world.push(0);
        world.share_all();
        let thieves = [0, 1].map(|_| world.thread(|world| _ = world.steal()));
        world.pop(index, 0);
        world.end(thieves);
    });
}

#[test]
fn the_last_shared_job() {
    last_shared(false);
}

#[test]
fn the_last_job_of_an_always_shared_deque() {
    last_shared(true);
}

/// Two thieves steal the only job, private; the owner pops it.
#[test]
fn the_last_private_job() {
    explore(Some(3), || {
        let world = World::new(1, Deque::new(2, false));
        let index = world.push(0);
        let thieves = [0, 1].map(|_| world.thread(|world| _ = world.steal_any()));
        world.pop(index, 0);
        world.end(thieves);
    });
}

/// The owner pushes, shares if the request comes in time, and pops, while one thief steals a shared job and another a
/// private one.
#[test]
fn the_last_job_stolen_or_reached_for() {
    explore(Some(3), || {
        let world = World::new(1, Deque::new(2, false));
        let thieves =
            [world.thread(|world| _ = world.steal()), world.thread(|world| _ = world.steal_private())];
        let index = world.push(0);
        world.pop(index, 0);
        world.end(thieves);
    });
}

/// The owner takes shared jobs back while thieves steal others: first half of three, then one of two or the last.
fn shared_taken_back(always_shared: bool) {
    explore(Some(3), move || {
        let world = World::new(3, Deque::new(4, always_shared));
        let indices = [0, 1, 2].map(|job| world.push(job));
        world.share_all();
        let thieves = [0, 1].map(|_| world.thread(|world| _ = world.steal()));
        for job in [2, 1, 0] {
            world.pop(indices[job], job);
        }
        world.end(thieves);
    });
}

#[test]
fn shared_jobs_are_taken_back() {
    shared_taken_back(false);
}

#[test]
fn jobs_of_an_always_shared_deque_are_taken_back() {
    shared_taken_back(true);
}
