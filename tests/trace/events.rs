//! Traces: the events, the bounds, and the files.

use either::Either;
use furcate::policy::{CancelToken, Reason};
use furcate::prelude::*;
use furcate::trace::{self, AlreadyRunning, Event, JobId, Settings, ThreadTrace, Trace};
use furcate::{Limit, join};
use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
#[cfg(unix)]
use testkit::process::{
    SIGABRT, SIGINT, SIGQUIT, SIGTERM, break_stderr, child, end_by, good_child, plays, said, signal_of,
};
use testkit::traces::{alone, traced};
use testkit::{LONG, Random, pool, spin, until, within};

fn events(trace: &Trace) -> impl Iterator<Item = (usize, Event)> {
    trace
        .threads()
        .iter()
        .enumerate()
        .flat_map(|(n, thread)| thread.events().iter().map(move |e| (n, e.event)))
}

fn count(trace: &Trace, is: impl Fn(Event) -> bool) -> usize {
    events(trace).filter(|(_, event)| is(*event)).count()
}

/// A fork, in a tree of forks.
#[derive(Clone, Debug)]
enum Tree {
    Leaf,
    Fork(Box<[Tree; 2]>),
}

impl Tree {
    /// A random tree of so many forks.
    fn random(forks: u64, random: &mut Random) -> Tree {
        if forks == 0 {
            return Tree::Leaf;
        }
        let left = random.below(forks);
        Tree::Fork(Box::new([Tree::random(left, random), Tree::random(forks - 1 - left, random)]))
    }

    fn run(&self) {
        if let Tree::Fork(children) = self {
            join(|| children[0].run(), || children[1].run());
        }
    }

    /// The forks that a worker records if it is alone: `(`, left half, `|`, right half, `)`.
    fn expected(&self, into: &mut String) {
        if let Tree::Fork(children) = self {
            into.push('(');
            children[0].expected(into);
            into.push('|');
            children[1].expected(into);
            into.push(')');
        }
    }
}

/// The forks of a thread, as `Tree::expected` writes them. Checks that the events of each fork name the same job.
fn shape(thread: &ThreadTrace) -> String {
    let mut open = Vec::<JobId>::new();
    let mut shape = String::new();
    for event in thread.events() {
        match event.event {
            Event::Fork { job } => {
                open.push(job);
                shape.push('(');
            }
            Event::Right { job } => {
                assert_eq!(open.last(), Some(&job));
                shape.push('|');
            }
            Event::Joined { job } => {
                assert_eq!(open.pop(), Some(job));
                shape.push(')');
            }
            _ => {}
        }
    }
    assert!(open.is_empty());
    shape
}

#[test]
fn the_forks_of_one_worker_are_the_tree() {
    let pool = pool(1);
    for seed in 0..50 {
        let tree = Tree::random(seed * 7 % 60, &mut Random(seed));
        let ((), trace) = traced(|| pool.install(|| tree.run()));
        let mut expected = String::new();
        tree.expected(&mut expected);
        let shapes: Vec<_> = trace.threads().iter().map(shape).filter(|shape| !shape.is_empty()).collect();
        assert_eq!(shapes, if expected.is_empty() { vec![] } else { vec![expected] }, "seed {seed}");
    }
}

#[test]
fn half_of_a_panic_is_recorded_like_any_other() {
    let pool = pool(1);
    for left in [true, false] {
        let (result, trace) = traced(|| {
            catch_unwind(AssertUnwindSafe(|| {
                pool.install(|| {
                    join(
                        || assert!(!left || std::hint::black_box(false)),
                        || join(|| (), || assert!(left || std::hint::black_box(false))),
                    )
                })
            }))
        });
        assert!(result.is_err());
        let shapes: Vec<_> = trace.threads().iter().map(shape).filter(|shape| !shape.is_empty()).collect();
        assert_eq!(shapes, ["(|(|))"]);
    }
}

