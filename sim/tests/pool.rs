//! Random programs on the pool, each under a schedule of its own seed, against their sequential values.
//!
//! Built with `--cfg furcate_sim` only: else there is nothing here. `SCHEDULES=n` sets the number of schedules, and `FIRST=n` the first seed. With
//! `SCHEDULES=1` the schedule is written.
#![cfg(furcate_sim)]

use furcate::prelude::*;
use furcate::{Fairness, Priority, Suspension, ThreadPool, ThreadPoolBuilder, WaitRule, block_on};
use furcate_schedulers::Timer;
use furcate_sim::atomic::{AtomicU64, Ordering::Relaxed};
use furcate_sim::time::Instant;
use furcate_sim::{Check, Condvar, Machine, Mutex, simulate, thread, work};
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Random numbers of a program: splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ z >> 31) % end
    }
}

/// A program. Its value is a number, or a panic with one.
#[derive(Clone, Debug)]
enum Program {
    Value(u64),
    Panic(u64),
    Join(Box<[Program; 2]>),
    /// Jobs of a scope.
    Scope(Vec<Program>),
    /// Items of a chain, under the schedule of that number.
    Chain(u64, Vec<Program>),
    /// Items that wait for these microseconds, and then run the program.
    Wait(Vec<(u64, Program)>),
    /// The first item that is at least 5.
    Search(Vec<Program>),
    /// A future that is spawned and waited for.
    Future(u64, Box<Program>),
    Yield(Box<Program>),
    /// Microseconds of work, and then the program. Long work lets workers without jobs go to sleep.
    Work(u64, Box<Program>),
    /// A broadcast, in the way of that number, of a program without further broadcasts.
    Broadcast(u64, Box<Program>),
    /// A call of the priority of that number.
    Ranked(u64, Box<Program>),
}

/// Runs of detached jobs to come.
static BROADCASTS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

impl Program {
    fn random(random: &mut Random, depth: u64, panics: bool, waits: bool) -> Program {
        let some = |random: &mut Random| {
            let count = random.below(5);
            (0..count).map(|_| Program::random(random, depth - 1, panics, waits)).collect::<Vec<_>>()
        };
        if depth == 0 {
            return Program::Value(random.below(10));
        }
        match random.below(21) {
            0 if panics => Program::Panic(random.below(10)),
            0 | 1 => Program::Value(random.below(10)),
            2..5 => Program::Join([(); 2].map(|()| Program::random(random, depth - 1, panics, waits)).into()),
            5 | 6 => Program::Scope(some(random)),
            7..10 => Program::Chain(random.below(6), some(random)),
            10 | 11 if waits => {
                let items = some(random);
                Program::Wait(items.into_iter().map(|item| (time(random), item)).collect())
            }
            12 | 13 => Program::Search(some(random)),
            14 if waits => {
                Program::Future(time(random), Program::random(random, depth - 1, panics, waits).into())
            }
            15 => Program::Broadcast(
                random.below(3),
                Program::random(random, (depth - 1).min(1), panics, waits).into(),
            ),
            17 => Program::Ranked(random.below(3), Program::random(random, depth - 1, panics, waits).into()),
            16 => Program::Yield(Program::random(random, depth - 1, panics, waits).into()),
            _ => Program::Work(pause(random), Program::random(random, depth - 1, panics, waits).into()),
        }
    }

    /// Returns the value; `None` if a part panics. (Which one's panic goes on depends on the schedule. So does whether a part behind the hit of a search
    /// runs: a program that may panic there may do either.)
    fn value(&self) -> Option<u64> {
        match self {
            Program::Value(value) => Some(*value),
            Program::Panic(_) => None,
            Program::Join(halves) => Some(halves[0].value()? * 3 + halves[1].value()?),
            Program::Scope(all) => all.iter().map(Program::value).sum(),
            Program::Chain(_, all) => all
                .iter()
                .map(Program::value)
                .try_fold(1_u64, |sum, it| Some(sum.wrapping_mul(5).wrapping_add(it?))),
            Program::Wait(all) => all.iter().map(|(_, it)| it.value()).sum(),
            Program::Search(all) => {
                let all: Option<Vec<_>> = all.iter().map(Program::value).collect();
                Some(all?.into_iter().find(|value| *value >= 5).unwrap_or(1000))
            }
            Program::Future(_, program)
            | Program::Yield(program)
            | Program::Work(_, program)
            | Program::Broadcast(_, program)
            | Program::Ranked(_, program) => program.value(),
        }
    }

