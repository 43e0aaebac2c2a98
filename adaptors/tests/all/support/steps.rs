//! Driving producers through steps by hand, as an adaptive scheduler does.

use furcate::{Blocking, NextStep, Producer, Steps};
use std::cell::Cell;
use std::ops::ControlFlow;

/// Steps that follow a script. When the script ends, all remaining units are one step.
struct Script<'a, S, P> {
    steps: S,
    /// Number of steps that have begun.
    begun: &'a Cell<usize>,
    outcome: Outcome<P>,
}

/// Steps of a fixed number of units.
pub(crate) struct Every(pub(crate) usize);

impl<P> Steps<P> for Every {
    fn next(&mut self, _size: usize) -> NextStep {
        NextStep::Fold(self.0)
    }

    fn take(&mut self, _right: P) {
        unreachable!("they never divide")
    }
}

/// The scheduler's view of a run.
pub(crate) struct Outcome<P> {
    /// Number of remaining units at each call.
    pub(crate) sizes: Vec<usize>,
    /// Parts that were given away, in the order of time: later parts lie further left.
    pub(crate) given: Vec<P>,
}

impl<S: Iterator<Item = NextStep>, P> Steps<P> for Script<'_, S, P> {
    fn next(&mut self, size: usize) -> NextStep {
        assert!(self.begun.get() < 1_000_000, "steps that get nowhere");
        self.outcome.sizes.push(size);
        let next = self.steps.next().unwrap_or(NextStep::Fold(usize::MAX));
        if matches!(next, NextStep::Fold(_)) {
            self.begun.set(self.begun.get() + 1);
        }
        next
    }

    fn take(&mut self, right: P) {
        self.outcome.given.push(right);
    }
}

/// Runs a script. Returns the items of each step, and the scheduler's view.
pub(crate) fn run_script<P: Producer>(
    producer: P,
    steps: impl IntoIterator<Item = NextStep>,
) -> (Vec<Vec<P::Item>>, Outcome<P>) {
    let begun = Cell::new(0);
    let mut script = Script {
        steps: steps.into_iter(),
        begun: &begun,
        outcome: Outcome { sizes: Vec::new(), given: Vec::new() },
    };
    let push = |mut items: Vec<Vec<P::Item>>, item| {
        // Items before the first loop (of a fold that was stopped at once) count as that loop's.
        items.resize_with(begun.get().max(1), Vec::new);
        items.last_mut().expect("there is one").push(item);
        ControlFlow::Continue(items)
    };
    let ControlFlow::Continue(Blocking(mut items)) =
        producer.partial_fold(Blocking(Vec::new()), push, &mut script)
    else {
        unreachable!("nothing breaks")
    };
    items.resize_with(begun.get().max(items.len()), Vec::new);
    (items, script.outcome)
}

/// Folds to the end in steps of given sizes. Returns the items of each step.
pub(crate) fn in_steps<P: Producer>(
    producer: P,
    limits: impl IntoIterator<Item = usize>,
) -> Vec<Vec<P::Item>> {
    run_script(producer, limits.into_iter().map(NextStep::Fold)).0
}

/// Runs a task and all parts that are given away, directly or by other parts. Returns their items from left to right. A
/// later part continues the script at the point that the one before has reached. A part that cannot be divided is a
/// leaf.
pub(crate) fn tasks<P: Producer>(
    producer: P,
    steps: &mut dyn Iterator<Item = NextStep>,
) -> Vec<Vec<P::Item>> {
    if !producer.should_be_divided() {
        return vec![producer.into_iter().collect()];
    }
    let (items, outcome) = run_script(producer, &mut *steps);
    let mut all = vec![items.into_iter().flatten().collect()];
    for right in outcome.given.into_iter().rev() {
        all.extend(tasks(right, steps));
    }
    all
}