/// Every fork is either joined by its owner, or begins as a job on another thread.
#[test]
fn each_fork_is_joined_or_stolen() {
    fn spin(depth: u32) {
        if depth == 0 {
            let begin = std::time::Instant::now();
            while begin.elapsed() < Duration::from_micros(50) {}
            return;
        }
        join(|| spin(depth - 1), || spin(depth - 1));
    }
    let pool = pool(2);
    let (forks, trace) = traced(|| {
        pool.install(|| spin(9));
        (1 << 9) - 1
    });
    assert_eq!(count(&trace, |event| matches!(event, Event::Fork { .. })), forks);
    let joined = count(&trace, |event| matches!(event, Event::Right { .. }));
    let stolen = count(&trace, |event| matches!(event, Event::Stolen { .. }));
    assert_eq!(joined + stolen, forks);
    // Each stolen job has begun on another thread than that of the fork.
    let mut begins = HashMap::<JobId, Vec<usize>>::new();
    for (thread, event) in events(&trace) {
        if let Event::JobBegin { job, .. } = event {
            begins.entry(job).or_default().push(thread);
        }
    }
    for (thread, event) in events(&trace) {
        if let Event::Stolen { job } = event {
            assert!(begins[&job].iter().any(|other| *other != thread), "{job:?} was stolen by nobody");
        }
    }
    // The end of the call may be known before the thief has recorded the end of its job. So an end without a begin on its thread is that of an
    // earlier test's job.
    let begun = count(&trace, |event| matches!(event, Event::JobBegin { .. }));
    let mut open = HashMap::<usize, usize>::new();
    let mut ended = 0;
    for (thread, event) in events(&trace) {
        let open = open.entry(thread).or_default();
        match event {
            Event::JobBegin { .. } => *open += 1,
            Event::JobEnd if *open > 0 => {
                *open -= 1;
                ended += 1;
            }
            _ => {}
        }
    }
    assert!((begun - 2..=begun).contains(&ended), "{begun} jobs have begun, and {ended} have ended");
}

#[test]
fn leaves_have_the_sizes_of_their_parts() {
    let pool = pool(2);
    // The bound keeps the leaves from being divided further for a worker that has nothing to do.
    let chain = || (0..1000_u64).into_par_iter().bound_depth(4).force_depth(4);
    let (sum, trace) = traced(|| pool.install(|| chain().sum::<u64>()));
    assert_eq!(sum, 499_500);
    let sizes: Vec<_> = events(&trace)
        .filter_map(|(_, event)| if let Event::LeafBegin { size } = event { Some(size) } else { None })
        .collect();
    assert_eq!((sizes.len(), sizes.iter().sum::<u64>()), (16, 1000));
    assert_eq!(count(&trace, |event| event == Event::LeafEnd), 16);
    assert_eq!(count(&trace, |event| event == Event::ReduceBegin), 15);
    let summary = trace.summary();
    assert_eq!(summary.threads.iter().map(|thread| thread.leaves).sum::<u64>(), 16);
    assert!(summary.to_string().contains("leaves"), "{summary}");
}

/// Forks that come fast are left out, and a fork in which others are left out is still whole.
#[test]
fn forks_are_recorded_at_a_bounded_rate() {
    fn fib(n: u32) -> u64 {
        if n < 2 {
            return n.into();
        }
        let (a, b) = join(|| fib(n - 1), || fib(n - 2));
        a + b
    }
    let pool = pool(1);
    let _alone = alone();
    trace::start().unwrap();
    let begin = std::time::Instant::now();
    assert_eq!(pool.install(|| fib(27)), 196_418);
    let time = begin.elapsed();
    let trace = trace::stop().unwrap();
    let forks = count(&trace, |event| matches!(event, Event::Fork { .. }));
    // 4096 at once, and one in 4 us by a clock whose rate is measured in 20 us; fib(27) has 317 810 forks.
    assert!((4000..4100 + time.as_micros() as usize / 3).contains(&forks), "{forks} in {time:?}");
    assert_eq!(
        forks,
        shape(trace.threads().iter().max_by_key(|t| t.events().len()).unwrap()).matches('|').count()
    );
}

