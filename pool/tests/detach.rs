//! Forks and offers that outlive their frames, on every engine: each part is run once or comes back, and the root returns
//! when all have ended.

mod support;

use furcate_pool::detach::{Detach, Detachable, Fork, Offers};
use furcate_pool::{Context, Executor, Inline, Pool, ThreadPool, ThreadPoolBuilder, join};
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use support::*;

const SIZES: [usize; 4] = [1, 2, 3, 8];

/// Runs `$check(&engine, threads, about)` on the own pool, from inside and from outside, on rayon's, and inline.
macro_rules! everywhere {
    ($check:expr) => {
        within(LONG, || {
            $check(&Inline, 1, "inline");
            for threads in SIZES {
                let pool = pool(threads);
                pool.install(|| $check(&Pool, threads, "own pool"));
                $check(&&pool, threads, "own pool, from outside");
                #[cfg(feature = "rayon")]
                rayon_core::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap()
                    .install(|| $check(&furcate_pool::Rayon, threads, "rayon"));
            }
        })
    };
}

/// A sum whose parts meet: what was run how often, and what has come together.
struct Log {
    runs: Vec<AtomicUsize>,
    total: AtomicUsize,
    thefts: AtomicUsize,
    migrated: AtomicUsize,
    /// Panics at that item.
    bad: usize,
}

impl Log {
    fn new(len: usize) -> Self {
        let none = AtomicUsize::default;
        let runs = std::iter::repeat_with(none).take(len).collect();
        Log { runs, total: none(), thefts: none(), migrated: none(), bad: usize::MAX }
    }

    fn item(&self, item: usize) -> usize {
        add(&self.runs[item]);
        if item == self.bad {
            panic!("on purpose");
        }
        work_for(Duration::from_micros(2));
        item
    }

    /// Both sides of a meeting together, for the one who comes last.
    fn meet(&self, meeting: &Meeting, sum: usize) {
        if let Some(other) = meeting.0.lock().unwrap().replace(sum) {
            self.total.fetch_add(sum + other, SeqCst);
            add(&self.thefts);
        }
    }

    /// All was run once, nothing is lost; returns the number of thefts.
    fn check(&self, rest: usize, about: &str) -> usize {
        assert!(self.runs.iter().all(|runs| runs.load(SeqCst) == 1), "{about}");
        let len = self.runs.len();
        assert_eq!(self.total.load(SeqCst) + rest, len * len.saturating_sub(1) / 2, "{about}");
        assert!(self.migrated.load(SeqCst) <= self.thefts.load(SeqCst), "{about}");
        self.thefts.load(SeqCst)
    }
}

/// What the first one to come leaves for the second.
#[derive(Default)]
struct Meeting(Mutex<Option<usize>>);

/// A stretch of the sum, worked on in one of three ways.
struct Stretch<'s> {
    range: Range<usize>,
    how: How,
    log: &'s Log,
}

#[derive(Clone, Copy)]
enum How {
    Forks,
    Offers,
    Mixed(u64),
}

impl<'s> Stretch<'s> {
    fn sum<S: Detach<'s>>(mut self, scope: &S) -> usize {
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

    /// The right half, which is cut off.
    fn halve(&mut self) -> Self {
        let middle = self.range.start + self.range.len() / 2;
        let range = middle..std::mem::replace(&mut self.range.end, middle);
        Stretch { range, how: self.how, log: self.log }
    }

    fn by_forks<S: Detach<'s>>(mut self, scope: &S) -> usize {
        let (right, log) = (self.halve(), self.log);
        let (left, right) = scope.fork(|| self.sum(scope), right);
        match right {
            Fork::Back(right) => left + right.sum(scope),
            Fork::Taken(meeting) => {
                log.meet(&meeting, left);
                0
            }
        }
    }

    /// As an adaptive task does: one part after the other is offered.
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

fn sum_of<E: Executor>(engine: &E, len: usize, how: How, about: &str) -> usize {
    let log = Log::new(len);
    let rest = engine.detached(|scope| Stretch { range: 0..len, how, log: &log }.sum(scope));
    log.check(rest, about)
}

