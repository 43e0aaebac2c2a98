//! The checker visits all states of small pools: the protocol has no counterexample, and each fault has one.

use spec::Op::{Fork, Inject, Join, Leaf, Outside, Release, Set};
use spec::{Mutant, Op, Spec};
use stateright::{Checker, HasDiscoveries, Model};
use std::time::Instant;

const THREADS: usize = 2;

/// Two jobs from outside.
const QUEUED: &[&[Op]] = &[&[], &[]];
const INJECT_TWO: &[Op] = &[Inject(0), Inject(1)];
/// The same; the first job takes any time.
const LONG: &[&[Op]] = &[&[Leaf], &[]];
/// A job with a fork, and a long leaf between fork and join: another worker must get the fork.
const FORK: &[&[Op]] = &[&[Fork(1), Leaf, Join(1)], &[]];
/// Two forks.
const FORKS: &[&[Op]] = &[&[Fork(1), Fork(2), Leaf, Join(2), Join(1)], &[], &[]];
/// A fork, beside a job from outside.
const MIXED: &[&[Op]] = &[&[Fork(1), Leaf, Join(1)], &[], &[]];
const INJECT_MIXED: &[Op] = &[Inject(0), Inject(2)];
/// A job that waits for a latch that the thread outside sets, and a job that runs meanwhile.
const LATCH: &[&[Op]] = &[&[Join(2)], &[Leaf], &[]];
const INJECT_AND_SET: &[Op] = &[Inject(0), Inject(1), Set(2)];
/// A job with an open fork that waits for a latch, with another job queued.
const OPEN_FORK: &[&[Op]] = &[&[Fork(1), Join(2), Join(1)], &[], &[]];
const SET: &[Op] = &[Inject(0), Leaf, Set(2)];
/// Two forks, one after the other.
const FORK_AGAIN: &[&[Op]] = &[&[Fork(1), Join(1), Fork(2), Leaf, Join(2)], &[], &[]];
/// A job that queues a job, and takes any time.
const INJECTS: &[&[Op]] = &[&[Inject(1), Fork(2), Leaf, Join(2)], &[], &[]];
/// A job that blocks outside until a queued job has run.
const STUCK: &[&[Op]] = &[&[Outside], &[Release]];
/// A job with a fork that blocks outside until another queued job has run. Its fork is in the deque of a stuck holder.
const STUCK_FORK: &[&[Op]] = &[&[Fork(1), Outside, Join(1)], &[], &[Release]];
/// The same, with one more queued job, and a latch that the thread outside sets.
const STUCK_LATCH: &[&[Op]] = &[&[Fork(1), Outside, Join(1)], &[], &[Join(3), Release], &[]];
const INJECT_STUCK_LATCH: &[Op] = &[Inject(0), Inject(2), Set(3)];
const INJECT_STUCK_FORK: &[Op] = &[Inject(0), Inject(2)];

const fn pool(
    slots: u8,
    parked: u8,
    groups: u8,
    jobs: &'static [&'static [Op]],
    outside: &'static [Op],
) -> Spec {
    Spec { slots, parked, spares: 0, groups, timed: false, jobs, outside, mutant: None }
}

const fn timed(spec: Spec) -> Spec {
    Spec { timed: true, ..spec }
}

const fn spare(spec: Spec) -> Spec {
    Spec { spares: 1, ..spec }
}

/// Visits all states. Returns the properties that fail.
fn explore(name: &str, spec: Spec) -> Vec<&'static str> {
    let begin = Instant::now();
    let finish =
        if spec.mutant.is_some() { HasDiscoveries::AnyFailures } else { HasDiscoveries::AllFailures };
    let checker = spec.checker().threads(THREADS).finish_when(finish).spawn_bfs().join();
    let mut failed = Vec::new();
    let mut runs = false;
    for (property, path) in checker.discoveries() {
        if property == "every job has run" {
            runs = true;
            continue;
        }
        failed.push(property);
        if spec.mutant.is_none() {
            let actions = path.clone().into_actions();
            println!("{name}: {property} fails after {actions:?}\n{:?}", path.last_state());
        }
    }
    println!(
        "{name}: {} states, depth {}, {:.1?}, {failed:?}",
        checker.unique_state_count(),
        checker.max_depth(),
        begin.elapsed()
    );
    assert!(runs || spec.mutant.is_some(), "{name}: no schedule runs every job");
    failed
}

fn holds(name: &str, spec: Spec) {
    let failed = explore(name, spec);
    assert!(failed.is_empty(), "{name}: {failed:?}");
}

/// Whether a property fails with the fault.
fn is_found(mutant: Mutant, spec: Spec, property: &str) -> bool {
    let failed = explore(&format!("{mutant:?}"), spec.with(mutant));
    failed.contains(&property)
}

