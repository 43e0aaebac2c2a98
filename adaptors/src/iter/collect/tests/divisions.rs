//! Collecting in steps that divide or end at every place. The producers are honest, or lie (I3), or run steps
//! of their own that break the rules. In all cases every item is dropped exactly once (P2), and the collected items are
//! complete and in order.

use super::*;
use furcate_schedulers::{Blocking, Suspendable};

/// A scheduler that follows a script. A part that is given away is run at once, while the task still waits, or after
/// the task.
#[derive(Clone)]
struct ByScript {
    steps: Vec<NextStep>,
    at_once: bool,
}

impl Scheduler for ByScript {
    fn schedule<W: Workload, E: Executor>(&self, work: W, _: &E) -> W::Output {
        let (producer, _, reduction) = work.parts();
        by_script(producer, &reduction, &self.steps, self.at_once)
    }
}

struct ScriptSteps<'s, P, R: Reduction<P::Item>>
where
    P: IntoIterator,
{
    steps: std::slice::Iter<'s, NextStep>,
    reduction: &'s R,
    at_once: bool,
    given: Vec<P>,
    /// From right to left.
    outputs: Vec<R::Output>,
}

impl<P: Producer, R: Reduction<P::Item>> Steps<P> for ScriptSteps<'_, P, R> {
    fn next(&mut self, _size: usize) -> NextStep {
        self.steps.next().copied().unwrap_or(NextStep::Fold(2))
    }

    fn take(&mut self, right: P) {
        if self.at_once {
            // One more division inside.
            let steps = [NextStep::Fold(1), NextStep::Divide, NextStep::Fold(1)];
            self.outputs.push(by_script(right, self.reduction, &steps, false));
        } else {
            self.given.push(right);
        }
    }
}

fn by_script<P, R>(producer: P, reduction: &R, steps: &[NextStep], at_once: bool) -> R::Output
where
    P: Producer,
    R: Reduction<P::Item>,
{
    let (given, outputs) = (Vec::new(), Vec::new());
    let mut steps = ScriptSteps { steps: steps.iter(), reduction, at_once, given, outputs };
    let start = Blocking(reduction.start());
    let end = producer.partial_fold(start, |a, item| reduction.fold_item(a, item), &mut steps);
    let given = steps.given.into_iter().map(|right| by_script(right, reduction, &[], false));
    let outputs: Vec<R::Output> = steps.outputs.into_iter().chain(given).collect();
    outputs
        .into_iter()
        .rev()
        .fold(reduction.finish(Blocking::at(end)), |left, right| reduction.reduce(left, right))
}

/// All single faults, and pairs of faults that cancel each other out.
fn all_lies(len: usize) -> Vec<Lies> {
    let mut all = vec![Lies::default()];
    all.extend((-2..3).flat_map(|cut| (-3..4).map(move |leaf| Lies { cut, leaf, ..Lies::default() })));
    all.extend((1..3).flat_map(|lose| (-2..3).map(move |leaf| Lies { lose, leaf, ..Lies::default() })));
    all.extend((1..3).flat_map(|size| (-1..2).map(move |cut| Lies { size, cut, ..Lies::default() })));
    all.extend((0..len).map(|at| Lies { panic_at: Some(at), ..Lies::default() }));
    all.extend((0..len).map(|at| Lies { panic_at: Some(at), cut: 1, leaf: -1, ..Lies::default() }));
    all
}

