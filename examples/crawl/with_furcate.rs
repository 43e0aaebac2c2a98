//! The job with `io_await`: a chain. Requests, tables and output are borrowed.

use super::client::Connections;
use super::data::{BUCKETS, count};
use super::http::Error;
use super::job::{Done, Job};
use furcate::prelude::*;

pub(crate) fn awaiting(job: &Job) -> Result<Done, Error> {
    let connections = Connections::<async_io::Async<_>>::new(job.address);
    let mut histograms = vec![0; job.requests.len() * BUCKETS];
    histograms
        .par_chunks_mut(BUCKETS)
        .zip(&job.requests)
        .map(async |(histogram, request)| Ok((histogram, connections.fetch(request).await?)))
        .io_await()
        .max_in_flight(job.in_flight)
        .try_for_each(|fetched: Result<_, Error>| {
            let (histogram, page) = fetched?;
            count(&page, histogram).map(drop)
        })?;
    Ok(Done { histograms, connections: connections.opened() })
}
