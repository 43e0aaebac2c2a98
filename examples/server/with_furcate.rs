//! The server with furcate: a handler is a chain.

use crate::app::{self, Error, Work};
use furcate::prelude::*;
use furcate::{Fairness, Limit, Priority, ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;

/// The pool and the limit of all requests, and the priority of cheap ones.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) pool: Arc<ThreadPool>,
    pub(crate) limit: Limit,
    cheap: Priority,
}

impl App {
    pub(crate) fn new(threads: usize, permits: usize, fairness: Fairness) -> Result<Self, Error> {
        let pool = Arc::new(ThreadPoolBuilder::new().num_threads(threads).fairness(fairness).build()?);
        Ok(App { pool, limit: Limit::new(permits), cheap: Priority::Normal })
    }

    /// Has cheap requests be answered before all others.
    pub(crate) fn urgent_if_cheap(self) -> Self {
        App { cheap: Priority::Urgent, ..self }
    }
}

impl app::App for App {
    /// Answers a request. The items wait in no thread, and are computed on the pool. Dropping the future ends its
    /// computation.
    async fn sum(self, work: Work) -> u64 {
        let priority = if work.is_cheap() { self.cheap } else { Priority::Normal };
        let rows =
            (0..work.items).into_par_iter().map(move |item| work.fetch(item)).io_await().limit(&self.limit);
        rows.map(move |row| work.compute(row)).on(&self.pool).priority(priority).async_sum().await
    }
}
