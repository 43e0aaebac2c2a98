//! Detached computations that record what happens to their parts.

use super::{Random, add, spin, until};
use furcate_pool::detach::{Detach, Detachable, Offers, RightPart};
use furcate_pool::{Context, Executor};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) const SIZES: [usize; 4] = [1, 2, 3, 8];

/// Runs `$check(&engine, threads, about)` on the own pool, from inside and from outside, on rayon's, and inline.
macro_rules! everywhere {
    ($check:expr) => {
        $crate::support::within($crate::support::LONG, || {
            $check(&furcate_pool::Inline, 1, "inline");
            for threads in $crate::support::detached::SIZES {
                let pool = $crate::support::pool(threads);
                pool.install(|| $check(&furcate_pool::Pool, threads, "own pool"));
                $check(&&pool, threads, "own pool, from outside");
                rayon_core::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap()
                    .install(|| $check(&furcate::Rayon, threads, "rayon"));
            }
        })
    };
}
pub(crate) use everywhere;

/// A sum whose parts meet: records how often each part ran, and the outputs that have met.
pub(crate) struct Log {
    pub(crate) runs: Vec<AtomicUsize>,
    pub(crate) total: AtomicUsize,
    pub(crate) thefts: AtomicUsize,
    pub(crate) migrated: AtomicUsize,
    /// The item at which a part panics.
    pub(crate) bad: usize,
}

impl Log {
    pub(crate) fn new(len: usize) -> Self {
        let none = AtomicUsize::default;
        let runs = std::iter::repeat_with(none).take(len).collect();
        Log { runs, total: none(), thefts: none(), migrated: none(), bad: usize::MAX }
    }

    pub(crate) fn item(&self, item: usize) -> usize {
        add(&self.runs[item]);
        if item == self.bad {
            panic!("on purpose");
        }
        spin(Duration::from_micros(2));
        item
    }

    /// Adds both sides of a meeting, when the second one arrives.
    pub(crate) fn meet(&self, meeting: &Meeting, sum: usize) {
        if let Some(other) = meeting.0.lock().unwrap().replace(sum) {
            self.total.fetch_add(sum + other, SeqCst);
            add(&self.thefts);
        }
    }

    /// Checks that every item was run once, and that no output is lost. Returns the number of thefts.
    pub(crate) fn check(&self, rest: usize, about: &str) -> usize {
        assert!(self.runs.iter().all(|runs| runs.load(SeqCst) == 1), "{about}");
        let len = self.runs.len();
        assert_eq!(self.total.load(SeqCst) + rest, len * len.saturating_sub(1) / 2, "{about}");
        assert!(self.migrated.load(SeqCst) <= self.thefts.load(SeqCst), "{about}");
        self.thefts.load(SeqCst)
    }
}

/// Holds the output of the first side of a meeting for the second.
#[derive(Default)]
pub(crate) struct Meeting(Mutex<Option<usize>>);

/// A stretch of the sum, computed in one of three ways.
pub(crate) struct Stretch<'s> {
    pub(crate) range: Range<usize>,
    pub(crate) how: How,
    pub(crate) log: &'s Log,
}

#[derive(Clone, Copy)]
pub(crate) enum How {
    Forks,
    Offers,
    Mixed(u64),
}

impl<'s> Stretch<'s> {
    pub(crate) fn sum<S: Detach<'s>>(mut self, scope: &S) -> usize {
        let forks = match &mut self.how {
            How::Forks => true,
            How::Offers => false,
            How::Mixed(seed) => {
                *seed = Random(*seed).next();
                *seed & 1 == 0
            }
        };
        match self.range.len() {
            0 => 0,
            1 => self.log.item(self.range.start),
            _ if forks => self.by_forks(scope),
            _ => self.by_offers(scope),
        }
    }

    /// Cuts off and returns the right half.
    pub(crate) fn halve(&mut self) -> Self {
        let middle = self.range.start + self.range.len() / 2;
        let range = middle..std::mem::replace(&mut self.range.end, middle);
        Stretch { range, how: self.how, log: self.log }
    }

    fn by_forks<S: Detach<'s>>(mut self, scope: &S) -> usize {
        let (right, log) = (self.halve(), self.log);
        let (left, right) = scope.fork(|| self.sum(scope), right);
        match right {
            RightPart::Back(right) => left + right.sum(scope),
            RightPart::Taken(meeting) => {
                log.meet(&meeting, left);
                0
            }
        }
    }

    /// Computes the sum as an adaptive task does: offers one part after the other.
    fn by_offers<S: Detach<'s>>(mut self, scope: &S) -> usize {
        scope.offers(|offers| {
            let (mut sum, mut offered) = (0, None::<Arc<Meeting>>);
            loop {
                if offered.is_some() && offers.is_taken() {
                    self.log.meet(&offered.take().unwrap(), 0);
                }
                if offered.is_none() && self.range.len() > 1 {
                    offered = Some(offers.offer(self.halve()));
                }
                match self.range.next() {
                    Some(item) => sum += self.log.item(item),
                    None => match (offered.take(), offers.take_back()) {
                        (Some(_), Some(part)) => self = part,
                        (Some(meeting), None) => self.log.meet(&meeting, 0),
                        (None, None) => return sum,
                        (None, Some(_)) => panic!("a part that nobody has offered"),
                    },
                }
            }
        })
    }
}

impl<'s, S: Detach<'s>> Detachable<'s, S> for Stretch<'s> {
    type Meeting = Meeting;

    fn run(self, scope: &S, meeting: Arc<Meeting>, context: Context) {
        let log = self.log;
        log.migrated.fetch_add(usize::from(context.migrated()), SeqCst);
        let sum = self.sum(scope);
        log.meet(&meeting, sum);
    }
}

pub(crate) fn sum_of<E: Executor>(engine: &E, len: usize, how: How, about: &str) -> usize {
    let log = Log::new(len);
    let rest = engine.detached(|scope| Stretch { range: 0..len, how, log: &log }.sum(scope));
    log.check(rest, about)
}

/// Waits for a thief, if there are other threads.
pub(crate) fn give_time(threads: usize, taken: impl Fn() -> bool) {
    if threads > 1 {
        until(taken);
    }
}

/// Runs a closure when it is taken; counts its drop.
pub(crate) struct Act<'s, F> {
    pub(crate) act: F,
    pub(crate) dropped: Dropped<'s>,
    _scope: PhantomData<fn() -> &'s ()>,
}

pub(crate) struct Dropped<'s>(&'s AtomicUsize);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        add(self.0);
    }
}

impl<'s, F: FnOnce(Context) + Send> Act<'s, F> {
    pub(crate) fn new(dropped: &'s AtomicUsize, act: F) -> Self {
        Act { act, dropped: Dropped(dropped), _scope: PhantomData }
    }
}

impl<'s, S, F: FnOnce(Context) + Send + 's> Detachable<'s, S> for Act<'s, F> {
    type Meeting = ();

    fn run(self, _: &S, _: Arc<()>, context: Context) {
        let Act { act, dropped, .. } = self;
        let _dropped = dropped;
        act(context);
    }
}
