//! Programs that wait for I/O and compute: `io_await` against tokio, async-executor, `buffer_unordered`, rayon
//! and (feature `forte`) forte.
//!
//! `cargo bench -p furcate-benches --bench latency`; words after `--` choose tables whose titles contain one of them,
//! `ROUNDS=n` more or fewer rounds, `THREADS=n` other pools than of as many threads as there are processors, `QUICK=1`
//! small sizes, `PAPER=1` full ones: otherwise there are as few items as make a row last some 0.3 seconds. All tables take
//! some eight minutes.
//!
//! | title | what |
//! |---|---|
//! | `fib` | MapReduceFib (Cilk-L, ProWS-R): values come after a latency, each then costs a parallel fib(30) |
//! | `serial` | items of serial computing after 1 or 4 waits of 50 ms, of which so many are in flight |
//! | `sweep` | fib(14) forked to the base case; of its 610 leaves some wait |
//! | `overhead` | fib(32) forked to a cutoff: futures that are ready at once, against the same computation without any |
//! | `policy` | tasks that fork tasks, compute, wait and compute: proactive against parsimonious suspension |
//! | `cost` | futures that are woken by hand, or by themselves: what a suspension and a resumption cost |
//! | `wakes` | from a wake to the poll it is for, at a pace that leaves processors idle, and at 30 % load |
//! | `memory` | a million timers in flight; each engine in a process of its own |
//!
//! *Ideal* is max(T1/P, critical path, waits in turns of the cap), with T1 measured in the same rounds. No schedule reaches
//! it where both of the first are alike, for nobody has anything to compute before the first wait is over: *bound* is the
//! greater of the ideal and a wait and T1/P. The row `threads that do not wait` says how near to T1/P one can come here.
//! `it/furcate` says how many times slower than furcate a row is: below 1 furcate has lost. `cpu/T1` is the processors' time
//! of all threads over that of the computing alone, `busiest` the share of items that one thread has computed. Rows in
//! brackets are not run: threads that sleep would take at least so long. The sum of every row is compared with the others'.
//!
//! `fib`, `serial`, `sweep`, `overhead` and `wakes` are drawn as well, as far as they are run: as SVG, in
//! `target/furcate-plots/`; the paths are printed at the end.

use furcate_benches::latency::{
    AsyncExecutor, Blocking, Buffered, Cpu, Engine, FORMS, ForkedWaits, Furcate, FurcateForked, FurcateTokio,
    Gates, Load, Opened, Overhead, POLICIES, PolicyRun, Spread, Sweep, Threads, Tokio, TokioRayon, cpu_time,
    peak_memory,
};
use furcate_benches::plot::{Plot, Scale};
use furcate_benches::{Choice, Contender, interleave, quick, rounds};
use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The environment of a child: which engine's memory, and which of the two programs, it is to tell.
const CHILD: &str = "FURCATE_LATENCY_CHILD";

fn main() {
    let threads = std::env::var("THREADS").map_or_else(
        |_| std::thread::available_parallelism().map_or(1, |threads| threads.get()),
        |text| text.parse().expect("THREADS is a number"),
    );
    if let Ok(which) = std::env::var(CHILD) {
        return tell_memory(threads, &which);
    }
    let paper = std::env::var_os("PAPER").is_some();
    let rounds = rounds(if quick() { 1 } else { 3 });
    let mut tables = Tables { rounds, threads, paper, choice: Choice::from_args(), plots: Vec::new() };
    println!("medians of {rounds} interleaved rounds, {threads} threads");
    tables.fibs();
    tables.serial();
    tables.sweeps();
    tables.overheads();
    tables.policies();
    tables.costs();
    tables.wakes();
    tables.memory();
    tables.draw();
    tables.choice.finish();
}

const RAYON: &str = "rayon, join";
const TOKIO: &str = "tokio, a task per fork";

