//! Times of cheap requests beside heavy ones.

use crate::app::{App, CHEAP, Error, HEAVY, Server};
use crate::client::Client;
use crate::common::output::line;
use crate::common::progress::Progress;
use crate::common::table::{Cell, Table};
use crate::common::timing::Times;
use crate::{by_hand, with_furcate};
use axum::Router;
use furcate::Fairness;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

/// Interval between cheap requests. A request begins on time, whether those before have been answered or not.
const EACH: Duration = Duration::from_millis(10);

/// Loads one kind of server after the other, and prints a table.
pub(crate) fn compare(threads: usize, permits: usize, clients: usize, time: Duration) -> Result<(), Error> {
    line(format_args!(
        "{clients} clients with requests of {} items, each 5 ms of waiting and 1 ms of work; beside them a request of {} items, \
         each 1 ms and 20 us, every {} ms; {threads} threads",
        HEAVY.items,
        CHEAP.items,
        EACH.as_millis()
    ));
    let mut table = Table::new(["cheap: median", "p99", "max", "requests", "heavy: requests"]);
    let app = |fairness| with_furcate::App::new(threads, permits, fairness);
    let furcate = |fairness| Ok::<_, Error>(app(fairness)?.router());
    let servers: [(&str, Router); 5] = [
        ("furcate", furcate(Fairness::Balanced)?),
        ("furcate, cheap ones are urgent", app(Fairness::Balanced)?.urgent_if_cheap().router()),
        ("furcate, WokenFirst", furcate(Fairness::WokenFirst)?),
        ("furcate, FairQueueing", furcate(Fairness::FairQueueing)?),
        ("by hand: tokio and rayon", by_hand::App::new(threads, permits)?.router()),
    ];
    let progress = Progress::new("cheap requests beside heavy ones", servers.len());
    for (name, router) in servers {
        progress.message(name);
        let Measured { cheap, heavy } = measure(Server::start(0, router)?.address(), clients, time)?;
        let at = |part: f64| Cell::Time(cheap[(cheap.len() as f64 * part) as usize]);
        let counts = [cheap.len(), heavy].map(|count| Cell::Count(count as u64));
        let median = Cell::Time(Times::new(cheap.clone()).median());
        let [cheap_count, heavy_count] = counts;
        table.row(name, [median, at(0.99), at(0.999_999), cheap_count, heavy_count]);
        progress.step();
    }
    drop(progress);
    line(table);
    Ok(())
}

struct Measured {
    /// Times of cheap requests, in ascending order.
    cheap: Vec<Duration>,
    /// Number of heavy requests that were answered.
    heavy: usize,
}

fn measure(server: SocketAddr, clients: usize, time: Duration) -> Result<Measured, Error> {
    // The clients have a thread of their own.
    Builder::new_current_thread().enable_all().build()?.block_on(async move {
        let end = Instant::now() + time;
        let (mut heavy, mut cheap) = (JoinSet::new(), JoinSet::new());
        for _ in 0..clients {
            heavy.spawn(async move {
                let mut client = Client::connect(server).await?;
                let mut answered = 0;
                while Instant::now() < end {
                    client.get("/heavy", HEAVY).await?;
                    answered += 1;
                }
                Ok::<usize, Error>(answered)
            });
        }
        let mut ticks = interval(EACH);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        loop {
            // The time is measured from the moment at which the request was due.
            let due = ticks.tick().await.into_std();
            if due >= end {
                break;
            }
            cheap.spawn(async move {
                Client::connect(server).await?.get("/cheap", CHEAP).await?;
                Ok::<Duration, Error>(due.elapsed())
            });
        }
        let mut times = cheap.join_all().await.into_iter().collect::<Result<Vec<_>, _>>()?;
        times.sort();
        let heavy = heavy.join_all().await.into_iter().sum::<Result<usize, _>>()?;
        Ok(Measured { cheap: times, heavy })
    })
}
