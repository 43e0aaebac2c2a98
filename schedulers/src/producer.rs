//! *What* is divided, when items come out of it.

use crate::Divisible;
use std::ops::ControlFlow;

/// A [`Divisible`] that becomes a sequential iterator where it is divided no further.
///
/// The iterator is std's own [`IntoIterator`]: a leaf of the division tree is an ordinary iterator, so whatever the
/// compiler and std's specialisations do for sequential loops (vectorisation, exact lengths, in-place zips) they do
/// for every leaf. Data adaptors wrap producers: the leaf of a `map` is a `std::iter::Map` of its base's leaf.
///
/// For a type of your own that is an `Iterator` and [`Divisible`], the implementation is empty:
///
/// ```
/// use furcate::{Divisible, Producer};
///
/// struct Powers { exponents: std::ops::Range<u32> }
///
/// impl Divisible for Powers {
///     fn size(&self) -> usize {
///         self.exponents.size()
///     }
///     fn divide_at(self, index: usize) -> (Self, Self) {
///         let (left, right) = self.exponents.divide_at(index);
///         (Powers { exponents: left }, Powers { exponents: right })
///     }
/// }
/// impl Iterator for Powers {
///     type Item = u64;
///     fn next(&mut self) -> Option<u64> {
///         self.exponents.next().map(|e| 1 << e)
///     }
/// }
/// impl Producer for Powers {}
///
/// let (low, high) = Powers { exponents: 0..4 }.divide();
/// assert_eq!((low.sum::<u64>(), high.sum::<u64>()), (3, 12));
/// ```
///
/// # Contract
///
/// Iterating the left part and then the right part of any cut gives the items of the whole, in order. As with
/// [`Divisible`], breaking it gives wrong results, never undefined behaviour.
pub trait Producer: Divisible + IntoIterator + Send {
    /// Folds the items of the first `limit` units (as [`Divisible::divide_at`] counts them) and gives back what is left.
    ///
    /// This is the *nano-loop*: schedulers that watch for thieves or for an early end work through it, so every data
    /// adaptor forwards it, and a state that a task keeps (of `map_init`, of `fold`) lives on from one call to the
    /// next. After the last call a scheduler folds what is left, though its size be 0, through
    /// [`IntoIterator`]: whoever holds something back hands it out there.
    ///
    /// If `fold_op` breaks, its value is returned and the rest is dropped, together with anything that the rest of
    /// the current unit would still have given.
    ///
    /// By default the units are cut off and std's iterator over them is folded.
    fn partial_fold<B, C, F>(self, init: B, fold_op: F, limit: usize) -> ControlFlow<C, (B, Self)>
    where
        F: FnMut(B, Self::Item) -> ControlFlow<C, B>,
    {
        let (head, rest) = self.divide_at(limit);
        let folded = head.into_iter().try_fold(init, fold_op)?;
        ControlFlow::Continue((folded, rest))
    }
}

/// A producer with exact length and exact cuts: its [`size`](Divisible::size) is the number of items it gives, and
/// [`divide_at(i)`](Divisible::divide_at) puts exactly `i` of them to the left.
///
/// Its leaves can be walked from both ends, which `rev`, `zip` and `enumerate` need.
///
/// ```
/// use furcate::{Divisible, IndexedProducer};
/// fn last<P: IndexedProducer>(producer: P) -> Option<P::Item> {
///     producer.into_iter().next_back()
/// }
/// assert_eq!(last(0..10), Some(9));
/// ```
pub trait IndexedProducer: Producer<IntoIter: ExactSizeIterator + DoubleEndedIterator> {}
