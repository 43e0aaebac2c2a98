use super::stop::{Reason, Stop, stops};
use std::time::Instant;

/// Ends the computation when a time is over.
///
/// It has no word on divisions. Chained with `deadline`, it makes a result that says whether all was done; as any other
/// policy (`with_policy`), one that does not say.
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
/// Cost: one look at the clock (some 30 ns) before a task and between its nano-loops, of which there are few per
/// 100 us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    at: Instant,
}

impl Deadline {
    /// Ends at a time; at once, if it is over.
    #[must_use]
    pub const fn new(at: Instant) -> Self {
        Deadline { at }
    }
}

impl Stop for Deadline {
    #[inline]
    fn reason(&self) -> Option<Reason> {
        (Instant::now() >= self.at).then_some(Reason::DeadlineExceeded)
    }
}

stops!(Deadline: |stop| deadline(stop.at));
