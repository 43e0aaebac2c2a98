//! What holds in every state.

use crate::state::{NONE, Pc, Place, State, WorkerState};
use crate::{Action, Op, Spec};
use stateright::Property;

/// Properties of some states, which the checker must reach in one of the pools: the model is not empty.
pub const REACHED: &[&str] = &[
    "every job has run",
    "two workers search",
    "the count is behind its groups",
    "the timed searcher sleeps",
    "a worker claims a slot",
    "a worker waits in its slot",
    "a worker with forks is on the shelf",
    "a former holder runs",
    "the watchdog watches",
    "a watcher is on turn",
    "a claimant has forks",
];

pub(crate) fn properties() -> Vec<Property<Spec>> {
    vec![
        Property::sometimes(REACHED[0], |spec: &Spec, s: &State| {
            s.places.iter().take(spec.jobs.len()).all(|place| *place == Place::Done)
        }),
        Property::sometimes(REACHED[1], |_, s: &State| {
            s.threads.iter().filter(|t| t.pc == Pc::Search).count() > 1
        }),
        Property::sometimes(REACHED[2], |_, s: &State| s.threads.iter().any(|t| t.adds)),
        Property::sometimes(REACHED[3], |_, s: &State| s.timed != NONE),
        Property::sometimes(REACHED[4], |_, s: &State| !s.claims.is_empty()),
        Property::sometimes(REACHED[5], |_, s: &State| s.threads.iter().any(|t| t.pc == Pc::WaitInSlot)),
        Property::sometimes(REACHED[6], |_, s: &State| s.shelved != 0),
        Property::sometimes(REACHED[7], |spec: &Spec, s: &State| {
            (0..spec.workers()).any(|number| {
                let t = &s.threads[usize::from(number)];
                t.pc == Pc::Run && t.state == WorkerState::Active && !s.holds_slot(number)
            })
        }),
        Property::sometimes(REACHED[8], |_, s: &State| s.watchdog),
        Property::sometimes(REACHED[9], |_, s: &State| s.threads.iter().any(|t| t.pc == Pc::Turn)),
        Property::sometimes(REACHED[10], |_, s: &State| s.claims.iter().any(|number| s.has_jobs(*number))),
        Property::always("slots", slots),
        Property::always("counts", counts),
        Property::always("no lost wake-up", no_lost_wake_up),
        Property::always("every job runs", every_job_runs),
        Property::always("no needless wake-up", |_, s: &State| !s.needless),
    ]
}

/// A slot is held by one worker or free. If a slot is free, no worker claims one. A claimant is blocked, and claims once. (Between two critical sections.)
fn slots(spec: &Spec, s: &State) -> bool {
    let each = (0..spec.slots).all(|slot| {
        let holder = s.holders[usize::from(slot)];
        let is_free = s.free & 1 << slot != 0;
        is_free == (holder == NONE)
            && (holder == NONE || {
                let worker = &s.threads[usize::from(holder)];
                worker.slot == slot && matches!(worker.state, WorkerState::Active | WorkerState::Waiting)
            })
    });
    let is_blocked = |number: &u8| s.threads[usize::from(*number)].state == WorkerState::Blocked;
    let is_once = |number: &u8| s.claims.iter().filter(|other| *other == number).count() == 1;
    s.lock != NONE
        || each
            && s.claims.iter().all(is_once)
            && (s.claims.is_empty() || s.free == 0)
            && s.claims.iter().all(is_blocked)
}

/// The counts are never negative. If no thread is between the steps of a begin or an end, they are those of the searching workers.
fn counts(spec: &Spec, s: &State) -> bool {
    let workers = &s.threads[..usize::from(spec.workers())];
    let counted = |group: u8| {
        let number = |number: &u8| spec.groups == 0 || *number % spec.groups == group;
        (0..spec.workers()).filter(number).filter(|number| workers[usize::from(*number)].counted).count()
            as i8
    };
    let is_between = s.threads.iter().any(|thread| thread.adds || thread.pc == Pc::End2);
    let are_right = if spec.groups == 0 {
        s.count == counted(0)
    } else {
        let groups = 0..spec.groups;
        groups.clone().all(|group| s.groups[usize::from(group)] == counted(group))
            && s.count == groups.filter(|group| counted(*group) > 0).count() as i8
    };
    s.count >= 0 && s.groups.iter().all(|group| *group >= 0) && (is_between || are_right)
}

/// Whether each thread sleeps without a token, is at its end, or runs a job that takes any time.
fn is_settled(spec: &Spec, s: &State) -> bool {
    let is_still = |number: u8| {
        let thread = &s.threads[usize::from(number)];
        let sleeps = match thread.pc {
            Pc::Sleep | Pc::SleepBlocked => !thread.token,
            Pc::Stuck | Pc::Off => true,
            Pc::Run => spec.op(s, number) == Some(Op::Leaf),
            _ => false,
        };
        sleeps && !thread.adds && !s.is_buffered(number)
    };
    s.lock == NONE && (0..=spec.outside_number()).all(is_still)
}

/// Invariant 1 of `slots.rs`, and invariant 1 of `registry/turns.rs`.
fn no_lost_wake_up(spec: &Spec, s: &State) -> bool {
    if !is_settled(spec, s) {
        return true;
    }
    let has_work =
        s.places.iter().any(|place| matches!(place, Place::Queue | Place::Private(_) | Place::Shared(_)));
    let mut states = s.threads[..usize::from(spec.workers())].iter().map(|thread| thread.state);
    let could_run = states
        .any(|state| matches!(state, WorkerState::Parked | WorkerState::Unstarted | WorkerState::Watching));
    let is_lost = has_work && s.free != 0 && could_run;
    let is_unwatched = s.is_queued() && s.free == 0 && s.watcher == NONE && !s.watchdog && !is_turn(s);
    !is_lost && !is_unwatched
}

fn is_turn(s: &State) -> bool {
    s.threads.iter().any(|thread| thread.turn)
}

/// If no thread can do a step any more that matters, every published job has run, and every waiter whose latch is set runs again.
fn every_job_runs(spec: &Spec, s: &State) -> bool {
    if !is_settled(spec, s) {
        return true;
    }
    let mut candidates = Vec::new();
    spec.candidates(s, &mut candidates);
    // A watch that ends while a job is queued begins again.
    candidates.retain(|action| !s.is_queued() || !matches!(action, Action::Quiet(_) | Action::WatchdogQuiet));
    let is_over = candidates.into_iter().all(|action| spec.step(s, action).is_none());
    let is_right = || {
        let jobs = s.places.iter().all(|place| matches!(place, Place::Nowhere | Place::Done));
        let workers = s.threads[..usize::from(spec.workers())].iter();
        let is_idle = |state| matches!(state, WorkerState::Parked | WorkerState::Unstarted);
        jobs && workers.map(|thread| thread.state).all(is_idle)
    };
    !is_over || is_right()
}
