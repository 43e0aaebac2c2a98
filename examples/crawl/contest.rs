//! The contestants and their times.

use super::common::progress::Progress;
use super::data::BUCKETS;
use super::http::Error;
use super::job::{Done, Job, Reference};
use super::process::{Server, own_processor_time};
use super::{with_furcate, with_rayon, with_tokio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Number of runs of each contestant, in turn; the median counts.
pub(crate) const ROUNDS: usize = 3;

/// Number of contestants.
pub(crate) const CONTESTANTS: usize = 5;

/// Time limit for the slowest contestant, which fetches only as many of its ranges as fit.
const PATIENCE: Duration = Duration::from_millis(500);

/// Everything that contestants work with, made beforehand.
pub(crate) struct Setup {
    job: Arc<Job>,
    /// Number of ranges that the slowest contestant fetches.
    some: usize,
    /// Rayon's pools: one with a thread for each of the processor's, and one with a thread for each request in flight.
    few: Arc<rayon::ThreadPool>,
    many: rayon::ThreadPool,
    runtime: tokio::runtime::Runtime,
}

impl Setup {
    pub(crate) fn new(job: Job, threads: usize, latency: Duration) -> Result<Self, Error> {
        let pool = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.map_err(|error| Error::Setup(format!("rayon's pool cannot be built: {error}")))
        };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
        let in_turn = (PATIENCE.as_secs_f64() / latency.as_secs_f64()).ceil() as usize;
        Ok(Setup {
            some: job.requests.len().min(threads * in_turn),
            few: Arc::new(pool(threads)?),
            many: pool(job.in_flight)?,
            runtime: runtime
                .map_err(|error| Error::Setup(format!("tokio's runtime cannot be built: {error}")))?,
            job: Arc::new(job),
        })
    }

    /// Returns all contestants. The last one is furcate.
    pub(crate) fn contestants(&self) -> [Contestant<'_>; CONTESTANTS] {
        let contestant = |name: &str, ranges, run| Contestant {
            name: name.into(),
            ranges,
            run,
            setup: self,
            outcomes: Vec::new(),
        };
        let all = self.job.requests.len();
        let rayon =
            |pool: &rayon::ThreadPool| format!("rayon, waiting threads: {}", pool.current_num_threads());
        [
            contestant(&rayon(&self.few), self.some, |with| {
                with_rayon::blocking(&with.few, &with.job, with.job.first(with.some))
            }),
            contestant(&rayon(&self.many), all, |with| {
                with_rayon::blocking(&with.many, &with.job, &with.job.requests)
            }),
            contestant("tokio, tasks wait and work", all, |with| {
                with_tokio::inline(&with.runtime, &with.job)
            }),
            contestant("tokio waits, rayon works", all, |with| {
                with_tokio::with_rayon(&with.runtime, &with.few, &with.job)
            }),
            contestant("furcate, io_await", all, |with| with_furcate::awaiting(&with.job)),
        ]
    }
}

/// A contestant, who does the job.
pub(crate) struct Contestant<'a> {
    pub(crate) name: String,
    /// Number of ranges that are fetched.
    pub(crate) ranges: usize,
    run: fn(&Setup) -> Result<Done, Error>,
    setup: &'a Setup,
    /// Outcome of each round.
    outcomes: Vec<Outcome>,
}

/// The cost of a run.
#[derive(Clone, Copy)]
pub(crate) struct Outcome {
    pub(crate) time: Duration,
    /// Processor time of this process, and of the server, if they are known.
    pub(crate) own: Option<Duration>,
    pub(crate) server: Option<Duration>,
    pub(crate) connections: usize,
}

impl Contestant<'_> {
    /// Runs once, and checks the result.
    fn round(&mut self, server: &Server, reference: &Reference) -> Result<(), Error> {
        rest();
        let (own, servers) = (own_processor_time(), server.processor_time());
        let begun = Instant::now();
        let done = (self.run)(self.setup)?;
        let time = begun.elapsed();
        assert!(
            done.histograms == reference.histograms[..self.ranges * BUCKETS],
            "`{}` has counted differently from the loop",
            self.name
        );
        let since = |after: Option<Duration>, before: Option<Duration>| Some(after?.saturating_sub(before?));
        self.outcomes.push(Outcome {
            time,
            own: since(own_processor_time(), own),
            server: since(server.processor_time(), servers),
            connections: done.connections,
        });
        Ok(())
    }

    /// Returns the run of median time.
    ///
    /// # Panics
    ///
    /// If there was no run.
    pub(crate) fn median(&self) -> Outcome {
        let mut outcomes = self.outcomes.clone();
        outcomes.sort_by_key(|outcome| outcome.time);
        outcomes[outcomes.len() / 2]
    }
}

/// Runs all rounds, the contestants in turn.
pub(crate) fn run(
    contestants: &mut [Contestant<'_>],
    server: &Server,
    reference: &Reference,
    progress: &Progress,
) -> Result<(), Error> {
    for _round in 0..ROUNDS {
        for contestant in &mut *contestants {
            progress.message(&contestant.name);
            contestant.round(server, reference)?;
            progress.step();
        }
    }
    Ok(())
}

/// Waits before a run. Idle threads take a while to notice that they have nothing to do; a thousand of them take
/// seconds. The next run must not pay for that.
fn rest() {
    const STEP: Duration = Duration::from_millis(50);
    for _ in 0..100 {
        let before = own_processor_time();
        thread::sleep(STEP);
        let busy = before.zip(own_processor_time()).is_some_and(|(before, after)| after > before + STEP / 5);
        if !busy {
            return;
        }
    }
}
