use super::{Node, Policy, Verdict};

/// Divides left parts always, and right parts only if they have migrated, down to a depth.
///
/// Kvik's `join_context`. A worker without thieves divides along its leftmost path only. That makes depth + 1 leaves,
/// each half as large as the next. A part that a thief has taken is divided in the same manner.
///
/// ```
/// use furcate::policy::{JoinContext, Policy, Node, Verdict};
/// let mut node = Node::new(1000);
/// let (mut left, mut right) = JoinContext::new(5).split(&node);
/// node.depth = 1;
/// assert_eq!(left.wants_split(&node), Verdict::Would);
/// assert_eq!(right.wants_split(&node), Verdict::MayNot);
/// node.migrated = true;
/// assert_eq!(right.wants_split(&node), Verdict::Would);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinContext {
    depth: u32,
    right: bool,
}

impl JoinContext {
    /// Allows at most `depth` divisions between the root and a leaf; 0 divides nothing.
    #[must_use]
    pub const fn new(depth: u32) -> Self {
        JoinContext { depth, right: false }
    }
}

impl Policy for JoinContext {
    #[inline]
    fn wants_split(&mut self, node: &Node) -> Verdict {
        (node.depth < self.depth && (!self.right || node.migrated)).into()
    }

    #[inline]
    fn split(self, _node: &Node) -> (Self, Self) {
        (JoinContext { right: false, ..self }, JoinContext { right: true, ..self })
    }
}
