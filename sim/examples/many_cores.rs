//! What the pool does with 2 to 256 workers, on simulated machines.
//!
//! ```console
//! RUSTFLAGS="--cfg furcate_sim" cargo run --release -p furcate-sim --example many_cores -- [PROGRAM ...] [--workers 2,8,16,64,256]
//! ```
//!
//! The programs are chains, joins and tasks of furcate, whose leaves compute for a given time. All values are simulated.

#[cfg(not(furcate_sim))]
fn main() {
    eprintln!("this program needs the simulated machine: build it with RUSTFLAGS=\"--cfg furcate_sim\"");
    std::process::exit(2);
}

#[cfg(furcate_sim)]
fn main() {
    simulated::main();
}

#[cfg(furcate_sim)]
mod simulated {
    use furcate::prelude::*;
    use furcate::{ThreadPool, ThreadPoolBuilder};
    use furcate_schedulers::Timer;
    use furcate_sim::time::Instant;
    use furcate_sim::{Begins, Machine, Simulation, WaitsAt, simulate, thread, work};
    use std::time::Duration;

    const US: Duration = Duration::from_micros(1);

    /// A program: its name, and a call that returns its work and span.
    struct Program {
        name: &'static str,
        run: fn(&ThreadPool) -> (Duration, Duration),
    }

    const PROGRAMS: &[Program] = &[
        Program { name: "tree, leaves of 10 us", run: |pool| tree(pool, 13, 10 * US) },
        Program { name: "tree, leaves of 1 us", run: |pool| tree(pool, 16, US) },
        Program { name: "skewed tree", run: skewed },
        Program { name: "uts", run: uts },
        Program { name: "recpfor", run: recpfor },
        Program { name: "merge sort", run: |pool| merge_sort(pool) },
        Program { name: "loop, items of 1 us", run: |pool| items(pool, 100_000, US) },
        Program { name: "loop, items of 10 us", run: |pool| items(pool, 20_000, 10 * US) },
        Program { name: "loop, items of 100 us", run: |pool| items(pool, 4_000, 100 * US) },
        Program { name: "call of 20 us", run: |pool| calls(pool, 20 * US) },
        Program { name: "call of 100 us", run: |pool| calls(pool, 100 * US) },
        Program { name: "call of 5 ms", run: |pool| calls(pool, 5_000 * US) },
        Program { name: "calls from 16 threads", run: outside },
        Program { name: "map and reduce, waits of 1 ms", run: waits },
        Program { name: "first hit, in the middle", run: search },
    ];

    fn tree(pool: &ThreadPool, depth: u32, leaf: Duration) -> (Duration, Duration) {
        fn node(depth: u32, leaf: Duration) {
            match depth {
                0 => work(leaf),
                _ => _ = furcate::join(|| node(depth - 1, leaf), || node(depth - 1, leaf)),
            }
        }
        pool.install(|| node(depth, leaf));
        (leaf * (1 << depth), leaf)
    }

    /// Each node gives a tenth of its work to one side.
    fn skewed(pool: &ThreadPool) -> (Duration, Duration) {
        fn node(time: Duration) {
            if time <= 10 * US {
                return work(time);
            }
            furcate::join(|| node(time / 10), || node(time - time / 10));
        }
        let time = 100_000 * US;
        pool.install(|| node(time));
        (time, 10 * US)
    }

