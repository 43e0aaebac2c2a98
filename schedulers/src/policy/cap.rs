use super::tokens::{Token, Tokens};
use super::{Node, Policy, Verdict};
use furcate_pool::sync::Arc;

/// Bounds the number of live tasks.
///
/// Kvik's `cap`, made exact. A task is *live* from the fork that makes it until its own part is folded. While the task
/// waits for a stolen half, or reduces, it is not live. The tasks share one counter of tokens. A fork takes a token for
/// the right part, which comes back when that part is done. If no token is left, no fork is made; see
/// [the module](crate::policy) for divisions that must be made all the same.
///
/// Clones share the counter: give clones of one `Cap` to several computations to bound them together. A computation
/// counts from its first fork on. A root is never refused, because it runs on its caller's thread. So k callers whose
/// computations have not forked may run beside that many tasks.
///
/// The policy bounds tasks, not parts: when a task is done, its token allows another fork.
///
/// A chain that waits for futures (`io_await`) takes no cap: it does not compile. Use `max_in_flight(n)` there to bound
/// the futures in flight. A pool of n threads bounds the number of items that are computed at once.
///
/// Cost: one compare-exchange and one small allocation per fork.
///
/// ```
/// use furcate::policy::{Cap, Policy, Node};
///
/// let cap = Cap::new(2);
/// let mut root = cap.clone();
/// assert!(root.permit_fork(&Node::new(100)));
/// let (mut left, right) = root.split(&Node::new(100));
/// assert_eq!(cap.available(), 0); // two tasks are live
/// assert!(!left.permit_fork(&Node::new(50)));
/// drop(right);
/// assert!(left.permit_fork(&Node::new(50)));
/// drop(left);
/// assert_eq!(cap.available(), 2);
/// ```
#[derive(Debug)]
pub struct Cap {
    tokens: Arc<Tokens>,
    /// The task's own token. Parts of a division that run one after the other in one task share it. `None` in a root
    /// that has not forked.
    own: Option<Arc<Token>>,
    permit: Option<ForkTokens>,
}

/// Tokens of a fork that has been permitted and not yet made.
#[derive(Debug)]
struct ForkTokens {
    /// Token of the right part.
    right: Token,
    /// Token of the left part, if the task has no token of its own.
    left: Option<Token>,
}

impl Cap {
    /// Allows at most `tasks` live tasks; 1 makes everything run in the calling task.
    ///
    /// # Panics
    ///
    /// If `tasks` is 0, since a computation is at least one task.
    #[must_use]
    #[track_caller]
    pub fn new(tasks: usize) -> Self {
        assert!(tasks > 0, "a cap of 0 tasks would let nothing run; use at least 1");
        Cap { tokens: Tokens::new(tasks), own: None, permit: None }
    }

    /// Returns how many more tasks could be live now: all of them, when no computation is running.
    #[must_use]
    pub fn available(&self) -> usize {
        self.tokens.free()
    }
}

impl Clone for Cap {
    /// Returns a cap that shares the counter and holds no token.
    fn clone(&self) -> Self {
        Cap { tokens: Arc::clone(&self.tokens), own: None, permit: None }
    }
}

impl Policy for Cap {
    const DECIDES: bool = false;
    const CAPS: bool = true;

    #[inline]
    fn wants_split(&mut self, _node: &Node) -> Verdict {
        Verdict::Pass
    }

    fn split(mut self, _node: &Node) -> (Self, Self) {
        let right = match self.permit.take() {
            Some(ForkTokens { right, left }) => {
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

    fn permit_fork(&mut self, _node: &Node) -> bool {
        if self.permit.is_some() {
            return true;
        }
        self.permit = if self.own.is_some() {
            Tokens::take(&self.tokens).map(|[right]| ForkTokens { right, left: None })
        } else {
            Tokens::take(&self.tokens).map(|[left, right]| ForkTokens { right, left: Some(left) })
        };
        self.permit.is_some()
    }

    fn return_permit(&mut self) {
        self.permit = None;
    }
}
