//! The ring when it is exactly full, and when it wraps around, also at indices that overflow 32 bits.

use super::*;

/// Thieves empty entries that the owner fills again, or the ring is full and grows. The lower halves of the indices
/// overflow in between.
fn wrap_around(always_shared: bool) {
    explore(Some(3), move || {
        let world = World::new(4, Deque::starting_at((3 << 32) - 2, 2, always_shared));
        let first = world.push(0);
        world.share_all();
        let thief = world.thread(|world| {
            let _ = world.steal();
            let _ = world.steal();
        });
        let mut indices = vec![first];
        indices.extend([1, 2, 3].map(|job| world.push(job)));
        for job in [3, 2, 1, 0] {
            world.pop(indices[job], job);
        }
        world.end([thief]);
    });
}

#[test]
fn entries_are_used_again() {
    wrap_around(false);
}

#[test]
fn entries_of_an_always_shared_deque_are_used_again() {
    wrap_around(true);
}

/// A thief of a private job empties the entry that the owner fills again.
#[test]
fn entries_reached_for_are_used_again() {
    explore(Some(3), || {
        let world = World::new(3, Deque::starting_at(u64::from(u32::MAX), 2, false));
        let first = world.push(0);
        let second = world.push_unpublished(1).0;
        let thief = world.thread(|world| _ = world.steal_private());
        // SAFETY: called by the main thread only.
        unsafe { world.deque.publish(false) };
        let third = world.push(2);
        for (index, job) in [(third, 2), (second, 1), (first, 0)] {
            world.pop(index, job);
        }
        world.end([thief]);
    });
}
