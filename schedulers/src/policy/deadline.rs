use super::stop::{Reason, Stop, stops};
use furcate_pool::sync::clock;
use std::time::Instant;

/// Ends the computation at a deadline.
///
/// This policy passes on all divisions. Named by the method `deadline`, it makes a result that says whether all items
/// were processed. Named by `with_policy`, as any other policy, it makes a result that does not say so.
///
/// ```
/// use furcate::policy::Deadline;
/// use furcate::prelude::*;
/// use std::time::Instant;
///
/// let over = Deadline::new(Instant::now());
/// assert_eq!((0..1000).into_par_iter().with_policy(over).count(), 0);
/// ```
///
/// Cost: one look at the clock (some 30 ns) before a task and between its steps; there are only a few steps per
/// 100 us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    at: Instant,
}

impl Deadline {
    /// Ends the computation at this time; at once, if the time has passed.
    #[must_use]
    pub const fn new(at: Instant) -> Self {
        Deadline { at }
    }
}

impl Stop for Deadline {
    #[inline]
    fn reason(&self) -> Option<Reason> {
        (clock::now() >= self.at).then_some(Reason::DeadlineExceeded)
    }
}

stops!(Deadline: |stop| deadline(stop.at));
