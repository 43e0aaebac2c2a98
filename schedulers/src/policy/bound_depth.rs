use super::{Node, Policy, Verdict};

/// Divides down to a depth, and no further: at most 2^depth parts.
///
/// Kvik's `bound_depth`: the classical static partition. The division tree depends on the input alone, neither on the
/// number of threads nor on steals. So a sum of floats is reproducible under this policy, with the schedulers `join`,
/// `depjoin` and the default (see the chapter *Why* of the book for the exact promise).
///
/// ```
/// use furcate::policy::{BoundDepth, Policy, Node, Verdict};
/// let mut node = Node::new(1000);
/// assert_eq!(BoundDepth::new(3).wants_split(&node), Verdict::Would);
/// node.depth = 3;
/// assert_eq!(BoundDepth::new(3).wants_split(&node), Verdict::MayNot);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundDepth {
    depth: u32,
}

impl BoundDepth {
    /// Allows at most `depth` divisions on the way from the root to a leaf; 0 divides nothing.
    #[must_use]
    pub const fn new(depth: u32) -> Self {
        BoundDepth { depth }
    }
}

impl Policy for BoundDepth {
    #[inline]
    fn wants_split(&mut self, node: &Node) -> Verdict {
        (node.depth < self.depth).into()
    }
}
