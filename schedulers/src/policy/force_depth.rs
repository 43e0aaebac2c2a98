use super::{Node, Policy, Verdict};

/// Divides down to a depth, overruling other policies, while there is something to cut. Below that depth, passes.
///
/// Kvik's `force_depth`.
///
/// ```
/// use furcate::policy::{ForceDepth, Policy, Node, Verdict};
/// let mut node = Node::new(1000);
/// assert_eq!(ForceDepth::new(3).wants_split(&node), Verdict::Must);
/// node.depth = 3;
/// assert_eq!(ForceDepth::new(3).wants_split(&node), Verdict::Pass);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForceDepth {
    depth: u32,
}

impl ForceDepth {
    /// Forces at least `depth` divisions between the root and every leaf that could have been divided further.
    #[must_use]
    pub const fn new(depth: u32) -> Self {
        ForceDepth { depth }
    }
}

impl Policy for ForceDepth {
    const DECIDES: bool = false;

    #[inline]
    fn wants_split(&mut self, node: &Node) -> Verdict {
        if node.divisible && node.depth < self.depth { Verdict::Must } else { Verdict::Pass }
    }
}