#[test]
fn a_full_ring_says_how_much_it_has_lost() {
    let pool = pool(1);
    let _alone = alone();
    Settings::new().every_fork(true).events_per_thread(1024).start().unwrap();
    pool.install(|| (0..1000).for_each(|_| _ = join(|| (), || ())));
    let trace = trace::stop().unwrap();
    let thread = trace.threads().iter().max_by_key(|thread| thread.events().len()).unwrap();
    assert_eq!(thread.events().len(), 1023);
    // Three events for each fork, a begin and an end, and what the worker did before and after.
    assert!((1979..2100).contains(&thread.lost()), "{} were lost", thread.lost());
    assert_eq!(trace.lost(), trace.threads().iter().map(ThreadTrace::lost).sum::<u64>());
    chrome(&trace);
}

#[test]
fn the_first_threads_are_recorded() {
    let _alone = alone();
    trace::start().unwrap();
    for _ in 0..1100 {
        std::thread::spawn(|| join(|| (), || ())).join().unwrap();
    }
    let trace = trace::stop().unwrap();
    assert_eq!(trace.threads().len(), 1024);
    assert!(
        // Threads of other tests count, too.
        (76..200).contains(&trace.threads_left_out()),
        "{} threads were left out",
        trace.threads_left_out()
    );
}

#[test]
fn waits_are_recorded() {
    let pool = pool(2);
    let before = pool.stats().total();
    let ((), trace) = traced(|| {
        pool.install(|| {
            (0..50_u64)
                .into_par_iter()
                .map(|n| async move { async_io::Timer::after(Duration::from_millis(1 + n % 3)).await })
                .io_await()
                .for_each(|_| ());
        });
    });
    let after = pool.stats().total();
    assert_eq!(
        count(&trace, |event| matches!(event, Event::Suspend { .. })) as u64,
        after.polls - before.polls - (after.ready - before.ready) - (after.resumes - before.resumes)
    );
    assert_eq!(
        count(&trace, |event| matches!(event, Event::Resume { .. })) as u64,
        after.resumes - before.resumes
    );
    assert!(count(&trace, |event| matches!(event, Event::Wake { .. })) > 0);
}

#[test]
fn one_recording_at_a_time() {
    let _alone = alone();
    assert!(trace::stop().is_none(), "none was started");
    trace::start().unwrap();
    assert_eq!(trace::start(), Err(AlreadyRunning));
    assert!(AlreadyRunning.to_string().contains("stop it first"));
    assert!(trace::stop().is_some());
    assert!(trace::stop().is_none());
    // Forks outside a recording are in none.
    pool(1).install(|| join(|| (), || ()));
    trace::start().unwrap();
    let trace = trace::stop().unwrap();
    assert_eq!(count(&trace, |event| matches!(event, Event::Fork { .. })), 0);
}

/// A recording that starts in the middle of a job records the forks after it; and forks that are open when a recording stops are
/// joined as usual.
#[test]
fn recordings_start_and_stop_anywhere() {
    let pool = pool(1);
    let _alone = alone();
    let trace = pool.install(|| {
        let ((), trace) = join(
            || {
                Settings::new().every_fork(true).start().unwrap();
                join(|| (), || ());
            },
            || {
                let (trace, ()) = join(|| trace::stop().unwrap(), || ());
                join(|| (), || ());
                trace
            },
        );
        trace
    });
    assert_eq!(count(&trace, |event| matches!(event, Event::Fork { .. })), 2);
    assert_eq!(count(&trace, |event| matches!(event, Event::Joined { .. })), 1);
}

/// Writes the trace as JSON, and checks that its slices are balanced and in order.
fn chrome(trace: &Trace) -> serde_json::Value {
    let mut file = Vec::new();
    trace.write_chrome(&mut file).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&file).unwrap();
    let (mut depth, mut last) = (HashMap::<u64, i64>::new(), HashMap::<u64, f64>::new());
    let mut arrows = HashMap::<u64, (u32, u32)>::new();
    for event in json["traceEvents"].as_array().unwrap() {
        let (thread, at) = (event["tid"].as_u64().unwrap(), event["ts"].as_f64().unwrap());
        let before = last.insert(thread, at).unwrap_or(0.0);
        assert!(before <= at, "events of a thread are in order");
        let depth = depth.entry(thread).or_default();
        match event["ph"].as_str().unwrap() {
            "B" => *depth += 1,
            "E" => *depth -= 1,
            "s" => arrows.entry(event["id"].as_u64().unwrap()).or_default().0 += 1,
            "f" => arrows.entry(event["id"].as_u64().unwrap()).or_default().1 += 1,
            "i" | "M" => {}
            other => panic!("phase {other}"),
        }
        assert!(*depth >= 0);
    }
    assert!(depth.values().all(|depth| *depth == 0), "{depth:?}");
    assert!(arrows.values().all(|ends| *ends == (1, 1)), "{arrows:?}");
    json
}

