use super::{Node, Policy, Verdict};

/// Divides parts larger than a limit, and no others.
///
/// Kvik's `size_limit`: the grain of divide-and-conquer. As under [`BoundDepth`](super::BoundDepth), the division tree
/// depends on the input alone.
///
/// ```
/// use furcate::policy::{Policy, SizeLimit, Node, Verdict};
/// assert_eq!(SizeLimit::new(100).wants_split(&Node::new(101)), Verdict::Would);
/// assert_eq!(SizeLimit::new(100).wants_split(&Node::new(100)), Verdict::MayNot);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeLimit {
    limit: usize,
}

impl SizeLimit {
    /// Makes no divisible leaf above `limit` units, and no division at or below `limit`; 0 counts as 1.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        SizeLimit { limit }
    }
}

impl Policy for SizeLimit {
    #[inline]
    fn wants_split(&mut self, node: &Node) -> Verdict {
        (node.len > self.limit).into()
    }

    #[inline]
    fn in_batches(self, units: usize) -> Self {
        SizeLimit { limit: self.limit / units }
    }
}
