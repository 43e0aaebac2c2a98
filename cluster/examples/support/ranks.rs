//! The ranks of an example.

use crate::common::arguments::Bounds;
use crate::common::progress::Progress;
use furcate_cluster::{Threads, World};
use std::fmt;

const RANKS: Bounds<usize> = Bounds::new(1, 256);
const WORKERS: Bounds<usize> = Bounds::new(1, 256);

/// Ranks that are threads of this process.
#[derive(clap::Args)]
pub(crate) struct Ranks {
    #[arg(long, default_value_t = 1, value_parser = RANKS.parser(), help = RANKS.help("Ranks"))]
    ranks: usize,
    #[arg(long, default_value_t = 1, value_parser = WORKERS.parser(), help = WORKERS.help("Workers of each rank"))]
    workers: usize,
}

impl Ranks {
    /// Runs the program on all ranks. Returns the result of rank 0.
    pub(crate) fn run<T: Send>(&self, what: &str, program: impl Fn(&World) -> T + Sync) -> T {
        let progress = Progress::new(what, 1);
        let result = Threads::new(self.ranks).workers(self.workers).run(program).remove(0);
        drop(progress);
        result
    }
}

impl fmt::Display for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural =
            |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
        write!(f, "{} with {} each", plural(self.ranks, "rank"), plural(self.workers, "worker"))
    }
}
