use super::{Node, Policy, Verdict};

/// The default: a few parts per thread, and more where parts are stolen.
///
/// The rule is rayon's: a budget of divisions is halved at each division. In a part that has migrated, the budget is
/// raised to at least the number of threads. The budget begins with the number of threads, and with four times as many in a call from
/// outside the pool. (Rayon counts such a call as a steal of both its halves, with the same effect.) In a part that has
/// [grown](Node::grown), the budget is raised to at least half the number of threads: enough for a part per thread.
/// So without steals, a call from outside makes more than four and at most eight parts per thread, however long the input is. A call
/// within a job makes a fourth of that, or one part if there is one thread; and so does a call from outside that
/// [gathers](crate::Reduction::GATHERS) its items on one thread. Every other policy's verdict overrules this one.
///
/// ```
/// use furcate::policy::{Auto, Policy, Node, Verdict};
/// let mut node = Node::new(1_000_000);
/// node.threads = 2;
/// assert_eq!(Auto::new().wants_split(&node), Verdict::Rather);
/// let mut leaf = Auto::new();
/// for _ in 0..2 {
///     leaf = leaf.split(&node).0;
/// }
/// assert_eq!(leaf.wants_split(&node), Verdict::RatherNot); // 2^2 parts
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Auto {
    /// `None` at the root, where the number of threads is not yet known.
    budget: Option<usize>,
}

impl Auto {
    /// Returns the default policy.
    #[must_use]
    pub const fn new() -> Self {
        Auto { budget: None }
    }

    #[inline]
    fn budget(&self, node: &Node) -> usize {
        match self.budget {
            None if node.migrated => node.threads.saturating_mul(4),
            // Within a job of a single thread, nothing can be stolen.
            None if node.threads == 1 => 0,
            None => node.threads,
            Some(budget) if node.migrated => node.threads.max(budget),
            Some(budget) if node.threads > 1 && node.grown => node.threads.div_ceil(2).max(budget),
            Some(budget) => budget,
        }
    }
}

impl Policy for Auto {
    const DECIDES: bool = false;

    #[inline]
    fn wants_split(&mut self, node: &Node) -> Verdict {
        if self.budget(node) > 0 { Verdict::Rather } else { Verdict::RatherNot }
    }

    #[inline]
    fn split(self, node: &Node) -> (Self, Self) {
        let half = Auto { budget: Some(self.budget(node) / 2) };
        (half, half)
    }
}
