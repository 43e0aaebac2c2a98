//! chili: heartbeat scheduling. A fork is pushed to a local queue. At the first fork that sees the worker's heartbeat
//! (every 100 µs by default), the oldest job of the queue is shared.
//!
//! As chili's documentation recommends, a scope is made once per root call and handed down. `join` is the variant that
//! forks if less than three jobs are queued, and at every 64th call. Otherwise it runs both halves in place.

use std::cell::UnsafeCell;
use std::num::NonZero;

use ::chili::{Config, Scope, ThreadPool};

use super::{Engine, Fork};

/// A pool of chili's. The caller is one of its threads.
#[derive(Debug)]
pub struct Chili(ThreadPool);

/// A scope of chili's.
///
/// Invariant: a `&ChiliFork` is made from a `&mut Scope` only, for as long as that borrow lasts, and there is but one
/// of them for a scope that can be used at a time.
#[derive(Debug)]
#[repr(transparent)]
pub struct ChiliFork(UnsafeCell<Scope<'static>>);

impl ChiliFork {
    /// Returns the same scope, as the type with which programs fork. The scope's own lifetime is left out:
    /// [`Fork::join`] calls its halves with `Self`, chili with scopes of any lifetime.
    #[inline]
    fn new<'a>(scope: &'a mut Scope<'_>) -> &'a Self {
        let scope: *mut Scope<'_> = scope;
        // SAFETY: both types and `UnsafeCell` are transparent over the same scope, which is borrowed uniquely for
        // `'a`. Its lifetime is outlived by nothing: the scope stays private to this module, where nothing moves it
        // or keeps it, and the reference returned ends with the borrow.
        unsafe { &*scope.cast::<Self>() }
    }
}

impl Fork for ChiliFork {
    #[inline]
    fn join<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Self) -> RA + Send,
        B: FnOnce(&Self) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        // SAFETY: no other reference to the scope is in use. `&self` was made of a unique borrow, is not `Send` (the
        // cell is not `Sync`), so that neither half can hold it, and nothing else runs before `join` returns.
        let scope = unsafe { &mut *self.0.get() };
        // chili runs its second closure at once, and offers the first.
        let (right, left) =
            scope.join(|scope| right(ChiliFork::new(scope)), |scope| left(ChiliFork::new(scope)));
        (left, right)
    }
}

impl Engine for Chili {
    const NAME: &'static str = "chili";
    type Fork = ChiliFork;

    fn new(threads: usize) -> Self {
        Self(ThreadPool::with_config(Config { thread_count: NonZero::new(threads), ..Config::default() }))
    }

    fn run<R, F>(&self, body: F) -> R
    where
        R: Send,
        F: FnOnce(&ChiliFork) -> R + Send,
    {
        body(ChiliFork::new(&mut self.0.scope()))
    }
}
