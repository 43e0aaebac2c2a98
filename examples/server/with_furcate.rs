//! The server with furcate: a handler is a chain.

use crate::app::{CHEAP, Error, HEAVY, Work};
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use furcate::prelude::*;
use furcate::{Fairness, Limit, ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;

/// The pool and the limit of all requests.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) pool: Arc<ThreadPool>,
    pub(crate) limit: Limit,
}

impl App {
    pub(crate) fn new(threads: usize, permits: usize, fairness: Fairness) -> Result<Self, Error> {
        let pool = Arc::new(ThreadPoolBuilder::new().num_threads(threads).fairness(fairness).build()?);
        Ok(App { pool, limit: Limit::new(permits) })
    }
}

pub(crate) fn router(app: App) -> Router {
    Router::new().route("/cheap", get(cheap)).route("/heavy", get(heavy)).with_state(app)
}

async fn cheap(State(app): State<App>) -> String {
    sum(app, CHEAP).await
}

async fn heavy(State(app): State<App>) -> String {
    sum(app, HEAVY).await
}

/// The items wait in no thread, and are computed on the pool. If the client leaves, axum drops this future, and so ends the
/// computation.
async fn sum(App { pool, limit }: App, work: Work) -> String {
    let rows = (0..work.items).into_par_iter().map(move |item| work.fetch(item)).io_await().limit(&limit);
    let sum: u64 = rows.map(move |row| work.compute(row)).on(&pool).async_sum().await;
    sum.to_string()
}
