//! Fannkuch-redux: the number of times that the first n numbers of a deck are turned over, until the first one is 1.
//!
//! `cargo run --release --example fannkuch -- [N]` computes two values over all permutations of 1 to n, in a given order:
//! the largest number of flips, and a checksum; see [`deck`]. Every schedule gives the same values.

#[path = "../common/mod.rs"]
mod common;
mod deck;

use clap::Parser;
use common::arguments::Bounds;
use common::output::line;
use common::progress::Progress;
use common::table::{Cell, Table};
use common::timing::timed;
use deck::{Outcome, fannkuch, total};
use furcate::prelude::*;

const N: Bounds<usize> = Bounds::new(3, 12);

/// Flips all permutations of some numbers, under several schedules.
#[derive(Parser)]
struct Arguments {
    #[arg(default_value_t = 9, value_parser = N.parser(), help = N.help("Numbers that are permuted"))]
    n: usize,
}

fn main() {
    let Arguments { n } = Arguments::parse();
    let depths = [1, 3, 5, 7];
    let progress = Progress::new("fannkuch", depths.len() + 3);
    for (n, checksum, max_flips) in [(7, 228, 16), (9, 8629, 30)] {
        let expected = Outcome { checksum, max_flips };
        assert_eq!(total(fannkuch(n)), expected);
        assert_eq!(total(fannkuch(n).adaptive()), expected);
        assert_eq!(total(fannkuch(n).size_limit(1000).cap(2)), expected);
        assert_eq!(total(fannkuch(n).bound_depth(3).depjoin().by_uniform_blocks(10_000)), expected);
    }
    progress.step();

    let mut table = Table::new(["time"]);
    let mut row = |name: &str, run: &dyn Fn() -> Outcome| {
        let (outcome, time) = timed(run);
        table.row(name, [Cell::Time(time)]);
        progress.step();
        outcome
    };
    let result = row("one task", &|| total(fannkuch(n).sequential()));
    for depth in depths {
        let parts = row(&format!("{} parts", 1 << depth), &|| total(fannkuch(n).bound_depth(depth)));
        assert_eq!(parts, result);
    }
    assert_eq!(row("adaptive", &|| total(fannkuch(n).adaptive())), result);
    drop(progress);
    line(format_args!("{table}\n\n{}\nPfannkuchen({n}) = {}", result.checksum, result.max_flips));
}
