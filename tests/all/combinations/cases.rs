//! Cases: their dimensions, and their execution.

use super::chain::{ADAPTORS, Adaptor, Chain, SOURCES, schedule};
use super::covering::{Covering, Value};
use super::erased::Items;
use super::terminals;
use furcate::prelude::*;
use furcate::{DefaultExecutor, Executor};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::scripted::Scripted;
use testkit::{Random, shared_pool};

/// Lengths at which off-by-one errors show (I2).
const LENGTHS: [usize; 11] = [0, 1, 2, 3, 7, 8, 9, 31, 64, 65, 200];

/// The place where a case runs.
#[derive(Clone, Copy, Debug)]
enum Place {
    Outside,
    Pool(usize),
    Scripted,
}

const PLACES: &[Place] =
    &[Place::Outside, Place::Pool(1), Place::Pool(2), Place::Pool(3), Place::Pool(8), Place::Scripted];

/// The choices for a case.
#[derive(Clone)]
pub(crate) struct Case {
    place: Place,
    source: usize,
    adaptors: Vec<usize>,
    terminal: &'static str,
    scheduler: &'static str,
    blocks: &'static str,
    policies: [&'static str; 2],
    /// Numbers of adaptors before the two policies; `scheduler_at` is the same for the scheduler.
    policies_at: [usize; 2],
    scheduler_at: usize,
    /// The arguments of policies and blocks.
    arguments: [usize; 3],
    values: Vec<u64>,
}

/// Shows the case as one would write it.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.place, SOURCES[self.source].name)?;
        for at in 0..=self.adaptors.len() {
            for word in self.words_at(at) {
                write!(f, ".{}({})", word.0, word.1)?;
            }
            if let Some(adaptor) = self.adaptor(at) {
                write!(f, ".{}", adaptor.name)?;
            }
        }
        write!(f, ".{} of {:?}", self.terminal, self.values)
    }
}

/// Indices of the dimensions of [`Covering::new`] that are named below.
mod dimension {
    pub(super) const PLACE: usize = 4;
    pub(super) const ADAPTOR: usize = 5;
    pub(super) const NEXT: usize = 6;
    pub(super) const SOURCE: usize = 7;
    pub(super) const TERMINAL: usize = 8;
    pub(super) const LENGTH: usize = 9;
    pub(super) const FIRST_AT: usize = 10;
    pub(super) const SECOND_AT: usize = 11;
    pub(super) const SCHEDULER_AT: usize = 12;
}

/// Every scheduler, with every kind of blocks.
pub(crate) fn schedulers() -> impl Iterator<Item = (usize, usize)> {
    let blocks = || 0..schedule::BLOCKS.len();
    (0..schedule::SCHEDULERS.len()).flat_map(move |scheduler| blocks().map(move |blocks| (scheduler, blocks)))
}

/// Every place.
pub(crate) fn places() -> std::ops::Range<usize> {
    0..PLACES.len()
}

/// Every ordered pair of policies, where one of them may be none.
pub(crate) fn pairs_of_policies() -> impl Iterator<Item = (usize, usize)> {
    let policies = || 0..schedule::POLICIES.len();
    policies().flat_map(move |first| policies().map(move |second| (first, second)))
}

/// Index that means no adaptor.
const NONE: usize = ADAPTORS.len();

fn asks(adaptor: usize) -> bool {
    adaptor != NONE && ADAPTORS[adaptor].asks
}

/// Whether an adaptor's result has positions, given whether its base has them.
fn indexed_after(indexed: bool, adaptor: usize) -> bool {
    indexed && ADAPTORS.get(adaptor).is_none_or(|adaptor| adaptor.keeps)
}

fn terminal(index: usize) -> &'static str {
    terminals::PLAIN.get(index).unwrap_or_else(|| &terminals::INDEXED[index - terminals::PLAIN.len()])
}

fn terminal_asks(index: usize) -> bool {
    index >= terminals::PLAIN.len()
}

const TERMINALS: usize = terminals::PLAIN.len() + terminals::INDEXED.len();

