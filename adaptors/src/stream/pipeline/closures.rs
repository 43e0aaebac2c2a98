//! The closures of a pipeline's stages and sinks.
//!
//! The type of a closure contains all type parameters of the function that it is written in. In a method of a pipeline, these are the
//! pipeline with all stages before. So each stage would double the length of its type's name, which debug builds keep in symbols: five
//! stages took a gigabyte. The functions of this module have no parameter but the stage's own.

use super::super::in_order::InOrder;
use super::{Numbered, lock};
use furcate_pool::sync::machine::Mutex;
use furcate_schedulers::Limit;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;

/// A closure that returns a future. Names the future's type, which `impl Fn(T) -> impl Future` cannot.
pub(super) trait AsyncStage<T>: Fn(T) -> Self::Future + Sync + Send {
    type Future: Future<Output = Self::Result> + Send;
    type Result: Send;
}

impl<T, F, A> AsyncStage<T> for F
where
    F: Fn(T) -> A + Sync + Send,
    A: Future<Output: Send> + Send,
{
    type Future = A;
    type Result = A::Output;
}

/// Makes the closure of the stage [`stage`](super::Pipeline::stage).
pub(super) fn some<T, R>(stage: impl Fn(T) -> R) -> impl Fn(T) -> Option<R> {
    move |item| Some(stage(item))
}

/// Makes the closure of the stage [`filter`](super::Pipeline::filter).
pub(super) fn if_so<T>(predicate: impl Fn(&T) -> bool) -> impl Fn(T) -> Option<T> {
    move |item| predicate(&item).then_some(item)
}

/// Makes the closure of the stage [`and_then`](super::Pipeline::and_then).
pub(super) fn if_ok<T, R, E>(stage: impl Fn(T) -> Result<R, E>) -> impl Fn(Result<T, E>) -> Result<R, E> {
    move |item| item.and_then(&stage)
}

/// Makes the closure of the stage [`and_then_async`](super::Pipeline::and_then_async).
pub(super) fn awaits_if_ok<T, R, E, A>(
    stage: impl Fn(T) -> A + Sync + Send,
) -> impl AsyncStage<Result<T, E>, Result = Result<R, E>>
where
    A: IntoFuture<Output = Result<R, E>, IntoFuture: Send>,
    R: Send,
    E: Send,
{
    move |item: Result<T, E>| {
        let future = item.map(|item| stage(item).into_future());
        async move { future?.await }
    }
}

/// Makes the closure of the stage [`filter_map`](super::Pipeline::filter_map).
pub(super) fn numbered<T, R>(stage: impl Fn(T) -> Option<R>) -> impl Fn(Numbered<T>) -> Numbered<R> {
    move |Numbered { number, item }| Numbered { number, item: item.and_then(&stage) }
}

/// Makes the closure of the stage [`stage_async`](super::Pipeline::stage_async).
pub(super) fn awaits<T, A>(
    stage: impl Fn(T) -> A + Sync + Send,
) -> impl AsyncStage<Numbered<T>, Result = Numbered<A::Output>>
where
    A: IntoFuture<Output: Send, IntoFuture: Send>,
{
    move |Numbered { number, item }| {
        let future = item.map(|item| stage(item).into_future());
        async move {
            let item = match future {
                Some(future) => Some(future.await),
                None => None,
            };
            Numbered { number, item }
        }
    }
}

/// Makes the closure of the stage [`stage_async_at_most`](super::Pipeline::stage_async_at_most).
#[track_caller]
pub(super) fn awaits_at_most<T: Send, A>(
    n: usize,
    stage: impl Fn(T) -> A + Sync + Send,
) -> impl AsyncStage<Numbered<T>, Result = Numbered<A::Output>>
where
    A: IntoFuture<Output: Send, IntoFuture: Send>,
{
    let shared = Arc::new((Limit::new(n), stage));
    move |Numbered { number, item }| {
        let shared = Arc::clone(&shared);
        async move {
            let Some(item) = item else { return Numbered { number, item: None } };
            let (limit, stage) = &*shared;
            let _permit = limit.acquire().await;
            let future = stage(item).into_future();
            Numbered { number, item: Some(future.await) }
        }
    }
}

/// Makes the closure that gives items to a sink, one at a time and in the order of their numbers.
pub(super) fn arrives<T: Send, A, E>(
    sink: impl FnMut(T) -> A + Send,
) -> impl AsyncStage<Numbered<T>, Result = Result<(), E>>
where
    A: Future<Output = Result<(), E>> + Send,
    E: Send,
{
    let shared = Arc::new((InOrder::default(), Mutex::new(sink)));
    move |Numbered { number, item }| {
        let shared = Arc::clone(&shared);
        async move {
            let (order, sink) = &*shared;
            order.turn(number).await;
            if let Some(item) = item {
                // Never contended: only one item has the turn.
                let done = lock(sink)(item);
                done.await?;
            }
            order.advance();
            Ok(())
        }
    }
}

/// Makes a sink that waits, and cannot fail, of one that returns nothing.
pub(super) fn never_fails<T>(
    mut sink: impl FnMut(T) + Send,
) -> impl FnMut(T) -> Ready<Result<(), Infallible>> + Send {
    move |item| {
        sink(item);
        ready(Ok(()))
    }
}

/// Makes a sink that waits of one that returns at once.
pub(super) fn at_once<T, E>(
    mut sink: impl FnMut(T) -> Result<(), E> + Send,
) -> impl FnMut(T) -> Ready<Result<(), E>> + Send {
    move |item| ready(sink(item))
}
