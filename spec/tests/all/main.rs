//! The checker visits all states of small pools: the protocol has no counterexample, and each fault has one.

use spec::Op::{Fork, Inject, Join, Leaf, Outside, Release, Set};
use spec::{Mutant, Op, Spec};
use stateright::{Checker, HasDiscoveries, Model};
use std::time::Instant;

const THREADS: usize = 2;

/// Two jobs from outside.
const QUEUED: &[&[Op]] = &[&[], &[]];
const INJECT_TWO: &[Op] = &[Inject(0), Inject(1)];
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
const SET: &[Op] = &[Inject(0), Set(2)];
/// A job that blocks outside until a queued job has run.
const STUCK: &[&[Op]] = &[&[Outside], &[Release]];
/// A job with a fork that blocks outside until the fork... is run by another worker: the fork is in the deque of the stuck holder.
const STUCK_FORK: &[&[Op]] = &[&[Fork(1), Outside, Join(1)], &[], &[Release]];
const INJECT_STUCK_FORK: &[Op] = &[Inject(0), Inject(2)];

const fn pool(slots: u8, parked: u8, groups: u8, jobs: &'static [&'static [Op]], outside: &'static [Op]) -> Spec {
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
    let finish = if spec.mutant.is_some() { HasDiscoveries::AnyFailures } else { HasDiscoveries::AllFailures };
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
    println!("{name}: {} states, depth {}, {:.1?}, {failed:?}", checker.unique_state_count(), checker.max_depth(), begin.elapsed());
    assert!(runs || spec.mutant.is_some(), "{name}: no schedule runs every job");
    failed
}

fn holds(name: &str, spec: Spec) {
    let failed = explore(name, spec);
    assert!(failed.is_empty(), "{name}: {failed:?}");
}

fn is_found(mutant: Mutant, spec: Spec) {
    let failed = explore(&format!("{mutant:?}"), spec.with(mutant));
    assert!(!failed.is_empty(), "{mutant:?} is not found");
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
}

#[test]
fn slots() {
    holds("fork, 2 slots, 3 workers", pool(2, 3, 0, FORK, &[Inject(0)]));
    holds("mixed, 2 slots, 2 workers", pool(2, 2, 0, MIXED, INJECT_MIXED));
    holds("latch, 1 slot, 2 workers", pool(1, 2, 0, LATCH, INJECT_AND_SET));
    holds("latch, 1 slot, 1 worker and a spare", spare(pool(1, 1, 0, LATCH, INJECT_AND_SET)));
    holds("open fork, 1 slot, 2 workers", pool(1, 2, 0, OPEN_FORK, SET));
    holds("open fork, 2 slots, 3 workers", pool(2, 3, 0, OPEN_FORK, SET));
}

#[test]
fn monitor() {
    holds("stuck, 1 slot, 2 workers", pool(1, 2, 0, STUCK, INJECT_TWO));
    holds("stuck, 1 slot, 1 worker and a spare", spare(pool(1, 1, 0, STUCK, INJECT_TWO)));
    holds("stuck fork, 1 slot, 2 workers", pool(1, 2, 0, STUCK_FORK, INJECT_STUCK_FORK));
}

#[test]
fn mutants() {
    let queued = pool(2, 2, 0, QUEUED, INJECT_TWO);
    is_found(Mutant::NoFinalCheck, queued);
    is_found(Mutant::NoPublisherFence, queued);
    is_found(Mutant::LookBeforeEnd, queued);
    is_found(Mutant::WakeWithoutLook, pool(2, 2, 0, MIXED, INJECT_MIXED));
    is_found(Mutant::CountBeforeGroup, pool(2, 2, 1, MIXED, INJECT_MIXED));
    is_found(Mutant::NoSplit, pool(2, 2, 0, FORK, &[Inject(0)]));
    is_found(Mutant::NoHeavyFence, pool(2, 2, 0, FORK, &[Inject(0)]));
    is_found(Mutant::ResumeWithoutClaim, pool(1, 2, 0, LATCH, INJECT_AND_SET));
    is_found(Mutant::BlockWithoutCheck, pool(1, 2, 0, OPEN_FORK, SET));
    is_found(Mutant::StopWithoutLook, pool(1, 2, 0, STUCK, INJECT_TWO));
    is_found(Mutant::NoWatch, pool(1, 2, 0, STUCK, INJECT_TWO));
    is_found(Mutant::TakeOverWithoutShelf, pool(1, 2, 0, STUCK_FORK, INJECT_STUCK_FORK));
}
