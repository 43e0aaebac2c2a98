//! The programs of Shiina and Taura (IEEE Cluster 2022) on simulated ranks, in virtual time, and RecPFor with faults.
//!
//! ```console
//! RUSTFLAGS="--cfg furcate_sim" cargo run --release -p furcate-cluster --example ranks -- [PROGRAM [RANKS [LOG2_SIZE [VARIANT]]]]
//! RUSTFLAGS="--cfg furcate_sim" cargo run --release -p furcate-cluster --example ranks -- faults [SEEDS [FIRST]]
//! ```
//!
//! The programs are recpfor, pfor, lcs and uts. VARIANT is the number of a way to steal: 0 greedy, 1 stalling, 2 Full, 3 RtC. All times but those of the
//! column "real" are virtual.

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
#[path = "support/simulated.rs"]
mod support;
#[cfg(furcate_sim)]
#[path = "uts/tree.rs"]
#[allow(dead_code, reason = "the sequential count is for the example `uts`")]
mod tree;

#[cfg(furcate_sim)]
mod simulated {
    use crate::support::{End, LEAF, LOOPS, RecPFor, faults_of, faulty};
    use crate::tree::{Open, Tree};
    use furcate::prelude::*;
    use furcate_cluster::frame::{Frame, FrameContext, Frames, Future, Next};
    use furcate_cluster::{Counts, Simulated, SpreadOver, World};
    use furcate_sim::{Machine, simulate, time::Instant, work};
    use serde::{Deserialize, Serialize};
    use std::time::Duration;

    type Variant = (&'static str, for<'w> fn(Frames<'w>) -> Frames<'w>);

    const VARIANTS: [Variant; 4] = [
        ("greedy", |frames| frames),
        ("stalling", |frames| frames.stalling()),
        ("child stealing, Full", |frames| frames.child_stealing()),
        ("child stealing, RtC", |frames| frames.run_to_completion()),
    ];

    /// Time of a tile of 512 x 512 values, 0.8 ns each.
    const TILE: Duration = Duration::from_micros(210);
    /// Values of a tile's row.
    const WIDTH: usize = 512;
    /// Time of a node of UTS.
    const NODE: Duration = Duration::from_nanos(300);

    /// The output of a tile: its last row, and the future of the next tile of the row.
    #[derive(Serialize, Deserialize)]
    struct Tile {
        bottom: Vec<u32>,
        next: Option<Future<Tile>>,
    }

    /// The frames of the example `lcs`. The values are not computed: each tile adds one to the row above.
    #[derive(Serialize, Deserialize)]
    enum Lcs {
        /// A tile: row, column, last column of the tile to the left, and the tile above unless the frame has waited for that tile.
        Fill(usize, usize, Vec<u32>, Option<Tile>),
        Last,
    }

    impl Frame for Lcs {
        type Output = Tile;
        /// Number of rows of tiles, and of columns.
        type Data = usize;

        fn step(self, results: Vec<Tile>, context: &mut FrameContext<'_, Self>) -> Next<Self> {
            let mut results = results.into_iter();
            let mut result = || results.next().expect("a frame gets what it has waited for");
            let Lcs::Fill(row, column, left, above) = self else { return Next::Return(result()) };
            let Tile { mut bottom, next: above } = above.unwrap_or_else(result);
            work(TILE);
            bottom.iter_mut().for_each(|value| *value += 1);
            let tiles = *context.data();
            let top = || Some(Tile { bottom: vec![0; WIDTH], next: None });
            let next = (column + 1 < tiles).then(|| match above {
                Some(above) => context.fork_after([above], Lcs::Fill(row, column + 1, left, None)),
                None => context.fork(Lcs::Fill(row, column + 1, left, top())),
            });
            if row + 1 == tiles {
                return match next {
                    Some(next) => Next::after([next], Lcs::Last),
                    None => Next::Return(Tile { bottom, next }),
                };
            }
            if column > 0 {
                return Next::Return(Tile { bottom, next });
            }
            let below = Lcs::Fill(row + 1, 0, vec![0; WIDTH], Some(Tile { bottom, next }));
            Next::join([below], Lcs::Last)
        }
    }

    /// A program. `run` returns the number of leaves, and the time of a leaf.
    struct Program {
        name: &'static str,
        log: usize,
        variants: &'static [Variant],
        run: fn(&World, usize, Variant) -> (u64, Duration),
    }

    const PROGRAMS: [Program; 4] = [
        Program {
            name: "recpfor",
            log: 14,
            variants: &VARIANTS,
            run: |world, log, (_, variant)| {
                let root = RecPFor::Loops { len: 1 << log, left: LOOPS, sum: 0 };
                let output = variant(Frames::new(world)).run(root, &());
                assert_eq!(output, (u64::from(LOOPS) << log) * (log as u64 + 1));
                (output, LEAF)
            },
        },
        Program {
            name: "pfor",
            log: 18,
            variants: &[VARIANTS[0]],
            run: |world, log, _| {
                let leaf = |_| {
                    work(LEAF);
                    1
                };
                let sum = (0..LOOPS)
                    .map(|_| (0..1_u64 << log).into_par_iter().map(leaf).spread(world).sum::<u64>());
                (sum.sum(), LEAF)
            },
        },
        Program {
            name: "lcs",
            log: 18,
            // Not the last one: a tile waits for a future.
            variants: &[VARIANTS[0], VARIANTS[1], VARIANTS[2]],
            run: |world, log, (_, variant)| {
                let tiles = (1_usize << log).div_ceil(WIDTH);
                let top = Tile { bottom: vec![0; WIDTH], next: None };
                let root = Lcs::Fill(0, 0, vec![0; WIDTH], Some(top));
                let output = variant(Frames::new(world)).run(root, &tiles);
                assert_eq!(output.bottom, vec![tiles as u32; WIDTH]);
                ((tiles * tiles) as u64, TILE)
            },
        },
        Program {
            name: "uts",
            log: 0,
            variants: &[VARIANTS[0]],
            run: |world, tree, _| {
                let (_, tree, published) = Tree::PUBLISHED[tree];
                let step = |count: &mut u64, open: &mut Open, n: usize| {
                    let before = *count;
                    open.step(&tree, n, count);
                    work(NODE * (*count - before) as u32);
                };
                let nodes =
                    1 + Open::of_root(&tree).work(|_| 0, step, |count: u64| count).spread(world).sum::<u64>();
                assert_eq!(nodes, published);
                (nodes, NODE)
            },
        },
    ];

    /// Returns the memory of this process that is in use, in MB.
    fn resident() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
    }

