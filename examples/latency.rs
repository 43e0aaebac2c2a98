//! Requests, and work on what they give: one after the other, with rayon, and with `io_await`.
//!
//! `cargo run --release --example latency -- [REQUESTS [MILLISECONDS]]` waits that long for each of so many answers (a timer
//! stands for a server), hashes every answer for a quarter of a millisecond, and prints how long everybody takes, and how
//! long the best could.

use furcate::prelude::*;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

/// What the server would answer.
fn answer(page: u64) -> Vec<u64> {
    (page..page + 1000).collect()
}

/// Work on the answer, for about as long.
const WORK: Duration = Duration::from_micros(250);

fn digest(page: &[u64]) -> u64 {
    let begun = Instant::now();
    let mut digest = 0;
    while begun.elapsed() < WORK {
        digest =
            black_box(page.iter().fold(0, |hash: u64, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3)));
    }
    digest
}

/// A request that has its thread wait.
fn fetch_blocking(page: u64, latency: Duration) -> Vec<u64> {
    thread::sleep(latency);
    answer(page)
}

/// A request that waits without one.
async fn fetch(page: u64, latency: Duration) -> Vec<u64> {
    async_io::Timer::after(latency).await;
    answer(page)
}

/// Its traits have the same names.
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
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().expect("a number"));
    let requests: u64 = arguments.next().unwrap_or(200);
    let latency = Duration::from_millis(arguments.next().unwrap_or(20));
    let threads = furcate::current_num_threads();
    println!("{requests} requests of {latency:?}, then {WORK:?} of work each, on {threads} threads");

    let pages = || 0..requests;
    let expected = pages().map(|page| digest(&answer(page))).fold(0, u64::wrapping_add);
    let row = |name: &str, run: &dyn Fn() -> u64| {
        let begun = Instant::now();
        let sum = run();
        println!("{name:<44} {:>9.1?}", begun.elapsed());
        assert_eq!(sum, expected, "{name}");
    };

    row("rayon, its threads wait", &|| with_rayon::digests(pages(), latency));
    row("furcate, its threads wait", &|| {
        pages()
            .into_par_iter()
            .map(|page| digest(&fetch_blocking(page, latency)))
            .reduce(|| 0, u64::wrapping_add)
    });
    row("furcate, io_await", &|| {
        pages()
            .into_par_iter()
            .map(|page| fetch(page, latency))
            .io_await()
            .map(|page| digest(&page))
            .reduce(|| 0, u64::wrapping_add)
    });
    row("furcate, io_await, 16 in flight", &|| {
        pages()
            .into_par_iter()
            .map(|page| fetch(page, latency))
            .io_await()
            .max_in_flight(16)
            .map(|page| digest(&page))
            .reduce(|| 0, u64::wrapping_add)
    });
    let work = WORK * u32::try_from(requests).expect("not that many") / threads as u32;
    println!("{:<44} {:>9.1?}", "no thread ever idle, but for one latency", work + latency);
}
