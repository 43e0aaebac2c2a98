//! Terminals that own the values that their reductions borrow.

use crate::iter::collect::{Lists, SortInto, TwoLists};
use crate::iter::flag::Flag;
use crate::iter::terminals::{
    Aggregate, Aggregated, AnyHit, HitEnd, Nearest, OutermostHit, Reduce, SearchLoop, Total, Totals,
    TryReduce,
};
use crate::iter::{FromParallelIterator, Try};
use furcate_schedulers::Reduction;
use std::collections::LinkedList;
use std::marker::PhantomData;
use std::ops::ControlFlow;

/// A terminal over items of type `T`, with everything that its reduction borrows.
pub(crate) trait OwnedTerminal<T>: Send + 'static {
    /// Output of the reduction.
    type Output: Send + 'static;
    /// The reduction, which may borrow from the terminal.
    type Reduction<'a>: Reduction<T, Output = Self::Output>
    where
        Self: 'a;

    fn reduction(&self) -> Self::Reduction<'_>;
}

impl<T, A: Aggregate<T, Output: 'static> + 'static> OwnedTerminal<T> for Aggregated<A> {
    type Output = A::Output;
    type Reduction<'a> = Self;

    fn reduction(&self) -> Self {
        *self
    }
}

impl<T, A: Aggregate<T, Output: 'static> + 'static> OwnedTerminal<T> for Totals<A> {
    type Output = A::Output;
    type Reduction<'a> = Total<'a, A>;

    fn reduction(&self) -> Total<'_, A> {
        self.reduction()
    }
}

/// See [`Reduce`].
pub(crate) struct Folded<ID, F> {
    pub(crate) identity: ID,
    pub(crate) op: F,
}

impl<T, ID, F> OwnedTerminal<T> for Folded<ID, F>
where
    T: Send + 'static,
    ID: Fn() -> T + Sync + Send + 'static,
    F: Fn(T, T) -> T + Sync + Send + 'static,
{
    type Output = T;
    type Reduction<'a> = Reduce<'a, ID, F>;

    fn reduction(&self) -> Reduce<'_, ID, F> {
        Reduce { identity: &self.identity, op: &self.op }
    }
}

/// See [`TryReduce`].
pub(crate) struct TryFolded<ID, F> {
    identity: ID,
    op: F,
    failed: Flag,
}

impl<ID, F> TryFolded<ID, F> {
    pub(crate) fn new(identity: ID, op: F) -> Self {
        TryFolded { identity, op, failed: Flag::default() }
    }
}

impl<T, ID, F> OwnedTerminal<T> for TryFolded<ID, F>
where
    T: Try + Send + 'static,
    ID: Fn() -> Option<T::Output> + Sync + Send + 'static,
    F: Fn(T::Output, T::Output) -> T + Sync + Send + 'static,
{
    type Output = Option<T>;
    type Reduction<'a> = TryReduce<'a, ID, F>;

    fn reduction(&self) -> TryReduce<'_, ID, F> {
        TryReduce { identity: &self.identity, op: &self.op, failed: &self.failed }
    }
}

/// See [`AnyHit`].
pub(crate) struct Searched<F> {
    search: F,
    found: Flag,
    search_loop: SearchLoop,
}

impl<F> Searched<F> {
    pub(crate) fn new(search: F) -> Self {
        Searched { search, found: Flag::default(), search_loop: SearchLoop::new() }
    }
}

impl<T, H, F> OwnedTerminal<T> for Searched<F>
where
    H: Send + 'static,
    F: Fn(T) -> Option<H> + Sync + Send + 'static,
{
    type Output = Option<H>;
    type Reduction<'a> = AnyHit<'a, F>;

    fn reduction(&self) -> AnyHit<'_, F> {
        AnyHit { search: &self.search, found: &self.found, search_loop: &self.search_loop }
    }
}

