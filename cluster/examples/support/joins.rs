//! Continuation stealing and child stealing, compared as by Shiina and Taura (IEEE Cluster 2022).

use crate::common::output::line;
use crate::common::table::{Cell, Table, time};
use crate::common::timing::timed;
use crate::efficiency::efficiency;
use furcate::prelude::*;
use furcate_cluster::frame::{Frame, Frames};
use furcate_cluster::{Counts, CountsTable, SpreadOver, World};
use std::time::Duration;

/// A way to run frames, and its name.
pub(crate) type Variant = (&'static str, for<'w> fn(Frames<'w>) -> Frames<'w>);

/// The paper's ways, in the order of its tables. The last one is for nested joins only.
pub(crate) const VARIANTS: [Variant; 4] = [
    ("continuation stealing, greedy join", |frames| frames),
    ("continuation stealing, stalling join", |frames| frames.stalling()),
    ("child stealing, Full", |frames| frames.child_stealing()),
    ("child stealing, RtC", |frames| frames.run_to_completion()),
];

/// A row of the paper: its name, and the cells.
pub(crate) type Published = (&'static str, [&'static str; 8]);

/// A run on all ranks.
pub(crate) struct Measured<O> {
    name: &'static str,
    pub(crate) output: O,
    pub(crate) time: Duration,
    /// The counts before the run, and after it.
    before: CountsTable,
    after: CountsTable,
    /// Nanoseconds without work, of all ranks together.
    idle: u64,
}

/// Runs a computation on all ranks, in each of these ways.
pub(crate) fn measured<F: Frame>(
    world: &World,
    variants: &[Variant],
    root: impl Fn() -> F,
    data: &F::Data,
) -> Vec<Measured<F::Output>> {
    let run = |&(name, variant): &Variant| {
        let before = world.table();
        // Not by the tables, whose calls are idle as well.
        let idle = world.counts().idle;
        let (output, time) = timed(|| variant(Frames::new(world)).run(root(), data));
        let idle = world.counts().idle - idle;
        let idle = (0..world.size()).into_par_iter().map(|_| idle).spread(world).sum();
        Measured { name, output, time, before, after: world.table(), idle }
    };
    variants.iter().map(run).collect()
}

impl<O> Measured<O> {
    /// The sum of a count over all ranks, of this run.
    fn sum(&self, count: fn(&Counts) -> u64) -> u64 {
        let sum = |table: &CountsTable| table.ranks().iter().map(count).sum::<u64>();
        sum(&self.after) - sum(&self.before)
    }
}

/// Prints the paper's table for these runs, and under it the rows that the paper published.
pub(crate) fn compare<O>(
    runs: &[Measured<O>],
    (sequential, workers): (Duration, usize),
    published: &[Published],
) {
    let mut table = Table::new([
        "time",
        "efficiency",
        "busy",
        "outstanding joins",
        "mean wait",
        "steals",
        "mean latency",
        "mean size",
    ]);
    for run in runs {
        let mean = |sum: u64, number: u64| sum.checked_div(number);
        let mean_time = |sum, number| {
            Cell::Text(mean(sum, number).map_or("-".to_owned(), |mean| time(Duration::from_nanos(mean))))
        };
        let (blocked, steals) = (run.sum(|counts| counts.blocked), run.sum(|counts| counts.won));
        let ranks = run.after.ranks().len() as f64;
        let idle = run.idle as f64 / (ranks * run.time.as_nanos() as f64);
        let size = mean(run.sum(|counts| counts.given_bytes), run.sum(|counts| counts.given));
        table.row(
            run.name,
            [
                Cell::Text(time(run.time)),
                Cell::Text(efficiency(sequential, run.time, workers)),
                Cell::Text(format!("{:.1} %", 100.0 * (1.0 - idle))),
                Cell::Count(blocked),
                mean_time(run.sum(|counts| counts.blocking), blocked),
                Cell::Count(steals),
                mean_time(run.sum(|counts| counts.stealing), steals),
                Cell::Text(size.map_or("-".to_owned(), |size| format!("{size} bytes"))),
            ],
        );
    }
    for &(name, cells) in published {
        table.row(name, cells.map(|cell| Cell::Text(cell.to_owned())));
    }
    line(table);
    line(
        "\"busy\": the part of the time in which a rank had work. Every other column is the mean or the sum over all ranks.",
    );
}
