//! Fetch, unpack, count: thousands of ranges of a file on a slow server, in five ways.
//!
//! `cargo run --release --example crawl -- [RANGES [MILLISECONDS [IN_FLIGHT]]]` starts an HTTP server as a process of its
//! own, which waits so many milliseconds before it answers. Each contestant fetches every range of the server's file, with
//! a bound on the requests in flight, unpacks each range, and counts its readings into a slice of one vector. The program
//! prints the histogram, and a table of the times of rayon, tokio, both together, and furcate, with the least possible time.

mod client;
#[path = "../common/mod.rs"]
mod common;
mod contest;
mod data;
mod http;
mod job;
mod process;
mod server;
mod table;
mod with_furcate;
mod with_rayon;
mod with_tokio;

use clap::Parser;
use common::arguments::Bounds;
use common::output::finish;
use common::progress::Progress;
use http::Error;
use std::process::ExitCode;
use std::time::Duration;

const RANGES: Bounds<usize> = Bounds::new(1, 100_000);
const MILLISECONDS: Bounds<u64> = Bounds::new(1, 10_000);

/// Returns the bounds for the requests in flight: each thread may have one.
fn in_flight() -> Bounds<usize> {
    let threads = furcate::current_num_threads();
    Bounds::new(threads, threads.max(1000))
}

/// Fetches ranges of a file from a slow server and works on them, in five ways.
#[derive(Parser)]
struct Arguments {
    #[arg(default_value_t = 2000, value_parser = RANGES.parser(), help = RANGES.help("Ranges to fetch"))]
    ranges: usize,

    #[arg(default_value_t = 20, value_parser = MILLISECONDS.parser(),
          help = MILLISECONDS.help("Milliseconds until the server answers"))]
    milliseconds: u64,

    #[arg(default_value_t = furcate::current_num_threads().max(128), value_parser = in_flight().parser(),
          help = in_flight().help("Most requests at the same time; at least one for each thread"))]
    in_flight: usize,

    /// Be the server; the program starts itself with this flag.
    #[arg(long, hide = true)]
    serve: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let options = Options {
        ranges: arguments.ranges,
        latency: Duration::from_millis(arguments.milliseconds),
        in_flight: arguments.in_flight,
    };
    let result = if arguments.serve {
        server::serve(options.ranges, options.latency)
            .map_err(|error| Error::Server(format!("has failed: {error}")))
    } else {
        compare(&options)
    };
    finish("crawl", result)
}

/// The job's numbers.
pub(crate) struct Options {
    ranges: usize,
    latency: Duration,
    in_flight: usize,
}

fn compare(options: &Options) -> Result<(), Error> {
    let progress = Progress::new("the server packs its file", 3 + contest::ROUNDS * contest::CONTESTANTS);
    let server = process::Server::start(options.ranges, options.latency)?;
    progress.step();
    progress.message("a loop does the job");
    let (job, reference) = job::Job::new(server.address, options.in_flight)?;
    progress.step();
    let threads = furcate::current_num_threads();
    let setup = contest::Setup::new(job, threads, options.latency)?;
    let mut contestants = setup.contestants();
    progress.step();
    contest::run(&mut contestants, &server, &reference, &progress)?;
    drop(progress);
    table::print(options, threads, &reference, &contestants);
    Ok(())
}
