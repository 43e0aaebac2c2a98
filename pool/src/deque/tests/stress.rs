//! One owner and three thieves on threads.

use super::*;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use testkit::Random;

const THIEVES: u64 = 3;

/// Runs the owner's part while thieves take jobs. Calls `taken` for each stolen job, and returns their number.
fn under_thieves<T: Sync>(
    deque: &Deque<T>,
    taken: impl Fn(NonNull<T>) + Sync,
    owner: impl FnOnce(),
) -> usize {
    let done = AtomicBool::new(false);
    thread::scope(|threads| {
        let thieves: Vec<_> = (1..=THIEVES)
            .map(|seed| {
                let (done, taken) = (&done, &taken);
                threads.spawn(move || {
                    let (mut random, mut thefts) = (Random(seed), 0);
                    while !done.load(Acquire) {
                        let stolen = match deque.steal(|| true) {
                            Steal::Private if random.below(4) == 0 => deque.steal_private(|| true, || {}),
                            other => other,
                        };
                        match stolen {
                            Steal::Job(job) => {
                                taken(job);
                                thefts += 1;
                            }
                            Steal::Lost => {}
                            Steal::Empty | Steal::Private => thread::yield_now(),
                        }
                    }
                    thefts
                })
            })
            .collect();
        owner();
        done.store(true, Release);
        thieves.into_iter().map(|thief| thief.join().unwrap()).sum()
    })
}

/// Jobs that record that they were taken.
fn notes(jobs: usize) -> Box<[AtomicBool]> {
    (0..jobs).map(|_| AtomicBool::new(false)).collect()
}

fn note(job: &AtomicBool) {
    assert!(!job.swap(true, Relaxed), "taken twice");
}

/// Pushes all the jobs. After each push, pops `pops` of those not popped yet. Returns the number of jobs it got.
fn push_and_pop(
    deque: &Deque<AtomicBool>,
    jobs: &[AtomicBool],
    mut pops: impl FnMut(usize) -> usize,
) -> usize {
    let (mut open, mut popped) = (Vec::new(), 0);
    let mut pop = |open: &mut Vec<(u64, &AtomicBool)>| {
        let (index, job) = open.pop().expect("there is something to pop");
        // SAFETY: this thread is the owner, and pops nest.
        if unsafe { deque.pop(index) } {
            note(job);
            popped += 1;
        }
    };
    for job in jobs {
        // SAFETY: this thread is the owner.
        let (index, look_up) = unsafe { deque.push(NonNull::from(job)) };
        open.push((index, job));
        if look_up {
            // SAFETY: as above.
            unsafe { deque.publish(false) };
        }
        (0..pops(open.len())).for_each(|_| pop(&mut open));
    }
    while !open.is_empty() {
        pop(&mut open);
    }
    popped
}

fn each_once(name: &str, deque: Deque<AtomicBool>, jobs: usize, pops: impl FnMut(usize) -> usize) {
    let always_shared = deque.is_always_shared();
    let jobs = notes(jobs);
    let mut popped = 0;
    // SAFETY: the jobs live longer than the deque is used.
    let taken = |job: NonNull<AtomicBool>| note(unsafe { job.as_ref() });
    let stolen = under_thieves(&deque, taken, || popped = push_and_pop(&deque, &jobs, pops));
    println!(
        "{name}, always shared: {always_shared}: {popped} jobs popped, {stolen} stolen, seeds 1 to {THIEVES}"
    );
    assert!(deque.is_empty() && jobs.iter().all(|job| job.load(Relaxed)));
    assert_eq!(popped + stolen, jobs.len());
}

/// Yields now and then, so that thieves run even with fewer cores than threads.
fn yield_once_in(n: u64, random: &mut Random) {
    if random.below(n) == 0 {
        thread::yield_now();
    }
}

/// Random pushes and pops, beginning at an index from which the indices soon cross 32 bits.
#[test]
fn stampede() {
    for always_shared in modes() {
        let deque = Deque::starting_at(u64::from(u32::MAX) - 20, 4, always_shared);
        let mut random = Random(7);
        each_once("stampede", deque, 200_000, |open| {
            yield_once_in(64, &mut random);
            (random.below(5) as usize / 2).min(open)
        });
    }
}

/// One job at a time: owner and thieves compete for the last one.
#[test]
fn stampede_at_the_last_job() {
    for always_shared in modes() {
        let mut random = Random(7);
        each_once("last job", Deque::new(1, always_shared), 100_000, |_| {
            yield_once_in(16, &mut random);
            1
        });
    }
}

/// The owner pushes a few thousand jobs in a row, and pops them.
#[test]
fn growth_under_thieves() {
    for always_shared in modes() {
        for seed in 1..=10 {
            let mut random = Random(seed);
            each_once("growth", Deque::new(1, always_shared), 10_000, |open| {
                yield_once_in(1_000, &mut random);
                if open == 5_000 { open } else { 0 }
            });
        }
    }
}

/// Jobs on the heap, each freed by the thread that takes it. The deque is dropped with some jobs in it, and does not
/// free them.
#[test]
fn destructors() {
    const JOBS: usize = 20_000;
    for always_shared in modes() {
        let deque: Deque<Arc<()>> = Deque::new(2, always_shared);
        let counted = Arc::new(());
        // SAFETY: made by `Box::into_raw` below, and taken once.
        let free = |job: NonNull<Arc<()>>| drop(unsafe { Box::from_raw(job.as_ptr()) });
        under_thieves(&deque, free, || {
            for number in 0..JOBS {
                let job = NonNull::from(Box::leak(Box::new(Arc::clone(&counted))));
                // SAFETY: this thread is the owner.
                let (_, look_up) = unsafe { deque.push(job) };
                if look_up {
                    // SAFETY: as above.
                    unsafe { deque.publish(false) };
                }
                if number % 3 == 0 {
                    // SAFETY: as above.
                    unsafe { deque.pop_newest() }.into_iter().for_each(free);
                }
            }
            // SAFETY: as above.
            while let Some(job) = unsafe { deque.pop_newest() } {
                free(job);
            }
        });
        assert_eq!(Arc::strong_count(&counted), 1);
        let last = NonNull::from(&counted);
        // SAFETY: this thread is the owner.
        let _ = unsafe { deque.push(last) };
        drop(deque);
        assert_eq!(Arc::strong_count(&counted), 1);
    }
}