    fn run(&self, pool: &ThreadPool) -> u64 {
        match self {
            Program::Value(value) => *value,
            Program::Panic(value) => std::panic::panic_any(*value),
            Program::Join(halves) => {
                let (left, right) = furcate::join(|| halves[0].run(pool), || halves[1].run(pool));
                left * 3 + right
            }
            Program::Scope(all) => {
                let sum = AtomicU64::new(0);
                furcate::scope(|scope| {
                    for program in all {
                        let sum = &sum;
                        scope.spawn(move |_| _ = sum.fetch_add(program.run(pool), Relaxed));
                    }
                });
                sum.into_inner()
            }
            Program::Chain(schedule, all) => {
                let run = |program: &Program| vec![program.run(pool)];
                let append = |mut left: Vec<u64>, right: Vec<u64>| {
                    left.extend(right);
                    left
                };
                let chain = all.par_iter().map(run);
                let values = match schedule {
                    0 => chain.reduce(Vec::new, append),
                    1 => chain.size_limit(1).join().reduce(Vec::new, append),
                    2 => chain.size_limit(1).depjoin().reduce(Vec::new, append),
                    3 => chain.thief_splitting(3).adaptive().reduce(Vec::new, append),
                    4 => chain.adaptive().by_exponential_blocks().reduce(Vec::new, append),
                    _ => chain.size_limit(1).collect::<Vec<_>>().concat(),
                };
                values.into_iter().fold(1, |sum, value| sum.wrapping_mul(5).wrapping_add(value))
            }
            Program::Wait(all) => {
                let wait = |(time, program): &'_ (u64, Program)| {
                    let (time, program) = (Duration::from_micros(*time), program.clone());
                    async move {
                        Timer::after(time).await;
                        program
                    }
                };
                all.par_iter()
                    .size_limit(1)
                    .map(wait)
                    .io_await()
                    .max_in_flight(3)
                    .map(|program| program.run(pool))
                    .sum()
            }
            Program::Search(all) => {
                let found = all
                    .par_iter()
                    .size_limit(1)
                    .map(|program| program.run(pool))
                    .find_first(|value| *value >= 5);
                found.unwrap_or(1000)
            }
            Program::Future(time, program) => {
                let (time, program) = (Duration::from_micros(*time), program.clone());
                let handle = pool.spawn_future(async move {
                    Timer::after(time).await;
                    program
                });
                furcate::block_on(handle).run(pool)
            }
            Program::Ranked(priority, program) => {
                let priority = Priority::ALL[*priority as usize];
                furcate::with_priority(priority, || {
                    BROADCASTS.fetch_add(1, Relaxed);
                    pool.spawn(move || {
                        assert_eq!(furcate::current_priority(), priority);
                        BROADCASTS.fetch_sub(1, Relaxed);
                    });
                    program.run(pool)
                })
            }
            Program::Yield(program) => {
                furcate::yield_now();
                program.run(pool)
            }
            Program::Work(time, program) => {
                work_for(*time);
                program.run(pool)
            }
            Program::Broadcast(0, program) => {
                let values = pool.broadcast(|_| program.run(pool));
                assert!(values.iter().all(|value| *value == values[0]));
                values[0]
            }
            Program::Broadcast(1, program) => {
                let sum = AtomicU64::new(0);
                furcate::scope(|scope| {
                    scope.spawn_broadcast(|_, _| _ = sum.fetch_add(program.run(pool), Relaxed));
                });
                sum.into_inner() / pool.current_num_threads() as u64
            }
            Program::Broadcast(_, program) => {
                BROADCASTS.fetch_add(pool.current_num_threads(), Relaxed);
                pool.spawn_broadcast(|_| _ = BROADCASTS.fetch_sub(1, Relaxed));
                program.run(pool)
            }
        }
    }
}

