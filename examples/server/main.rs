//! An axum server whose handlers are chains: with a shared limit, cancelled with their clients, cheap routes beside heavy ones.
//!
//! ```text
//! cargo run --release -p furcate-example-server --example server -- compare    cheap requests beside heavy ones: furcate and by hand
//! cargo run --release -p furcate-example-server --example server -- soak       100,000 requests, of which 10 % are left; looks for leaks
//! cargo run --release -p furcate-example-server --example server -- serve      for a client of your own, for a minute
//! ```
//!
//! The pool is built with [`Fairness::FairQueueing`](furcate::Fairness::FairQueueing), so that cheap requests do not wait behind heavy
//! ones; `compare` shows the other orders too.
//!
//! A request asks for a number of items. Each item waits (one of tokio's timers stands in for a database) and then
//! needs the processor. `with_furcate.rs` does this with a chain, `by_hand.rs` with tokio's tasks, rayon's jobs and a
//! channel. `app.rs` holds the shared part. The load comes from the same process, over loopback only.

mod app;
mod by_hand;
mod client;
#[path = "../common/mod.rs"]
mod common;
mod compare;
mod soak;
mod with_furcate;

use app::{App, Server};
use clap::{Parser, Subcommand};
use common::arguments::Bounds;
use common::output::{finish, line};
use furcate::Fairness;
use std::process::ExitCode;
use std::time::Duration;

const THREADS: Bounds<usize> = Bounds::new(1, 256);
const PERMITS: Bounds<usize> = Bounds::new(1, 100_000);
const SECONDS: Bounds<u64> = Bounds::new(1, 600);
const CLIENTS: Bounds<usize> = Bounds::new(1, 256);
const REQUESTS: Bounds<usize> = Bounds::new(100, 1_000_000);
const PERCENT: Bounds<usize> = Bounds::new(0, 100);
const PORT: Bounds<u16> = Bounds::new(1024, 65_535);

/// An axum server whose handlers are chains, and the same server by hand.
#[derive(Parser)]
struct Arguments {
    #[arg(long, global = true, default_value_t = default_threads(),
          value_parser = THREADS.parser(), help = THREADS.help("Threads that compute"))]
    threads: usize,

    #[arg(long, global = true, default_value_t = 1024,
          value_parser = PERMITS.parser(), help = PERMITS.help("Items of all requests that wait at the same time"))]
    permits: usize,

    #[command(subcommand)]
    mode: Mode,
}

#[derive(Subcommand)]
enum Mode {
    /// Times of cheap requests beside heavy ones, for each kind of server.
    Compare {
        #[arg(long, default_value_t = 10, value_parser = SECONDS.parser(), help = SECONDS.help("Seconds for each server"))]
        seconds: u64,
        #[arg(long, default_value_t = 4, value_parser = CLIENTS.parser(), help = CLIENTS.help("Clients with heavy requests"))]
        clients: usize,
    },
    /// Many requests, some of whose clients leave. Fails if anything of them stays behind.
    Soak {
        #[arg(long, default_value_t = 100_000, value_parser = REQUESTS.parser(), help = REQUESTS.help("Requests"))]
        requests: usize,
        #[arg(long, default_value_t = 10, value_parser = PERCENT.parser(), help = PERCENT.help("Percentage that is left"))]
        leave: usize,
        #[arg(long, default_value_t = 64, value_parser = CLIENTS.parser(), help = CLIENTS.help("Clients at the same time"))]
        clients: usize,
    },
    /// Serves /cheap and /heavy on 127.0.0.1.
    Serve {
        #[arg(long, default_value_t = 8080, value_parser = PORT.parser(), help = PORT.help("Port"))]
        port: u16,
        #[arg(long, default_value_t = 60, value_parser = SECONDS.parser(), help = SECONDS.help("Seconds"))]
        seconds: u64,
    },
}

fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn main() -> ExitCode {
    let Arguments { threads, permits, mode } = Arguments::parse();
    let result = match mode {
        Mode::Compare { seconds, clients } => {
            compare::compare(threads, permits, clients, Duration::from_secs(seconds))
        }
        Mode::Soak { requests, leave, clients } => soak::soak(threads, permits, requests, leave, clients),
        Mode::Serve { port, seconds } => serve(threads, permits, port, Duration::from_secs(seconds)),
    };
    finish("server", result)
}

fn serve(threads: usize, permits: usize, port: u16, time: Duration) -> Result<(), app::Error> {
    let app = with_furcate::App::new(threads, permits, Fairness::FairQueueing)?;
    let server = Server::start(port, app.router())?;
    line(format_args!("http://{0}/cheap and http://{0}/heavy, for {1} s", server.address(), time.as_secs()));
    std::thread::sleep(time);
    Ok(())
}