#[test]
fn searches() {
    holds("queued, 2 workers", pool(2, 2, 0, QUEUED, INJECT_TWO));
    holds("queued, 2 workers, a group", pool(2, 2, 1, QUEUED, INJECT_TWO));
    holds("queued, 2 workers, timed", timed(pool(2, 2, 0, QUEUED, INJECT_TWO)));
    holds("queued, 1 slot, 2 workers", pool(1, 2, 0, QUEUED, INJECT_TWO));
    holds("fork, 2 workers", pool(2, 2, 0, FORK, &[Inject(0)]));
    holds("fork, 2 workers, timed", timed(pool(2, 2, 1, FORK, &[Inject(0)])));
    holds("forks, 2 workers", pool(2, 2, 0, FORKS, &[Inject(0)]));
    holds("forks again, 2 workers, timed", timed(pool(2, 2, 1, FORK_AGAIN, &[Inject(0)])));
    holds("long, 2 workers, timed, a group", timed(pool(2, 2, 1, LONG, INJECT_TWO)));
    holds("injects, 2 workers, timed", timed(pool(2, 2, 0, INJECTS, &[Inject(0)])));
}

#[test]
fn slots() {
    holds("fork, 2 slots, 3 workers", pool(2, 3, 0, FORK, &[Inject(0)]));
    holds("mixed, 2 slots, 2 workers", pool(2, 2, 0, MIXED, INJECT_MIXED));
    holds("mixed, 2 slots, 2 workers, timed, a group", timed(pool(2, 2, 1, MIXED, INJECT_MIXED)));
    holds("injects, 2 slots, 3 workers, 2 groups", pool(2, 3, 2, INJECTS, &[Inject(0)]));
    holds("queued, 2 slots, 3 workers, 2 groups", pool(2, 3, 2, LONG, INJECT_TWO));
    holds("forks, 2 slots, 3 workers, timed, 2 groups", timed(pool(2, 3, 2, FORKS, &[Inject(0)])));
    holds("latch, 2 slots, 3 workers, timed", timed(pool(2, 3, 0, LATCH, INJECT_AND_SET)));
    holds("latch, 1 slot, 2 workers", pool(1, 2, 0, LATCH, INJECT_AND_SET));
    holds("latch, 1 slot, 1 worker and a spare", spare(pool(1, 1, 0, LATCH, INJECT_AND_SET)));
    holds("open fork, 1 slot, 2 workers", pool(1, 2, 0, OPEN_FORK, SET));
    holds("open fork, 2 slots, 3 workers", pool(2, 3, 0, OPEN_FORK, SET));
}

#[test]
fn monitor() {
    holds("stuck, 1 slot, 2 workers", pool(1, 2, 0, STUCK, INJECT_TWO));
    holds("stuck, 1 slot, 1 worker and a spare", spare(pool(1, 1, 0, STUCK, INJECT_TWO)));
    holds("stuck, 2 slots, 3 workers", pool(2, 3, 0, STUCK, INJECT_TWO));
    holds("stuck fork, 2 slots, 2 workers", pool(2, 2, 0, STUCK_FORK, INJECT_STUCK_FORK));
    holds(
        "stuck latch, 1 slot, 2 workers and a spare",
        spare(pool(1, 2, 0, STUCK_LATCH, INJECT_STUCK_LATCH)),
    );
    holds("stuck fork, 1 slot, 2 workers", pool(1, 2, 0, STUCK_FORK, INJECT_STUCK_FORK));
}

#[test]
fn mutants() {
    const LOST: &str = "no lost wake-up";
    const STAYS: &str = "every job runs";
    let queued = pool(2, 2, 0, QUEUED, INJECT_TWO);
    let forks = pool(2, 2, 0, FORKS, &[Inject(0)]);
    let latch = pool(1, 2, 0, LATCH, INJECT_AND_SET);
    let stuck = pool(1, 2, 0, STUCK, INJECT_TWO);
    let all = [
        (Mutant::NoFinalCheck, queued, LOST),
        (Mutant::NoPublisherFence, pool(2, 2, 0, LONG, INJECT_TWO), LOST),
        (Mutant::LookBeforeEnd, queued, LOST),
        (Mutant::WakeWithoutLook, queued, "no needless wake-up"),
        (Mutant::CountBeforeGroup, pool(2, 2, 1, QUEUED, INJECT_TWO), "counts"),
        (Mutant::NoSplit, forks, LOST),
        (Mutant::NoHeavyFence, forks, LOST),
        (Mutant::ResumeWithoutClaim, latch, STAYS),
        (Mutant::BlockWithoutCheck, pool(1, 2, 0, OPEN_FORK, SET), LOST),
        (Mutant::StopWithoutLook, stuck, LOST),
        (Mutant::NoWatch, stuck, LOST),
        (Mutant::TakeOverWithoutShelf, pool(1, 2, 0, STUCK_FORK, INJECT_STUCK_FORK), LOST),
    ];
    let missed: Vec<_> = all
        .into_iter()
        .filter(|(mutant, spec, property)| !is_found(*mutant, *spec, property))
        .map(|(mutant, ..)| mutant)
        .collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}