/// A row is not run if its threads would sleep for longer.
fn limit() -> Duration {
    millis(if quick() { 50 } else { 2_500 })
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

struct Tables {
    rounds: usize,
    threads: usize,
    paper: bool,
    choice: Choice,
    /// File names, and plots; of tables that were not chosen, or have no such rows, empty ones.
    plots: Vec<(String, Plot)>,
}

impl Tables {
    fn draw(&self) {
        let name = if quick() { "furcate-plots-quick" } else { "furcate-plots" };
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name(name);
        println!("\nplots:");
        for (name, plot) in &self.plots {
            plot.write(&directory, &format!("latency-{name}")).expect("plots can be written");
        }
    }

    /// How many items, of as many as there should be: so few that they take no longer than is good.
    fn n(&self, full: u64, t1_of_one: Duration, wait_of_one: Duration) -> u64 {
        if self.paper {
            return full;
        }
        let good = millis(if quick() { 5 } else { 300 });
        let one = (t1_of_one / self.threads as u32).max(wait_of_one);
        let fit = good.as_nanos() / one.as_nanos().max(1);
        full.min(u64::try_from(fit).unwrap_or(full)).max(if quick() { 20 } else { 100 })
    }

    fn fibs(&mut self) {
        let title = "fib: MapReduceFib, fib(30) with cutoff 25 after each wait";
        if !self.choice.has(title) {
            return;
        }
        let engines = self.engines(&[1, 8]);
        let cpu = Cpu::Fib { n: if quick() { 22 } else { 30 }, cutoff: if quick() { 17 } else { 25 } };
        let latencies = [0, 1, 50, 100];
        let x = Scale::Places(latencies.map(|latency| latency.to_string()).into());
        let y = ("time, ms", Scale::Log);
        let mut plot = Plot::new(format!("MapReduceFib, {} threads", self.threads), ("latency, ms", x), y);
        for (place, latency) in latencies.into_iter().enumerate() {
            let n = if quick() { 50 } else { 500 };
            let load = Load { n, awaits: 1, latency: millis(latency), cap: usize::MAX, cpu };
            println!("\n{title}: n = {n}, {latency} ms");
            let loaded = self.load(&engines, load);
            loaded.draw(&mut plot, place as f64, Duration::from_millis(1));
        }
        self.plots.push(("fib".into(), plot));
    }

    fn serial(&mut self) {
        let engines = self.engines(&[1, 32]);
        for micros in [10, 100, 1_000, 7_000] {
            let time = Duration::from_micros(micros);
            let mut cpu = None;
            for awaits in [1, 4] {
                for cap in [usize::MAX, 64, 1024] {
                    let caps = if cap == usize::MAX { "no cap".into() } else { format!("cap {cap}") };
                    let title = format!("serial: {micros} us after each of {awaits} waits, {caps}");
                    let long = micros > 1_000 || cap > 64 && cap < usize::MAX;
                    if quick() && long || !self.choice.has(&title) {
                        continue;
                    }
                    let cpu = *cpu.get_or_insert_with(|| Cpu::serial(time));
                    let latency = if quick() { millis(2) } else { millis(50) };
                    let wait = if cap == usize::MAX { Duration::ZERO } else { latency / cap as u32 };
                    let n = self.n(5_000, time * awaits, wait * awaits);
                    let load = Load { n, awaits: awaits as usize, latency, cap, cpu };
                    println!("\n{title}: n = {n}");
                    let loaded = self.load(&engines, load);
                    let name = format!("serial-{awaits}-waits-{}", caps.replace(' ', "-"));
                    let plot = self.plot(name, || {
                        let title = format!("serial computing after every wait, {awaits} per item, {caps}");
                        let y = ("makespan / ideal", Scale::Log);
                        Plot::new(title, ("computing per wait, us", Scale::Log), y)
                    });
                    loaded.draw(plot, micros as f64, loaded.ideal);
                }
            }
        }
    }

    /// The plot of that name, which may have other points already.
    fn plot(&mut self, name: String, new: impl FnOnce() -> Plot) -> &mut Plot {
        let at = self.plots.iter().position(|(other, _)| *other == name).unwrap_or_else(|| {
            self.plots.push((name, new()));
            self.plots.len() - 1
        });
        &mut self.plots[at].1
    }

    /// All engines, rayon with as many threads times those numbers.
    fn engines(&self, oversubscribed: &[usize]) -> Vec<Box<dyn Engine>> {
        let threads = self.threads;
        let mut engines: Vec<Box<dyn Engine>> = vec![
            Box::new(Furcate::new(threads)),
            Box::new(FurcateTokio::new(threads)),
            Box::new(Threads(threads)),
            Box::new(Tokio::new(threads)),
            Box::new(TokioRayon::new(threads)),
            Box::new(AsyncExecutor::new(threads)),
            Box::new(Buffered::new(threads)),
        ];
        #[cfg(feature = "forte")]
        engines.push(Box::new(furcate_benches::latency::Forte::new(threads)));
        for times in oversubscribed {
            engines.push(Box::new(Blocking::new(times * threads)));
        }
        engines
    }

    fn load(&self, engines: &[Box<dyn Engine>], load: Load) -> Loaded {
        println!(
            "  {:<28} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8}",
            "", "ms", "it/ideal", "it/bound", "it/furcate", "cpu/T1", "busiest", "threads"
        );
        let runs: Vec<RefCell<Runs>> = engines.iter().map(|_| RefCell::default()).collect();
        let (run, not_run) = self.choose(engines, load.n * load.awaits as u64, load.latency);
        let names: Vec<String> = run.iter().map(|&i| engines[i].name()).collect();
        let serial: Contender<'_, Option<u64>> = ("serial", Box::new(|| Some(load.serial())));
        let mut contenders = vec![serial];
        let expected = load.serial();
        for &i in &run {
            let (engine, runs) = (&engines[i], &runs[i]);
            let run = move || {
                let before = cpu_time();
                let (sum, spread) = Spread::of(|| engine.load(load));
                let mut runs = runs.borrow_mut();
                runs.spread = spread;
                runs.cpu
                    .push(cpu_time().zip(before).map_or(Duration::ZERO, |(after, before)| after - before));
                // What is not for the engine is not shown.
                Some(sum.unwrap_or(expected))
            };
            contenders.push(("engine", Box::new(run)));
        }
        let medians = interleave(self.rounds, &mut contenders);
        let t1 = medians.rows[0].1;
        let (ideal, bound) = (load.ideal(t1, self.threads), load.bound(t1, self.threads));
        println!("  {:<28} {:>10.1} T1", "serial, without waits", t1.as_secs_f64() * 1e3);
        println!("  {:<28} {:>10.1}", "ideal", ideal.as_secs_f64() * 1e3);
        println!("  {:<28} {:>10.1}", "bound", bound.as_secs_f64() * 1e3);
        let mut times = Vec::new();
        for ((name, &i), (_, median)) in names.iter().zip(&run).zip(&medians.rows[1..]) {
            let Runs { spread: Spread { busiest, threads }, cpu } = &mut *runs[i].borrow_mut();
            cpu.sort();
            if *threads == 0 {
                continue;
            }
            times.push((name.clone(), *median));
            println!(
                "  {name:<28} {:>10.1} {:>10.2} {:>10.2} {:>10.2} {:>8.2} {:>7.0}% {threads:>8}",
                median.as_secs_f64() * 1e3,
                median.as_secs_f64() / ideal.as_secs_f64(),
                median.as_secs_f64() / bound.as_secs_f64(),
                median.as_secs_f64() / medians.rows[1].1.as_secs_f64(),
                cpu[cpu.len() / 2].as_secs_f64() / t1.as_secs_f64(),
                *busiest * 100.0,
            );
        }
        print_not_run(engines, &not_run);
        Loaded { times, ideal, bound }
    }

    /// Those that are run, and those that are not, with the time they would take.
    fn choose(
        &self,
        engines: &[Box<dyn Engine>],
        waits: u64,
        latency: Duration,
    ) -> (Vec<usize>, Vec<(usize, Duration)>) {
        let foreseen = |i: usize| engines[i].foreseen(waits, latency);
        let (run, not): (Vec<usize>, Vec<usize>) =
            (0..engines.len()).partition(|&i| self.paper || foreseen(i) <= limit());
        (run, not.into_iter().map(|i| (i, foreseen(i))).collect())
    }

    fn sweeps(&mut self) {
        let mut engines: Vec<Box<dyn Engine>> = vec![
            Box::new(Furcate::new(self.threads)),
            Box::new(FurcateForked::new(self.threads)),
            Box::new(Tokio::new(self.threads)),
            Box::new(AsyncExecutor::new(self.threads)),
            Box::new(Buffered::new(self.threads)),
        ];
        #[cfg(feature = "forte")]
        engines.push(Box::new(furcate_benches::latency::Forte::new(self.threads)));
        engines
            .extend([1, 8, 32].map(|times| Box::new(Blocking::new(times * self.threads)) as Box<dyn Engine>));
        for probability in [0.0, 0.01, 0.1, 1.0] {
            for latency in [1, 10, 50, 150] {
                let (n, title) = (14, format!("sweep: {probability} of the leaves wait for {latency} ms"));
                let same = probability == 0.0 && latency > 1;
                if same || quick() && latency > 1 || !self.choice.has(&title) {
                    continue;
                }
                let sweep = Sweep { n, probability, latency: millis(latency) };
                println!("\n{title}: {} of {}", sweep.waits(), sweep.leaves());
                println!("  {:<28} {:>10} {:>10}", "", "ms", "it/furcate");
                let (run, not_run) = self.choose(&engines, sweep.waits(), sweep.latency);
                let contender = |&i: &usize| -> Contender<'_, Option<u64>> {
                    let engine = &engines[i];
                    ("engine", Box::new(move || engine.sweep(sweep)))
                };
                let mut contenders: Vec<_> = run.iter().map(contender).collect();
                let medians = interleave(self.rounds, &mut contenders);
                let plot = self.plot(format!("sweep-{probability}"), || {
                    let title = format!("fib({n}), forked: {probability} of the leaves wait");
                    Plot::new(title, ("latency, ms", Scale::Log), ("time, ms", Scale::Log))
                });
                for (&i, (_, median)) in run.iter().zip(&medians.rows) {
                    let name = if i == 0 { "furcate, io_await".into() } else { engines[i].name() };
                    plot.add(&name, latency as f64, median.as_secs_f64() * 1e3);
                    println!(
                        "  {name:<28} {:>10.3} {:>10.2}",
                        median.as_secs_f64() * 1e3,
                        median.as_secs_f64() / medians.rows[0].1.as_secs_f64(),
                    );
                }
                print_not_run(&engines, &not_run);
            }
        }
    }

    /// What futures cost that are ready at once.
    fn overheads(&mut self) {
        for cutoff in [15, 20, 25] {
            let n = if quick() { cutoff + 3 } else { 32 };
            let program = Overhead { n, cutoff };
            for threads in [1, self.threads] {
                let title = format!("overhead: fib({n}) forked to {cutoff}, {threads} thread(s)");
                if !self.choice.has(&title) {
                    continue;
                }
                println!("\n{title}: {} leaves", program.leaves());
                println!("  {:<28} {:>10} {:>10} {:>10}", "", "ms", "it/without", "ns a leaf");
                let pool = furcate::ThreadPoolBuilder::new().num_threads(threads).build();
                let pool = pool.expect("threads can be started");
                let (tokio, rayon) = (Tokio::new(threads), Blocking::new(threads));
                let mut contenders: Vec<Contender<'_, u64>> = Vec::new();
                for form in &FORMS {
                    contenders.push((form.name, Box::new(|| form.run(program, &pool))));
                }
                contenders.push((RAYON, Box::new(|| program.by_rayon(&rayon))));
                contenders.push((TOKIO, Box::new(|| program.by_tokio(&tokio))));
                let medians = interleave(4 * self.rounds + 1, &mut contenders);
                for (row, &(name, median)) in medians.rows.iter().enumerate() {
                    // A task per fork has no counterpart of tokio's own.
                    let without = FORMS.get(row).map_or(RAYON, |form| form.without);
                    let (_, without) = medians.rows.iter().find(|row| row.0 == without).expect("it is there");
                    let ratio = median.as_secs_f64() / without.as_secs_f64();
                    if median != *without {
                        let plot = self.plot(format!("overhead-{threads}-threads"), || {
                            let title = format!("fib({n}) forked to a cutoff, {threads} thread(s)");
                            let y = ("with ready futures / without", Scale::Linear);
                            Plot::new(title, ("cutoff", Scale::Linear), y)
                        });
                        plot.add(name, f64::from(cutoff), ratio);
                    }
                    println!(
                        "  {name:<28} {:>10.3} {ratio:>10.3} {:>10.0}",
                        median.as_secs_f64() * 1e3,
                        (median.as_secs_f64() - without.as_secs_f64()) * 1e9 / program.leaves() as f64,
                    );
                }
            }
        }
    }

    /// Policies of suspension, also with more threads than there are processors.
    fn policies(&mut self) {
        for threads in [2, 4, 8] {
            let title = format!("policy: items that fork, wait and fork, {threads} threads");
            if !self.choice.has(&title) {
                continue;
            }
            println!("\n{title}");
            println!(
                "  {:>5} {:>4} {:<14} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
                "items",
                "ms",
                "",
                "time, ms",
                "it/ideal",
                "attempts",
                "stolen",
                "suspended",
                "deques",
                "mugs",
                "elsewhere"
            );
            let pools = POLICIES.map(|policy| policy.pool(threads));
            for n in if quick() { [2, 8, 32] } else { [8, 64, 512] } {
                for latency in [0, 1, 10, 50].into_iter().filter(|latency| !quick() || *latency < 10) {
                    let program = ForkedWaits { n, latency: millis(latency) };
                    let (expected, t1) = program.serial();
                    let ideal = millis(latency) + t1 / threads.min(self.threads) as u32;
                    let mut runs: [Vec<PolicyRun>; POLICIES.len()] = Default::default();
                    for round in 0..=2 * self.rounds {
                        for turn in 0..POLICIES.len() {
                            let i = (turn + round) % POLICIES.len();
                            let run = program.run(&pools[i]);
                            assert_eq!(run.sum, expected, "{} has another result", POLICIES[i].name);
                            runs[i].push(run);
                        }
                    }
                    for (policy, runs) in POLICIES.iter().zip(&mut runs) {
                        runs.sort_by_key(|run| run.time);
                        let PolicyRun { time, stats, .. } = &runs[runs.len() / 2];
                        println!(
                            "  {n:>5} {latency:>4} {:<14} {:>10.2} {:>9.2} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
                            policy.name,
                            time.as_secs_f64() * 1e3,
                            time.as_secs_f64() / ideal.as_secs_f64(),
                            stats.attempts,
                            stats.stolen,
                            stats.suspensions,
                            stats.deques,
                            stats.mugs,
                            stats.elsewhere,
                        );
                    }
                }
                let (program, p) = (ForkedWaits { n, latency: Duration::ZERO }, threads as f64);
                let (work, span) = (program.work() as f64, program.span() as f64);
                println!(
                    "  {n:>5}      {:<14} attempts O(T1 + P lg P Tinf) = O({:.0}), deviations O((P lg P + n) Tinf) = O({:.0})",
                    "bounds",
                    work + p * p.log2() * span,
                    (p * p.log2() + n as f64) * span,
                );
            }
        }
    }

    /// What gates cost, on one thread and on all.
    fn costs(&mut self) {
        let sizes: &[usize] = if quick() { &[1_000] } else { &[100_000, 1_000_000] };
        for opened in [Opened::ByHand, Opened::ByThemselves] {
            for &n in sizes {
                let by = if opened == Opened::ByHand { "by hand" } else { "by themselves" };
                let title = format!("cost: {n} futures, woken {by}: ns each");
                if !self.choice.has(&title) {
                    continue;
                }
                println!("\n{title}");
                println!(
                    "  {:<28} {:>10} {:>10} {:>10} {:>10} {:>10}",
                    "", "suspended", "resumed", "together", "cpu", "cpu beyond"
                );
                let gates = Gates::leaked(n, opened, Cpu::Nothing);
                let mut engines: Vec<(usize, Box<dyn Engine>)> = vec![(1, Box::new(Buffered::new(1)))];
                for threads in [1, self.threads] {
                    engines.push((threads, Box::new(Furcate::new(threads))));
                    engines.push((threads, Box::new(AsyncExecutor::new(threads))));
                    engines.push((threads, Box::new(Tokio::new(threads))));
                }
                let costs = self.race_gates(gates, &engines);
                let each = |time: Duration| time.as_nanos() as f64 / n as f64;
                for (row, ((threads, engine), cost)) in engines.iter().zip(&costs).enumerate() {
                    let name = if row == 0 {
                        "bare FuturesUnordered".into()
                    } else {
                        format!("{}, {threads} thread(s)", engine.name())
                    };
                    println!(
                        "  {name:<28} {:>10.0} {:>10.0} {:>10.0} {:>10.0} {:>10.0}",
                        each(cost[0]),
                        each(cost[1]),
                        each(cost[0] + cost[1]),
                        each(cost[2]),
                        each(cost[2]) - each(costs[0][2]),
                    );
                }
            }
        }
    }

    /// Every engine's medians: until all are suspended, from then on, and the processors' time.
    fn race_gates(&self, gates: &'static Gates, engines: &[(usize, Box<dyn Engine>)]) -> Vec<[Duration; 3]> {
        let mut costs = vec![Vec::new(); engines.len()];
        for round in 0..=self.rounds {
            for (i, (_, engine)) in engines.iter().enumerate() {
                let cost = gates.run(&**engine).expect("it runs gates");
                if round > 0 {
                    costs[i].push([cost.suspended, cost.resumed, cost.cpu]);
                }
            }
        }
        let median = |costs: &Vec<[Duration; 3]>, part: usize| {
            let mut times: Vec<Duration> = costs.iter().map(|cost| cost[part]).collect();
            times.sort();
            times[times.len() / 2]
        };
        costs.iter().map(|costs| [0, 1, 2].map(|part| median(costs, part))).collect()
    }

    fn wakes(&mut self) {
        let threads = self.threads;
        let pace = Duration::from_micros(200);
        for load in [0, 30] {
            let title = format!("wakes: one every {} us, {load} % load: us to its poll", pace.as_micros());
            if !self.choice.has(&title) {
                continue;
            }
            println!("\n{title}");
            println!("  {:<28} {:>10} {:>10} {:>10} {:>10}", "", "median", "p90", "p99", "longest");
            let cpu = if load == 0 { Cpu::Nothing } else { Cpu::serial(pace * threads as u32 * load / 100) };
            let gates = Gates::leaked(if quick() { 100 } else { 2_000 }, Opened::AtAPace(pace), cpu);
            let engines: [Box<dyn Engine>; 4] = [
                Box::new(Furcate::new(threads)),
                Box::new(Tokio::new(threads)),
                Box::new(AsyncExecutor::new(threads)),
                Box::new(Buffered::new(threads)),
            ];
            for (i, engine) in engines.iter().enumerate() {
                gates.run(&**engine).expect("it runs gates");
                let delays = [500, 900, 990, 1000].map(|part| gates.delay(part).as_nanos() as f64 / 1e3);
                let name = if i == 3 { "bare FuturesUnordered".into() } else { engine.name() };
                let plot = self.plot(format!("wakes-{load}"), || {
                    let title = format!("from wake to run, {load} % load");
                    let x = ["median", "90 %", "99 %", "longest"].map(String::from).into();
                    Plot::new(title, ("of all wakes", Scale::Places(x)), ("delay, us", Scale::Log))
                });
                delays.iter().enumerate().for_each(|(x, &delay)| plot.add(&name, x as f64, delay));
                let [median, p90, p99, longest] = delays;
                println!("  {name:<28} {median:>10.1} {p90:>10.1} {p99:>10.1} {longest:>10.1}");
            }
        }
    }

    fn memory(&mut self) {
        let title = "memory: a million timers in flight, and a million gates";
        if !self.choice.has(title) {
            return;
        }
        println!("\n{title}");
        println!("  {:<28} {:>10} {:>10} {:>10} {:>10}", "", "MiB", "bytes each", "s", "cpu us each");
        for kind in ["timers", "gates"] {
            for engine in memory_engines(self.threads) {
                let name = engine.name();
                drop(engine);
                let mut child = Command::new(std::env::current_exe().expect("this program is a file"));
                child.env(CHILD, format!("{kind}/{name}")).env("THREADS", self.threads.to_string());
                let output = child.output().expect("it can be started once more");
                assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
                println!("  {:<28} {}", format!("{name}, {kind}"), String::from_utf8_lossy(&output.stdout));
            }
        }
    }
}

