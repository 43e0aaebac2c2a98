//! A future waited for by the thread that needs what it gives.

use crate::detach::{Resume, Suspend};
use crate::scope::Scope;
use crate::{Context, Executor, Pool};
use std::sync::{Mutex, PoisonError};

/// Runs a future to its end, and returns what it gives.
///
/// The calling thread polls it first. If it is pending it becomes a task that any worker goes on with when it is woken: of
/// the pool that the caller is in, else of the global one. Inside the pool the caller runs nothing else meanwhile, but gives
/// its place to a thread that does ([`WaitRule`](crate::WaitRule)): so no core idles. The future may borrow.
///
/// Cost: two allocations and what a scope costs, if it is pending.
///
/// # Panics
///
/// If the future does.
///
/// ```
/// let name = String::from("furcate");
/// let len = furcate::block_on(async {
///     futures_lite::future::yield_now().await;
///     name.len()
/// });
/// assert_eq!(len, 7);
/// ```
pub fn block_on<F>(future: F) -> F::Output
where
    F: Future<Output: Send> + Send,
{
    let output = Mutex::new(None);
    let ready = Pool.detached(|scope| {
        let handle = scope.handle();
        handle.poll(&mut Default::default(), future, || Store(&output))
    });
    ready.or_else(|| output.into_inner().unwrap_or_else(PoisonError::into_inner)).expect("the task has ended")
}

/// Keeps what the future gives.
struct Store<'s, T>(&'s Mutex<Option<T>>);

impl<'s, T: Send> Resume<'s, Scope<'s>, T> for Store<'s, T> {
    fn resume(self, _: &Scope<'s>, output: T, _: Context) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(output);
    }

    fn cancelled(self, _: &Scope<'s>) {}
}