/// A division after every number of items, another one after every further number, with honest producers and all liars.
#[test]
fn divided_at_every_place() {
    const LEN: usize = 7;
    for lies in all_lies(LEN) {
        let honest = matches!(lies, Lies { cut: 0, lose: 0, leaf: 0, size: 0, panic_at: None });
        for (first, second, at_once) in (0..=LEN)
            .flat_map(|first| (0..=LEN - first).map(move |second| (first, second)))
            .flat_map(|(first, second)| [(first, second, false), (first, second, true)])
        {
            let steps = |limit| (limit > 0).then_some(NextStep::Fold(limit));
            let steps: Vec<NextStep> = steps(first)
                .into_iter()
                .chain([NextStep::Divide])
                .chain(steps(second))
                .chain([NextStep::Divide])
                .collect();
            let ledger = Ledger::default();
            let scheduler = ByScript { steps, at_once };
            let items = || Lying { len: LEN, lies, ledger: &ledger }.with_scheduler(scheduler.clone());

            let mut vec = vec![ledger.value(0)];
            let lens = |vec: &Vec<DropCounter>| vec![vec.len()];
            check(&ledger, honest, LEN, 1, &mut vec, lens, items()).unwrap();
            // An honest one has put every item into its place.
            assert!(!honest || vec.len() == 1 + LEN);
            drop(vec);

            let (mut left, mut right) = (vec![ledger.value(0)], vec![ledger.value(0)]);
            let mut both = (&mut left, &mut right);
            let lens =
                |both: &(&mut Vec<DropCounter>, &mut Vec<DropCounter>)| vec![both.0.len(), both.1.len()];
            let pairs = items().map(|item| (ledger.value(0), item));
            check(&ledger, honest, LEN, 2, &mut both, lens, pairs).unwrap();
            drop((left, right));
            assert_eq!(ledger.alive(), 0);
        }
    }
}

/// The items are where they belong, wherever the task is divided.
#[test]
fn divided_at_every_place_in_order() {
    for len in 0..12_usize {
        for (first, second, at_once) in (0..=len)
            .flat_map(|first| (0..=len - first).map(move |second| (first, second)))
            .flat_map(|(first, second)| [(first, second, false), (first, second, true)])
        {
            let steps = [
                NextStep::Fold(first),
                NextStep::Divide,
                NextStep::Fold(second),
                NextStep::Divide,
                NextStep::Divide,
            ];
            let steps = steps.into_iter().filter(|step| *step != NextStep::Fold(0)).collect();
            let mut vec = vec![100];
            let items = crate::iter::IntoParallelIterator::into_par_iter(0..len);
            append_exact(&mut vec, len, items.with_scheduler(ByScript { steps, at_once }));
            assert!(
                vec.into_iter().eq([100].into_iter().chain(0..len)),
                "{len}: {first}, {second}, {at_once}"
            );
        }
    }
}

/// A right half takes as much room as it has items, also if it is not half of the rest, as the second side of a chain.
#[test]
fn divided_unevenly() {
    for (len, seam, done, at_once) in (0..14_usize)
        .flat_map(|len| (0..=len).flat_map(move |seam| (1..4).map(move |done| (len, seam, done))))
        .flat_map(|(len, seam, done)| [(len, seam, done, false), (len, seam, done, true)])
    {
        let range = crate::iter::IntoParallelIterator::into_par_iter;
        let steps = vec![NextStep::Fold(done), NextStep::Divide, NextStep::Fold(1), NextStep::Divide];
        let chain = range(0..seam).chain(seam..len).with_scheduler(ByScript { steps, at_once });
        let mut vec = vec![];
        append_exact(&mut vec, len, chain);
        assert!(vec.into_iter().eq(0..len), "{seam} of {len}, after {done}, {at_once}");
    }
}

/// A task that is stopped leaves a gap: a panic, and nothing is kept or leaked. (Unless nothing was left.)
#[test]
fn stopped_at_every_place() {
    const LEN: usize = 6;
    for (done, divide, at_once) in
        (0..=LEN + 1).flat_map(|done| [(done, false, false), (done, true, false), (done, true, true)])
    {
        let fold = (done > 0).then_some(NextStep::Fold(done));
        let steps =
            fold.into_iter().chain(divide.then_some(NextStep::Divide)).chain([NextStep::Stop]).collect();
        let ledger = Ledger::default();
        let items = Lying { len: LEN, lies: Lies::default(), ledger: &ledger };
        let mut vec = vec![ledger.value(0)];
        let items = items.with_scheduler(ByScript { steps, at_once });
        let end = catch_unwind(AssertUnwindSafe(|| append_exact(&mut vec, LEN, items)));
        // With one item left, a division gives it away: the task has nothing more to do.
        let complete = done >= LEN || (divide && done + 1 == LEN);
        assert_eq!((end.is_ok(), vec.len()), (complete, if complete { 1 + LEN } else { 1 }), "{done}");
        assert_eq!(ledger.alive(), vec.len());
        drop(vec);
        assert_eq!(ledger.alive(), 0);
    }
}

