//! The job with tokio: a task for each request, and a semaphore. Tasks may not borrow. So shared values are
//! reference-counted, and each task makes its own histogram, which is copied to its place afterwards.

use super::client::Connections;
use super::data::{BUCKETS, count};
use super::http::{Error, Page};
use super::job::{Done, Job};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;

type Histogram = [u64; BUCKETS];

fn histogram(page: &Page) -> Result<Histogram, Error> {
    let mut histogram = [0; BUCKETS];
    count(page, &mut histogram)?;
    Ok(histogram)
}

/// Runs the job: the task that waited for a page also works on it.
pub(crate) fn inline(runtime: &Runtime, job: &Arc<Job>) -> Result<Done, Error> {
    run(runtime, job, async |page| histogram(&page))
}

/// Runs the job: one of rayon's threads works on a page.
pub(crate) fn with_rayon(
    runtime: &Runtime,
    pool: &Arc<rayon::ThreadPool>,
    job: &Arc<Job>,
) -> Result<Done, Error> {
    let pool = Arc::clone(pool);
    let work = move |page| {
        let (give, take) = oneshot::channel();
        pool.spawn(move || {
            // If the receiver is gone, something else has failed.
            let _ = give.send(histogram(&page));
        });
        async { take.await.unwrap_or_else(|_| Err(Error::Damaged("the work on a block panicked".into()))) }
    };
    run(runtime, job, work)
}

/// Runs the job in a task, too: otherwise the calling thread would have to be woken for every task that ends.
fn run<W, F>(runtime: &Runtime, job: &Arc<Job>, work: W) -> Result<Done, Error>
where
    W: Fn(Page) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Histogram, Error>> + Send + 'static,
{
    let crawl = runtime.spawn(crawl(Arc::clone(job), work));
    runtime.block_on(crawl).unwrap_or_else(|failure| std::panic::resume_unwind(failure.into_panic()))
}

async fn crawl<W, F>(job: Arc<Job>, work: W) -> Result<Done, Error>
where
    W: Fn(Page) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Histogram, Error>> + Send + 'static,
{
    let connections = Arc::new(Connections::<TcpStream>::new(job.address));
    let permits = Arc::new(Semaphore::new(job.in_flight));
    let mut tasks = JoinSet::new();
    for number in 0..job.requests.len() {
        let (job, connections, permits) = (Arc::clone(&job), Arc::clone(&connections), Arc::clone(&permits));
        let work = work.clone();
        tasks.spawn(async move {
            let permit = permits.acquire().await.expect("it is never closed");
            let page = connections.fetch(&job.requests[number]).await?;
            drop(permit); // the next request is under way while this page is worked on
            Ok((number, work(page).await?))
        });
    }
    let mut histograms = vec![0; job.requests.len() * BUCKETS];
    while let Some(ended) = tasks.join_next().await {
        let (number, histogram) =
            ended.unwrap_or_else(|failure| std::panic::resume_unwind(failure.into_panic()))?;
        histograms[number * BUCKETS..][..BUCKETS].copy_from_slice(&histogram);
    }
    Ok(Done { histograms, connections: connections.opened() })
}
