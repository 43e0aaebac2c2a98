//! PFor: a parallel loop over even work, `K` times (Shiina and Taura, IEEE Cluster 2022).
//!
//! `cargo run --release -p furcate-cluster --example pfor -- 100000 --ranks 2` runs the loop, and shows how much was stolen. Every rank begins
//! with its share of the loop, so even work needs hardly any steals.

#[path = "../../../examples/common/mod.rs"]
mod common;
#[path = "../support/progress.rs"]
mod progress;
#[path = "../support/ranks.rs"]
mod ranks;

use clap::Parser;
use common::arguments::Bounds;
use common::output::{grouped, line};
use common::table::time;
use common::timing::timed;
use furcate::prelude::*;
use furcate_cluster::{SpreadOver, World};
use progress::Done;
use ranks::Ranks;
use std::hint::black_box;
use std::sync::Arc;

const TURNS: Bounds<u64> = Bounds::new(0, 1_000_000_000);
const NUMBERS: Bounds<u64> = Bounds::new(0, 1_000_000_000_000);
const REPEATS: Bounds<u32> = Bounds::new(1, 1_000_000);

/// Runs a parallel loop over even work.
#[derive(Parser)]
#[command(name = "pfor")]
struct Arguments {
    #[arg(default_value_t = 100_000, value_parser = NUMBERS.parser(), help = NUMBERS.help("Turns of the loop"))]
    n: u64,
    #[arg(long, default_value_t = 1000, value_parser = TURNS.parser(), help = TURNS.help("Work of each turn, in multiplications"))]
    work: u64,
    #[arg(long, default_value_t = 5, value_parser = REPEATS.parser(), help = REPEATS.help("Times the loop is run"))]
    k: u32,
    #[command(flatten)]
    ranks: Ranks,
}

/// Runs the loop once. To count turns for the progress line takes no more than a hundredth of their time.
fn repeat(n: u64, work: u64, turn: impl Fn(u64) -> u64 + Sync + Send, world: &World, done: &Done) -> u64 {
    let turns = (0..n).into_par_iter();
    if work < 128 {
        // A loop of such turns is compiled to vector instructions, unless something else is done between two turns.
        let sum = turns.map(turn).spread(world).sum();
        done.add(n / world.size() as u64);
        return sum;
    }
    // Short turns are counted several at once, by those with round numbers.
    let at_once = (4096 / work).next_power_of_two();
    let count = |i: &u64| {
        if i % at_once == 0 {
            done.add(at_once);
        }
    };
    turns.inspect(count).map(turn).spread(world).sum()
}

fn main() {
    let Arguments { n, work, k, ranks } = Arguments::parse();
    let turn = |i: u64| (0..work).fold(i, |x, j| black_box(x.wrapping_mul(0x5851_F42D_4C95_7F2D) ^ j)) & 1;
    let program = |world: &World, done: &Arc<Done>| {
        let (sum, duration) = timed(|| (0..k).map(|_| repeat(n, work, turn, world, done)).last());
        (sum, duration, world.table())
    };
    let Some(((sum, duration, table), ranks, _)) = ranks.run(("pfor", "turns"), program) else { return };
    let (expected, serial) = timed(|| (0..n).map(turn).sum::<u64>());
    assert_eq!(sum, Some(expected));
    line(format_args!("{} turns in {} on {ranks}", grouped(n * u64::from(k)), time(duration)));
    line(format_args!("the sequential loop takes {}", time(serial * k)));
    line(table);
}
