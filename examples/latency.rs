//! Requests, and work on the answers: with rayon, with furcate's threads blocked, and with `io_await`.
//!
//! `cargo run --release --example latency -- [REQUESTS [MILLISECONDS]]` waits that long for each of so many answers (a timer
//! stands for a server) and hashes each answer for a quarter of a millisecond. The table shows how long each contender
//! takes, and the least possible time.

mod common;

use clap::Parser;
use common::arguments::Bounds;
use common::output::line;
use common::progress::Progress;
use common::table::{Cell, Table, time};
use common::timing::timed;
use furcate::prelude::*;
use std::hint::black_box;
use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};

const REQUESTS: Bounds<u64> = Bounds::new(1, 100_000);
const MILLISECONDS: Bounds<u64> = Bounds::new(1, 10_000);

/// Time limit: a contender whose threads wait sends only as many requests as take about this time. The table scales its
/// time up.
const PATIENCE: Duration = Duration::from_secs(3);

/// Waits for answers and works on them: with threads that block, and with `io_await`.
#[derive(Parser)]
struct Arguments {
    #[arg(default_value_t = 200, value_parser = REQUESTS.parser(), help = REQUESTS.help("Number of requests"))]
    requests: u64,

    #[arg(default_value_t = 20, value_parser = MILLISECONDS.parser(),
          help = MILLISECONDS.help("Milliseconds until an answer comes"))]
    milliseconds: u64,
}

/// Returns the server's answer.
fn answer(page: u64) -> Vec<u64> {
    (page..page + 1000).collect()
}

/// Time of the work on each answer, approximately.
const WORK: Duration = Duration::from_micros(250);

/// Hashes an answer, again and again for that time, but at least once, also if the thread loses its processor at once.
fn digest(page: &[u64]) -> u64 {
    let begun = Instant::now();
    loop {
        let digest =
            black_box(page).iter().fold(0, |hash: u64, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3));
        if begun.elapsed() >= WORK {
            return digest;
        }
    }
}

/// A request that blocks its thread.
fn fetch_blocking(page: u64, latency: Duration) -> Vec<u64> {
    thread::sleep(latency);
    answer(page)
}

/// A request that blocks no thread.
async fn fetch(page: u64, latency: Duration) -> Vec<u64> {
    async_io::Timer::after(latency).await;
    answer(page)
}

/// Rayon's chain, in a module of its own because rayon's traits have the same names as furcate's.
mod with_rayon {
    use super::{digest, fetch_blocking};
    use rayon::prelude::*;
    use std::ops::Range;
    use std::time::Duration;

    pub(super) fn digests(pages: Range<u64>, latency: Duration) -> u64 {
        pages
            .into_par_iter()
            .map(|page| digest(&fetch_blocking(page, latency)))
            .reduce(|| 0, u64::wrapping_add)
    }
}

fn main() {
    let Arguments { requests, milliseconds } = Arguments::parse();
    let latency = Duration::from_millis(milliseconds);
    let threads = furcate::current_num_threads();
    let in_turn = PATIENCE.as_secs_f64() / (latency + WORK).as_secs_f64();
    let some = requests.min(threads as u64 * in_turn.ceil() as u64);

    let progress = Progress::new("latency", 5);
    let digests: Vec<u64> = (0..requests).into_par_iter().map(|page| digest(&answer(page))).collect();
    progress.step();
    let mut table = Table::new(["time"]);
    let mut row = |name: &str, pages: u64, run: &dyn Fn(Range<u64>) -> u64| {
        let (sum, time) = timed(|| run(0..pages));
        let expected = digests[..pages as usize].iter().copied().fold(0, u64::wrapping_add);
        assert_eq!(sum, expected, "{name}");
        let mark = if pages < requests { " ~" } else { "" };
        table.row(format!("{name}{mark}"), [Cell::Time(time.mul_f64(requests as f64 / pages as f64))]);
        progress.step();
    };

    row("rayon, its threads wait", some, &|pages| with_rayon::digests(pages, latency));
    row("furcate, its threads wait", some, &|pages| {
        pages
            .into_par_iter()
            .map(|page| digest(&fetch_blocking(page, latency)))
            .reduce(|| 0, u64::wrapping_add)
    });
    row("furcate, io_await", requests, &|pages| {
        pages
            .into_par_iter()
            .map(|page| fetch(page, latency))
            .io_await()
            .map(|page| digest(&page))
            .reduce(|| 0, u64::wrapping_add)
    });
    row("furcate, io_await, max_in_flight(16)", requests, &|pages| {
        pages
            .into_par_iter()
            .map(|page| fetch(page, latency))
            .io_await()
            .max_in_flight(16)
            .map(|page| digest(&page))
            .reduce(|| 0, u64::wrapping_add)
    });
    let work = WORK.mul_f64(requests as f64 / threads as f64);
    table.row("least possible: the work, and one latency", [Cell::Time(work + latency)]);
    drop(progress);
    line(format_args!(
        "{requests} requests of {}, then {} of work each, on {threads} threads\n\n{table}",
        time(latency),
        time(WORK)
    ));
    if some < requests {
        line(format_args!("\n~ measured with the first {some} requests, and multiplied."));
    }
}
