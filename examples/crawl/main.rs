//! Fetch, unpack, count: thousands of ranges of a file on a server that takes its time, in five ways.
//!
//! `cargo run --release --example crawl -- [RANGES [MILLISECONDS [IN_FLIGHT]]]` starts an HTTP server as a process of its
//! own, which waits so many milliseconds before it answers; fetches every range of its file, at most so many at the same
//! time; unpacks each and counts its readings, into a slice of one vector. It prints the histogram, and a table of how long
//! rayon, tokio, both together, and furcate take for the same, and how long the best could.

mod client;
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

use http::Error;
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "usage: crawl [RANGES [MILLISECONDS [IN_FLIGHT]]]\n\n\
    Fetches so many ranges (default: 2000) of a file from a server that takes so many milliseconds to answer (20),\n\
    at most so many at the same time (128), in five ways.";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let serve = arguments.first().is_some_and(|argument| argument == process::SERVE);
    if serve {
        arguments.remove(0);
    }
    let options = match Options::parse(&arguments) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("crawl: {message}\n{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    let result = if serve {
        server::serve(options.ranges, options.latency)
            .map_err(|error| Error::Server(format!("has failed: {error}")))
    } else {
        compare(&options)
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("crawl: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the arguments say.
pub(crate) struct Options {
    ranges: usize,
    latency: Duration,
    in_flight: usize,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        if let Some(surplus) = arguments.get(3) {
            return Err(format!("`{surplus}` is one argument too many"));
        }
        let number = |i: usize, default: u64, least: u64, most: u64, what: &str| match arguments.get(i) {
            None => Ok(default),
            Some(argument) => match argument.parse() {
                Ok(number) if (least..=most).contains(&number) => Ok(number),
                _ => Err(format!("`{argument}` is not a number of {what} from {least} to {most}")),
            },
        };
        // Every thread can have one.
        let threads = furcate::current_num_threads() as u64;
        Ok(Options {
            ranges: number(0, 2000, 1, 100_000, "ranges")? as usize,
            latency: Duration::from_millis(number(1, 20, 1, 10_000, "milliseconds")?),
            in_flight: number(2, threads.max(128), threads, threads.max(1000), "requests in flight")?
                as usize,
        })
    }
}

fn compare(options: &Options) -> Result<(), Error> {
    let server = process::Server::start(options.ranges, options.latency)?;
    let (job, reference) = job::Job::new(server.address, options.in_flight)?;
    let threads = furcate::current_num_threads();
    let setup = contest::Setup::new(job, threads, options.latency)?;
    let mut contestants = setup.contestants();
    contest::run(&mut contestants, &server, &reference)?;
    match table::print(&mut std::io::stdout().lock(), options, threads, &reference, &contestants) {
        Ok(()) => Ok(()),
        // Whoever reads has read enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Error::Setup(format!("the result could not be written: {error}"))),
    }
}
