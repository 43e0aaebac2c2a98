//! The buffer grows while a thief is between its look at the deque and its compare-and-swap.

use super::*;

/// Thieves steal from a full deque, shared, that grows.
#[test]
fn growth_while_thieves_steal() {
    explore(Some(3), || {
        let world = World::new(3, Deque::new(2, false));
        let first = world.push(0);
        world.share_all();
        let thief = world.thread(|world| {
            let _ = world.steal();
            let _ = world.steal();
        });
        let second = world.push(1);
        let third = world.push(2);
        world.share_all();
        for (index, job) in [(third, 2), (second, 1), (first, 0)] {
            world.pop(index, job);
        }
        world.end([thief]);
    });
}

/// A thief steals a private job of a full deque that grows.
#[test]
fn growth_while_a_thief_reaches() {
    explore(Some(3), || {
        let world = World::new(3, Deque::new(2, false));
        let first = world.push(0);
        let thief = world.thread(|world| {
            let _ = world.steal_private();
            let _ = world.steal_private();
        });
        let second = world.push(1);
        let third = world.push(2);
        for (index, job) in [(third, 2), (second, 1), (first, 0)] {
            world.pop(index, job);
        }
        world.end([thief]);
    });
}