/// What engines took for a load.
struct Loaded {
    /// Of those that were run, by name.
    times: Vec<(String, Duration)>,
    ideal: Duration,
    bound: Duration,
}

impl Loaded {
    /// Adds all times, in that unit.
    fn draw(&self, plot: &mut Plot, x: f64, unit: Duration) {
        for (name, time) in &self.times {
            let y = time.as_secs_f64() / unit.as_secs_f64();
            if *name == Threads::NAME { plot.add_reference(name, x, y) } else { plot.add(name, x, y) }
        }
        plot.add_reference("bound", x, self.bound.as_secs_f64() / unit.as_secs_f64());
    }
}

/// What else there is to tell of an engine's runs.
#[derive(Default)]
struct Runs {
    /// Of the last one.
    spread: Spread,
    /// The processors' time of each.
    cpu: Vec<Duration>,
}

fn print_not_run(engines: &[Box<dyn Engine>], not_run: &[(usize, Duration)]) {
    for &(i, foreseen) in not_run {
        let foreseen = format!("({:.0})", foreseen.as_secs_f64() * 1e3);
        println!("  {:<28} {foreseen:>10}", engines[i].name());
    }
}

fn memory_engines(threads: usize) -> Vec<Box<dyn Engine>> {
    vec![
        Box::new(Furcate::new(threads)),
        Box::new(FurcateTokio::new(threads)),
        Box::new(Tokio::new(threads)),
        Box::new(AsyncExecutor::new(threads)),
        Box::new(Buffered::new(threads)),
    ]
}