#[test]
fn the_file_for_perfetto_is_balanced() {
    let pool = pool(2);
    let (_, trace) = traced(|| {
        pool.install(|| (0..100_000_u64).into_par_iter().map(|x| x * x % 7).size_limit(100).sum::<u64>())
    });
    let json = chrome(&trace);
    let leaves =
        json["traceEvents"].as_array().unwrap().iter().filter(|event| event["name"] == "leaf").count();
    assert_eq!(leaves, 1024);
}

/// The program that the next test starts.
#[test]
fn program_of_the_environment() {
    if std::env::var_os("FURCATE_TRACE").is_some() {
        let chain = (0..1000_u64).into_par_iter().bound_depth(3).force_depth(3);
        assert_eq!(chain.sum::<u64>(), 499_500);
        assert_eq!(trace::start(), Err(AlreadyRunning));
        assert!(trace::stop().is_none(), "the whole program is one recording");
    }
}

#[cfg(unix)]
#[test]
fn the_environment_names_a_file() {
    let program = |path: &std::path::Path| {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "events::program_of_the_environment"])
            .env("FURCATE_TRACE", path)
            .output()
            .map(|output| (output.status.success(), [output.stdout, output.stderr].concat()))
            .map(|(success, words)| (success, String::from_utf8_lossy(&words).into_owned()))
            .unwrap()
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.json");
    let (success, words) = program(&path);
    assert!(success && words.contains("ui.perfetto.dev"), "{words}");
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let leaves =
        json["traceEvents"].as_array().unwrap().iter().filter(|event| event["name"] == "leaf").count();
    assert_eq!(leaves, 8);

    // (The program's test fails then: it expects a recording.)
    let (_, words) = program(&directory.path().join("missing").join("trace.json"));
    assert!(words.contains("cannot write the trace") && words.contains("missing"), "{words}");
}

