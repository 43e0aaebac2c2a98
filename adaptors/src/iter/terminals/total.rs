//! `sum` and `product`: a total that ends everywhere when an item fails.
//!
//! std's `Sum` and `Product` for `Option` and `Result` stop at the first `None` or `Err`. Such a value makes the total of all
//! items fail, also of the items before it. So the task that finds it raises a flag for all tasks.
//!
//! # Invariants
//!
//! 1. *A leaf is one call of std's method.* A total of floats depends on how items are grouped, so a leaf is not cut into
//!    steps for the sake of the flag. The leaf's iterator looks at the flag before every item instead.
//! 2. *Only std's own types raise the flag.* Any other type may have a `Sum` that ends early for reasons of its own: "the first
//!    item", for example, does not make the items before it needless.
//! 3. *Nothing is missed if the type is not recognized.* [`may_fail`] then says no; the total is the same, but later.

use super::Aggregate;
use crate::iter::flag::Flag;
use furcate_schedulers::{Ends, Reduction};
use std::any::type_name;
use std::iter::{empty, once};
use std::mem::discriminant;
use std::ops::ControlFlow::{self, Break, Continue};

/// A sum or a product, with the flag that its tasks share.
#[derive(Debug)]
pub(crate) struct Totals<A> {
    method: A,
    failed: Flag,
}

impl<A> Totals<A> {
    pub(crate) fn new(method: A) -> Self {
        Totals { method, failed: Flag::default() }
    }
}

/// Whether `S` is std's `Option` or `Result`, of which one failing item decides the total.
///
/// Without specialization a generic function cannot ask the type system, so this one compares the type's name. The
/// optimizer evaluates the comparison. If the names changed, totals would end later (invariant 3), and a test would
/// fail.
#[inline]
fn may_fail<S>() -> bool {
    let name = type_name::<S>();
    name.starts_with("core::option::Option<") || name.starts_with("core::result::Result<")
}

impl<A: Copy> Totals<A> {
    /// Whether a total is a `None` or an `Err`: another variant than the total of nothing.
    #[inline]
    fn has_failed<T>(&self, total: &A::Output) -> bool
    where
        A: Aggregate<T>,
    {
        may_fail::<A::Output>() && discriminant(total) != discriminant(&self.method.of(empty()))
    }
}

impl<T, A: Aggregate<T>> Reduction<T> for &Totals<A> {
    /// `None` before the first item.
    type Accumulator = Option<A::Output>;
    type Output = A::Output;

    /// Not in steps: invariant 1. A total of totals fails only if one of them has failed.
    const ENDS: Ends = Ends { in_steps: false, reduce_stops_all: false, ..Ends::ALL };

    #[inline]
    fn start(&self) -> Self::Accumulator {
        None
    }

    #[inline]
    fn fold_item(
        &self,
        before: Self::Accumulator,
        item: T,
    ) -> ControlFlow<Self::Accumulator, Self::Accumulator> {
        self.fold_step(before, once(item))
    }

    #[inline]
    fn fold<I: Iterator<Item = T>>(&self, before: Self::Accumulator, items: I) -> Self::Accumulator {
        let (Continue(folded) | Break(folded)) = self.fold_step(before, items);
        folded
    }

    #[inline]
    fn fold_step<I: Iterator<Item = T>>(
        &self,
        before: Self::Accumulator,
        mut items: I,
    ) -> ControlFlow<Self::Accumulator, Self::Accumulator> {
        let all = |now| match before {
            Some(before) => self.method.both(before, now),
            None => now,
        };
        if !may_fail::<A::Output>() {
            return Continue(Some(all(self.method.of(items))));
        }
        let mut exhausted = false;
        let until_failure =
            ItemsUntilFailure { items: &mut items, failed: &self.failed, exhausted: &mut exhausted };
        let total = all(self.method.of(until_failure));
        // Dropped before the return value is made: a panic in this drop would leak that value.
        drop(items);
        if !exhausted && self.has_failed(&total) {
            self.failed.raise();
        }
        if self.failed.is_raised() { Break(Some(total)) } else { Continue(Some(total)) }
    }

    #[inline]
    fn finish(&self, total: Self::Accumulator) -> A::Output {
        total.unwrap_or_else(|| self.method.of(empty()))
    }

    #[inline]
    fn reduce(&self, left: A::Output, right: A::Output) -> A::Output {
        self.method.both(left, right)
    }

    /// Items behind a failure no longer count.
    #[inline]
    fn is_final(&self, total: &A::Output) -> bool {
        self.has_failed(total)
    }

    #[inline]
    fn stopped(&self) -> bool {
        self.failed.is_raised()
    }
}

/// The items of a leaf, until an item has failed anywhere.
struct ItemsUntilFailure<'f, I> {
    items: I,
    failed: &'f Flag,
    /// Whether the consumer has asked for all items: then none of them has failed.
    exhausted: &'f mut bool,
}

impl<I: Iterator> Iterator for ItemsUntilFailure<'_, I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        if self.failed.is_raised() {
            *self.exhausted = true;
            return None;
        }
        let item = self.items.next();
        *self.exhausted = item.is_none();
        item
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.items.size_hint().1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Product, Sum};
    use super::*;

    #[test]
    fn options_and_results_are_recognized_and_nothing_else() {
        struct Option<T>(T);
        assert!(
            may_fail::<std::option::Option<u32>>() && may_fail::<Result<std::option::Option<()>, &str>>()
        );
        assert!(
            !may_fail::<u32>() && !may_fail::<Option<u32>>() && !may_fail::<[std::option::Option<u32>; 2]>()
        );
        assert!(Option(true).0);
    }

    type Folded<T> = ControlFlow<Option<T>, Option<T>>;

    fn fold_step<T, A>(total: &Totals<A>, before: Option<T>, items: impl Iterator<Item = T>) -> Folded<T>
    where
        A: Aggregate<T, Output = T>,
    {
        total.fold_step(before, items)
    }

    #[test]
    fn a_failure_ends_a_leaf_and_all_others() {
        let sum = &Totals::new(Sum::<Result<u32, &str>>::new());
        assert_eq!(fold_step(sum, None, [Ok(1), Ok(2)].into_iter()), Continue(Some(Ok(3))));
        assert!(!sum.failed.is_raised());
        let mut items = [Ok(1), Err("no"), Err("never")].into_iter();
        assert_eq!(fold_step(sum, Some(Ok(1)), items.by_ref()), Break(Some(Err("no"))));
        assert_eq!((items.len(), sum.failed.is_raised()), (1, true));
        let mut others = [Ok(1), Ok(2)].into_iter();
        assert_eq!(fold_step(sum, Some(Ok(1)), others.by_ref()), Break(Some(Ok(1))));
        assert_eq!(others.len(), 2);
    }

    #[test]
    fn a_failure_of_the_last_item_counts() {
        let product = &Totals::new(Product::<Option<u32>>::new());
        assert_eq!(fold_step(product, None, once(Some(2))), Continue(Some(Some(2))));
        assert_eq!(fold_step(product, Some(Some(2)), once(None)), Break(Some(None)));
        let is_final = |total| Reduction::<Option<u32>>::is_final(&product, &total);
        assert!(is_final(None) && !is_final(Some(2)));
        assert_eq!(Reduction::<Option<u32>>::finish(&product, None), Some(1));
    }
}
