//! The job: fetch every block of the server's file, and count its readings.

use super::client::Connections;
use super::data::{BUCKETS, count};
use super::http::{Error, Page, Request};
use super::process::own_processor_time;
use std::net::{SocketAddr, TcpStream};
use std::ops::Range;
use std::time::{Duration, Instant};

/// The job of every contestant.
pub(crate) struct Job {
    pub(crate) address: SocketAddr,
    /// Requests, one for each block.
    pub(crate) requests: Vec<Request>,
    /// Greatest number of requests at the same time.
    pub(crate) in_flight: usize,
}

/// The result that every contestant must find.
pub(crate) struct Done {
    /// The histograms of the blocks, one behind the other.
    pub(crate) histograms: Vec<u64>,
    /// Number of connections that were opened.
    pub(crate) connections: usize,
}

/// The result of a plain loop that does not wait.
pub(crate) struct Reference {
    pub(crate) histograms: Vec<u64>,
    /// Processor time of the loop; if it is unknown, the elapsed time.
    pub(crate) work: Duration,
    pub(crate) compressed: usize,
    pub(crate) unpacked: usize,
}

impl Job {
    /// Makes the whole job, and computes its reference.
    pub(crate) fn new(address: SocketAddr, in_flight: usize) -> Result<(Self, Reference), Error> {
        let server = Connections::<TcpStream>::new(address);
        let index = parse_index(&server.fetch(&Request::whole("/index"))?)?;
        let file = server.fetch(&Request::whole("/file"))?;
        let requests = index.iter().map(|range| Request::part("/file", range)).collect();
        Ok((Job { address, requests, in_flight }, reference(&file, index)?))
    }

    /// Returns the requests for the first `n` blocks.
    pub(crate) fn first(&self, n: usize) -> &[Request] {
        &self.requests[..n.min(self.requests.len())]
    }
}

/// Parses the index, which has a line for each block with its beginning and end.
fn parse_index(page: &Page) -> Result<Vec<Range<usize>>, Error> {
    let text = String::from_utf8_lossy(page);
    let parse = |line: &str| {
        let (start, end) = line.split_once(' ')?;
        let range = start.parse().ok()?..end.parse().ok()?;
        (!range.is_empty()).then_some(range)
    };
    let blocks =
        text.lines().map(|line| parse(line).ok_or_else(|| Error::Damaged(format!("`{line}` is no range"))));
    blocks.collect()
}

fn reference(file: &Page, index: Vec<Range<usize>>) -> Result<Reference, Error> {
    let mut histograms = vec![0; index.len() * BUCKETS];
    let mut unpacked = 0;
    let (begun, before) = (Instant::now(), own_processor_time());
    for (range, histogram) in index.into_iter().zip(histograms.chunks_mut(BUCKETS)) {
        let block = file
            .get(range)
            .ok_or_else(|| Error::Damaged("the file is shorter than its index says".into()))?;
        unpacked += count(block, histogram)?;
    }
    let elapsed = begun.elapsed();
    let work =
        before.zip(own_processor_time()).map_or(elapsed, |(before, after)| after.saturating_sub(before));
    Ok(Reference { histograms, work, compressed: file.len(), unpacked })
}
