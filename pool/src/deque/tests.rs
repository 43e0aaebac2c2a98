//! Tests of the deque: single steps, comparison with an oracle, and stress by thieves.

mod oracle;
mod stress;

use super::*;
use std::cell::Cell;

/// First indices: also close to the values at which the lower halves change sign, or overflow.
const STARTS: [u64; 5] = [0, i32::MAX as u64 - 2, u32::MAX as u64 - 2, (1 << 32) - 2, (7 << 32) - 3];

/// The modes that work on this system: always shared, and split if fences are asymmetric.
fn modes() -> impl Iterator<Item = bool> {
    [true, false].into_iter().filter(|&always_shared| always_shared || fence::asymmetric())
}

/// The owner of a deque. It publishes jobs when told to check. Jobs are numbers.
struct Owner {
    deque: Deque<usize>,
    /// Indices and jobs that were pushed and not popped yet.
    open: Vec<(u64, usize)>,
    jobs: Box<[usize]>,
}

impl Owner {
    fn new(jobs: usize, deque: Deque<usize>) -> Self {
        Owner { deque, open: Vec::new(), jobs: (0..jobs).collect() }
    }

    /// Pushes a job. Returns whether the owner was asked to share, or poked.
    fn push(&mut self, job: usize) -> bool {
        // SAFETY: the test's main thread is the owner.
        let (index, look_up) = unsafe { self.deque.push(NonNull::from(&self.jobs[job])) };
        self.open.push((index, job));
        // SAFETY: as above.
        look_up && unsafe { self.deque.publish(false) }
    }

    fn share_all(&self) {
        // SAFETY: the test's main thread is the owner.
        unsafe { self.deque.share_all() }
    }

    /// Pops the last job that has not been popped. Returns it if it was not stolen.
    fn pop(&mut self) -> Option<usize> {
        let (index, job) = self.open.pop().expect("there is something to pop");
        // SAFETY: the test's main thread is the owner, and pops nest.
        unsafe { self.deque.pop(index) }.then_some(job)
    }

    fn pop_newest(&mut self) -> Option<usize> {
        // SAFETY: the test's main thread is the owner.
        let job = unsafe { self.deque.pop_newest() }?;
        // SAFETY: points into `jobs`.
        Some(*unsafe { job.as_ref() })
    }

    fn share_if_requested(&self) {
        // SAFETY: the test's main thread is the owner.
        unsafe { self.deque.share_if_requested() }
    }

    fn steal(&self) -> Steal<usize> {
        self.deque.steal(|| true)
    }

    fn steal_private(&self) -> Steal<usize> {
        self.deque.steal_private(|| true, || {})
    }
}

fn number(stolen: Steal<usize>) -> Option<usize> {
    match stolen {
        // SAFETY: points into the `jobs` of an owner that is alive.
        Steal::Job(job) => Some(*unsafe { job.as_ref() }),
        _ => None,
    }
}

#[test]
fn smoke() {
    for (start, always_shared) in
        STARTS.into_iter().flat_map(|start| modes().map(move |always_shared| (start, always_shared)))
    {
        let mut owner = Owner::new(10, Deque::starting_at(start, 2, always_shared));
        assert_eq!((owner.steal(), owner.pop_newest()), (Steal::Empty, None));
        (0..10).for_each(|job| _ = owner.push(job));
        owner.share_all();
        assert_eq!(number(owner.steal()), Some(0));
        assert_eq!(owner.pop(), Some(9));
        assert_eq!(number(owner.steal()), Some(1));
        assert_eq!((2..9).map(|_| owner.pop().unwrap()).collect::<Vec<_>>(), [8, 7, 6, 5, 4, 3, 2]);
        assert_eq!((owner.pop(), owner.pop()), (None, None));
        assert_eq!((owner.steal(), owner.deque.is_empty()), (Steal::Empty, true));
    }
}

#[test]
fn an_always_shared_deque_shares_every_job_at_once() {
    let mut owner = Owner::new(8, Deque::new(4, true));
    for job in 0..8 {
        assert!(owner.push(job));
    }
    assert_eq!(owner.steal_private(), Steal::Lost);
    assert_eq!((owner.pop(), owner.pop()), (Some(7), Some(6)));
    // No job has become private again: the owner may be inside a long leaf now, and no thief steals private jobs.
    for job in 0..6 {
        assert_eq!(number(owner.steal()), Some(job));
    }
    assert_eq!(owner.steal_private(), Steal::Empty);
}

#[test]
fn an_owner_that_is_asked_shares_all_and_goes_on_ahead() {
    let mut owner = Owner::new(60, Deque::new(8, false));
    for job in 0..5 {
        assert!(!owner.push(job), "nobody has asked");
    }
    assert_eq!((owner.steal(), owner.deque.split_requested()), (Steal::Private, true));
    assert!(owner.push(5) && !owner.deque.split_requested());
    assert!(!owner.push(6), "nobody has asked again, but it is shared");
    for job in 0..7 {
        assert_eq!(number(owner.steal()), Some(job));
    }
    assert!(owner.deque.split_requested(), "the thief of the last one asks for more");
    assert_eq!(owner.steal(), Steal::Empty);
    assert!(owner.push(7));
    assert!((8..40).all(|job| !owner.push(job)));
    assert_eq!(owner.deque.word().state(), WordState::Shared { top: 7, split: 7 + AHEAD });
}

