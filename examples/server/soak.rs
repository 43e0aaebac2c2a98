//! Sends many requests, some of whose clients leave, and checks that nothing stays behind.

use crate::app::{App as _, CHEAP, Error, Server};
use crate::client::Client;
use crate::common::output::{grouped, line};
use crate::common::progress::Progress;
use crate::common::table::{Cell, Table};
use crate::with_furcate::App;
use furcate::Fairness;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::task::JoinSet;

/// Permitted growth of resident memory between the first tenth of the requests and the last: allocators keep some.
const GROWTH: u64 = 16 << 20;

/// Time within which the counters settle after the last request.
const SETTLES: Duration = Duration::from_secs(10);

/// Sends requests in ten parts, and prints the counters after each.
///
/// # Errors
///
/// If anything of a request stays behind, or if an answer is wrong.
pub(crate) fn soak(
    threads: usize,
    permits: usize,
    requests: usize,
    leave: usize,
    clients: usize,
) -> Result<(), Error> {
    let app = App::new(threads, permits, Fairness::FairQueueing)?;
    let server = Server::start(0, app.clone().router())?;
    let heads = ["requests", "left", "suspensions", "resumes", "cancelled", "deques", "permits", "memory"];
    let mut table = Table::new(heads);
    let progress = Progress::new("requests", 10);
    let (mut left, mut first, mut leaks) = (0, None, vec![]);
    for part in 1..=10 {
        left += send(server.address(), requests / 10, leave, clients)?;
        let counters = Counters::settled(&app);
        let Counters { suspensions, resumes, cancelled, deques, in_use, memory, .. } = counters;
        let numbers = [requests / 10 * part, left].map(|number| Cell::Count(number as u64));
        let [sent, gone] = numbers;
        let memory_cell = memory.map_or(Cell::Empty, |memory| Cell::Text(format!("{} MB", memory >> 20)));
        let counts = [suspensions, resumes, cancelled, deques, in_use].map(Cell::Count);
        let [suspensions, resumes, cancelled, deques, in_use] = counts;
        let name = format!("{} %", 10 * part);
        table.row(name, [sent, gone, suspensions, resumes, cancelled, deques, in_use, memory_cell]);
        leaks.extend(counters.leaks(*first.get_or_insert(memory)));
        progress.step();
    }
    drop(progress);
    line(table);
    if leaks.is_empty() {
        line(format_args!("Nothing stays behind of {} requests.", grouped(requests as u64)));
        Ok(())
    } else {
        Err(leaks.join("; ").into())
    }
}

/// Sends requests, `clients` at a time. Of each hundred, `leave` are abandoned before their answer. Returns the number
/// of abandoned requests.
fn send(server: SocketAddr, requests: usize, leave: usize, clients: usize) -> Result<usize, Error> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.store(0, Relaxed);
    Builder::new_current_thread().enable_all().build()?.block_on(async move {
        let mut all = JoinSet::new();
        for _ in 0..clients {
            all.spawn(async move {
                let (mut client, mut left) = (Client::connect(server).await?, 0);
                loop {
                    let number = NEXT.fetch_add(1, Relaxed);
                    if number >= requests {
                        return Ok::<usize, Error>(left);
                    }
                    // Spread over the hundred.
                    if number * 37 % 100 < leave {
                        client.send("/cheap").await?;
                        // The client leaves at once, while its items wait, or while they are computed.
                        tokio::time::sleep(Duration::from_micros(500 * (number % 4) as u64)).await;
                        client = Client::connect(server).await?;
                        left += 1;
                    } else {
                        client.get("/cheap", CHEAP).await?;
                    }
                }
            });
        }
        all.join_all().await.into_iter().sum()
    })
}

#[derive(Clone, Copy, Debug)]
struct Counters {
    suspensions: u64,
    resumes: u64,
    cancelled: u64,
    deques: u64,
    /// Number of threads that the pool has started: its own, and those that stand in for busy or waiting ones.
    workers: u64,
    in_use: u64,
    /// Resident memory in bytes; `None` where the system does not report it.
    memory: Option<u64>,
}

impl Counters {
    fn read(app: &App) -> Self {
        let stats = app.pool.stats();
        let total = stats.total();
        Counters {
            suspensions: total.suspensions,
            resumes: total.resumes,
            cancelled: total.cancelled,
            deques: stats.deques.live(),
            workers: stats.workers.len() as u64,
            in_use: (app.limit.in_use() + app.limit.waiting()) as u64,
            memory: memory(),
        }
    }

    /// Reads the counters when they have settled, or after [`SETTLES`].
    fn settled(app: &App) -> Self {
        let end = Instant::now() + SETTLES;
        loop {
            let counters = Counters::read(app);
            if counters.leaks(None).is_empty() || Instant::now() > end {
                return counters;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Describes everything that the requests have left behind: tasks, deques, permits or memory. Empty if there is
    /// nothing.
    fn leaks(self, memory_before: Option<u64>) -> Vec<String> {
        let mut leaks = vec![];
        if self.suspensions != self.resumes + self.cancelled {
            leaks.push(format!(
                "{} suspensions are not {} resumes and {} cancelled",
                self.suspensions, self.resumes, self.cancelled
            ));
        }
        if self.deques > self.workers {
            leaks.push(format!("{} deques are there, for {} workers", self.deques, self.workers));
        }
        if self.in_use > 0 {
            leaks.push(format!("{} permits are in use, or waited for", self.in_use));
        }
        if let (Some(before), Some(now)) = (memory_before, self.memory)
            && now > before + GROWTH
        {
            leaks.push(format!("memory has grown from {} to {} MB", before >> 20, now >> 20));
        }
        leaks
    }
}

/// Returns the resident memory, on Linux.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}
