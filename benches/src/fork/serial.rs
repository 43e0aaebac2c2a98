//! No pool: both halves in turn. Shows the cost of a program's forked form itself.

use super::{Engine, Fork};

/// Runs the halves of a fork in turn, in the calling thread.
#[derive(Debug)]
pub struct Serial;

impl Fork for Serial {
    #[inline]
    fn join<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Self) -> RA + Send,
        B: FnOnce(&Self) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        (left(self), right(self))
    }
}

impl Engine for Serial {
    const NAME: &'static str = "serial";
    const PARALLEL: bool = false;
    type Fork = Self;

    fn new(_threads: usize) -> Self {
        Self
    }

    fn run<R, F>(&self, body: F) -> R
    where
        R: Send,
        F: FnOnce(&Self) -> R + Send,
    {
        body(self)
    }
}
