//! The ranks of an example.

use crate::common::arguments::Bounds;
use crate::progress::{Done, ProgressLine};
use furcate::ThreadPoolBuilder;
use furcate_cluster::{Threads, World};
use std::sync::Arc;

const RANKS: Bounds<usize> = Bounds::new(1, 256);
const WORKERS: Bounds<usize> = Bounds::new(1, 256);

/// The ranks that a launcher has started, or ranks that are threads of this process.
#[derive(clap::Args)]
pub(crate) struct Ranks {
    #[arg(long, value_parser = RANKS.parser(), help = RANKS.help("Ranks that are threads; without it, those that mpirun or srun has started"))]
    ranks: Option<usize>,
    #[arg(long, default_value_t = 1, value_parser = WORKERS.parser(), help = WORKERS.help("Workers of each rank"))]
    workers: usize,
}

impl Ranks {
    /// Runs the program `what` on all ranks. The program counts its `items` (a noun) in the [`Done`] of its rank. Returns the result of
    /// rank 0, the number of ranks in words, and the number of all workers; on other processes `None`.
    pub(crate) fn run<T: Send>(
        &self,
        (what, items): (&'static str, &'static str),
        program: impl Fn(&World, &Arc<Done>) -> T + Sync,
    ) -> Option<(T, String, usize)> {
        let done = Arc::new(Done::default());
        let (result, ranks) = match self.ranks {
            Some(ranks) => {
                let _line = ProgressLine::new(what, items, &done);
                let program = |world: &World| match world.is_root() {
                    true => program(world, &done),
                    false => program(world, &Arc::default()),
                };
                (Threads::new(ranks).workers(self.workers).run(program).remove(0), ranks)
            }
            None => {
                let world = furcate_cluster::init().unwrap_or_else(|error| {
                    eprintln!("{error}");
                    std::process::exit(1)
                });
                let _line = world.is_root().then(|| ProgressLine::new(what, items, &done));
                let pool = ThreadPoolBuilder::new().num_threads(self.workers).build().expect("threads");
                let result = pool.install(|| program(&world, &done));
                if !world.is_root() {
                    return None;
                }
                (result, world.size())
            }
        };
        let plural =
            |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
        let words = format!("{} with {} each", plural(ranks, "rank"), plural(self.workers, "worker"));
        Some((result, words, ranks * self.workers))
    }
}