#[test]
fn every_part_is_run_once_and_the_results_meet() {
    fn check<E: Executor>(engine: &E, threads: usize, about: &str) {
        for how in [How::Forks, How::Offers, How::Mixed(1), How::Mixed(2)] {
            for len in [0, 1, 2, 3, 500] {
                let thefts = sum_of(engine, len, how, about);
                assert!(thefts == 0 || threads > 1, "{about}: {thefts} thefts by nobody");
            }
        }
    }
    everywhere!(check);
}

/// Waits for others to take something, if there are any.
fn give_time(threads: usize, taken: impl Fn() -> bool) {
    if threads > 1 {
        until(taken);
    }
}

/// Runs a closure when it is taken; says so when it is dropped.
struct Act<'s, F> {
    act: F,
    dropped: Dropped<'s>,
    _scope: PhantomData<fn() -> &'s ()>,
}

struct Dropped<'s>(&'s AtomicUsize);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        add(self.0);
    }
}

impl<'s, F: FnOnce(Context) + Send> Act<'s, F> {
    fn new(dropped: &'s AtomicUsize, act: F) -> Self {
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

#[test]
fn what_was_taken_has_migrated_and_does_not_come_back() {
    fn check<E: Executor>(engine: &E, threads: usize, about: &str) {
        let (taken, dropped) = (Flag::default(), AtomicUsize::new(0));
        let part = || {
            Act::new(&dropped, |context: Context| {
                assert!(context.migrated(), "{about}");
                taken.set();
            })
        };
        engine.detached(|scope| {
            let ((), right) = scope.fork(|| give_time(threads, || taken.is_set()), part());
            assert_eq!(matches!(right, Fork::Taken(_)), threads > 1, "{about}");
        });
        assert_eq!((dropped.load(SeqCst), taken.is_set()), (1, threads > 1), "{about}");
        let (taken, dropped) = (Flag::default(), AtomicUsize::new(0));
        let part = || Act::new(&dropped, |_| taken.set());
        engine.detached(|scope| {
            scope.offers(|offers| {
                let _meeting = offers.offer(part());
                give_time(threads, || taken.is_set());
                assert_eq!(offers.is_taken(), threads > 1, "{about}");
                assert_eq!(offers.take_back().is_none(), threads > 1, "{about}");
                assert!(
                    !offers.is_taken() && offers.take_back().is_none(),
                    "{about}: it is asked about once"
                );
            });
        });
        assert_eq!((dropped.load(SeqCst), taken.is_set()), (1, threads > 1), "{about}");
    }
    everywhere!(check);
}

#[test]
fn what_is_on_offer_at_the_end_is_dropped_or_run() {
    fn check<E: Executor>(engine: &E, _: usize, about: &str) {
        for panics in [false, true] {
            let (run, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
            quiet_panics();
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                engine.detached(|scope| {
                    for _ in 0..100 {
                        scope.offers(|offers| {
                            let _meeting = offers.offer(Act::new(&dropped, |_| add(&run)));
                            assert!(!panics || dropped.load(SeqCst) < 50, "on purpose");
                        });
                    }
                });
            }));
            assert_eq!(outcome.is_err(), panics, "{about}");
            let (run, dropped) = (run.into_inner(), dropped.into_inner());
            assert!(run <= dropped && (panics || dropped == 100), "{about}: {run} run, {dropped} dropped");
        }
    }
    everywhere!(check);
}

#[test]
fn one_part_is_on_offer_at_a_time() {
    fn check<E: Executor>(engine: &E, threads: usize, about: &str) {
        if threads > 1 {
            return; // It would be taken.
        }
        let dropped = AtomicUsize::new(0);
        let part = || Act::new(&dropped, |_: Context| ());
        let said = engine.detached(|scope| {
            scope.offers(|offers| {
                let _meeting = offers.offer(part());
                let said = message(payload(|| drop(offers.offer(part()))));
                assert!(offers.take_back().is_some(), "{about}: the first one is still there");
                said
            })
        });
        assert!(said.contains("one can be offered at a time"), "{about}: {said}");
        assert_eq!(dropped.into_inner(), 2, "{about}");
    }
    everywhere!(check);
}