    /// Number of children by a hash of the node: unbalanced trees (Olivier et al., *UTS*, 2006), binomial with 4 children.
    fn uts(pool: &ThreadPool) -> (Duration, Duration) {
        const LEAF: Duration = Duration::from_micros(2);
        fn children(node: u64, depth: u32) -> u64 {
            if depth == 0 {
                return 200;
            }
            let hash = (node ^ node >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            if hash >> 40 & 1023 < 250 { 4 } else { 0 }
        }
        fn node(number: u64, depth: u32) -> u64 {
            work(LEAF);
            let count = children(number, depth);
            1 + (0..count)
                .into_par_iter()
                .size_limit(1)
                .map(|child| node((number * 4 + child + 1).wrapping_mul(0x2545_F491_4F6C_DD1D), depth + 1))
                .sum::<u64>()
        }
        let nodes = pool.install(|| node(7, 0));
        (LEAF * u32::try_from(nodes).unwrap(), LEAF * 20)
    }

    /// Parallel loops in a recursion (Shiina and Taura 2022).
    fn recpfor(pool: &ThreadPool) -> (Duration, Duration) {
        const LEAF: Duration = Duration::from_micros(10);
        fn loops(n: u64) -> u64 {
            let mut leaves = 0;
            for _ in 0..2 {
                (0..n).into_par_iter().size_limit(1).for_each(|_| work(LEAF));
                leaves += n;
            }
            if n > 1 {
                let (left, right) = furcate::join(|| loops(n / 2), || loops(n / 2));
                leaves += left + right;
            }
            leaves
        }
        let n = 1024;
        let leaves = pool.install(|| loops(n));
        (LEAF * u32::try_from(leaves).unwrap(), LEAF * 2 * 11)
    }

    /// The shape of a merge sort: leaves that sort, and parallel merges.
    fn merge_sort(pool: &ThreadPool) -> (Duration, Duration) {
        const UNIT: Duration = Duration::from_nanos(1);
        fn merge(n: u32) {
            if n <= 8192 {
                return work(UNIT * n);
            }
            furcate::join(|| merge(n / 2), || merge(n - n / 2));
        }
        fn sort(n: u32) -> Duration {
            if n <= 8192 {
                work(UNIT * n * 13);
                return UNIT * n * 13;
            }
            let (left, right) = furcate::join(|| sort(n / 2), || sort(n - n / 2));
            merge(n);
            left + right + UNIT * n
        }
        let time = pool.install(|| sort(1 << 23));
        (time, UNIT * 8192 * 23)
    }

    fn items(pool: &ThreadPool, count: u32, each: Duration) -> (Duration, Duration) {
        pool.install(|| (0..count).into_par_iter().for_each(|_| work(each)));
        (each * count, each)
    }

    /// Calls one after the other, with items of 1 us.
    fn calls(pool: &ThreadPool, time: Duration) -> (Duration, Duration) {
        let count = u32::try_from(time.as_micros()).unwrap();
        for _ in 0..20 {
            (0..count).into_par_iter().on(pool).for_each(|_| work(US));
            // The caller's own work.
            work(30 * US);
        }
        (20 * (time + 30 * US), 20 * (US + 30 * US))
    }

    fn outside(pool: &ThreadPool) -> (Duration, Duration) {
        thread::scope(|threads| {
            for _ in 0..16 {
                let run = || (0..50).for_each(|_| (0..400).into_par_iter().on(pool).for_each(|_| work(US)));
                thread::Builder::new().spawn_scoped(threads, run).unwrap();
            }
        });
        (16 * 50 * 400 * US, 50 * US)
    }

    fn waits(pool: &ThreadPool) -> (Duration, Duration) {
        let (count, wait, leaf) = (20_000_u64, 1_000 * US, 10 * US);
        let fetch = |_| async move {
            Timer::after(wait).await;
        };
        pool.install(|| (0..count).into_par_iter().map(fetch).io_await().map(|()| work(leaf)).count());
        (leaf * u32::try_from(count).unwrap(), wait + leaf)
    }

    fn search(pool: &ThreadPool) -> (Duration, Duration) {
        let count = 100_000_u32;
        let found = pool.install(|| {
            (0..count).into_par_iter().find_first(|&number| {
                work(US);
                number == count / 2
            })
        });
        assert_eq!(found, Some(count / 2));
        (US * (count / 2), US)
    }

    /// What a run has shown.
    struct Shown {
        time: Duration,
        work: Duration,
        span: Duration,
        begins: Vec<Duration>,
        steals: u64,
        waits: [Vec<WaitsAt>; 2],
    }

    fn run(program: &Program, machine: Machine, workers: usize) -> Simulation<Shown> {
        let run = program.run;
        simulate(machine.with_cores(workers), 1, move || {
            let pool = ThreadPoolBuilder::new().num_threads(workers).build().unwrap();
            // The threads have begun, and sleep.
            thread::sleep(200_000 * US);
            let begins = Begins::watch();
            let begin = Instant::now();
            let (work, span) = run(&pool);
            let time = begin.elapsed();
            let steals = pool.stats().total().steals.iter().map(|victim| victim.won).sum();
            Shown {
                time,
                work,
                span,
                begins: begins.times(),
                steals,
                waits: [furcate_sim::lock_waits(), furcate_sim::line_waits()],
            }
        })
    }

    pub(super) fn main() {
        let mut words: Vec<_> = std::env::args().skip(1).collect();
        let workers: Vec<usize> = match words.iter().position(|word| word == "--workers") {
            None => vec![2, 8, 16, 64, 256],
            Some(at) => {
                words.remove(at);
                let list = if at < words.len() { words.remove(at) } else { String::new() };
                list.split(',')
                    .map(|number| number.parse().expect("`--workers` takes numbers, such as 2,64"))
                    .collect()
            }
        };
        println!(
            "simulated: efficiency is (T1/P + Tinf)/TP; \"all begun\" is the time until the last worker that worked had work"
        );
        println!(
            "{:<32} {:>7} {:>10} {:>10} {:>9} {:>10} {:>9} {:>8} {:>9} {:>9}",
            "program",
            "workers",
            "TP us",
            "efficiency",
            "begun",
            "all begun",
            "steals",
            "heavy",
            "interr.",
            "waits us"
        );
        for program in PROGRAMS {
            if !words.is_empty() && !words.iter().any(|word| program.name.contains(&**word)) {
                continue;
            }
            for &count in &workers {
                let began = std::time::Instant::now();
                let Simulation { result: shown, counts, .. } = run(program, Machine::SOCKET_64, count);
                let bound = shown.work.div_f64(count as f64) + shown.span;
                println!(
                    "{:<32} {:>7} {:>10.1} {:>10.3} {:>9} {:>10.1} {:>9} {:>8} {:>9} {:>9} {:?}",
                    program.name,
                    count,
                    shown.time.as_secs_f64() * 1e6,
                    bound.as_secs_f64() / shown.time.as_secs_f64(),
                    shown.begins.len(),
                    shown.begins.last().copied().unwrap_or_default().as_secs_f64() * 1e6,
                    shown.steals,
                    counts.heavy_fences,
                    counts.interruptions,
                    shown.waits[1].iter().map(|(.., time)| time).sum::<Duration>().as_micros(),
                    began.elapsed(),
                );
                if std::env::var_os("BEGINS").is_some() {
                    let at: Vec<_> = [1, 2, 4, 8, 16, 32, 63]
                        .into_iter()
                        .filter_map(|n| Some((n + 1, shown.begins.get(n)?)))
                        .collect();
                    println!("{:40} begun: {at:?}", "");
                }
                for (waits, what) in shown.waits.iter().zip(["the lock", "the line"]) {
                    for (at, waits, time) in waits.iter().take(5) {
                        println!(
                            "{:40} {waits} waits for {what}, {:.1} us in all: {at}",
                            "",
                            time.as_secs_f64() * 1e6
                        );
                    }
                }
            }
        }
    }
}
