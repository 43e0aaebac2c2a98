//! Folded stacks, against the stacks of a program that is made up together with its trace.

use furcate::prelude::*;
use furcate::trace::{Event, ThreadTrace, TimedEvent, Trace};
use std::collections::BTreeMap;
use std::time::Duration;
use testkit::traces::traced;
use testkit::{Random, pool};

/// Reads the lines. A stack stands in one line.
fn folded(trace: &Trace) -> BTreeMap<String, u64> {
    let mut file = Vec::new();
    trace.write_folded(&mut file).unwrap();
    let text = String::from_utf8(file).unwrap();
    let mut stacks = BTreeMap::new();
    for line in text.lines() {
        let (stack, nanos) = line.rsplit_once(' ').unwrap();
        let before = stacks.insert(stack.to_owned(), nanos.parse().unwrap());
        assert!(before.is_none(), "two lines for {stack}");
    }
    stacks
}

/// A thread that is made up: its events, and the time that each stack has taken.
struct Thread<'t> {
    random: &'t mut Random,
    now: u64,
    events: Vec<TimedEvent>,
    stacks: &'t mut BTreeMap<String, u64>,
}

impl Thread<'_> {
    fn event(&mut self, event: Event) {
        self.events.push(TimedEvent { at: Duration::from_nanos(self.now), event });
    }

    /// Lets time pass in a stack.
    fn pass(&mut self, stack: &str) {
        let time = self.random.below(100);
        self.now += time;
        if time > 0 {
            *self.stacks.entry(stack.to_owned()).or_default() += time;
        }
    }

    /// Runs some slices, one after the other, and inside each of them some others.
    fn run(&mut self, stack: &str, levels: u32) {
        for _ in 0..self.random.below(if levels == 0 { 1 } else { 5 }) {
            self.pass(stack);
            // A name is a job's address in the trace, and forks that are nested have different ones.
            let job = u64::from(levels) << 4 | 1 << 20;
            let of = |kind: &str| Event::of_kind(kind, job).unwrap();
            let place = "src/main.rs:12";
            let (begin, name, end) = match self.random.below(7) {
                0 => (of("JobBegin"), "job", Event::JobEnd),
                1 => (Event::LeafBegin { size: 3 }, "leaf", Event::LeafEnd),
                2 => (Event::ChainBegin { place }, "call at src/main.rs:12", Event::ChainEnd),
                3 => (Event::LogBegin { name: "a;b" }, "a:b", Event::LogEnd),
                4 => (Event::BlockBegin { size: 7, from_back: false }, "block of 7", Event::BlockEnd),
                5 => (Event::WaitBegin, "wait", Event::WaitEnd),
                _ => {
                    // What is open in a half that was unwound ends with it.
                    self.event(of("Fork"));
                    self.run(stack, levels - 1);
                    let is_stolen = self.random.below(2) == 0;
                    if is_stolen {
                        self.event(of("Stolen"));
                    } else {
                        self.event(of("Right"));
                        self.run(stack, levels - 1);
                        self.event(of("Joined"));
                    }
                    continue;
                }
            };
            let inside = format!("{stack};{name}");
            self.event(begin);
            self.pass(&inside);
            self.run(&inside, levels - 1);
            self.event(Event::Handover);
            self.pass(&inside);
            self.event(end);
        }
        self.pass(stack);
    }
}

#[test]
fn folded_stacks_are_those_of_the_program() {
    let mut random = Random(3);
    for _ in 0..300 {
        let (mut threads, mut stacks, mut end) = (Vec::new(), BTreeMap::new(), 0);
        // The last two have one name, and so their stacks have one line.
        for name in ["one", "t;w\no", "t:w:o"] {
            let now = random.below(50);
            let mut thread = Thread { random: &mut random, now, events: Vec::new(), stacks: &mut stacks };
            // An end whose begin was lost; and a call, since the name of a thread without one has its number as a worker, too.
            for event in [Event::LeafEnd, Event::CallBegin, Event::CallEnd] {
                thread.event(event);
            }
            let stack = name.replace([';', '\n'], ":");
            thread.run(&stack, 4);
            end = end.max(thread.now);
            threads.push((name, stack, thread.now, thread.events));
        }
        // The threads are idle until the recording ends.
        for (_, stack, now, _) in &threads {
            if *now < end {
                *stacks.entry(stack.clone()).or_default() += end - now;
            }
        }
        let threads = threads
            .into_iter()
            .map(|(name, _, _, events)| ThreadTrace::from_parts(Some(name.to_owned()), events, 0, None));
        let trace = Trace::from_parts(threads.collect(), 0, Duration::from_nanos(end), Duration::ZERO);
        assert_eq!(folded(&trace), stacks);
    }
}

/// All the time of each thread is in the stacks of a real trace, and its leaves are where they were called.
#[test]
fn folded_stacks_hold_all_the_time() {
    let pool = pool(2);
    let chain = || (0..1000_u64).into_par_iter().size_limit(10).map(|x| x ^ 1);
    let (_, trace) = traced(|| pool.install(|| chain().by_blocks([100, 300]).sum::<u64>()));
    let stacks = folded(&trace);
    let of_thread = |thread: &ThreadTrace| trace.duration() - thread.events()[0].at;
    let expected: Duration = trace.threads().iter().map(of_thread).sum();
    assert_eq!(stacks.values().sum::<u64>(), u64::try_from(expected.as_nanos()).unwrap());
    let call = format!("call at {}:{};block of 600;", file!(), line!() - 5);
    assert!(stacks.keys().any(|stack| stack.contains(&call) && stack.ends_with(";leaf")), "{stacks:?}");
    assert!(stacks.keys().all(|stack| !stack.contains(";left") && !stack.contains(";right")), "{stacks:?}");
}

/// A stack is not copied for each level of forks.
#[test]
fn folded_stacks_of_deep_forks_are_short() {
    let fork = |n: u64| Event::of_kind("Fork", n << 4).unwrap();
    let event = |n: u64| TimedEvent { at: Duration::from_nanos(n), event: fork(n + 1) };
    let thread = ThreadTrace::from_parts(Some("deep".into()), (0..100_000).map(event).collect(), 0, None);
    let trace = Trace::from_parts(vec![thread], 0, Duration::from_nanos(100_000), Duration::ZERO);
    assert_eq!(folded(&trace), BTreeMap::from([("deep".to_owned(), 100_000)]));
}