#[test]
fn an_owner_that_takes_jobs_back_shares_half_and_keeps_the_question() {
    let mut owner = Owner::new(7, Deque::new(8, false));
    (0..6).for_each(|job| _ = owner.push(job));
    owner.share_if_requested();
    assert_eq!(owner.steal(), Steal::Private, "nobody had asked");
    assert_eq!(owner.pop_newest(), Some(5));
    owner.share_if_requested();
    assert_eq!(number(owner.steal()), Some(0));
    owner.share_if_requested();
    assert_eq!(
        owner.deque.word().state(),
        WordState::Shared { top: 1, split: 3 },
        "half of five, and no more"
    );
    assert!(owner.deque.split_requested());
    assert!(owner.push(6) && !owner.deque.split_requested(), "the push answers");
}

#[test]
fn an_owner_that_watches_checks_at_every_push_and_shares_only_on_request() {
    let mut owner = Owner::new(60, Deque::starting_at(1, 2, false));
    // SAFETY: this thread is the owner.
    unsafe { owner.deque.watch(true) };
    for job in 0..40 {
        // SAFETY: as above.
        let (_, look_up) = unsafe { owner.deque.push(NonNull::from(&owner.jobs[job])) };
        assert!(look_up);
        // The ring grows on the way.
        // SAFETY: as above.
        assert!(!unsafe { owner.deque.publish(false) }, "nobody has asked");
    }
    assert_eq!((owner.steal(), owner.deque.split_requested()), (Steal::Private, true));
    assert!(owner.push(40) && !owner.deque.split_requested());
    for job in 0..20 {
        assert_eq!(number(owner.steal()), Some(job));
    }
    // SAFETY: as above.
    unsafe { owner.deque.watch(false) };
    assert!(!owner.push(41), "neither is it watched nor has anybody asked");
}

#[test]
fn an_owner_that_would_rather_wait_is_asked_again() {
    let owner = Owner::new(1, Deque::new(4, false));
    owner.deque.request_split();
    for _ in 0..2 {
        // SAFETY: this thread is the owner.
        let (_, look_up) = unsafe { owner.deque.push(NonNull::from(&owner.jobs[0])) };
        // SAFETY: as above.
        assert!(look_up && unsafe { owner.deque.publish(true) });
        assert!(owner.deque.split_requested());
        assert_eq!(owner.steal(), Steal::Private);
    }
}

#[test]
fn a_poke_has_the_owner_look_up_once() {
    let mut owner = Owner::new(2, Deque::new(4, false));
    owner.deque.poke();
    assert!(!owner.deque.split_requested(), "nobody wants work");
    assert!(owner.push(0));
    assert!(!owner.push(1));
}

#[test]
fn what_a_thief_does_not_want_stays() {
    for always_shared in modes() {
        let mut owner = Owner::new(2, Deque::new(4, always_shared));
        let fences = Cell::new(0);
        owner.push(0);
        if !always_shared {
            assert_eq!(owner.deque.steal_private(|| false, || fences.set(fences.get() + 1)), Steal::Empty);
            assert_eq!(fences.get(), 1);
            assert_eq!(owner.steal(), Steal::Private);
        }
        owner.share_all();
        assert_eq!(owner.deque.steal(|| false), Steal::Empty);
        assert_eq!(owner.pop(), Some(0));
    }
}

/// D4: the capacity grows by doubling, so all outgrown buffers together are smaller than the one in use.
#[test]
fn outgrown_buffers_are_bounded() {
    for always_shared in modes() {
        let mut owner = Owner::new(1000, Deque::new(1, always_shared));
        for round in 1..=3 {
            (0..1000).for_each(|job| _ = owner.push(job));
            (0..1000).rev().for_each(|job| assert_eq!(owner.pop(), Some(job)));
            let capacity = owner.deque.buffer().capacity();
            // SAFETY: this thread is the owner, and outgrown buffers live as long as the deque.
            let outgrown: usize = unsafe {
                (*owner.deque.owner.outgrown.get()).iter().map(|&buffer| (*buffer).capacity()).sum()
            };
            assert_eq!((capacity, outgrown), (1024, 1023), "round {round}");
        }
    }
}

/// A stolen job's index may be any distance below the bottom when it is popped. Modulo 2^32 it looks like any other
/// index.
#[test]
fn a_stolen_job_does_not_come_back_however_many_came_and_went_since() {
    for always_shared in modes() {
        for since in [
            1,
            1 << 30,
            (1 << 31) - 1,
            1 << 31,
            (1 << 31) + 5,
            (1 << 32) - 1,
            1 << 32,
            (1 << 32) + 1,
            3 << 31,
        ] {
            for start in STARTS {
                let mut owner = Owner::new(2, Deque::starting_at(start, 2, always_shared));
                owner.push(0);
                owner.share_all();
                assert!(matches!(owner.deque.steal(|| true), Steal::Job(_)));
                // As if that many jobs were pushed, shared and popped since.
                let bottom = start + 1 + since;
                owner.deque.owner.bottom.store(bottom, Relaxed);
                owner.deque.word.store(Word::private(bottom as u32).bits(), Relaxed);
                let look_up = owner.deque.unrequested(owner.deque.room(bottom, bottom as u32));
                owner.deque.owner.limit.store(look_up, Relaxed);
                owner.push(1);
                assert_eq!(owner.pop(), Some(1));
                assert_eq!(owner.pop(), None, "{since} jobs after the one at {start}");
                owner.push(1);
                assert_eq!(owner.pop(), Some(1), "the deque goes on");
            }
        }
    }
}