/// In a child: runs one engine, and prints the peak of memory, less what there was at the beginning.
fn tell_memory(threads: usize, which: &str) {
    let n = if quick() { 2_000 } else { 1_000_000 };
    let (kind, name) = which.split_once('/').expect("kind and engine");
    let engines = memory_engines(threads);
    let engine = engines.iter().find(|engine| engine.name() == name).expect("the engine is there");
    // All timers are to be in flight at once, so this is more than it takes to begin them.
    let latency = millis(if quick() { 50 } else { 4_000 });
    let load = Load { n, awaits: 1, latency, cap: usize::MAX, cpu: Cpu::Nothing };
    let (start, before, cpu) = (std::time::Instant::now(), peak_memory(), cpu_time());
    let done = if kind == "timers" {
        engine.load(load).inspect(|&sum| assert_eq!(sum, load.serial())).map(drop)
    } else {
        // Without the gates themselves, which have been written before.
        let gates = Gates::leaked(n as usize, Opened::ByHand, Cpu::Nothing);
        return tell(peak_memory(), gates.run(&**engine).map(drop), n, start, cpu);
    };
    tell(before, done, n, start, cpu);
}

fn tell(before: Option<u64>, done: Option<()>, n: u64, start: std::time::Instant, cpu: Option<Duration>) {
    let (Some(()), Some(before), Some(peak), Some(cpu), Some(now)) =
        (done, before, peak_memory(), cpu, cpu_time())
    else {
        return print!("{:>10}", "-");
    };
    print!(
        "{:>10} {:>10} {:>10.2} {:>10.2}",
        (peak - before) >> 20,
        (peak - before) / n,
        start.elapsed().as_secs_f64(),
        (now - cpu).as_secs_f64() * 1e6 / n as f64,
    );
}
