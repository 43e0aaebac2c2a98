//! Items that wait and compute: MapReduceFib, and serial computations.

use super::{Tables, millis, print_not_run};
use furcate_benches::latency::{
    AsyncExecutor, Blocking, Buffered, Cpu, Engine, Furcate, FurcateTokio, Load, Spread, Threads, Tokio,
    TokioRayon, cpu_time,
};
use furcate_benches::plot::{Plot, Scale};
use furcate_benches::record::record;
use furcate_benches::{Contender, interleave, paper, quick};
use std::cell::RefCell;
use std::time::Duration;

impl Tables {
    /// Returns the number of items: as many as in the full size, or fewer if they would take too long.
    fn n(&self, full: u64, t1_of_one: Duration, wait_of_one: Duration) -> u64 {
        if paper() {
            return full;
        }
        let good = millis(if quick() { 5 } else { 300 });
        let one = (t1_of_one / self.threads as u32).max(wait_of_one);
        let fit = good.as_nanos() / one.as_nanos().max(1);
        full.min(u64::try_from(fit).unwrap_or(full)).max(if quick() { 20 } else { 100 })
    }

    pub(super) fn fibs(&mut self) {
        // Coarse: ProWS-R, Section 5.2, and Cilk-L's Figure 2. Fine: Cilk-L's Figure 3, with ten times the work and many more forks.
        let coarse = if quick() { (22, 17, 50) } else { (30, 25, 500) };
        let fine = if quick() { (24, 13, 20) } else { (35, 15, 60) };
        for (kind, (fib, cutoff, few)) in [("coarse", coarse), ("fine", fine)] {
            let latencies = [0, 1, 50, 100];
            let x = Scale::Places(latencies.map(|latency| latency.to_string()).into());
            let name = format!("MapReduceFib, fib({fib}) to {cutoff}, {} threads", self.threads);
            let mut plot = Plot::new(name, ("latency, ms", x), ("time, ms", Scale::Log));
            for (place, latency) in latencies.into_iter().enumerate() {
                let n = match latency {
                    _ if quick() => few,
                    // ProWS-R, Section 5.4.
                    0 => few.min(200),
                    _ if paper() => 5_000,
                    _ => few,
                };
                let title = format!("fib: {latency} ms, {kind}, n = {n} of fib({fib}) with cutoff {cutoff}");
                if !self.choice.has(&title) {
                    continue;
                }
                println!("\n{title}");
                let cpu = Cpu::Fib { n: fib, cutoff };
                let load = Load { n, awaits: 1, latency: millis(latency), cap: usize::MAX, cpu };
                let engines = self.engines(&[1, 2, 8]);
                let loaded = self.load(&title, &engines, load);
                loaded.draw(&mut plot, place as f64, Duration::from_millis(1));
            }
            self.plots.push((format!("fib-{kind}"), plot));
        }
    }

    pub(super) fn serial(&mut self) {
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
                    let loaded = self.load(&title, &engines, load);
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
            engines.push(Box::new(Blocking::new(threads, *times)));
        }
        engines
    }

    fn load(&self, title: &str, engines: &[Box<dyn Engine>], load: Load) -> Loaded {
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
                // A load that the engine cannot run has no row.
                Some(sum.unwrap_or(expected))
            };
            contenders.push(("engine", Box::new(run)));
        }
        let medians = interleave("", self.rounds, &mut contenders);
        let t1 = medians.rows[0].1;
        let (ideal, bound) = (load.ideal(t1, self.threads), load.bound(t1, self.threads));
        println!("  {:<28} {:>10.1} T1", "serial, without waits", t1.as_secs_f64() * 1e3);
        println!("  {:<28} {:>10.1}", "ideal", ideal.as_secs_f64() * 1e3);
        println!("  {:<28} {:>10.1}", "bound", bound.as_secs_f64() * 1e3);
        let mut times = Vec::new();
        let mut recorded = vec![("serial, without waits", medians.times[0].clone())];
        for (((name, &i), (_, median)), all) in
            names.iter().zip(&run).zip(&medians.rows[1..]).zip(&medians.times[1..])
        {
            let Runs { spread: Spread { busiest, threads }, cpu } = &mut *runs[i].borrow_mut();
            cpu.sort();
            if *threads == 0 {
                continue;
            }
            times.push((name.clone(), *median));
            recorded.push((name, all.clone()));
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
        let blocking = medians.times[0].iter().map(|t1| load.blocking(*t1)).collect();
        recorded.push(("one thread that blocks, computed", blocking));
        record(title, recorded);
        Loaded { times, ideal, bound }
    }
}

/// Times of the engines for a load.
struct Loaded {
    /// Names and times of the engines that were run.
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

/// Further results of an engine's runs.
#[derive(Default)]
struct Runs {
    /// Spread of the last run.
    spread: Spread,
    /// Processor time of each run.
    cpu: Vec<Duration>,
}