impl Covering {
    pub(crate) fn new() -> Self {
        fn texts<T>(values: &[T], name: impl Fn(&T) -> String) -> Vec<String> {
            values.iter().map(name).collect()
        }
        let mut adaptors = texts(ADAPTORS, |adaptor| adaptor.name.into());
        adaptors.push("none".into());
        let places = || texts(&[0, 1, 2], |at| at.to_string());
        Covering::of(&[
            ("scheduler", texts(schedule::SCHEDULERS, |name| (*name).into())),
            ("blocks", texts(schedule::BLOCKS, |name| (*name).into())),
            ("first policy", texts(schedule::POLICIES, |name| (*name).into())),
            ("second policy", texts(schedule::POLICIES, |name| (*name).into())),
            ("place", texts(PLACES, |place| format!("{place:?}"))),
            ("adaptor", adaptors.clone()),
            ("next adaptor", adaptors),
            ("source", texts(SOURCES, |source| source.name.into())),
            ("terminal", (0..TERMINALS).map(|index| terminal(index).into()).collect()),
            ("length", texts(&LENGTHS, |len| len.to_string())),
            ("first policy at", places()),
            ("second policy at", places()),
            ("scheduler at", places()),
        ])
    }

    /// Panics unless any two values that fit together have met: an adaptor that needs positions must come behind a
    /// chain that has them.
    pub(crate) fn assert_complete(&self) {
        let asks = |(dimension, value): Value| match dimension {
            dimension::ADAPTOR | dimension::NEXT => asks(value),
            dimension::TERMINAL => terminal_asks(value),
            _ => false,
        };
        let has = |(dimension, value): Value| match dimension {
            dimension::ADAPTOR | dimension::NEXT => indexed_after(true, value),
            dimension::SOURCE => SOURCES[value].indexed,
            _ => true,
        };
        let order = |(dimension, _): Value| if dimension == dimension::SOURCE { 0 } else { dimension };
        self.assert_all(|a, b| {
            let (first, second) = if order(a) < order(b) { (a, b) } else { (b, a) };
            !asks(second) || has(first)
        });
    }
}

impl Case {
    /// Makes a case with a given scheduler, blocks, policies, and place. All other values are chosen so that new pairs
    /// meet.
    pub(crate) fn covering(
        covering: &mut Covering,
        random: &mut Random,
        schedule: [usize; 4],
        place: usize,
    ) -> Self {
        let mut chosen: Vec<Value> = schedule.into_iter().enumerate().collect();
        chosen.push((dimension::PLACE, place));
        let mut choose = |dimension, values: Vec<usize>| {
            let value = covering.choose(random, &chosen, dimension, values.into_iter());
            chosen.push((dimension, value));
            value
        };
        let all = |count| (0..count).collect::<Vec<_>>();
        let first = choose(dimension::ADAPTOR, all(NONE + 1));
        let next = (0..=NONE).filter(|&next| !asks(next) || indexed_after(true, first));
        let next = choose(dimension::NEXT, next.collect());
        let asked = asks(first) || asks(next);
        let source = (0..SOURCES.len()).filter(|&source| !asked || SOURCES[source].indexed);
        let source = choose(dimension::SOURCE, source.collect());
        let indexed = indexed_after(indexed_after(SOURCES[source].indexed, first), next);
        let last = (0..TERMINALS).filter(|&terminal| indexed || !terminal_asks(terminal));
        let last = choose(dimension::TERMINAL, last.collect());
        let length = choose(dimension::LENGTH, all(LENGTHS.len()));
        let places = || all(3);
        let at = [
            choose(dimension::FIRST_AT, places()),
            choose(dimension::SECOND_AT, places()),
            choose(dimension::SCHEDULER_AT, places()),
        ];
        covering.count(&chosen);
        Case::new(random, schedule, place, source, vec![first, next], last, LENGTHS[length], at)
    }

    /// Makes a random case, with more adaptors.
    pub(crate) fn long(random: &mut Random) -> Self {
        let schedule = [
            random.index(schedule::SCHEDULERS.len()),
            random.index(schedule::BLOCKS.len()),
            random.index(schedule::POLICIES.len()),
            random.index(schedule::POLICIES.len()),
        ];
        let source = random.index(SOURCES.len());
        let mut indexed = SOURCES[source].indexed;
        let mut adaptors = Vec::new();
        for _ in 0..random.index(9) {
            let adaptor = random.index(NONE);
            if indexed || !asks(adaptor) {
                indexed = indexed_after(indexed, adaptor);
                adaptors.push(adaptor);
            }
        }
        let last = random.index(if indexed { TERMINALS } else { terminals::PLAIN.len() });
        let at = std::array::from_fn(|_| random.index(adaptors.len() + 1));
        let (place, length) = (random.index(PLACES.len()), random.index(120));
        Case::new(random, schedule, place, source, adaptors, last, length, at)
    }

