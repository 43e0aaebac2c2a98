//! RecPFor: parallel loops inside a parallel recursion (Shiina and Taura, IEEE Cluster 2022), as in the construction of a decision tree.
//!
//! On `N` leaves, `K` parallel loops run one after the other. Then both halves of the leaves do the same, in parallel. So the computation goes on after a join
//! `K * (2N - 1)` times. `cargo run --release -p furcate-cluster --example recpfor -- --ranks 2 --compare` shows how the joins wait.

#[path = "../../../examples/common/mod.rs"]
mod common;
#[path = "../support/efficiency.rs"]
mod efficiency;
#[path = "../support/joins.rs"]
mod joins;
#[path = "../support/progress.rs"]
mod progress;
#[path = "../support/ranks.rs"]
mod ranks;

use clap::Parser;
use common::arguments::Bounds;
use common::output::line;
use common::table::time;
use common::timing::timed;
use furcate_cluster::World;
use furcate_cluster::frame::{Frame, FrameContext, Next};
use joins::{Published, VARIANTS, compare, measured};
use progress::Done;
use ranks::Ranks;
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::sync::Arc;

const LEAVES: Bounds<u64> = Bounds::new(1, 1 << 24);
const LOOPS: Bounds<u32> = Bounds::new(1, 1000);
const TURNS: Bounds<u64> = Bounds::new(0, 1_000_000_000);

/// The paper's values for 2^22 leaves of 10 microseconds, on 576 cores (ITO-A) and on 1728 cores (Wisteria-O). It gives no values for the empty
/// columns, and RtC, which is slower than Full, only in its raw data.
const PUBLISHED: [Published; 7] = [
    ("published, ITO-A: greedy", ["8.30 s", "", "", "56,876", "", "474,991", "31.6 us", "1845 bytes"]),
    ("published, ITO-A: stalling", ["8.33 s", "", "", "72,546", "", "807,097", "30.4 us", "1790 bytes"]),
    ("published, ITO-A: child", ["9.31 s", "", "", "3,208,417", "", "6,038,858", "29.3 us", "55 bytes"]),
    ("raw data, ITO-A: child, RtC", ["47.8 s", "", "", "", "", "", "", ""]),
    (
        "published, Wisteria-O: greedy",
        ["5.94 s", "", "", "229,154", "", "1,790,018", "20.4 us", "1139 bytes"],
    ),
    (
        "published, Wisteria-O: stalling",
        ["5.97 s", "", "", "279,035", "", "3,086,034", "20.6 us", "1156 bytes"],
    ),
    (
        "published, Wisteria-O: child",
        ["7.69 s", "", "", "8,602,558", "", "15,704,498", "19.9 us", "55 bytes"],
    ),
];

/// Runs parallel loops inside a parallel recursion.
#[derive(Parser)]
#[command(name = "recpfor")]
struct Arguments {
    #[arg(default_value_t = 512, value_parser = LEAVES.parser(), help = LEAVES.help("Leaves"))]
    n: u64,
    #[arg(long, default_value_t = 5, value_parser = LOOPS.parser(), help = LOOPS.help("Loops on each level"))]
    k: u32,
    #[arg(long, default_value_t = 5000, value_parser = TURNS.parser(), help = TURNS.help("Work of each leaf, in multiplications"))]
    work: u64,
    /// Compares continuation stealing with child stealing, and adds the published values.
    #[arg(long)]
    compare: bool,
    #[command(flatten)]
    ranks: Ranks,
}

/// The work that all ranks know.
struct Work {
    loops: u32,
    turns: u64,
    done: Arc<Done>,
}

impl Work {
    fn leaf(&self, index: u64) -> u64 {
        (0..self.turns).fold(index, |x, j| black_box(x.wrapping_mul(0x5851_F42D_4C95_7F2D) ^ j)) >> 32
    }

    /// The same computation, by one thread.
    fn sequential(&self, begin: u64, len: u64) -> u64 {
        let leaves = || (begin..begin + len).map(|index| self.leaf(index));
        let loops: u64 = (0..self.loops).map(|_| leaves().sum::<u64>()).sum();
        match len {
            1 => loops,
            _ => loops + self.sequential(begin, len / 2) + self.sequential(begin + len / 2, len - len / 2),
        }
    }
}

/// A state of the computation.
#[derive(Serialize, Deserialize)]
enum RecPFor {
    /// Some loops are left, then the halves.
    Loops { begin: u64, len: u64, left: u32, sum: u64 },
    /// A part of a loop.
    Loop { begin: u64, len: u64 },
    /// Adds results to a sum.
    Add(u64),
}

impl Frame for RecPFor {
    type Output = u64;
    type Data = Work;

    fn step(self, results: Vec<u64>, context: &mut FrameContext<'_, Self>) -> Next<Self> {
        let results: u64 = results.into_iter().sum();
        match self {
            RecPFor::Loops { begin, len, left: 0, sum } if len > 1 => {
                let left = context.data().loops;
                let half = |begin, len| RecPFor::Loops { begin, len, left, sum: 0 };
                let halves = [half(begin, len / 2), half(begin + len / 2, len - len / 2)];
                Next::join(halves, RecPFor::Add(sum + results))
            }
            RecPFor::Loops { left: 0, sum, .. } | RecPFor::Add(sum) => Next::Return(sum + results),
            RecPFor::Loops { begin, len, left, sum } => {
                let then = RecPFor::Loops { begin, len, left: left - 1, sum: sum + results };
                Next::join([RecPFor::Loop { begin, len }], then)
            }
            RecPFor::Loop { begin, len: 1 } => {
                context.data().done.add(1);
                Next::Return(context.data().leaf(begin))
            }
            RecPFor::Loop { begin, len } => {
                let half = |begin, len| RecPFor::Loop { begin, len };
                Next::join([half(begin, len / 2), half(begin + len / 2, len - len / 2)], RecPFor::Add(0))
            }
        }
    }
}

fn main() {
    let Arguments { n, k, work, compare: compares, ranks } = Arguments::parse();
    let data = |done: &Arc<Done>| Work { loops: k, turns: work, done: Arc::clone(done) };
    let root = || RecPFor::Loops { begin: 0, len: n, left: k, sum: 0 };
    let variants = if compares { &VARIANTS[..] } else { &VARIANTS[..1] };
    let program = |world: &World, done: &Arc<Done>| measured(world, variants, root, &data(done));
    let Some((runs, ranks, workers)) = ranks.run(("recpfor", "leaves"), program) else { return };
    let (expected, serial) = timed(|| data(&Arc::default()).sequential(0, n));
    assert!(runs.iter().all(|run| run.output == expected), "the sequential program's sum");
    line(format_args!("{k} loops on each level of {n} leaves in {} on {ranks}", time(runs[0].time)));
    line(format_args!("the sequential program takes {}", time(serial)));
    compare(&runs, (serial, workers), if compares { &PUBLISHED } else { &[] });
}
