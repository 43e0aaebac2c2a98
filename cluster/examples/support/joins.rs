//! How the joins of a computation of frames wait.

use crate::common::output::line;
use crate::common::table::{Cell, Table};
use crate::common::timing::timed;
use furcate_cluster::frame::{Frame, Frames};
use furcate_cluster::{Counts, CountsTable, World};
use std::time::Duration;

/// A run on all ranks.
pub(crate) struct Measured<O> {
    pub(crate) output: O,
    pub(crate) time: Duration,
    /// The counts before the run, and after it.
    before: CountsTable,
    after: CountsTable,
}

/// Runs a computation on all ranks, with the greedy or with the stalling join.
pub(crate) fn measured<F: Frame>(
    world: &World,
    is_stalling: bool,
    root: F,
    data: &F::Data,
) -> Measured<F::Output> {
    let before = world.table();
    let frames = Frames::new(world);
    let frames = if is_stalling { frames.stalling() } else { frames };
    let (output, time) = timed(|| frames.run(root, data));
    Measured { output, time, before, after: world.table() }
}

impl<O> Measured<O> {
    /// The sum of a count over all ranks, of this run.
    fn sum(&self, count: fn(&Counts) -> u64) -> u64 {
        let sum = |table: &CountsTable| table.ranks().iter().map(count).sum::<u64>();
        sum(&self.after) - sum(&self.before)
    }

    /// The greatest value of a count on any rank, up to the end of this run.
    fn most(&self, count: fn(&Counts) -> u64) -> u64 {
        self.after.ranks().iter().map(count).max().unwrap_or_default()
    }
}

/// Prints the counts of all ranks, and how the joins have waited.
pub(crate) fn compare<O>(greedy: &Measured<O>, stalling: Option<&Measured<O>>) {
    line(stalling.unwrap_or(greedy).after.clone());
    let mut table = Table::new([
        "time",
        "frames",
        "joins",
        "steals",
        "wait at once",
        "could go on",
        "mean delay",
        "all delays",
    ]);
    for (name, run) in [("greedy join", Some(greedy)), ("stalling join", stalling)] {
        let Some(run) = run else { continue };
        let joins = run.sum(|counts| counts.waits);
        let delay = Duration::from_nanos(run.sum(|counts| counts.stalled));
        table.row(
            name,
            [
                Cell::Time(run.time),
                Cell::Count(run.sum(|counts| counts.steps)),
                Cell::Count(joins),
                Cell::Count(run.sum(|counts| counts.won)),
                Cell::Count(run.most(|counts| counts.waiting)),
                Cell::Count(run.most(|counts| counts.resumable)),
                Cell::Time(delay / u32::try_from(joins.max(1)).unwrap_or(u32::MAX)),
                Cell::Time(delay),
            ],
        );
    }
    line(table);
    line(
        "\"could go on\": the most frames at once whose results were all there. \"delay\": from a frame's last result to its next step.",
    );
}