/// Else a part would be left in the deque, below that of a place that goes first.
#[test]
fn only_the_innermost_place_offers() {
    fn check<'s, S: Detach<'s>>(scope: &S, dropped: &'s AtomicUsize) {
        let part = || Act::new(dropped, |_: Context| ());
        scope.offers(|outer| {
            scope.offers(|inner| {
                let _meeting = inner.offer(part());
                let refused = message(payload(|| drop(outer.offer(part()))));
                assert!(refused.contains("last call of `offers`"), "{refused}");
            });
            let _meeting = outer.offer(part());
            scope.offers(|inner| {
                let _meeting = inner.offer(part());
                // It lies below the inner one's part, if that is still there.
                drop(outer.take_back());
            });
        });
    }
    within(LONG, || {
        for threads in [1, 2] {
            let (pool, dropped) = (pool(threads), AtomicUsize::new(0));
            pool.scope(|scope| check(scope, &dropped));
            assert_eq!(dropped.into_inner(), 4);
            assert_eq!(pool.install(|| join(|| 1, || 2)), (1, 2));
        }
    });
}

#[test]
fn panics_reach_the_root() {
    fn check<E: Executor>(engine: &E, threads: usize, about: &str) {
        for (left_panics, right_panics) in [(true, false), (false, true), (true, true)] {
            for waits in [false, true] {
                let (begun, ended, dropped) = (Flag::default(), AtomicUsize::new(0), AtomicUsize::new(0));
                let right = |_: Context| {
                    begun.set();
                    work_for(Duration::from_micros(200));
                    add(&ended);
                    assert!(!right_panics, "on purpose: right");
                };
                let caught = payload(|| {
                    engine.detached(|scope| {
                        let left = || {
                            if waits {
                                give_time(threads, || begun.is_set());
                            }
                            assert!(!left_panics, "on purpose: left");
                        };
                        if let ((), Fork::Back(right)) = scope.fork(left, Act::new(&dropped, right)) {
                            let Act { act, dropped, .. } = right;
                            let _dropped = dropped;
                            act(Context::new(false));
                            assert!(right_panics, "on purpose: neither");
                        }
                        if !left_panics && !right_panics {
                            panic!("on purpose: nobody");
                        }
                    });
                });
                let said = message(caught);
                let about =
                    format!("{about}, {threads} threads, {left_panics} {right_panics} {waits}: {said}");
                assert!(
                    (left_panics && said.ends_with("left")) || (right_panics && said.ends_with("right")),
                    "{about}"
                );
                assert_eq!(dropped.into_inner(), 1, "{about}");
                assert_eq!(
                    ended.into_inner(),
                    usize::from(begun.is_set()),
                    "what has begun has ended: {about}"
                );
                if threads == 1 && left_panics {
                    assert!(!begun.is_set() && said.ends_with("left"), "{about}");
                }
                assert_eq!(engine.join_context(|_| 1, |_| 2), (1, 2), "{about}");
            }
        }
    }
    everywhere!(check);
}

/// P3.
struct Loud;

impl Drop for Loud {
    fn drop(&mut self) {
        panic_any(3);
    }
}

#[test]
fn drops_that_panic_give_way_to_the_first_panic() {
    fn check<E: Executor>(engine: &E, _: usize, about: &str) {
        quiet_panics();
        let dropped = AtomicUsize::new(0);
        let part = || {
            let loud = Loud;
            Act::new(&dropped, move |_: Context| std::mem::forget(loud))
        };
        // A part is dropped unrun, if nobody has it, while the thread unwinds: a panic then would abort the process.
        let in_fork = payload(|| {
            engine.detached(|scope| {
                scope.fork(|| panic_any("on purpose"), part());
            });
        });
        let on_offer = payload(|| {
            engine.detached(|scope| {
                scope.offers(|offers| {
                    let _meeting = offers.offer(part());
                    panic_any("on purpose");
                })
            });
        });
        assert!(in_fork.is::<&str>() && on_offer.is::<&str>(), "{about}");
        assert_eq!(dropped.load(SeqCst), 2, "{about}");
        assert_eq!(engine.join_context(|_| 1, |_| 2), (1, 2), "{about}");
    }
    everywhere!(check);
}

