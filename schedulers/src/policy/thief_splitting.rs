use super::{Node, Policy, Verdict};

/// Divides a number of levels, and as many again in every part that a thief has taken.
///
/// A part that has [grown](Node::grown) begins anew, too.
///
/// Kvik's `thief_splitting` (`rayon` in its code): a counter is passed down the tree and decremented at each division.
/// In a task that has migrated, the counter starts anew. So there are few tasks while all workers are busy, and more
/// where a steal has shown that a worker was idle.
///
/// ```
/// use furcate::policy::{Policy, Node, ThiefSplitting, Verdict};
/// let mut node = Node::new(1000);
/// let (mut left, _) = ThiefSplitting::new(1).split(&node);
/// assert_eq!(left.wants_split(&node), Verdict::MayNot);
/// node.migrated = true;
/// assert_eq!(left.wants_split(&node), Verdict::Would);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThiefSplitting {
    levels: u32,
    left: u32,
}

impl ThiefSplitting {
    /// Divides `levels` times below the root and below every steal; 0 divides nothing. A good choice is log2 of the
    /// number of threads, plus one or two.
    #[must_use]
    pub const fn new(levels: u32) -> Self {
        ThiefSplitting { levels, left: levels }
    }

    fn left(&self, node: &Node) -> u32 {
        if node.migrated || node.grown { self.levels } else { self.left }
    }
}

impl Policy for ThiefSplitting {
    #[inline]
    fn wants_split(&mut self, node: &Node) -> Verdict {
        (self.left(node) > 0).into()
    }

    #[inline]
    fn split(mut self, node: &Node) -> (Self, Self) {
        self.left = self.left(node).saturating_sub(1);
        (self, self)
    }
}
