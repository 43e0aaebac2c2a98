use super::{DefaultShare, Policy, Task, Verdict};

/// The default: a few parts per thread, and more where parts are stolen.
///
/// The rule is rayon's: a budget of divisions is halved at each division. In a part that has migrated, the budget is
/// raised to at least the number of threads. The budget begins with twice the number of threads (rayon begins with
/// once, but counts a call from outside its pool as a steal, with the same effect). In a part that has
/// [grown](Task::grown), the budget is raised to at least half the number of threads: enough for a part per thread.
/// Without steals the rule makes more than two and at most four parts per thread, however long the input is; and one
/// part if there is one thread. Every other policy's verdict overrules this one.
///
/// ```
/// use furcate::policy::{Auto, Policy, Task, Verdict};
/// let mut task = Task::new(1_000_000);
/// task.threads = 2;
/// assert_eq!(Auto::new().wants_split(&task), Verdict::Rather);
/// let mut leaf = Auto::new();
/// for _ in 0..3 {
///     leaf = leaf.split(&task).0;
/// }
/// assert_eq!(leaf.wants_split(&task), Verdict::RatherNot); // 2^3 parts
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
    fn budget(&self, task: &Task) -> usize {
        match self.budget {
            None if task.threads == 1 => 0,
            None => task.threads.saturating_mul(2),
            Some(budget) if task.migrated => task.threads.max(budget),
            Some(budget) if task.threads > 1 && task.grown => task.threads.div_ceil(2).max(budget),
            Some(budget) => budget,
        }
    }
}

impl Policy for Auto {
    const DECIDES: bool = false;
    const DEFAULT_SHARE: DefaultShare = DefaultShare::All;

    #[inline]
    fn wants_split(&mut self, task: &Task) -> Verdict {
        if self.budget(task) > 0 { Verdict::Rather } else { Verdict::RatherNot }
    }

    #[inline]
    fn split(self, task: &Task) -> (Self, Self) {
        let half = Auto { budget: Some(self.budget(task) / 2) };
        (half, half)
    }
}
