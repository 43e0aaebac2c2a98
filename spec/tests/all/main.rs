//! The checker visits all states of small pools: the protocol has no counterexample, and each fault has one.

use spec::Op::{Fork, Inject, Join, Leaf, Outside, Release, Set};
use spec::{Mutant, Op, REACHED, Spec};
use stateright::{Checker, HasDiscoveries, Model};
use std::collections::HashSet;
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

/// A job that comes to cooperative points, with open forks, while another one is queued.
const TURNS: &[&[Op]] = &[&[Fork(1), Fork(2), Join(2), Join(1)], &[], &[], &[]];
/// The same with one fork.
const TURN: &[&[Op]] = &[&[Fork(1), Join(1)], &[], &[]];
const INJECT_TURNS: &[Op] = &[Inject(0), Inject(3)];

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

/// Visits all states, or those up to the first one in which `wanted` fails. Returns the properties that fail, and those that are reached.
fn explore(name: &str, spec: Spec, wanted: Option<&'static str>) -> (Vec<&'static str>, Vec<&'static str>) {
    let begin = Instant::now();
    let finish = wanted.map_or(HasDiscoveries::AllFailures, |wanted| HasDiscoveries::AllOf([wanted].into()));
    let checker = spec.checker().threads(THREADS).finish_when(finish).spawn_bfs().join();
    let (mut failed, mut reached) = (Vec::new(), Vec::new());
    for (property, path) in checker.discoveries() {
        if REACHED.contains(&property) {
            reached.push(property);
            continue;
        }
        failed.push(property);
        if wanted.is_none() {
            println!(
                "{name}: `{property}` fails in {:?} after {:?}",
                path.last_state().clone(),
                path.into_actions()
            );
        }
    }
    let (states, depth) = (checker.unique_state_count(), checker.max_depth());
    println!("{name}: {states} states, depth {depth}, {:.1?}, {failed:?}", begin.elapsed());
    (failed, reached)
}

/// Explores pools in which no property may fail. Returns what is reached.
fn hold(pools: &[(&str, Spec)]) -> HashSet<&'static str> {
    let mut all = HashSet::new();
    for (name, spec) in pools {
        let (failed, reached) = explore(name, *spec, None);
        assert!(failed.is_empty(), "{name}: {failed:?}");
        assert!(reached.contains(&REACHED[0]), "{name}: no schedule runs every job");
        all.extend(reached);
    }
    all
}

/// Whether a property fails with the fault.
fn is_found(mutant: Mutant, spec: Spec, property: &'static str) -> bool {
    let (failed, _) = explore(&format!("{mutant:?}"), spec.with(mutant), Some(property));
    failed.contains(&property)
}

#[test]
fn the_protocol_holds() {
    let reached = hold(&[
        ("queued, 2 workers", pool(2, 2, 0, QUEUED, INJECT_TWO)),
        ("queued, 2 workers, a group", pool(2, 2, 1, QUEUED, INJECT_TWO)),
        ("queued, 2 workers, timed", timed(pool(2, 2, 0, QUEUED, INJECT_TWO))),
        ("queued, 1 slot, 2 workers", pool(1, 2, 0, QUEUED, INJECT_TWO)),
        ("fork, 2 workers", pool(2, 2, 0, FORK, &[Inject(0)])),
        ("fork, 2 workers, timed", timed(pool(2, 2, 1, FORK, &[Inject(0)]))),
        ("forks, 2 workers", pool(2, 2, 0, FORKS, &[Inject(0)])),
        ("forks again, 2 workers, timed", timed(pool(2, 2, 1, FORK_AGAIN, &[Inject(0)]))),
        ("long, 2 workers, timed, a group", timed(pool(2, 2, 1, LONG, INJECT_TWO))),
        ("injects, 2 workers, timed", timed(pool(2, 2, 0, INJECTS, &[Inject(0)]))),
        ("fork, 2 slots, 3 workers", pool(2, 3, 0, FORK, &[Inject(0)])),
        ("mixed, 2 slots, 2 workers", pool(2, 2, 0, MIXED, INJECT_MIXED)),
        ("mixed, 2 slots, 2 workers, timed, a group", timed(pool(2, 2, 1, MIXED, INJECT_MIXED))),
        ("injects, 2 slots, 3 workers, 2 groups", pool(2, 3, 2, INJECTS, &[Inject(0)])),
        ("queued, 2 slots, 3 workers, 2 groups", pool(2, 3, 2, LONG, INJECT_TWO)),
        ("forks, 2 slots, 3 workers, timed, 2 groups", timed(pool(2, 3, 2, FORKS, &[Inject(0)]))),
        ("latch, 2 slots, 3 workers, timed", timed(pool(2, 3, 0, LATCH, INJECT_AND_SET))),
        ("latch, 1 slot, 2 workers", pool(1, 2, 0, LATCH, INJECT_AND_SET)),
        ("latch, 1 slot, 1 worker and a spare", spare(pool(1, 1, 0, LATCH, INJECT_AND_SET))),
        ("open fork, 1 slot, 2 workers", pool(1, 2, 0, OPEN_FORK, SET)),
        ("open fork, 2 slots, 3 workers", pool(2, 3, 0, OPEN_FORK, SET)),
        ("stuck, 1 slot, 2 workers", pool(1, 2, 0, STUCK, INJECT_TWO)),
        ("stuck, 1 slot, 1 worker and a spare", spare(pool(1, 1, 0, STUCK, INJECT_TWO))),
        ("stuck, 2 slots, 3 workers", pool(2, 3, 0, STUCK, INJECT_TWO)),
        ("stuck fork, 2 slots, 2 workers", pool(2, 2, 0, STUCK_FORK, INJECT_STUCK_FORK)),
        ("stuck latch, 1 slot, 2 workers and a spare", spare(pool(1, 2, 0, STUCK_LATCH, INJECT_STUCK_LATCH))),
        ("stuck fork, 1 slot, 2 workers", pool(1, 2, 0, STUCK_FORK, INJECT_STUCK_FORK)),
        ("turns, 1 slot, 2 workers", pool(1, 2, 0, TURNS, INJECT_TURNS)),
        ("turn, 1 slot, 3 workers", pool(1, 3, 0, TURN, INJECT_MIXED)),
        ("turns, 1 slot, 1 worker and a spare, a group", spare(pool(1, 1, 1, TURNS, INJECT_TURNS))),
    ]);
    let missed: Vec<_> = REACHED.iter().filter(|property| !reached.contains(*property)).collect();
    assert!(missed.is_empty(), "not reached: {missed:?}");
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
        (Mutant::CountBeforeGroup, pool(2, 2, 1, QUEUED, INJECT_TWO), STAYS),
        (Mutant::NoSplit, forks, LOST),
        (Mutant::NoHeavyFence, forks, LOST),
        (Mutant::ResumeWithoutClaim, latch, STAYS),
        (Mutant::BlockWithoutCheck, pool(1, 2, 0, OPEN_FORK, SET), LOST),
        (Mutant::StopWithoutLook, stuck, LOST),
        (Mutant::GiveWithoutClaim, pool(1, 2, 0, TURNS, INJECT_TURNS), STAYS),
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
