use super::{Node, Policy, Reason, Stop, StopSignals, Verdict};

/// Two policies at once. A chain of policies is made of such pairs.
///
/// The stronger verdict counts. A fork needs both permits. Either policy can end the computation.
///
/// ```
/// use furcate::policy::{Both, BoundDepth, Policy, SizeLimit, Node, Verdict};
/// let mut policy = Both::new(SizeLimit::new(100), BoundDepth::new(3));
/// assert_eq!(policy.wants_split(&Node::new(1000)), Verdict::Would);
/// assert_eq!(policy.wants_split(&Node::new(10)), Verdict::MayNot);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Both<A, B> {
    pub(super) first: A,
    pub(super) second: B,
}

impl<A, B> Both<A, B> {
    /// Combines two policies. Their order makes no difference.
    #[must_use]
    pub const fn new(first: A, second: B) -> Self {
        Both { first, second }
    }
}

impl<A: Policy, B: Policy> Policy for Both<A, B> {
    const STOPS: bool = A::STOPS || B::STOPS;
    const DECIDES: bool = A::DECIDES || B::DECIDES;
    const CAPS: bool = A::CAPS || B::CAPS;

    fn caps(&self) -> bool {
        self.first.caps() || self.second.caps()
    }

    #[inline]
    fn stopped(&self) -> bool {
        (A::STOPS && self.first.stopped()) || (B::STOPS && self.second.stopped())
    }

    fn watch(&self, signals: &mut StopSignals) {
        self.first.watch(signals);
        self.second.watch(signals);
    }

    #[inline]
    fn wants_split(&mut self, node: &Node) -> Verdict {
        self.first.wants_split(node).max(self.second.wants_split(node))
    }

    #[inline]
    fn split(self, node: &Node) -> (Self, Self) {
        let (first_left, first_right) = self.first.split(node);
        let (second_left, second_right) = self.second.split(node);
        (Both::new(first_left, second_left), Both::new(first_right, second_right))
    }

    #[inline]
    fn permit_fork(&mut self, node: &Node) -> bool {
        if !self.first.permit_fork(node) {
            return false;
        }
        let both = self.second.permit_fork(node);
        if !both {
            self.first.return_permit();
        }
        both
    }

    #[inline]
    fn return_permit(&mut self) {
        self.first.return_permit();
        self.second.return_permit();
    }

    #[inline]
    fn in_batches(self, units: usize) -> Self {
        Both::new(self.first.in_batches(units), self.second.in_batches(units))
    }
}

impl<A: Stop, B: Stop> Stop for Both<A, B> {
    #[inline]
    fn reason(&self) -> Option<Reason> {
        self.first.reason().or_else(|| self.second.reason())
    }
}
