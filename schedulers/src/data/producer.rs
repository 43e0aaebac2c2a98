//! Producers: divisible data that give items.

use crate::{Divisible, NextStep, StepFold, Steps, Suspendable};
use std::iter::from_fn;
use std::ops::ControlFlow;

/// A [`Divisible`] that becomes a sequential iterator at a leaf of the division tree.
///
/// The iterator is std's own, by [`IntoIterator`]. A leaf is an ordinary iterator, so the compiler and std's
/// specializations (vectorization, exact lengths, in-place zips) treat it as they treat a sequential loop. Data
/// adaptors wrap producers: the leaf of a `map` is a `std::iter::Map` of its base's leaf.
///
/// For a type of your own that is an `Iterator` and [`Divisible`], the implementation is one line:
///
/// ```
/// use furcate::{Divisible, Facts, Producer};
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
/// impl Producer for Powers {
///     const FACTS: Facts = Facts::ITEMS;
/// }
///
/// let (low, high) = Powers { exponents: 0..4 }.divide();
/// assert_eq!((low.sum::<u64>(), high.sum::<u64>()), (3, 12));
/// ```
///
/// # Contract
///
/// Iterating the left part and then the right part of any cut gives the items of the whole, in order. As with
/// [`Divisible`], breaking the contract leads to wrong results, never to undefined behavior.
pub trait Producer: Divisible + IntoIterator + Send {
    /// Facts about these data, for schedulers. A source of items has [`Facts::ITEMS`]; a producer that wraps another one passes on the facts of its base.
    const FACTS: Facts;

    /// Whether this part gives at most one item, and at once. If so, a `flat_map` after it may take the item out, and divide the inner iterator.
    /// By default: one unit of a producer whose units are [single](Facts::single).
    #[inline]
    fn is_single(&self) -> bool {
        Self::FACTS.single && self.size() == 1
    }

    /// Folds the items in *steps*, and asks `steps` before each one for the next action: see [`Steps`]. (Kvik's
    /// `partial_fold`, Section 3.6; there the producer comes back after every loop.)
    ///
    /// Schedulers that suspend tasks, or watch for thieves or for an early end, fold a task this way. A source keeps the
    /// default. A data adaptor forwards this method to its base. A state that an adaptor keeps for a task lies in the
    /// fold that it gives to its base, the same for all steps of a task.
    ///
    /// Returns the value that `fold` breaks with. Otherwise returns the accumulator, at the end or where the steps
    /// [`Stop`](crate::NextStep::Stop). In both cases the remaining units are dropped.
    ///
    /// By default, the units of a step are cut off, and std's iterator over them is folded. The last step takes all
    /// remaining units. A cut that leaves no less than before is also followed by the last step. The size `usize::MAX`
    /// is an exception: it means *more than can be counted*, so it may stay the same after a cut, and an item that the
    /// step has given counts as progress. After the last step, the part that was given away last is
    /// [taken back](Steps::take_back), if no other worker has taken it.
    fn partial_fold<'s, B, F, L>(self, init: B, mut fold: F, steps: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        F: StepFold<'s, Self::Item, B>,
        L: Steps<Self>,
    {
        let (mut folded, mut rest) = (init, self);
        loop {
            let size = rest.size();
            let limit = match steps.next(size) {
                NextStep::Fold(_) if Self::FACTS.pieces && !L::FACTS.divides => usize::MAX,
                NextStep::Fold(limit) => limit.max(1),
                NextStep::Divide => {
                    let (left, right) = match steps.keeps() {
                        Some(units) => rest.divide_at(units),
                        None => rest.divide(),
                    };
                    steps.take(right);
                    rest = left;
                    continue;
                }
                NextStep::Give => {
                    steps.take(rest);
                    return ControlFlow::Continue(folded);
                }
                NextStep::Stop => {
                    // Dropped before the return value is made: a panic in this drop would leak that value.
                    drop(rest);
                    return ControlFlow::Continue(folded);
                }
            };
            let is_watchable = L::FACTS.watches && !Self::FACTS.steps_cut && !Self::FACTS.costly_cuts;
            if let Some(units) = if is_watchable { steps.watch(size) } else { None } {
                let mut uncut = Some(rest);
                folded = match fold_one_by_one(&mut uncut, units, folded, &mut fold, steps) {
                    ControlFlow::Continue(folded) => folded,
                    ControlFlow::Break(end) => {
                        drop(uncut); // as above
                        return ControlFlow::Break(end);
                    }
                };
                match uncut.or_else(|| steps.take_back()) {
                    Some(further) => rest = further,
                    None => return ControlFlow::Continue(folded),
                }
                continue;
            }
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
            match steps.take_back() {
                Some(back) => rest = back,
                None => return ControlFlow::Continue(folded),
            }
        }
    }
}

