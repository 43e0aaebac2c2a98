//! *What* is divided, when items come out of it.

use crate::{Divisible, Nano, NanoFold, NanoLoops, Suspendable};
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
    /// Are the items pieces of what is divided, so that every cut makes one more? Then nano-loops that only look for an
    /// early end, and do not [divide](NanoLoops::DIVIDES), take all that there is at once; and no scheduler makes
    /// [blocks](crate::ByBlocks) that nobody has asked for.
    const PIECES: bool = false;

    /// Whether every nano-loop cuts a piece off, so that it makes one item more. By default true if there are
    /// [pieces](Self::PIECES). False for a producer that keeps one state for all the loops of a task, and makes one item of it:
    /// its loops are as short as those over items. A producer that wraps others passes it on.
    const LOOPS_CUT: bool = Self::PIECES;

    /// Does a cut cost more than a few steps, as that of two sorted sides, which has to search its place? Then the
    /// [default scheduler](crate::ByTerminal) cuts on demand. A producer that wraps others passes it on.
    const COSTLY_CUTS: bool = false;

    /// Does it mean anything that one item comes before another? If not (those of a stream go to whoever asks first), a search
    /// for the first one that [waits for futures](crate::Suspending) ends with any: what it would wait for may never come. A
    /// producer that wraps others passes it on.
    const IN_ORDER: bool = true;

    /// Whether one unit, of size 1, gives one item at most, at once. If so, a `flat_map` behind it may take the item out of a
    /// part of one unit, and divide the inner iterator. A producer that wraps another one passes it on, unless it makes several
    /// items of one, or keeps a state for a task.
    const SINGLE: bool = false;

    /// Whether a part may turn out, while it is folded, to hold much more than its size has said. If so, schedulers that divide
    /// before they fold are [asked](NanoLoops::grown) again then. A producer that wraps another one passes it on.
    const GROWS: bool = false;

    /// Folds the items in *nano-loops*, and asks before each one what is to come next: see [`NanoLoops`].
    ///
    /// Schedulers that watch for thieves or for an early end fold a task this way, so every data adaptor forwards it
    /// to its base. A state that an adaptor keeps for a task is a local variable here: there is one for all the loops
    /// of a task.
    ///
    /// Returns what `fold` breaks with, else the accumulator, at the end or where the loops
    /// [`Stop`](crate::Nano::Stop). Either way what is left is dropped.
    ///
    /// By default the units of a loop are cut off and std's iterator over them is folded. The last loop takes all
    /// that is left. So does one after which there is not less left than before, unless it has given an item of what
    /// is of size `usize::MAX`: that is *more than can be said*, also with some units less. Then what was given away last
    /// is [taken back](NanoLoops::take_back), if it is still there.
    fn partial_fold<B, C, F, L>(self, init: B, mut fold: F, loops: &mut L) -> ControlFlow<C, B>
    where
        F: NanoFold<Self::Item, B, C>,
        L: NanoLoops<Self>,
    {
        let (mut folded, mut rest) = (init, self);
        loop {
            let size = rest.size();
            let limit = match loops.next(size) {
                Nano::Fold(_) if Self::PIECES && !L::DIVIDES => usize::MAX,
                Nano::Fold(limit) => limit.max(1),
                Nano::Divide => {
                    let (left, right) = rest.divide();
                    loops.take(right);
                    rest = left;
                    continue;
                }
                Nano::Give => {
                    loops.take(rest);
                    return ControlFlow::Continue(folded);
                }
                Nano::Stop => {
                    // Not behind what is returned: a panic in its drop would leak that.
                    drop(rest);
                    return ControlFlow::Continue(folded);
                }
            };
            if limit < size {
                let (head, tail) = rest.divide_at(limit);
                rest = tail;
                let mut given = false;
                let end = if size < usize::MAX {
                    fold.fold(folded, head.into_iter())
                } else {
                    fold.fold(folded, head.into_iter().inspect(|_| given = true))
                };
                folded = match end {
                    ControlFlow::Continue(folded) => folded,
                    ControlFlow::Break(end) => {
                        drop(rest); // as above
                        return ControlFlow::Break(end);
                    }
                };
                let further = rest.size() < size || given;
                if further {
                    continue;
                }
            }
            folded = fold.fold(folded, rest.into_iter())?;
            match loops.take_back() {
                Some(back) => rest = back,
                None => return ControlFlow::Continue(folded),
            }
        }
    }

    /// As [`partial_fold`](Self::partial_fold), where items may have to be [waited for](Suspendable): those that are not
    /// there yet are folded later, by a copy of `fold`, in whatever thread.
    ///
    /// A producer that wraps others passes it on, as it does `partial_fold`; and whatever it keeps for a task it makes anew
    /// for every loop. By default it is `partial_fold`: a producer that wraps one with items to be waited for then has the
    /// worker wait for them.
    fn suspending_fold<'s, B, F, L>(self, init: B, fold: F, loops: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        F: NanoFold<Self::Item, B, B> + Clone + Send + 's,
        L: NanoLoops<Self>,
    {
        self.partial_fold(init, fold, loops)
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