    /// Runs a program, and prints its counts. Returns its virtual time.
    fn run(program: &'static Program, ranks: usize, log: usize, variant: Variant) -> Duration {
        let before = resident();
        let real = std::time::Instant::now();
        let machine = Machine::RANKS.with_cores(ranks + 1);
        let run = simulate(machine, 1, move || {
            let ranks = Simulated::new(ranks).run(move |world| {
                // All ranks are there.
                Frames::new(world).run(RecPFor::Add(0), &());
                let begin = Instant::now();
                let leaves = (program.run)(world, log, variant);
                (begin.elapsed(), leaves, world.counts())
            });
            let sum = |count: fn(&Counts) -> u64| ranks.iter().map(|(.., it)| count(it)).sum::<u64>();
            let won = sum(|it| it.won);
            let latency = sum(|it| it.stealing).checked_div(won).unwrap_or(0);
            (
                ranks[0].0,
                ranks[0].1,
                [sum(|it| it.blocked), won, sum(|it| it.tried), latency, sum(|it| it.messages)],
            )
        });
        let (time, (leaves, leaf), [blocked, won, tried, latency, messages]) = run.result;
        let ideal = leaf.as_secs_f64() * leaves as f64 / ranks as f64;
        println!(
            "{} {log}, {ranks} ranks, {:22} {:10.3} ms  efficiency {:5.1} %  joins {blocked:8}  steals {won:8} of {tried:8}, {:5.1} us  \
             messages {messages}  | real {:7.2} s, {} switches, {} MB more",
            program.name,
            variant.0,
            time.as_secs_f64() * 1e3,
            100.0 * ideal / time.as_secs_f64(),
            latency as f64 / 1e3,
            real.elapsed().as_secs_f64(),
            run.counts.switches,
            resident().saturating_sub(before),
        );
        time
    }

    fn faults(seeds: std::ops::Range<u64>) {
        std::panic::set_hook(Box::new(|_| {}));
        let real = std::time::Instant::now();
        let mut runs = std::collections::BTreeMap::<_, u64>::new();
        let mut wrong = 0;
        for seed in seeds.clone() {
            let ends = std::thread::spawn(move || faulty(seed)).join();
            let ends = ends.unwrap_or_else(|payload| {
                vec![Err(payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic".to_owned()))]
            });
            if seeds.end - seeds.start == 1 {
                println!("{:?}\n{ends:?}", faults_of(seed));
            }
            let mut kinds: Vec<End> = Vec::new();
            for (rank, end) in ends.into_iter().enumerate() {
                match end {
                    Ok(end) => kinds.push(end),
                    Err(text) => {
                        wrong += 1;
                        if wrong <= 10 {
                            println!("seed {seed}, rank {rank}: {text}\n  {:?}", faults_of(seed));
                        }
                    }
                }
            }
            kinds.sort_unstable();
            kinds.dedup();
            *runs.entry(kinds).or_default() += 1;
        }
        for (kinds, count) in runs {
            println!("{count:7} runs whose ranks ended as {kinds:?}");
        }
        println!(
            "seeds {seeds:?}: {wrong} ends that are not documented, in {:.1} s",
            real.elapsed().as_secs_f64()
        );
        if wrong > 0 {
            std::process::exit(1);
        }
    }

    pub(crate) fn main() {
        let mut arguments = std::env::args().skip(1);
        let name = arguments.next().unwrap_or_else(|| "recpfor".to_owned());
        let mut numbers = arguments.map(|text| text.parse::<usize>().expect("a number"));
        if name == "faults" {
            let (count, first) =
                (numbers.next().unwrap_or(10_000) as u64, numbers.next().unwrap_or(0) as u64);
            return faults(first..first + count);
        }
        let program =
            PROGRAMS.iter().find(|program| program.name == name).expect("recpfor, pfor, lcs, uts or faults");
        let (ranks, log) = (numbers.next().unwrap_or(64), numbers.next().unwrap_or(program.log));
        let only = numbers.next();
        let chosen =
            program.variants.iter().enumerate().filter(|(index, _)| only.is_none_or(|only| only == *index));
        let times: Vec<_> =
            chosen.map(|(_, variant)| run(program, ranks, log, *variant).as_secs_f64()).collect();
        let ratios: Vec<_> = times.iter().map(|time| format!("{:.2}", time / times[0])).collect();
        println!("{}", ratios.join(" : "));
    }
}
