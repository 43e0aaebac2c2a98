//! Every transition from every state, against a table; long histories, against an oracle without bits.

use super::{CANCELLED, DONE, REFERENCE, RUNNING, SCHEDULED, SuspendAction, TaskState, WakeAction};
use std::sync::atomic::AtomicU32;

/// A word with two references.
fn word(bits: u32) -> TaskState {
    TaskState(AtomicU32::new(bits + 2 * REFERENCE))
}

/// Returns the state's bits, after a check that the references have not changed.
fn bits(state: TaskState) -> u32 {
    let word = state.0.into_inner();
    assert_eq!(word / REFERENCE, 2);
    word % REFERENCE
}

/// Returns the result of `act`, and the bits after it.
fn after<R>(before: u32, act: impl FnOnce(&TaskState) -> R) -> (R, u32) {
    let state = word(before);
    let result = act(&state);
    (result, bits(state))
}

const IDLE: u32 = 0;
/// Woken in its poll.
const BOTH: u32 = RUNNING | SCHEDULED;

#[test]
fn a_wake_from_every_state() {
    for (before, wake, then) in [
        (IDLE, WakeAction::Submit, SCHEDULED),
        (SCHEDULED, WakeAction::Coalesced, SCHEDULED),
        (RUNNING, WakeAction::InPoll, BOTH),
        (BOTH, WakeAction::Coalesced, BOTH),
        (DONE, WakeAction::Coalesced, DONE),
        (SCHEDULED | CANCELLED, WakeAction::Coalesced, SCHEDULED | CANCELLED),
        (RUNNING | CANCELLED, WakeAction::InPoll, BOTH | CANCELLED),
        (BOTH | CANCELLED, WakeAction::Coalesced, BOTH | CANCELLED),
        (DONE | CANCELLED, WakeAction::Coalesced, DONE | CANCELLED),
    ] {
        assert_eq!(after(before, TaskState::wake), (wake, then), "from {before}");
        let state = word(before);
        assert_eq!(state.wake_and_release(), wake, "from {before}");
        let given_up = if wake == WakeAction::Coalesced { 0 } else { REFERENCE };
        assert_eq!(state.0.into_inner() + given_up, then + 2 * REFERENCE, "from {before}");
    }
}

#[test]
fn a_task_is_taken_from_its_queue() {
    assert_eq!(after(SCHEDULED, TaskState::begin), (true, RUNNING));
    assert_eq!(after(SCHEDULED | CANCELLED, TaskState::begin), (false, RUNNING | CANCELLED));
}

#[test]
fn a_poll_ends() {
    for (before, suspend, then) in [
        (RUNNING, SuspendAction::Suspended, IDLE),
        (BOTH, SuspendAction::Again, SCHEDULED),
        // The future is still this worker's.
        (RUNNING | CANCELLED, SuspendAction::Cancelled, RUNNING | CANCELLED),
        (BOTH | CANCELLED, SuspendAction::Cancelled, BOTH | CANCELLED),
    ] {
        assert_eq!(after(before, TaskState::suspend), (suspend, then), "from {before}");
    }
    for (before, then) in [
        (RUNNING, DONE),
        (BOTH, DONE),
        (RUNNING | CANCELLED, DONE | CANCELLED),
        (BOTH | CANCELLED, DONE | CANCELLED),
    ] {
        let state = word(before);
        assert!(!state.finish(), "another one knows of it");
        assert_eq!(state.0.into_inner(), then + REFERENCE, "from {before}");
        assert!(TaskState(AtomicU32::new(before + REFERENCE)).finish(), "nobody else does");
    }
}

#[test]
fn a_cancellation_from_every_state() {
    for (before, cancel, then) in [
        (IDLE, true, RUNNING | CANCELLED),
        (SCHEDULED, false, SCHEDULED | CANCELLED),
        (RUNNING, false, RUNNING | CANCELLED),
        (BOTH, false, BOTH | CANCELLED),
        (DONE, false, DONE),
        (RUNNING | CANCELLED, false, RUNNING | CANCELLED),
        (SCHEDULED | CANCELLED, false, SCHEDULED | CANCELLED),
        (DONE | CANCELLED, false, DONE | CANCELLED),
    ] {
        assert_eq!(after(before, TaskState::cancel), (cancel, then), "from {before}");
    }
}