/// Returns a time in microseconds: about as long as a worker looks for jobs before it sleeps, and about as long as the timed searcher stays.
fn pause(random: &mut Random) -> u64 {
    [5, 40, 100, 300, 1500, 19_950, 20_200][random.below(7) as usize] + random.below(50)
}

/// Returns the microseconds of a wait: the task is woken while the workers look for jobs, or while they sleep.
fn time(random: &mut Random) -> u64 {
    if random.below(2) == 0 { random.below(30) } else { pause(random) }
}

/// Works for these microseconds, in one step or in many: a thread that waits has to look some hundred times before it sleeps.
fn work_for(time: u64) {
    let steps = [1, 40, 800][(time % 3) as usize];
    for _ in 0..steps {
        work(Duration::from_micros(time) / steps);
        thread::yield_now();
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn random_programs_give_their_sequential_values() {
    // The panics are as planned.
    std::panic::set_hook(Box::new(|_| ()));
    let (first, schedules) = (number("FIRST", 0), number("SCHEDULES", 2_000));
    for seed in first..first + schedules {
        let mut random = Random(seed);
        // More than eight count their searches in two groups.
        let threads = 1 + random.below(4) as usize + if random.below(16) == 0 { 8 } else { 0 };
        let (rule, suspension, fairness) = (random.below(3), random.below(2), random.below(3));
        let (takes_part, fences) = (random.below(2) == 0, random.below(4) == 0);
        let depth = 1 + random.below(4);
        let panics = random.below(3) == 0;
        let waits = random.below(2) == 0;
        let program = Program::random(&mut random, depth, panics, waits);
        // A call may come while the workers of an earlier one go to sleep.
        let drives = random.below(4) == 0;
        let again = (random.below(4) == 0).then(|| pause(&mut random));
        // Of the second call.
        let priority = Priority::ALL[random.below(3) as usize];
        let tokens = (random.below(4) == 0).then(|| random.below(4) as usize);
        let expected = program.value();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let check_of = Check::new().cores(threads).max_steps(3_000_000).needs_no_time(!waits);
            let run = || {
                BROADCASTS.store(0, Relaxed);
                let begin = Instant::now();
                let builder = ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .wait_rule([WaitRule::Descendants, WaitRule::Leapfrog, WaitRule::Any][rule as usize])
                    .suspension([Suspension::Parsimonious, Suspension::Proactive][suspension as usize])
                    .fairness(
                        [Fairness::Balanced, Fairness::WokenFirst, Fairness::FairQueueing][fairness as usize],
                    )
                    .saturation_handler(|_| ())
                    .caller_takes_part(takes_part);
                let builder = if fences { builder.ordinary_fences() } else { builder };
                let builder = if drives { builder.main_handler(|main| block_on(main)) } else { builder };
                let builder = match tokens {
                    Some(tokens) => builder.tokens_by(Box::new(move |bring| Jobserver::start(tokens, bring))),
                    None => builder,
                };
                let pool = builder.build().unwrap();
                let others = program.clone();
                // A second call of the same pool, from another thread.
                thread::scope(|threads| {
                    let run = || furcate::with_priority(priority, || check(&others, &pool, expected));
                    thread::Builder::new().spawn_scoped(threads, run).unwrap();
                    check(&program, &pool, expected);
                    if let Some(time) = again {
                        work_for(time);
                        check(&program, &pool, expected);
                    }
                });
                drop(pool);
                assert_eq!(BROADCASTS.load(Relaxed), 0, "a detached job was lost");
                // All waits together take less than a second. The thread of the timers sleeps for a day if it has none.
                assert!(begin.elapsed() < Duration::from_secs(3600), "a timer was late");
            };
            if schedules == 1 { check_of.replay(seed, run) } else { check_of.run([seed], run) }
        }));
        if let Err(payload) = outcome {
            let message = payload.downcast_ref::<String>().cloned().unwrap_or_default();
            // The hook is silent.
            eprintln!(
                "{message}\n{threads} threads, tokens {tokens:?}, drives {drives}, takes part {takes_part}, rule {rule}, {priority:?}, {program:?}"
            );
            panic!();
        }
    }
}