#[test]
fn payloads_whose_drop_panics_are_not_dropped_on_the_way() {
    fn check<E: Executor>(engine: &E, threads: usize, about: &str) {
        let (begun, dropped) = (Flag::default(), AtomicUsize::new(0));
        let caught = payload(|| {
            engine.detached(|scope| {
                let left = || {
                    give_time(threads, || begun.is_set());
                    panic_any(Loud);
                };
                let right = |_: Context| {
                    begun.set();
                    panic_any(Loud);
                };
                scope.fork(left, Act::new(&dropped, right));
            });
        });
        assert!(caught.is::<Loud>(), "{about}: one of the two");
        std::mem::forget(caught);
        assert_eq!(dropped.into_inner(), 1, "{about}");
        assert_eq!(engine.join_context(|_| 1, |_| 2), (1, 2), "{about}");
    }
    everywhere!(check);
}

#[test]
fn a_panic_in_any_item_reaches_the_root() {
    fn check<E: Executor>(engine: &E, _: usize, about: &str) {
        quiet_panics();
        for how in [How::Forks, How::Offers, How::Mixed(3)] {
            for bad in 0..20 {
                let log = Log { bad, ..Log::new(20) };
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    engine.detached(|scope| Stretch { range: 0..20, how, log: &log }.sum(scope))
                }));
                assert_eq!(message(caught.expect_err("a panic")), "on purpose", "{about}");
                assert!(log.runs.iter().all(|runs| runs.load(SeqCst) <= 1), "{about}");
                assert_eq!(log.runs[bad].load(SeqCst), 1, "{about}");
            }
            sum_of(engine, 20, how, about);
        }
    }
    everywhere!(check);
}

/// The worker gives its place away, and what lies in its deque with it.
#[test]
fn parts_that_lie_ready_when_the_deque_is_spilled() {
    fn sum<'s, S: Detach<'s>>(scope: &S, how: How, log: &'s Log, wait: &(dyn Fn() + Sync)) -> usize {
        let part = |range| Stretch { range, how, log };
        let left = || {
            scope.offers(|offers| {
                let mut meeting = Some(offers.offer(part(32..48)));
                let innermost = || {
                    wait();
                    part(0..16).sum(scope)
                };
                let (mut sum, right) = scope.fork(innermost, part(16..32));
                if let Some(part) = offers.take_back() {
                    meeting = None;
                    sum += part.sum(scope);
                }
                if let Some(meeting) = meeting {
                    log.meet(&meeting, 0);
                }
                (sum, right)
            })
        };
        let ((mut sum, inner), outer) = scope.fork(left, part(48..64));
        for fork in [inner, outer] {
            match fork {
                Fork::Back(part) => sum += part.sum(scope),
                Fork::Taken(meeting) => log.meet(&meeting, 0),
            }
        }
        sum
    }
    within(LONG, || {
        for threads in [1, 2, 3] {
            let (here, other) = (pool(threads), pool(1));
            // Waits for another pool, which needs a thread of this one.
            let abroad = || other.install(|| here.install(|| work_for(Duration::from_micros(100))));
            // Waits for a half that was stolen, if it is, long enough to give its place away.
            let stolen = || {
                let half = Duration::from_micros(100);
                join(|| thread::sleep(half), || work_for(half * 5));
            };
            for how in [How::Forks, How::Offers] {
                for wait in [&abroad as &(dyn Fn() + Sync), &stolen] {
                    for _ in 0..20 {
                        let log = Log::new(64);
                        let rest = here.scope(|scope| sum(scope, how, &log, wait));
                        log.check(rest, "spilled");
                    }
                }
            }
        }
    });
}

