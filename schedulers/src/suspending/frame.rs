//! State of a task that lives as long as the task's frame.

use super::reserve::Reserve;
use super::semaphore::LineKind;
use furcate_pool::detach::{Detach, Resume, Suspend};
use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::Rc;

/// The handle that suspends tasks, and permits. The task's [leaf](super::leaf::Leaf) refers to it.
pub(super) struct TaskShared<'s, S: Detach<'s>> {
    handle: RefCell<Option<S::Handle>>,
    pub(super) reserve: Reserve<'s>,
    /// How the frame's items wait for permits.
    kind: LineKind,
    /// Whether items go before new ones from their next future on; set by folds.
    goes_first: Cell<bool>,
    /// Whether an item is folded whose first future was ready at once.
    has_begun: Cell<bool>,
    /// Whether the rest is suspended with a pending item.
    is_proactive: bool,
    /// The pending item with which the rest is to be suspended.
    held: RefCell<Option<Held<'s, S>>>,
}

/// A task that is not settled yet.
pub(super) type Held<'s, S> = <<S as Detach<'s>>::Handle as Suspend<'s, S>>::Held;

/// The owner of the shared state, in the task's frame.
///
/// A leaf passes through producers as their accumulator, and may be leaked there: a value that a function is about to
/// return is not dropped if the drop of one of its variables panics. But the computation does not end while a handle
/// exists, so such a panic would never be reported. So the frame owns the handle.
pub(super) struct TaskFrame<'s, S: Detach<'s>>(Rc<TaskShared<'s, S>>);

impl<'s, S: Detach<'s>> TaskFrame<'s, S> {
    /// Makes a frame with these permits, for items that wait for further ones in this way.
    pub(super) fn new(handle: S::Handle, reserve: Reserve<'s>, kind: LineKind, is_proactive: bool) -> Self {
        let goes_first = Cell::new(kind == LineKind::First);
        let has_begun = Cell::new(false);
        TaskFrame(Rc::new(TaskShared {
            handle: RefCell::new(Some(handle)),
            reserve,
            kind,
            goes_first,
            has_begun,
            is_proactive,
            held: RefCell::default(),
        }))
    }

    pub(super) fn share(&self) -> Rc<TaskShared<'s, S>> {
        Rc::clone(&self.0)
    }
}

impl<'s, S: Detach<'s>> Deref for TaskFrame<'s, S> {
    type Target = TaskShared<'s, S>;

    fn deref(&self) -> &TaskShared<'s, S> {
        &self.0
    }
}

impl<'s, S: Detach<'s>> Drop for TaskFrame<'s, S> {
    fn drop(&mut self) {
        let _handle = self.0.handle.take();
        drop(self.0.held.take());
        self.0.reserve.empty();
    }
}

impl<'s, S: Detach<'s>> TaskShared<'s, S> {
    /// Returns how the frame's items wait for permits. `goes_first` says whether they go before new items from now on.
    pub(super) fn kind(&self, goes_first: bool) -> LineKind {
        if goes_first {
            self.goes_first.set(true);
        }
        // A future for which an item that has not begun waits is one of a new item, whatever follows.
        match self.kind {
            LineKind::New if self.has_begun.get() && self.goes_first.get() => LineKind::First,
            LineKind::New => LineKind::New,
            LineKind::First | LineKind::Begun if self.goes_first.get() => LineKind::First,
            LineKind::First | LineKind::Begun => LineKind::Begun,
        }
    }

    /// Folds an item whose future was ready at once: futures that are made meanwhile are the item's later ones.
    pub(super) fn fold_begun<R>(&self, fold: impl FnOnce() -> R) -> R {
        let before = self.has_begun.replace(true);
        let folded = fold();
        self.has_begun.set(before);
        folded
    }

    /// Returns how an item with a pending future will wait for its next permit.
    pub(super) fn next_kind(&self) -> LineKind {
        if self.goes_first.get() { LineKind::First } else { LineKind::Begun }
    }

    /// Suspends a task of the frame. If the computation is proactive, the task is held until the frame's step ends.
    pub(super) fn suspend<F, K>(
        &self,
        handle: &S::Handle,
        slot: &mut <S::Handle as Suspend<'s, S>>::Slot<F, K>,
        then: K,
    ) where
        F: Future + Send + 's,
        K: Resume<'s, S, F::Output>,
    {
        if self.is_proactive {
            drop(self.held.replace(Some(handle.hold(slot, then))));
        } else {
            handle.suspend(slot, then);
        }
    }

    /// Whether a task is held.
    pub(super) fn has_held(&self) -> bool {
        self.held.borrow().is_some()
    }

    /// Takes the held task, if there is one.
    pub(super) fn take_held(&self) -> Option<Held<'s, S>> {
        self.held.take()
    }

    /// Marks a cooperative point between two steps.
    pub(super) fn cooperate(&self) {
        self.handle.borrow().iter().for_each(Suspend::cooperate);
    }

    pub(super) fn handle(&self) -> S::Handle {
        self.handle.borrow().clone().expect("a task's frame is there as long as it runs")
    }
}