    #[expect(clippy::too_many_arguments, reason = "one per dimension")]
    fn new(
        random: &mut Random,
        [scheduler, blocks, first, second]: [usize; 4],
        place: usize,
        source: usize,
        adaptors: Vec<usize>,
        last: usize,
        length: usize,
        [first_at, second_at, scheduler_at]: [usize; 3],
    ) -> Self {
        Case {
            place: PLACES[place],
            source,
            adaptors,
            terminal: terminal(last),
            scheduler: schedule::SCHEDULERS[scheduler],
            blocks: schedule::BLOCKS[blocks],
            policies: [schedule::POLICIES[first], schedule::POLICIES[second]],
            policies_at: [first_at, second_at],
            scheduler_at,
            arguments: std::array::from_fn(|_| 1 + random.index(9)),
            values: (0..length).map(|_| random.next() % 100).collect(),
        }
    }

    /// Returns the adaptor at a position, if there is one.
    fn adaptor(&self, at: usize) -> Option<&'static Adaptor> {
        ADAPTORS.get(*self.adaptors.get(at)?)
    }

    /// Returns the words of the schedule at a position, with their arguments.
    fn words_at(&self, at: usize) -> impl Iterator<Item = (&'static str, usize)> {
        let words = [
            (self.policies_at[0], self.policies[0], self.arguments[0]),
            (self.policies_at[1], self.policies[1], self.arguments[1]),
            (self.scheduler_at, self.scheduler, self.arguments[2]),
            (self.scheduler_at, self.blocks, self.arguments[2]),
        ];
        words
            .into_iter()
            .filter(move |&(place, word, _)| place == at && word != schedule::NOTHING)
            .map(|(_, word, argument)| (word, argument))
    }

    /// Runs the case, and panics if its result is not that of the sequential chain.
    pub(crate) fn check(&self) {
        let source = &SOURCES[self.source];
        let mut expected = (source.sequential)(&self.values);
        for adaptor in (0..self.adaptors.len()).filter_map(|at| self.adaptor(at)) {
            expected = (adaptor.sequential)(expected);
        }
        let mut outcome = Err("it was not run".to_owned());
        let run = catch_unwind(AssertUnwindSafe(|| {
            (source.parallel)(&self.values, &mut |mut chain| {
                for at in 0..=self.adaptors.len() {
                    for (word, argument) in self.words_at(at) {
                        chain = schedule::chain(chain, word, argument);
                    }
                    if let Some(adaptor) = self.adaptor(at) {
                        chain = (adaptor.parallel)(chain);
                    }
                }
                outcome = self.drive(chain, &expected);
            });
        }));
        if run.is_err() {
            outcome = Err("it panicked".to_owned());
        }
        if let Err(message) = outcome {
            panic!("{message}\n{self:?}");
        }
    }

    fn drive(&self, chain: Chain<'_>, expected: &[u64]) -> Result<(), String> {
        match self.place {
            Place::Outside => self.end(chain, DefaultExecutor::default(), expected),
            Place::Pool(threads) => {
                shared_pool(threads).install(|| self.end(chain, DefaultExecutor::default(), expected))
            }
            Place::Scripted => self.end(chain, Scripted::another(), expected),
        }
    }

    /// Forgets positions, unless the terminal needs them: fewer chains to be compiled.
    fn end(&self, chain: Chain<'_>, on: impl Executor, expected: &[u64]) -> Result<(), String> {
        let items = match chain {
            Chain::Indexed(items) if terminals::INDEXED.contains(&self.terminal) => {
                return terminals::indexed(self.terminal, items.on(on), expected);
            }
            Chain::Indexed(items) => Items::new(items),
            Chain::Plain(items) => items,
        };
        terminals::plain(self.terminal, items.on(on), expected)
    }
}
