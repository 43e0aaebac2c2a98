//! Every walk through the states, checked against a simple model: a number of jobs, and an entry.

use super::{Control, FirstAction, Orphan, ResumeAction, Settle};

/// A deque as the specification describes it: the number of jobs, and the holder of its entry.
#[derive(Clone, Debug)]
struct Model {
    jobs: usize,
    task: Task,
    entry: Entry,
    owned: bool,
    steals_resumable: usize,
    mugs: usize,
    orphaned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Task {
    Waits,
    Woken,
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Entry {
    None,
    InSet,
    /// The progress of the thief that holds the entry.
    InHand {
        stolen: bool,
    },
}

/// Tries all events that can happen next, and so on, until the deque is a worker's or free. Returns the number of
/// walks.
fn walk(jobs: usize, trail: &mut Vec<u8>) -> usize {
    let mut walks = 0;
    for step in 0..6 {
        trail.push(step);
        match replay(jobs, trail) {
            None => {}
            Some(true) => walks += 1,
            Some(false) => walks += walk(jobs, trail),
        }
        trail.pop();
    }
    walks
}

/// Takes these steps from a deque that has been suspended with so many jobs. Returns `None` if one of the steps is
/// impossible, and `true` if the deque has come to its end.
fn replay(jobs: usize, trail: &[u8]) -> Option<bool> {
    let mut control = Control::free();
    control.activate();
    control.suspend();
    let mut model = Model {
        jobs,
        task: Task::Waits,
        entry: Entry::InSet,
        owned: false,
        steals_resumable: 0,
        mugs: 0,
        orphaned: false,
    };
    let mut end = false;
    for step in trail {
        assert!(!end, "nothing happens to a deque that is free, or a worker's");
        match step {
            // The deque's task is woken.
            0 if model.task == Task::Waits => {
                model.task = Task::Woken;
                match control.resume(7) {
                    ResumeAction::List => {
                        assert_eq!(model.entry, Entry::None);
                        model.entry = Entry::InSet;
                    }
                    ResumeAction::Listed => assert_ne!(model.entry, Entry::None),
                }
            }
            // The deque's task is dropped.
            1 if model.task == Task::Waits => {
                model.task = Task::Gone;
                model.orphaned = true;
                match control.orphan() {
                    Orphan::Free => {
                        assert_eq!((model.entry, model.jobs), (Entry::None, 0));
                        end = true;
                    }
                    Orphan::Listed => assert_ne!(model.entry, Entry::None),
                }
            }
            // A thief takes the entry.
            2 if model.entry == Entry::InSet => match control.open() {
                FirstAction::Mugged(task) => {
                    model.mugs += 1;
                    assert_eq!(task.is_some(), model.task == Task::Woken);
                    model.entry = Entry::None;
                    model.owned = true;
                    end = true;
                }
                FirstAction::Steal => {
                    let stolen = model.jobs > 0;
                    model.jobs -= usize::from(stolen);
                    model.entry = Entry::InHand { stolen };
                }
            },
            // The thief settles.
            3 => {
                let Entry::InHand { stolen } = model.entry else { return None };
                let woken = model.task == Task::Woken;
                let (settle, resumable) = control.settle(stolen, model.jobs == 0);
                assert_eq!(resumable, woken);
                model.steals_resumable += usize::from(resumable);
                match settle {
                    Settle::List => {
                        // Either jobs are left, or the woken task is.
                        assert!(model.jobs > 0 || woken && stolen);
                        model.entry = Entry::InSet;
                    }
                    Settle::Forget => {
                        assert_eq!((model.jobs, model.task), (0, Task::Waits));
                        model.entry = Entry::None;
                    }
                    Settle::Free(task) => {
                        assert_eq!(model.jobs, 0);
                        assert_eq!(task, woken.then_some(7));
                        model.entry = Entry::None;
                        end = true;
                    }
                }
            }
            // A thief steals that has looked into the deque when it was still a worker's own.
            4 if model.jobs > 0 => model.jobs -= 1,
            // A thief takes the entry whose own deque is not empty.
            5 if model.entry == Entry::InSet => {
                let task = control.open_beside();
                if task.is_some() {
                    assert_eq!((task, model.task), (Some(7), Task::Woken));
                    model.task = Task::Gone;
                    model.entry = Entry::InHand { stolen: false };
                } else {
                    let stolen = model.jobs > 0;
                    model.jobs -= usize::from(stolen);
                    model.entry = Entry::InHand { stolen };
                }
            }
            _ => return None,
        }
    }
    if end {
        // A mug comes after a steal from a resumable deque, or after the task was dropped.
        assert!(model.mugs <= model.steals_resumable + usize::from(model.orphaned));
        // The woken task was handed over: no thread has to look for it.
        assert!(model.owned || model.jobs == 0);
    } else {
        // W7: everything that is ready to run can be found, once.
        assert!(model.entry != Entry::None || model.jobs == 0 && model.task == Task::Waits);
    }
    Some(end)
}

#[test]
fn every_walk_is_legal() {
    // W6, W7.
    let walks = (0..4).map(|jobs| walk(jobs, &mut Vec::new())).sum::<usize>();
    println!("{walks} walks");
    assert!(walks > 100, "{walks}");
}