#[test]
fn references_are_counted() {
    let state = TaskState::running();
    state.retain();
    state.retain();
    assert!(!state.renew(), "others know of it");
    assert!(!state.release());
    assert_eq!(state.wake(), WakeAction::InPoll);
    assert!(!state.release());
    assert!(state.renew());
    // The wake has left no trace.
    assert_eq!(state.suspend(), SuspendAction::Suspended);
    assert!(state.cancel());
    state.retain();
    assert!(!state.finish());
    assert!(state.release());
}

/// The word's meaning, as plain fields.
#[derive(Clone, Copy, Debug, Default)]
struct Oracle {
    polled: bool,
    /// Queued, or to be queued when the poll ends.
    due: bool,
    cancelled: bool,
    done: bool,
}

#[test]
fn histories_are_as_the_oracle_tells() {
    let mut numbers = testkit::Random(1);
    let mut random = |below| numbers.below(below);
    let (mut wakes, mut ends) = ([0; 3], [0; 2]);
    for _ in 0..3000 {
        let (state, mut oracle) = (TaskState::running(), Oracle { polled: true, ..Oracle::default() });
        let mut references = 1_u64;
        for _ in 0..random(40) {
            match random(9) {
                0..3 => {
                    let expected = match oracle {
                        Oracle { done: true, .. } | Oracle { due: true, .. } => WakeAction::Coalesced,
                        Oracle { polled: true, .. } => WakeAction::InPoll,
                        _ => WakeAction::Submit,
                    };
                    if references > 1 && !oracle.done && random(2) == 0 {
                        assert_eq!(state.wake_and_release(), expected, "{oracle:?}");
                        references -= u64::from(expected != WakeAction::Coalesced);
                    } else {
                        assert_eq!(state.wake(), expected, "{oracle:?}");
                    }
                    oracle.due |= !oracle.done;
                    wakes[expected as usize] += 1;
                }
                3..5 if oracle.due && !oracle.polled => {
                    let expected = !oracle.cancelled;
                    assert_eq!(state.begin(), expected, "{oracle:?}");
                    (oracle.polled, oracle.due) = (true, false);
                }
                5 | 6 if oracle.polled => {
                    let expected = match oracle {
                        Oracle { cancelled: true, .. } => SuspendAction::Cancelled,
                        Oracle { due: true, .. } => SuspendAction::Again,
                        _ => SuspendAction::Suspended,
                    };
                    assert_eq!(state.suspend(), expected, "{oracle:?}");
                    oracle.polled = oracle.cancelled;
                }
                7 if oracle.polled && random(3) == 0 => {
                    assert_eq!(state.finish(), references == 1);
                    references -= 1;
                    if references == 0 {
                        ends[usize::from(oracle.cancelled)] += 1;
                        break;
                    }
                    (oracle.polled, oracle.due, oracle.done) = (false, false, true);
                    ends[usize::from(oracle.cancelled)] += 1;
                }
                7 if random(4) == 0 => {
                    let idle = !(oracle.polled || oracle.due || oracle.done);
                    assert_eq!(state.cancel(), idle, "{oracle:?}");
                    oracle.cancelled |= !oracle.done;
                    oracle.polled |= idle;
                }
                8 if random(2) == 0 => {
                    state.retain();
                    references += 1;
                }
                8 if references > 1 + u64::from(!oracle.done) => {
                    assert!(!state.release());
                    references -= 1;
                }
                _ => {}
            }
        }
        if references > 0 {
            (1..references).for_each(|_| assert!(!state.release()));
            assert!(state.release());
        }
    }
    let all = [&wakes[..], &ends[..]].concat();
    assert!(all.iter().all(|&count| count > 100), "each case, often: {all:?}");
}
