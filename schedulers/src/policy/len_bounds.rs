use super::{Node, Policy, Verdict};

/// Forbids divisions that would leave a half shorter than a minimum; passes on all others.
///
/// rayon's `with_min_len`.
///
/// ```
/// use furcate::policy::{MinLen, Policy, Node, Verdict};
/// assert_eq!(MinLen::new(100).wants_split(&Node::new(199)), Verdict::TooShort);
/// assert_eq!(MinLen::new(100).wants_split(&Node::new(200)), Verdict::Pass);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinLen {
    min: usize,
}

impl MinLen {
    /// Makes no part shorter than `min` units, unless the whole is shorter.
    #[must_use]
    pub const fn new(min: usize) -> Self {
        MinLen { min }
    }
}

impl Policy for MinLen {
    const DECIDES: bool = false;

    #[inline]
    fn wants_split(&mut self, node: &Node) -> Verdict {
        if node.len / 2 < self.min { Verdict::TooShort } else { Verdict::Pass }
    }

    #[inline]
    fn in_batches(self, units: usize) -> Self {
        MinLen { min: self.min.div_ceil(units) }
    }
}

/// Divides parts that are longer than a maximum; passes on all others.
///
/// rayon's `with_max_len`: if a [`MinLen`] contradicts, the minimum counts.
///
/// ```
/// use furcate::policy::{MaxLen, Policy, Node, Verdict};
/// assert_eq!(MaxLen::new(100).wants_split(&Node::new(101)), Verdict::TooLong);
/// assert_eq!(MaxLen::new(100).wants_split(&Node::new(100)), Verdict::Pass);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxLen {
    max: usize,
}

impl MaxLen {
    /// Makes no divisible part longer than `max` units, unless a minimum contradicts; 0 counts as 1.
    #[must_use]
    pub const fn new(max: usize) -> Self {
        MaxLen { max }
    }
}

impl Policy for MaxLen {
    const DECIDES: bool = false;

    #[inline]
    fn wants_split(&mut self, node: &Node) -> Verdict {
        if node.divisible && node.len > self.max { Verdict::TooLong } else { Verdict::Pass }
    }

    #[inline]
    fn in_batches(self, units: usize) -> Self {
        MaxLen { max: self.max / units }
    }
}
