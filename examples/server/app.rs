//! The shared part of both servers: the routes' work, and the threads that accept connections.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use std::hint::black_box;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

/// A route's work: a number of items, each of which waits and then computes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) items: u64,
    wait: Duration,
    compute: Duration,
}

/// A cheap request: 4 ms if its items wait one after the other, 80 us of processor time.
pub(crate) const CHEAP: Work =
    Work { items: 4, wait: Duration::from_millis(1), compute: Duration::from_micros(20) };

/// A heavy request: 0.2 s of processor time.
pub(crate) const HEAVY: Work =
    Work { items: 200, wait: Duration::from_millis(5), compute: Duration::from_millis(1) };

/// Work for the processor. Not inlined: both servers and the measurement of its speed run the same machine code.
#[inline(never)]
fn rounds(rounds: u64, row: u64) {
    let mut number = row;
    for _ in 0..rounds {
        number = black_box(number).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    }
}

/// Rounds in a microsecond. The work is counted and not timed: on a busy machine it takes longer, and is no less.
static ROUNDS: LazyLock<u64> = LazyLock::new(|| {
    const SAMPLE: u64 = 100_000;
    let sample = |_| {
        let begin = Instant::now();
        rounds(SAMPLE, 1);
        begin.elapsed()
    };
    let shortest = (0..50).map(sample).min().expect("there are samples");
    (SAMPLE as f64 / (shortest.as_nanos() as f64 / 1e3)) as u64
});

impl Work {
    /// Whether a request is cheap.
    pub(crate) fn is_cheap(self) -> bool {
        self.items == CHEAP.items
    }

    /// Asks a database for an item. A timer stands in for the database.
    pub(crate) async fn fetch(self, item: u64) -> u64 {
        tokio::time::sleep(self.wait).await;
        item
    }

    /// Computes a number from an item's row.
    pub(crate) fn compute(self, row: u64) -> u64 {
        rounds(self.compute.as_micros() as u64 * *ROUNDS, row);
        row + 1
    }

    /// Returns the expected answer to a request: the sum of the items' numbers.
    pub(crate) fn answer(self) -> u64 {
        (1..=self.items).sum()
    }
}

/// A server's part that answers requests: with furcate, or by hand.
pub(crate) trait App: Clone + Send + Sync + 'static {
    /// Fetches and computes the items of a request, and adds their numbers up. If the client leaves, axum drops the future.
    fn sum(self, work: Work) -> impl Future<Output = u64> + Send;

    /// The routes.
    fn router(self) -> Router {
        let cheap = |State(app): State<Self>| async { app.sum(CHEAP).await.to_string() };
        let heavy = |State(app): State<Self>| async { app.sum(HEAVY).await.to_string() };
        Router::new().route("/cheap", get(cheap)).route("/heavy", get(heavy)).with_state(self)
    }
}

/// A server on threads of its own. It ends when it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    _runtime: Runtime,
}

impl Server {
    /// Serves on loopback; on any free port if `port` is 0.
    pub(crate) fn start(port: u16, router: Router) -> Result<Self, Error> {
        LazyLock::force(&ROUNDS);
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, port)))?;
        let address = listener.local_addr()?;
        runtime.spawn(async move { axum::serve(listener, router).await });
        Ok(Server { address, _runtime: runtime })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}
