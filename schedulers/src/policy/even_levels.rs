use super::{Node, Policy, Verdict};

/// Allows leaves at even depths only.
///
/// Kvik's `even_levels`. An algorithm that swaps two buffers at every level, such as a merge sort, then ends in the
/// buffer it began in. A task at an odd depth is divided even if there is nothing left to cut: one part is then empty
/// and dropped, and the other one is a level deeper.
///
/// ```
/// use furcate::policy::{EvenLevels, Policy, Node, Verdict};
/// let mut node = Node::new(1000);
/// assert_eq!(EvenLevels.wants_split(&node), Verdict::Pass);
/// node.depth = 1;
/// assert_eq!(EvenLevels.wants_split(&node), Verdict::Must);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvenLevels;

impl Policy for EvenLevels {
    const DECIDES: bool = false;

    #[inline]
    fn wants_split(&mut self, node: &Node) -> Verdict {
        if node.depth % 2 == 1 { Verdict::Must } else { Verdict::Pass }
    }
}
