//! Looking at items without taking them.

use crate::IndexedProducer;

/// An indexed producer that shows its items without giving them away.
///
/// Whoever has to know the data in order to cut it needs this: a merge of two sorted producers finds by binary search
/// how many items of each side lie before a cut (Kvik, Section 3.4).
///
/// # Contract
///
/// 1. For `i < size`, [`peek(i)`](Self::peek) is what the iterator over the producer would give as its `i`-th item,
///    counted from 0; or a value that compares as that item does, where items cannot be had twice (a clone).
/// 2. It is pure: the same at each call, and nothing changes by it.
///
/// Breaking it gives wrong results, a wrong order say, or a panic, never undefined behaviour.
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
    /// Is a look as good as the item: the very same, and had at no greater cost? By default not.
    ///
    /// If so, whoever has to compare items may hand out what it has looked at, and leave the items themselves alone.
    ///
    /// ```
    /// use furcate::PeekProducer;
    /// fn looks_are_items<P: PeekProducer>(_: &P) -> bool {
    ///     P::LOOKS_ARE_ITEMS
    /// }
    /// assert!(looks_are_items(&&[1, 2, 3][..]) && looks_are_items(&(0..10)));
    /// ```
    const LOOKS_ARE_ITEMS: bool = false;

    /// The item at a place, which stays where it is.
    ///
    /// # Panics
    ///
    /// Possibly, if there is no such place.
    fn peek(&self, index: usize) -> Self::Item;
}