/// A producer whose own steps break the rules. They give parts away unasked, twice, or larger than the rest; they
/// fold items that they gave away, and leave some out.
#[test]
fn rogues() {
    #[derive(Clone, Copy, Debug)]
    enum Act {
        Fold,
        Give(usize, usize),
        Ask,
        Skip,
    }
    struct Rogue<'l> {
        items: Liar<'l>,
        steps: &'l [Act],
    }
    impl Divisible for Rogue<'_> {
        fn size(&self) -> usize {
            self.items.size()
        }
        fn divide_at(self, index: usize) -> (Self, Self) {
            let (left, right) = self.items.divide_at(index);
            (Rogue { items: left, steps: self.steps }, Rogue { items: right, steps: &[] })
        }
    }
    impl<'l> IntoIterator for Rogue<'l> {
        type Item = DropCounter;
        type IntoIter = <Liar<'l> as IntoIterator>::IntoIter;
        fn into_iter(self) -> Self::IntoIter {
            self.items.into_iter()
        }
    }
    impl<'l> Producer for Rogue<'l> {
        const FACTS: Facts = Facts::ITEMS;

        fn partial_fold<'s, B, F, L>(self, init: B, mut fold: F, steps: &mut L) -> ControlFlow<B, B>
        where
            Self: 's,
            B: Suspendable<'s>,
            F: StepFold<'s, DropCounter, B>,
            L: Steps<Self>,
        {
            let ledger = self.items.ledger;
            let mut folded = init;
            for step in self.steps {
                match *step {
                    Act::Fold => folded = fold.fold(folded, std::iter::once(ledger.value(0)))?,
                    Act::Give(from, to) => {
                        let items = Liar { from, to, ..self.items };
                        steps.take(Rogue { items, steps: &[] });
                    }
                    Act::Ask => drop(steps.next(self.size())),
                    Act::Skip => return ControlFlow::Continue(folded),
                }
            }
            fold.fold(folded, self.items.into_iter())
        }
    }
    struct Rogues<'l> {
        ledger: &'l Ledger,
        steps: &'l [Act],
    }
    impl<'l> ParallelIterator for Rogues<'l> {
        type Item = DropCounter;
        type Producer<'a>
            = Rogue<'l>
        where
            Self: 'a;
        default_schedule!();
        fn producer(&mut self) -> Rogue<'l> {
            Rogue { items: Liar::new(self.ledger, 4, Lies::default()), steps: self.steps }
        }
    }

    let choices = [Act::Fold, Act::Give(2, 4), Act::Give(0, 9), Act::Give(0, 0), Act::Ask, Act::Skip];
    let mut outcomes = [0, 0];
    for script in 0..choices.len().pow(4) {
        let steps: Vec<Act> =
            (0..4).map(|i| choices[script / choices.len().pow(i) % choices.len()]).collect();
        for at_once in [false, true] {
            let ledger = Ledger::default();
            let items = Rogues { ledger: &ledger, steps: &steps };
            let mut vec = vec![ledger.value(0)];
            let items = items.with_scheduler(ByScript { steps: vec![], at_once });
            let end = catch_unwind(AssertUnwindSafe(|| append_exact(&mut vec, 4, items)));
            outcomes[usize::from(end.is_ok())] += 1;
            assert_eq!((vec.len(), ledger.alive()), (if end.is_ok() { (5, 5) } else { (1, 1) }), "{steps:?}");
            drop(vec);
            assert_eq!(ledger.alive(), 0, "{steps:?}");
        }
    }
    assert!(outcomes[0] > 100 && outcomes[1] > 100, "{outcomes:?} fail and succeed");
}
