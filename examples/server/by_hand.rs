//! The same server by hand: tokio's tasks wait, rayon's jobs compute, and a channel carries the results.

use crate::app::{self, Error, Work};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

/// The pool and the limit of all requests.
#[derive(Clone)]
pub(crate) struct App {
    pool: Arc<ThreadPool>,
    limit: Arc<Semaphore>,
}

impl App {
    pub(crate) fn new(threads: usize, permits: usize) -> Result<Self, Error> {
        let pool = Arc::new(ThreadPoolBuilder::new().num_threads(threads).build()?);
        Ok(App { pool, limit: Arc::new(Semaphore::new(permits)) })
    }
}

impl app::App for App {
    /// Answers a request. Dropping the future drops the set, which ends the tasks, and the jobs see that the channel is
    /// closed.
    async fn sum(self, work: Work) -> u64 {
        let App { pool, limit } = self;
        let (sender, mut numbers) = mpsc::unbounded_channel();
        let mut tasks = JoinSet::new();
        for item in 0..work.items {
            let (pool, limit, sender) = (Arc::clone(&pool), Arc::clone(&limit), sender.clone());
            tasks.spawn(async move {
                let permit = limit.acquire_owned().await.expect("the semaphore is never closed");
                let row = work.fetch(item).await;
                drop(permit);
                pool.spawn(move || {
                    if !sender.is_closed() {
                        // `send` fails if the client has left: then there is no receiver.
                        let _ = sender.send(work.compute(row));
                    }
                });
            });
        }
        drop(sender);
        let mut sum = 0;
        while let Some(number) = numbers.recv().await {
            sum += number;
        }
        sum
    }
}