/// See [`OutermostHit`].
pub(crate) struct SearchedFrom<E, F> {
    end: E,
    search: F,
    nearest: Nearest,
}

impl<E, F> SearchedFrom<E, F> {
    pub(crate) fn new(end: E, search: F) -> Self {
        SearchedFrom { end, search, nearest: Nearest::new() }
    }
}

impl<T, H, E, F> OwnedTerminal<T> for SearchedFrom<E, F>
where
    H: Send + 'static,
    E: HitEnd + 'static,
    F: Fn(T) -> Option<H> + Sync + Send + 'static,
{
    type Output = Option<H>;
    type Reduction<'a> = OutermostHit<'a, E, F>;

    fn reduction(&self) -> OutermostHit<'_, E, F> {
        OutermostHit::new(self.end, &self.search, &self.nearest)
    }
}

/// See [`SortInto`].
pub(crate) struct Sorted<A, B, F> {
    sort: F,
    lists: PhantomData<fn() -> (A, B)>,
}

impl<A, B, F> Sorted<A, B, F> {
    pub(crate) fn new(sort: F) -> Self {
        Sorted { sort, lists: PhantomData }
    }
}

impl<T, A, B, F> OwnedTerminal<T> for Sorted<A, B, F>
where
    A: Send + 'static,
    B: Send + 'static,
    F: Fn(T, &mut Vec<A>, &mut Vec<B>) + Sync + Send + 'static,
{
    type Output = TwoLists<A, B>;
    type Reduction<'a> = SortInto<'a, A, B, F>;

    fn reduction(&self) -> SortInto<'_, A, B, F> {
        SortInto::new(&self.sort)
    }
}

/// Collects into vectors, of which a `C` is made afterwards, up to an item that
/// [decides](FromParallelIterator::is_decided_by) the collection.
pub(crate) struct Collecting<C> {
    decided: Flag,
    collection: PhantomData<fn() -> C>,
}

impl<C> Collecting<C> {
    pub(crate) fn new() -> Self {
        Collecting { decided: Flag::default(), collection: PhantomData }
    }
}

impl<T: Send + 'static, C: FromParallelIterator<T> + 'static> OwnedTerminal<T> for Collecting<C> {
    type Output = LinkedList<Vec<T>>;
    type Reduction<'a> = Collect<'a, C>;

    fn reduction(&self) -> Collect<'_, C> {
        Collect { decided: &self.decided, collection: PhantomData }
    }
}

/// [`Lists`], up to an item that decides the collection.
pub(crate) struct Collect<'a, C> {
    decided: &'a Flag,
    collection: PhantomData<fn() -> C>,
}

crate::iter::copies::copies!(impl[C] Collect<'_, C>);

impl<T: Send, C: FromParallelIterator<T>> Reduction<T> for Collect<'_, C> {
    type Accumulator = Vec<T>;
    type Output = LinkedList<Vec<T>>;

    const INTERRUPTIBLE: bool = true;
    const STOPS_ALL: bool = true;

    #[inline]
    fn start(&self) -> Vec<T> {
        Vec::new()
    }

    #[inline]
    fn fold_item(&self, mut items: Vec<T>, item: T) -> ControlFlow<Vec<T>, Vec<T>> {
        let decided = C::is_decided_by(&item);
        items.push(item);
        if decided {
            self.decided.raise();
            return ControlFlow::Break(items);
        }
        ControlFlow::Continue(items)
    }

    #[inline]
    fn finish(&self, items: Vec<T>) -> LinkedList<Vec<T>> {
        Lists::new(Vec::is_empty).only(items)
    }

    #[inline]
    fn reduce(&self, left: LinkedList<Vec<T>>, right: LinkedList<Vec<T>>) -> LinkedList<Vec<T>> {
        crate::iter::collect::concat(left, right)
    }

    #[inline]
    fn stopped(&self) -> bool {
        self.decided.is_raised()
    }
}