#[test]
fn forks_nest_deeper_than_the_deque_has_room() {
    fn spine<'s, S: Detach<'s>>(scope: &S, depth: usize, log: &'s Log) -> usize {
        if depth == 0 {
            return 0;
        }
        let right = Stretch { range: depth - 1..depth, how: How::Forks, log };
        match scope.fork(|| spine(scope, depth - 1, log), right) {
            (left, Fork::Back(right)) => left + right.sum(scope),
            (left, Fork::Taken(meeting)) => {
                log.meet(&meeting, left);
                0
            }
        }
    }
    const DEEP: usize = 2000;
    within(LONG, || {
        for threads in SIZES {
            let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(64 << 20).build().unwrap();
            let log = Log::new(DEEP);
            let rest = pool.scope(|scope| spine(scope, DEEP, &log));
            log.check(rest, "deep");
        }
    });
}

#[test]
fn threads_that_are_none_of_the_pools_keep_their_parts() {
    within(LONG, || {
        let (here, other) = (pool(2), pool(2));
        let log = Log::new(100);
        let rest = here.in_place_scope(|scope| {
            let sum = |range, how| Stretch { range, how, log: &log }.sum(scope);
            let mine = sum(0..30, How::Forks) + sum(30..60, How::Offers);
            mine + other.install(|| sum(60..100, How::Mixed(5)))
        });
        assert_eq!(log.check(rest, "foreign"), 0);
    });
}

#[test]
fn calls_within_parts_have_their_own_root() {
    fn check<E: Executor>(engine: &E, _: usize, about: &str) {
        /// Each one runs a computation of its own.
        struct Outer<'s, E>(usize, &'s E, &'s AtomicUsize);
        impl<'s, S: Detach<'s>, E: Executor> Detachable<'s, S> for Outer<'s, E> {
            type Meeting = ();
            fn run(self, scope: &S, _: Arc<()>, _: Context) {
                self.go(scope);
            }
        }
        impl<'s, E: Executor> Outer<'s, E> {
            fn go<S: Detach<'s>>(self, scope: &S) {
                let Outer(depth, engine, calls) = self;
                if depth > 0 {
                    let half = || Outer(depth - 1, engine, calls);
                    if let ((), Fork::Back(right)) = scope.fork(|| half().go(scope), half()) {
                        right.go(scope);
                    }
                } else {
                    sum_of(engine, 40, How::Mixed(calls.load(SeqCst) as u64), "within");
                    add(calls);
                }
            }
        }
        let calls = AtomicUsize::new(0);
        engine.detached(|scope| Outer(5, engine, &calls).go(scope));
        assert_eq!(calls.into_inner(), 32, "{about}");
    }
    everywhere!(check);
}

#[test]
fn under_load() {
    within(LONG, || {
        let until = Instant::now() + Duration::from_millis(1200);
        let pools: [ThreadPool; 2] = [ruled(3, RULES[0]), ruled(8, RULES[2])];
        thread::scope(|threads| {
            let (pools, mut callers) = (&pools, vec![]);
            for caller in 0..4_u64 {
                callers.push(threads.spawn(move || {
                    let (mut random, mut rounds) = (Random(caller), 0);
                    while Instant::now() < until {
                        let engine = &pools[(random.next() % 2) as usize];
                        let len = random.below(300) as usize;
                        let how = How::Mixed(random.next());
                        if rounds % 5 == 4 && len > 0 {
                            let log = Log { bad: len / 2, ..Log::new(len) };
                            let caught = payload(|| {
                                let _: usize =
                                    engine.scope(|s| Stretch { range: 0..len, how, log: &log }.sum(s));
                            });
                            assert_eq!(message(caught), "on purpose");
                        } else if rounds % 2 == 0 {
                            sum_of(&engine, len, how, "from outside");
                        } else {
                            engine.install(|| {
                                join(|| sum_of(&Pool, len, how, ""), || sum_of(&Pool, len, how, ""))
                            });
                        }
                        rounds += 1;
                    }
                    rounds
                }));
            }
            let rounds: usize = callers.into_iter().map(|caller| caller.join().unwrap()).sum();
            assert!(rounds > 20, "{rounds} rounds");
        });
    });
}
