use super::tokens::{Token, Tokens};
use super::{Policy, Task, Verdict};
use furcate_pool::sync::Arc;

/// Never more than a number of live tasks at once.
///
/// Kvik's `cap`, made exact: a task is *live* from the fork that makes it until its own part is folded (while it waits
/// for a stolen half, and while it reduces, it is not). The tasks share one counter of tokens; a fork takes one for the
/// right part, which comes back when that part is done. Where no token is left, no fork is made; see
/// [the module](crate::policy) for divisions that must be made all the same.
///
/// Clones share the counter: give clones of one `Cap` to several computations to bound them together. A computation
/// counts from its first fork on; a root is never refused, for it runs on its caller's thread. So k callers whose
/// computations have not forked may run beside that many tasks.
///
/// It bounds tasks, not parts: when a task is done, its token allows another fork.
///
/// A chain that waits for futures (`io_await`) takes no cap: it does not compile. There `max_in_flight(n)` bounds the futures in
/// flight, and a pool of n threads the items that are computed at once.
///
/// Cost: one compare-exchange and one small allocation per fork.
///
/// ```
/// use furcate::policy::{Cap, Policy, Task};
///
/// let cap = Cap::new(2);
/// let mut root = cap.clone();
/// assert!(root.permit_fork(&Task::new(100)));
/// let (mut left, right) = root.split(&Task::new(100));
/// assert_eq!(cap.available(), 0); // two tasks are live
/// assert!(!left.permit_fork(&Task::new(50)));
/// drop(right);
/// assert!(left.permit_fork(&Task::new(50)));
/// drop(left);
/// assert_eq!(cap.available(), 2);
/// ```
#[derive(Debug)]
pub struct Cap {
    tokens: Arc<Tokens>,
    /// The task's own token. Shared by the parts of a division that run one after the other in one task; none in a
    /// root that has not forked.
    own: Option<Arc<Token>>,
    permit: Option<Permit>,
}

/// The tokens of a fork that is yet to be made.
#[derive(Debug)]
struct Permit {
    /// The right part's token.
    right: Token,
    /// The left part's, if the task has none of its own.
    left: Option<Token>,
}

impl Cap {
    /// At most `tasks` live tasks; 1 makes everything run in the calling task.
    ///
    /// # Panics
    ///
    /// If `tasks` is 0: a computation is at least one task.
    #[must_use]
    #[track_caller]
    pub fn new(tasks: usize) -> Self {
        assert!(tasks > 0, "a cap of 0 tasks would let nothing run; use at least 1");
        Cap { tokens: Tokens::new(tasks), own: None, permit: None }
    }

    /// How many more tasks could be live now: all of them, when no computation is running.
    #[must_use]
    pub fn available(&self) -> usize {
        self.tokens.free()
    }
}

impl Clone for Cap {
    /// A cap that shares the counter and holds no token.
    fn clone(&self) -> Self {
        Cap { tokens: Arc::clone(&self.tokens), own: None, permit: None }
    }
}

impl Policy for Cap {
    const DECIDES: bool = false;
    const CAPS: bool = true;

    #[inline]
    fn wants_split(&mut self, _task: &Task) -> Verdict {
        Verdict::Pass
    }

    fn split(mut self, _task: &Task) -> (Self, Self) {
        let right = match self.permit.take() {
            Some(Permit { right, left }) => {
                if let Some(left) = left {
                    self.own = Some(Arc::new(left));
                }
                Some(Arc::new(right))
            }
            // The parts run one after the other: the token is free when both are done.
            None => self.own.clone(),
        };
        let right = Cap { tokens: Arc::clone(&self.tokens), own: right, permit: None };
        (self, right)
    }

    fn permit_fork(&mut self, _task: &Task) -> bool {
        if self.permit.is_some() {
            return true;
        }
        self.permit = if self.own.is_some() {
            Tokens::take(&self.tokens).map(|[right]| Permit { right, left: None })
        } else {
            Tokens::take(&self.tokens).map(|[left, right]| Permit { right, left: Some(left) })
        };
        self.permit.is_some()
    }

    fn return_permit(&mut self) {
        self.permit = None;
    }
}
