use super::{Policy, Task, Verdict};

/// Divides a number of levels, and again as many in every part that a thief has taken.
///
/// A part that has [grown](Task::grown) begins anew, too.
///
/// Kvik's `thief_splitting` (`rayon` in its code): a counter rides down the tree and is decremented at each division;
/// in a task that has migrated it starts anew. So there are few tasks while all workers are busy, and more where
/// somebody has shown to be idle.
///
/// ```
/// use furcate::policy::{Policy, Task, ThiefSplitting, Verdict};
/// let mut task = Task::new(1000);
/// let (mut left, _) = ThiefSplitting::new(1).split(&task);
/// assert_eq!(left.wants_split(&task), Verdict::MayNot);
/// task.migrated = true;
/// assert_eq!(left.wants_split(&task), Verdict::Would);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThiefSplitting {
    levels: u32,
    left: u32,
}

impl ThiefSplitting {
    /// `levels` divisions below the root and below every steal; 0 divides nothing. log2 of the number of threads, plus
    /// one or two, is a good choice.
    #[must_use]
    pub const fn new(levels: u32) -> Self {
        ThiefSplitting { levels, left: levels }
    }

    fn left(&self, task: &Task) -> u32 {
        if task.migrated || task.grown { self.levels } else { self.left }
    }
}

impl Policy for ThiefSplitting {
    #[inline]
    fn wants_split(&mut self, task: &Task) -> Verdict {
        (self.left(task) > 0).into()
    }

    #[inline]
    fn split(mut self, task: &Task) -> (Self, Self) {
        self.left = self.left(task).saturating_sub(1);
        (self, self)
    }
}
