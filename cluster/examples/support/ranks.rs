//! The ranks of an example.

use crate::common::arguments::Bounds;
use crate::common::progress::Progress;
use furcate::ThreadPoolBuilder;
use furcate_cluster::{Threads, World};

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
    /// Runs the program on all ranks. Returns the result of rank 0, and the number of ranks in words; on other processes `None`.
    pub(crate) fn run<T: Send>(
        &self,
        what: &str,
        program: impl Fn(&World) -> T + Sync,
    ) -> Option<(T, String)> {
        let (result, ranks) = match self.ranks {
            Some(ranks) => {
                let _progress = Progress::new(what, 1);
                (Threads::new(ranks).workers(self.workers).run(program).remove(0), ranks)
            }
            None => {
                let world = furcate_cluster::init().unwrap_or_else(|error| {
                    eprintln!("{error}");
                    std::process::exit(1)
                });
                let _progress = world.is_root().then(|| Progress::new(what, 1));
                let pool = ThreadPoolBuilder::new().num_threads(self.workers).build().expect("threads");
                let result = pool.install(|| program(&world));
                if !world.is_root() {
                    return None;
                }
                (result, world.size())
            }
        };
        let plural =
            |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
        Some((result, format!("{} with {} each", plural(ranks, "rank"), plural(self.workers, "worker"))))
    }
}