#[cfg(unix)]
#[test]
fn each_rank_of_a_cluster_has_a_file_of_its_own() {
    if plays("rank") {
        return program_of_the_environment();
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.trace.json");
    let this = "events::each_rank_of_a_cluster_has_a_file_of_its_own";
    for (variable, rank) in [("OMPI_COMM_WORLD_RANK", "0"), ("PMI_RANK", "13"), ("PMIX_RANK", "no number")] {
        good_child(this, "rank", &[("FURCATE_TRACE", path.to_str().unwrap()), (variable, rank)]);
    }
    let mut names: Vec<_> =
        std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort_unstable();
    assert_eq!(names, ["a.trace.0.json", "a.trace.13.json", "a.trace.json"]);
}

/// At its end such a program prints a report. It ends as it should even if the report cannot be printed.
#[cfg(unix)]
#[test]
fn the_environment_names_a_file_and_nobody_reads_stderr() {
    if plays("broken stderr") {
        break_stderr();
        return program_of_the_environment();
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.json");
    let this = "events::the_environment_names_a_file_and_nobody_reads_stderr";
    good_child(this, "broken stderr", &[("FURCATE_TRACE", path.to_str().unwrap())]);
    let json = serde_json::from_slice::<serde_json::Value>(&std::fs::read(&path).unwrap()).unwrap();
    assert!(!json["traceEvents"].as_array().unwrap().is_empty());
}

/// The trace is wanted most where a program hangs or fails.
#[cfg(unix)]
#[test]
fn a_program_that_a_signal_ends_leaves_its_trace() {
    const ENDS: [(&str, i32); 3] = [("interrupted", SIGINT), ("terminated", SIGTERM), ("aborted", SIGABRT)];
    if let Some((_, signal)) = ENDS.into_iter().find(|(role, _)| plays(role)) {
        program_of_the_environment();
        end_by(signal);
    }
    for (role, signal) in ENDS {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.json");
        let this = "events::a_program_that_a_signal_ends_leaves_its_trace";
        let output = child(this, role, &[("FURCATE_TRACE", path.to_str().unwrap())]);
        assert_eq!(signal_of(&output), Some(signal), "{}", said(&output));
        let json = serde_json::from_slice::<serde_json::Value>(&std::fs::read(&path).unwrap()).unwrap();
        let leaves = json["traceEvents"].as_array().unwrap().iter().filter(|event| event["name"] == "leaf");
        assert_eq!(leaves.count(), 8, "{role}");
    }
}

/// The number of lines of a dump that contain a text, among those about the limits and the pools of five threads.
fn dumped(part: &str) -> usize {
    let mut is_wanted = false;
    let is_line = |line: &&str| {
        if !line.starts_with(' ') {
            is_wanted = line.starts_with("pool of 5 ") || line.starts_with("limit");
        }
        is_wanted && line.contains(part)
    };
    trace::dump().lines().filter(is_line).count()
}

/// Tasks that wait for a future, tasks that wait for a limit, a thread that waits for a half, and one that waits for a lock.
#[test]
fn a_dump_says_who_waits_for_what() {
    // Its jobs would be in the traces of other tests.
    let _alone = alone();
    within(LONG, look_at_waits);
}

fn look_at_waits() {
    // The only one of five threads in these tests.
    let (pool, limit, stop) = (pool(5), Limit::new(3), CancelToken::new());
    let chain = || {
        let items = (0..40).into_par_iter().map(|_| std::future::pending::<()>());
        pool.install(|| items.io_await().limit(&limit).stop_on(&stop).count())
    };
    let (lock, is_stolen) = (Mutex::new(()), AtomicBool::new(false));
    let here = format!("limit of 3 permits, made at {}:", file!());
    thread::scope(|threads| {
        let call = threads.spawn(chain);
        until(|| dumped(&here) == 1 && dumped("permits in use: 3") == 1 && dumped("in calls: 1") == 1);
        until(|| dumped("wait or are woken: 0") == 0);
        stop.cancel();
        assert!(call.join().unwrap().is_err());
        until(|| {
            dumped("permits in use: 0, tasks that wait for one: 0, in calls: 0") == 1
                && dumped("wait or are woken: 0") == 1
        });

        let held = lock.lock().unwrap();
        let call = threads.spawn(|| {
            pool.install(|| {
                let wait_for_thief = || until(|| is_stolen.load(Relaxed));
                join(wait_for_thief, || {
                    is_stolen.store(true, Relaxed);
                    drop(lock.lock());
                });
            });
        });
        until(|| dumped("waits for the half of a join that worker ") == 1);
        if cfg!(target_os = "linux") {
            until(|| dumped("runs a job whose thread sleeps") == 1);
        }
        drop(held);
        call.join().unwrap();
    });
    let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
    pool.spawn(|| drop(furcate::block_on(receiver)));
    until(|| dumped("waits for a future, in `block_on`") == 1);
    sender.send(()).unwrap();
    until(|| dumped("waits for") == 0);
    drop((pool, limit));
    until(|| dumped("") == 0);
}

/// A program that hangs says why when it is told to quit.
#[cfg(unix)]
#[test]
fn a_program_that_quits_says_who_waits_for_what() {
    if plays("quits") {
        let pool = pool(5);
        pool.spawn(|| furcate::block_on(std::future::pending()));
        until(|| dumped("waits for a future, in `block_on`") == 1);
        // In a job of this thread, which does not sleep but for the signal.
        join(|| -> () { end_by(SIGQUIT) }, || ());
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.json");
    let this = "events::a_program_that_quits_says_who_waits_for_what";
    let output = child(this, "quits", &[("FURCATE_TRACE", path.to_str().unwrap())]);
    assert_eq!(signal_of(&output), Some(SIGQUIT), "{}", said(&output));
    assert!(said(&output).contains("waits for a future, in `block_on`"), "{}", said(&output));
    let said = said(&output);
    let caller = said.lines().find(|line| line.contains("from outside, thread")).expect("the caller");
    assert!(caller.contains("in slot ") && caller.contains("runs a job, or looks for one"), "{said}");
    let file: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).expect("a whole file");
    assert!(file["traceEvents"].as_array().is_some_and(|events| !events.is_empty()));
}

/// A place that is named has a slice for each leaf, in the file and in the table, and costs nothing else.
#[test]
fn places_of_chains_have_names() {
    let pool = pool(2);
    let chain = || (0..800_u64).into_par_iter().map(|x| x + 1).log("added").bound_depth(2).force_depth(2);
    let (sum, trace) = traced(|| {
        pool.install(|| chain().filter(|x| x % 2 == 0).log("even \"ones\"").map(|x| x * x).sum::<u64>())
    });
    assert_eq!(sum, (1..=800_u64).filter(|x| x % 2 == 0).map(|x| x * x).sum::<u64>());
    let summary = trace.summary();
    let mut logs: Vec<_> = summary.logs.iter().map(|log| (log.name, log.leaves)).collect();
    logs.sort_unstable();
    assert_eq!(logs, [("added", 4), ("even \"ones\"", 4)]);
    let leaves: Duration = summary.threads.iter().map(|thread| thread.time_in_leaves).sum();
    assert!(summary.logs.iter().all(|log| log.longest <= log.time && log.time <= leaves), "{summary}");
    assert!(summary.to_string().contains("`added`: "), "{summary}");
    let json = chrome(&trace);
    let slices = |name: &str| {
        json["traceEvents"].as_array().unwrap().iter().filter(|event| event["name"] == name).count()
    };
    assert_eq!((slices("added"), slices("even \"ones\""), slices("leaf")), (4, 4, 4));

    // Positions, order and both ends stay.
    let (reversed, _) =
        traced(|| pool.install(|| (0..9).into_par_iter().log("digits").rev().collect::<Vec<_>>()));
    assert_eq!(reversed, [8, 7, 6, 5, 4, 3, 2, 1, 0]);
    let (waits, trace) = traced(|| {
        let one = |x: u64| async move { x };
        pool.install(|| (0..50_u64).into_par_iter().map(one).io_await().log("ready").sum::<u64>())
    });
    assert_eq!(waits, 1225);
    assert!(trace.summary().logs[0].leaves > 0);
}

/// The place of a call is the user's line, whatever the terminal does inside. Each terminal here stands on a line of its own.
#[test]
fn calls_of_chains_have_places() {
    let pool = pool(2);
    let chain = || (0..100_u64).into_par_iter().map(|x| x + 1);
    let is_even = |x: &u64| x.is_multiple_of(2);
    let ok = |x| Ok::<_, ()>((x, x));
    let (token, mut vec, mut text) = (CancelToken::new(), Vec::new(), String::new());
    let first = line!() + 3;
    let (last, trace) = traced(|| {
        pool.install(|| {
            assert_eq!(chain().sum::<u64>(), 5050);
            chain().for_each(|_| ());
            assert_eq!(chain().filter(is_even).count(), 50);
            assert_eq!(chain().min_by_key(|x| *x), Some(1));
            assert_eq!(chain().try_for_each(|_| Some(())), Some(()));
            assert!(chain().any(|x| x == 9));
            assert_eq!(chain().find_last(is_even), Some(100));
            assert_eq!(chain().collect::<Vec<_>>().len(), 100);
            assert_eq!(chain().filter(is_even).collect::<Box<[_]>>().len(), 50);
            assert_eq!(chain().collect::<BTreeSet<_>>().len(), 100);
            assert!(chain().map(ok).collect::<Result<HashMap<_, _>, _>>().is_ok());
            assert!(chain().map(Some).collect::<Option<Vec<_>>>().is_some());
            assert_eq!(chain().collect_vec_list().len(), 1);
            chain().collect_into_vec(&mut vec);
            vec.par_extend(chain());
            text.par_extend(chain().map(|x| x.to_string()));
            assert_eq!(chain().position_first(|x| x == 7), Some(6));
            assert!(chain().eq(1..101));
            assert!(chain().lt(2..102));
            assert_eq!(chain().partition::<Vec<_>, Vec<_>, _>(is_even).0.len(), 50);
            assert_eq!(chain().map(|x| (x, x)).unzip::<_, _, Vec<_>, Vec<_>>().0.len(), 100);
            assert_eq!(chain().map(Either::Left).collect::<(Vec<u64>, Vec<u64>)>().0.len(), 100);
            assert_eq!(chain().stop_on(&token).sum(), Ok(5050_u64));
            assert_eq!(chain().stop_on(&token).collect().map(|all: Vec<_>| all.len()), Ok(100));
            vec.par_sort_by_cached_key(u64::to_string);
        });
        line!() - 2
    });
    let places = |trace: &Trace| {
        let mut places: Vec<_> = events(trace)
            .filter_map(|(_, event)| if let Event::ChainBegin { place } = event { Some(place) } else { None })
            .collect();
        assert_eq!(places.len(), count(trace, |event| event == Event::ChainEnd));
        places.dedup();
        places
    };
    let expected: Vec<_> = (first..=last).map(|line| format!("{}:{line}", file!())).collect();
    assert_eq!(places(&trace), expected);
    let json = chrome(&trace);
    let is_call = |event: &&serde_json::Value| event["name"] == format!("call at {}", expected[0]);
    assert_eq!(json["traceEvents"].as_array().unwrap().iter().filter(is_call).count(), 1);

    // A panic ends the call, and calls in leaves are calls of their own.
    let (result, trace) = traced(|| {
        let inner = |x| (0..x).into_par_iter().sum::<u64>();
        let outer = || chain().bound_depth(1).force_depth(1).map(inner).for_each(|x| assert_ne!(x, 45));
        catch_unwind(AssertUnwindSafe(|| pool.install(outer)))
    });
    assert!(result.is_err());
    assert!(count(&trace, |event| matches!(event, Event::ChainBegin { .. })) > 10);
    assert_eq!(places(&trace).len(), 2);
    let trace = traced(|| pool.install(|| chain().sum::<u64>())).1;
    assert_eq!(places(&trace), [format!("{}:{}", file!(), line!() - 1)]);
}

/// The sizes of the blocks of a trace, and whether they were cut off from the back. Checks that they end.
fn blocks(trace: &Trace) -> Vec<(u64, bool)> {
    let blocks: Vec<_> = events(trace)
        .filter_map(|(_, event)| match event {
            Event::BlockBegin { size, from_back } => Some((size, from_back)),
            _ => None,
        })
        .collect();
    assert_eq!(count(trace, |event| event == Event::BlockEnd), blocks.len());
    blocks
}

#[test]
fn blocks_are_recorded() {
    let pool = pool(2);
    let chain = || (0..1000_u64).into_par_iter().by_blocks([100, 300]);
    let (_, trace) = traced(|| pool.install(|| chain().sum::<u64>()));
    assert_eq!(blocks(&trace), [(100, false), (300, false), (600, false)]);
    let json = chrome(&trace);
    let is_shown = |name: &str| json["traceEvents"].as_array().unwrap().iter().any(|e| e["name"] == name);
    assert!(["block of 100", "block of 300", "block of 600"].into_iter().all(is_shown));

    // Blocks that a search does not begin are not recorded. A search without a word about blocks has blocks, too.
    let (_, trace) = traced(|| pool.install(|| chain().find_first(|x| *x == 200)));
    assert_eq!(blocks(&trace), [(100, false), (300, false)]);
    let (_, trace) = traced(|| pool.install(|| chain().find_last(|x| *x == 650)));
    assert_eq!(blocks(&trace), [(100, true), (300, true)]);
    let (_, trace) = traced(|| pool.install(|| (0..1000).into_par_iter().find_first(|x| *x == 5)));
    assert_eq!(blocks(&trace), [(2, false), (4, false)]);
    let (_, trace) = traced(|| pool.install(|| (0..1000).into_par_iter().sum::<u64>()));
    assert_eq!(blocks(&trace), []);

    // A block that panics ends.
    let fails = |x: u64| assert!(x != 150);
    let (result, trace) =
        traced(|| catch_unwind(AssertUnwindSafe(|| pool.install(|| chain().for_each(fails)))));
    assert!(result.is_err());
    assert_eq!(blocks(&trace), [(100, false), (300, false)]);
}

/// A call that returns `Interrupted` has one event that says why, and no other call has one.
#[test]
fn stops_are_recorded_with_their_reasons() {
    let pool = pool(2);
    let stops = |trace: &Trace| {
        let reason =
            |(_, event)| if let Event::Stop { by_deadline } = event { Some(by_deadline) } else { None };
        events(trace).filter_map(reason).collect::<Vec<_>>()
    };
    let chain = || (0..100_000_u64).into_par_iter().size_limit(100);
    let (token, later) = (CancelToken::new(), Instant::now() + LONG);
    let (result, trace) = traced(|| pool.install(|| chain().stop_on(&token).deadline(later).count()));
    assert_eq!((result, stops(&trace)), (Ok(100_000), vec![]));

    let cancel = |x: &u64| {
        if *x == 50_000 {
            token.cancel();
        }
    };
    let items = || chain().inspect(cancel).stop_on(&token).deadline(later);
    let (result, trace) = traced(|| pool.install(|| items().count()));
    assert_eq!((result.unwrap_err().reason(), stops(&trace)), (Reason::Cancelled, vec![false]));
    let json = chrome(&trace);
    let marks = json["traceEvents"].as_array().unwrap().iter().filter(|e| e["name"] == "stopped by a token");
    assert_eq!(marks.count(), 1);

    let over = Instant::now();
    let (result, trace) = traced(|| pool.install(|| chain().deadline(over).count()));
    assert_eq!((result.unwrap_err().reason(), stops(&trace)), (Reason::DeadlineExceeded, vec![true]));
    // Suspended tasks are cancelled, too.
    let (result, trace) = traced(|| {
        let never = (0..40).into_par_iter().map(|_| std::future::pending::<()>()).io_await();
        pool.install(|| never.deadline(Instant::now() + Duration::from_millis(5)).count())
    });
    assert_eq!((result.unwrap_err().reason(), stops(&trace)), (Reason::DeadlineExceeded, vec![true]));
    assert_eq!(count(&trace, |event| event == Event::Cancel), 1);
    // A search that has found its result was not stopped.
    let (result, trace) = traced(|| pool.install(|| chain().deadline(later).find_any(|x| *x == 7)));
    assert_eq!((result, stops(&trace)), (Ok(Some(7)), vec![]));
}

/// A leaf's slice in the file has the position of the leaf, or says that it is not known.
#[test]
fn the_file_has_positions_of_leaves() {
    let pool = pool(2);
    let positions = |trace: &Trace| {
        let json = chrome(trace);
        let events = json["traceEvents"].as_array().unwrap();
        let leaves = events.iter().filter(|event| event["name"] == "leaf").map(|event| &event["args"]);
        let mut positions: Vec<_> =
            leaves.map(|args| (args["from"].as_u64(), args["size"].as_u64().unwrap())).collect();
        let unknown = events.iter().filter(|event| event["args"]["from"] == "unknown").count();
        assert_eq!(positions.iter().filter(|(from, _)| from.is_none()).count(), unknown);
        positions.sort_unstable();
        positions
    };
    let chain = || (0..1000_u64).into_par_iter().bound_depth(3).force_depth(3);
    let (_, trace) = traced(|| pool.install(|| chain().sum::<u64>()));
    assert_eq!(positions(&trace), (0..8).map(|n| (Some(n * 125), 125)).collect::<Vec<_>>());
    // The first item of the last block: whichever worker finds it, no other leaf has become needless.
    let backward = || chain().by_blocks([200]).find_last(|x| *x == 800);
    let (_, trace) = traced(|| pool.install(backward));
    assert_eq!(positions(&trace), [(None, 25); 8]);
    let (_, trace) =
        traced(|| pool.install(|| chain().adaptive().for_each(|x| spin(Duration::from_nanos(x)))));
    let known: HashMap<_, _> =
        trace.graph().pieces().filter_map(|piece| Some((piece.first?, piece))).collect();
    let found: Vec<_> = positions(&trace).into_iter().filter_map(|(from, _)| from).collect();
    assert_eq!(found.len(), known.len());
    assert!(found.iter().all(|from| known.contains_key(from)));
}