/// Cuts unit after unit off, up to so many, until the step is to end, and folds their items. Out of line, so that the fold of an
/// ordinary step is compiled as if it were alone.
#[inline(never)]
fn fold_one_by_one<'s, P, B, F, L>(
    uncut: &mut Option<P>,
    units: usize,
    folded: B,
    fold: &mut F,
    steps: &mut L,
) -> ControlFlow<B, B>
where
    P: Producer,
    F: StepFold<'s, P::Item, B>,
    L: Steps<P>,
{
    let (mut unit, mut cut) = (None::<P::IntoIter>, 0);
    // The unit is moved in, so that it is dropped before the return value is made.
    let items = from_fn(move || {
        loop {
            let item = unit.as_mut().and_then(Iterator::next);
            if item.is_some() {
                return item;
            }
            if cut == units.max(1) || (cut > 0 && steps.ends_step()) {
                return None;
            }
            cut += 1;
            let rest = uncut.take()?;
            unit = Some(if rest.size() > 1 {
                let (head, tail) = rest.divide_at(1);
                *uncut = Some(tail);
                head.into_iter()
            } else {
                rest.into_iter()
            });
        }
    });
    fold.fold(folded, items)
}

/// Facts about a [`Producer`], for schedulers.
///
/// ```
/// use furcate::{Facts, Producer};
/// use std::ops::Range;
/// assert_eq!(<Range<u32> as Producer>::FACTS, Facts::SINGLE);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Whether the items are pieces of the producer itself (`wrap_iter` gives such items), so that every cut makes one
    /// item more. If so, steps that do not [divide](crate::StepsFacts::divides), but only look for an early end, fold all
    /// units in one step. And no scheduler makes [blocks](crate::ByBlocks) unless the chain asks for them.
    pub pieces: bool,

    /// Whether every step cuts a piece off, so that it makes one item more. True for [pieces](Self::pieces), but
    /// not for a producer that keeps one state for all steps of a task, and makes one item of
    /// it: its steps are as short as steps over items.
    pub steps_cut: bool,

    /// Whether a cut costs more than a few instructions, as the cut of two sorted sides does: it has to search for its
    /// position. If so, the [default scheduler](crate::ByTerminal) cuts on demand. If not, [`Adaptive`](crate::Adaptive) may cut every unit
    /// off by itself where units take 100 ns or longer.
    pub costly_cuts: bool,

    /// Whether the order of the items means anything. It means nothing for the items of a stream, which go to the
    /// worker that asks first. If the order means nothing, a search for the first hit that [waits for
    /// futures](crate::Suspending) ends with any hit, because an earlier item may never come.
    pub in_order: bool,

    /// Whether one unit, of size 1, gives at most one item, and at once. If so, a `flat_map` after it may take the item
    /// out of a part of one unit, and divide the inner iterator.
    pub single: bool,

    /// Whether a part may turn out, while it is folded, to hold much more than its size has said. If so, schedulers
    /// that divide before they fold are [asked](Steps::grown) again at that point.
    pub grows: bool,

    /// Whether one unit may be divided further, into items that cost no more to cut than others (`flat_map` and `flatten` of such). A search from the back
    /// then [begins](crate::ByTerminal) with the last of these items.
    pub unfolds: bool,

    /// Whether the units have to be fetched one after the other, as the items of a sequential iterator. A cut then fetches its left
    /// part. If so, the [default scheduler](crate::ByTerminal) cuts on demand, and makes no blocks for a search.
    pub fetched: bool,

    /// Whether items can be left out without an effect: no closure of the user's is called to make them. If so, `skip` cuts them off. If
    /// not, it has them made, as std's `skip` does.
    pub free: bool,
}

impl Facts {
    /// Items in order, which are cheap to cut. A unit may give several of them.
    pub const ITEMS: Facts = Facts {
        pieces: false,
        steps_cut: false,
        costly_cuts: false,
        in_order: true,
        single: false,
        grows: false,
        unfolds: false,
        fetched: false,
        free: true,
    };

    /// Items in order, which are cheap to cut, and at most [one](Self::single) for each unit.
    pub const SINGLE: Facts = Facts { single: true, ..Facts::ITEMS };

    /// The facts of a producer with two bases.
    #[must_use]
    pub const fn and(self, other: Facts) -> Self {
        Facts {
            pieces: self.pieces || other.pieces,
            steps_cut: self.steps_cut || other.steps_cut,
            costly_cuts: self.costly_cuts || other.costly_cuts,
            in_order: self.in_order || other.in_order,
            single: self.single && other.single,
            grows: self.grows || other.grows,
            // A base that grows and does not unfold must not be cut below its units.
            unfolds: self.unfolds && (other.unfolds || !other.grows) || other.unfolds && !self.grows,
            fetched: self.fetched || other.fetched,
            free: self.free && other.free,
        }
    }
}

/// A producer with exact length and exact cuts: its [`size`](Divisible::size) is the number of items it gives, and
/// [`divide_at(i)`](Divisible::divide_at) puts exactly `i` of them to the left.
///
/// Its leaves can be walked from both ends, as `rev`, `zip` and `enumerate` need.
///
/// ```
/// use furcate::{Divisible, IndexedProducer};
/// fn last<P: IndexedProducer>(producer: P) -> Option<P::Item> {
///     producer.into_iter().next_back()
/// }
/// assert_eq!(last(0..10), Some(9));
/// ```
pub trait IndexedProducer: Producer<IntoIter: ExactSizeIterator + DoubleEndedIterator> {}
