//! `try_reduce`, `try_reduce_with`, `try_for_each`: reductions that end everywhere when one of them fails.

use crate::iter::Try;
use crate::iter::flag::Flag;
use furcate_schedulers::{Ends, Reduction};
use std::ops::ControlFlow::{self, Break, Continue};

/// Reduces the values in the items. The first failure, of an item or of the operation, ends all tasks. If several
/// failures are found before all tasks end, the first one in the order of the items is kept.
#[derive(Debug)]
pub(crate) struct TryReduce<ID, F> {
    /// Returns the value with which a task begins, if there is one.
    identity: ID,
    op: F,
    /// Whether an item or an operation has failed.
    failed: Flag,
}

impl<ID, F> TryReduce<ID, F> {
    pub(crate) fn new(identity: ID, op: F) -> Self {
        TryReduce { identity, op, failed: Flag::default() }
    }
}

impl<T, ID, F> Reduction<T> for &TryReduce<ID, F>
where
    T: Try + Send,
    ID: Fn() -> Option<T::Output> + Sync,
    F: Fn(T::Output, T::Output) -> T + Sync,
{
    /// `None` before the first item of a task without an identity.
    type Accumulator = Option<ControlFlow<T::Residual, T::Output>>;
    type Output = Option<T>;

    const ENDS: Ends = Ends::ALL;

    #[inline]
    fn start(&self) -> Self::Accumulator {
        (self.identity)().map(Continue)
    }

    #[inline]
    fn fold_item(
        &self,
        before: Self::Accumulator,
        item: T,
    ) -> ControlFlow<Self::Accumulator, Self::Accumulator> {
        let next = match before {
            None => item.branch(),
            Some(Break(residual)) => Break(residual),
            Some(Continue(before)) => match item.branch() {
                Continue(item) => (self.op)(before, item).branch(),
                failure => {
                    // Dropped before the value is made: a panic in this drop would leak that value.
                    drop(before);
                    failure
                }
            },
        };
        if next.is_break() {
            self.failed.raise();
            return Break(Some(next));
        }
        Continue(Some(next))
    }

    #[inline]
    fn finish(&self, result: Self::Accumulator) -> Option<T> {
        result.map(|result| match result {
            Continue(output) => T::from_output(output),
            Break(residual) => T::from_residual(residual),
        })
    }

    #[inline]
    fn reduce(&self, left: Option<T>, right: Option<T>) -> Option<T> {
        let (left, right) = match (left, right) {
            (Some(left), Some(right)) => (left, right),
            (left, right) => return left.or(right),
        };
        Some(match (left.branch(), right.branch()) {
            (Continue(left), Continue(right)) => {
                let result = (self.op)(left, right);
                if result.is_failure() {
                    self.failed.raise();
                }
                result
            }
            (Break(residual), other) | (other, Break(residual)) => {
                drop(other); // as above
                T::from_residual(residual)
            }
        })
    }

    /// True for a failure: items behind it no longer count.
    #[inline]
    fn is_final(&self, result: &Option<T>) -> bool {
        result.as_ref().is_some_and(T::is_failure)
    }

    #[inline]
    fn stopped(&self) -> bool {
        self.failed.is_raised()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(a: u8, b: u8) -> Result<u8, u8> {
        a.checked_add(b).ok_or(0)
    }

    type Sums = TryReduce<fn() -> Option<u8>, fn(u8, u8) -> Result<u8, u8>>;

    fn new() -> Sums {
        TryReduce::new(|| None, add)
    }

    fn sum(sums: &Sums, items: impl Iterator<Item = Result<u8, u8>>) -> Option<Result<u8, u8>> {
        let folded = sums.fold(sums.start(), items);
        sums.finish(folded)
    }

    #[test]
    fn the_first_failure_of_an_item_or_of_the_operation_ends_a_task() {
        let sums = new();
        assert_eq!(sum(&sums, [].into_iter()), None);
        assert_eq!(sum(&sums, [Ok(1), Ok(2)].into_iter()), Some(Ok(3)));
        assert!(!sums.failed.is_raised());
        let mut items = [Ok(1), Err(7), Err(8)].into_iter();
        assert_eq!(sum(&sums, items.by_ref()), Some(Err(7)));
        assert!(sums.failed.is_raised() && items.eq([Err(8)]));
        let (sums, mut items) = (new(), [Ok(200), Ok(100), Ok(1)].into_iter());
        assert_eq!(sum(&sums, items.by_ref()), Some(Err(0)));
        assert!(sums.failed.is_raised() && items.eq([Ok(1)]));
        let (sums, mut items) = (new(), [Err(7), Ok(1)].into_iter());
        assert_eq!(sum(&sums, items.by_ref()), Some(Err(7)));
        assert!(sums.failed.is_raised() && items.eq([Ok(1)]));
    }

    #[test]
    fn the_failure_that_comes_first_is_kept_and_final() {
        let sums = &new();
        let reduce = |left, right| sums.reduce(left, right);
        assert_eq!(reduce(Some(Ok(1)), Some(Ok(2))), Some(Ok(3)));
        assert_eq!(reduce(None, Some(Ok(2))), Some(Ok(2)));
        assert_eq!(reduce(Some(Ok(1)), None), Some(Ok(1)));
        for right in [None, Some(Ok(1)), Some(Err(2))] {
            assert!(sums.is_final(&Some(Err(1))));
            assert_eq!(reduce(Some(Err(1)), right), Some(Err(1)));
        }
        assert_eq!(reduce(Some(Ok(1)), Some(Err(2))), Some(Err(2)));
        assert!(!sums.is_final(&Some(Ok(1))) && !sums.is_final(&None));
        assert!(!sums.stopped(), "who reduces does not tell what others have told");
        assert_eq!(reduce(Some(Ok(200)), Some(Ok(100))), Some(Err(0)));
        assert!(sums.stopped());
    }
}
