use super::{Policy, Task, Verdict};

/// Divides what is larger than a limit, and nothing else.
///
/// Kvik's `size_limit`: the grain of divide-and-conquer. As under [`BoundDepth`](super::BoundDepth), the division tree
/// depends on the input alone.
///
/// ```
/// use furcate::policy::{Policy, SizeLimit, Task, Verdict};
/// assert_eq!(SizeLimit::new(100).wants_split(&Task::new(101)), Verdict::Would);
/// assert_eq!(SizeLimit::new(100).wants_split(&Task::new(100)), Verdict::MayNot);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeLimit {
    limit: usize,
}

impl SizeLimit {
    /// No leaf above `limit` units (that could be divided), no division at or below; 0 is as 1.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        SizeLimit { limit }
    }
}

impl Policy for SizeLimit {
    #[inline]
    fn wants_split(&mut self, task: &Task) -> Verdict {
        (task.len > self.limit).into()
    }
}
