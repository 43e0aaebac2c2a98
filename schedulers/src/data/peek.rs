//! Producers that show items without giving them away.

use crate::IndexedProducer;

/// An indexed producer that shows its items without giving them away.
///
/// An adaptor needs this if it has to know the data in order to cut them. A merge of two sorted producers, for
/// instance, finds by binary search how many items of each side lie before a cut (Kvik, Section 3.6.1).
///
/// # Contract
///
/// 1. For `i < size`, [`peek(i)`](Self::peek) returns the `i`-th item of the producer's iterator, counted from 0. If
///    items cannot be had twice, it returns a value that compares as that item does (a clone).
/// 2. `peek` is pure: it returns the same value at each call, and changes nothing.
///
/// Breaking the contract leads to wrong results (a wrong order, say) or a panic, never to undefined behavior.
///
/// ```
/// use furcate::{Divisible, PeekProducer};
///
/// /// How many items of a sorted producer are less than that?
/// fn rank<P: PeekProducer<Item: Ord>>(sorted: &P, bound: &P::Item) -> usize {
///     let (mut low, mut high) = (0, sorted.size());
///     while low < high {
///         let middle = low.midpoint(high);
///         if sorted.peek(middle) < *bound { low = middle + 1 } else { high = middle }
///     }
///     low
/// }
/// assert_eq!(rank(&(10..20_u32), &13), 3);
/// assert_eq!(rank(&&[1, 5, 5, 7][..], &&6), 3);
/// ```
pub trait PeekProducer: IndexedProducer {
    /// Whether a peeked value is as good as the item: identical, and no more expensive to get. By default not.
    ///
    /// If so, an adaptor that compares items may give out the values that it has peeked at, and leave the items
    /// themselves alone.
    ///
    /// ```
    /// use furcate::PeekProducer;
    /// fn looks_are_items<P: PeekProducer>(_: &P) -> bool {
    ///     P::LOOKS_ARE_ITEMS
    /// }
    /// assert!(looks_are_items(&&[1, 2, 3][..]) && looks_are_items(&(0..10)));
    /// ```
    const LOOKS_ARE_ITEMS: bool = false;

    /// Returns the item at `index`, which stays in the producer.
    ///
    /// # Panics
    ///
    /// Possibly, if `index` is not below the size.
    fn peek(&self, index: usize) -> Self::Item;
}