/// A jobserver that has tokens for one pool, with a thread that brings them.
struct Jobserver {
    tokens: usize,
    requests: usize,
    ended: bool,
}

type Shared = Arc<(Mutex<Jobserver>, Condvar)>;

impl Jobserver {
    fn start(
        tokens: usize,
        bring: Box<dyn Fn(Box<dyn Any + Send>) + Send + Sync>,
    ) -> io::Result<Arc<dyn Fn() + Send + Sync>> {
        let server = Arc::new((Mutex::new(Jobserver { tokens, requests: 0, ended: false }), Condvar::new()));
        let (here, end) = (Arc::clone(&server), End(Arc::clone(&server)));
        thread::Builder::new().spawn(move || {
            loop {
                let waits = |it: &mut Jobserver| !it.ended && (it.requests == 0 || it.tokens == 0);
                let mut state = here.1.wait_while(here.0.lock().unwrap(), waits).unwrap();
                if state.ended {
                    break;
                }
                state.requests -= 1;
                state.tokens -= 1;
                drop(state);
                bring(Box::new(Token(Arc::clone(&here))));
            }
        })?;
        Ok(Arc::new(move || change(&end.0, |it| it.requests += 1)))
    }
}

fn change(server: &Shared, how: impl FnOnce(&mut Jobserver)) {
    how(&mut server.0.lock().unwrap());
    server.1.notify_all();
}

/// A token. Its drop gives it back.
struct Token(Shared);

impl Drop for Token {
    fn drop(&mut self) {
        change(&self.0, |it| it.tokens += 1);
    }
}

/// Ends the thread when the pool is gone.
struct End(Shared);

impl Drop for End {
    fn drop(&mut self) {
        change(&self.0, |it| it.ended = true);
    }
}

fn check(program: &Program, pool: &ThreadPool, expected: Option<u64>) {
    let outcome = catch_unwind(AssertUnwindSafe(|| pool.install(|| program.run(pool))));
    match (outcome, expected) {
        (Ok(value), Some(expected)) => assert_eq!(value, expected),
        (Ok(_), None) => assert!(may_skip(program), "a panic was lost"),
        (Err(payload), _) => assert!(expected.is_none() && payload.is::<u64>(), "an unexpected panic"),
    }
}

/// Whether the program has a search, which may leave a part that panics out.
fn may_skip(program: &Program) -> bool {
    match program {
        Program::Value(_) | Program::Panic(_) => false,
        Program::Join(halves) => halves.iter().any(may_skip),
        Program::Scope(all) | Program::Chain(_, all) => all.iter().any(may_skip),
        Program::Wait(all) => all.iter().any(|(_, it)| may_skip(it)),
        Program::Search(_) => true,
        Program::Future(_, it)
        | Program::Yield(it)
        | Program::Work(_, it)
        | Program::Broadcast(_, it)
        | Program::Ranked(_, it) => may_skip(it),
    }
}

/// On a machine of two sockets, thieves steal from their own one first.
#[test]
fn few_steals_are_far() {
    let far = |uniform| {
        let run = move || {
            let pool = ThreadPoolBuilder::new().num_threads(128).uniform_victims(uniform).build().unwrap();
            let leaf = |_| work(Duration::from_micros(10));
            pool.install(|| (0..10_000_u64).into_par_iter().with_max_len(1).for_each(leaf));
            let total = pool.stats().total();
            let won: u64 = total.steals.iter().map(|victim| victim.won).sum();
            total.far_steals as f64 / won as f64
        };
        simulate(Machine::SOCKETS_2_64, 0, run).result
    };
    let (near_first, uniform) = (far(false), far(true));
    assert!(near_first < 0.15 && near_first < uniform / 1.5, "{near_first} instead of {uniform}");
}
