//! The job with rayon: its threads wait. So as many threads as requests in flight are needed, or time is lost.

use super::client::Connections;
use super::data::{BUCKETS, count};
use super::http::{Error, Request};
use super::job::{Done, Job};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::net::TcpStream;

pub(crate) fn blocking(pool: &ThreadPool, job: &Job, requests: &[Request]) -> Result<Done, Error> {
    let connections = Connections::<TcpStream>::new(job.address);
    let mut histograms = vec![0; requests.len() * BUCKETS];
    pool.install(|| {
        histograms
            .par_chunks_mut(BUCKETS)
            .zip(requests)
            .try_for_each(|(histogram, request)| count(&connections.fetch(request)?, histogram).map(drop))
    })?;
    Ok(Done { histograms, connections: connections.opened() })
}
