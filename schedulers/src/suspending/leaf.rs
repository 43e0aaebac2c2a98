//! A task with items that may be pending: its folded outputs, and its pending items.

use super::frame::{TaskFrame, TaskShared};
use super::reserve::Reserve;
use super::room::{Acquire, Permit};
use super::semaphore::{LineKind, Place};
use super::tree::{ItemPlace, Tree, nothing};
use crate::greedy::{Done, ends_early};
use crate::tree::branch::Joint;
use crate::tree::call::Call;
use crate::{FoldFacts, Reduction, StepFold, Suspendable, Workload};
use furcate_pool::Context;
use furcate_pool::detach::{Detach, Resume, Suspend};
use std::cell::Cell;
use std::iter;
use std::ops::ControlFlow::{self, Break, Continue};
use std::rc::Rc;
use std::task::Poll;

/// The accumulator of a task: of a leaf of the division tree, or of a pending item that is completed.
pub(super) struct Leaf<'s, S: Detach<'s>, W: Workload> {
    /// `None` in a task that will not wait: a frame is an allocation, which most pending items do without when they are completed.
    frame: Option<Rc<TaskShared<'s, S>>>,
    /// Without a frame: whether the call's tasks are to be cancelled when the fold returns.
    cancels: Cell<bool>,
    reduction: W::Reduction,
    call: &'s Call,
    /// Accumulator of the items folded since the last pending item; `None` if there are none.
    accumulator: Option<<W::Reduction as Reduction<W::Item>>::Accumulator>,
    pending_items: Tree<'s, W>,
}

/// A leaf after some of its items. `Break` ends the task.
type Folded<'s, S, W> = ControlFlow<Leaf<'s, S, W>, Leaf<'s, S, W>>;

/// Message of the panic for a fold that waits although its facts say that it does not.
const NO_FRAME: &str = "a fold has futures to be waited for, but its `StepFold::FACTS.waits` is false: a fold that wraps another one \
                        passes its facts on, `const FACTS: FoldFacts = F::FACTS`";

/// Folds the items that come to the end of a chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold;

impl<'s, S: Detach<'s>, W: Workload> StepFold<'s, W::Item, Leaf<'s, S, W>> for Fold {
    type Later = Fold;
    const FACTS: FoldFacts = FoldFacts::WHOLE;

    fn fold<I: Iterator<Item = W::Item>>(&mut self, mut leaf: Leaf<'s, S, W>, items: I) -> Folded<'s, S, W> {
        if W::Reduction::ENDS.interruptible && leaf.reduction.stopped() {
            return Break(leaf);
        }
        let accumulator = leaf.accumulator.take().unwrap_or_else(|| leaf.reduction.start());
        match leaf.reduction.fold_step(accumulator, items) {
            Continue(accumulator) => {
                leaf.accumulator = Some(accumulator);
                Continue(leaf)
            }
            Break(accumulator) => {
                leaf.accumulator = Some(accumulator);
                if W::Reduction::ENDS.stops_all && leaf.reduction.stopped() {
                    leaf.cancel_tasks();
                }
                Break(leaf)
            }
        }
    }

    fn later(&self) -> Fold {
        Fold
    }
}

impl<'s, S: Detach<'s>, W: Workload> Leaf<'s, S, W> {
    /// Makes the accumulator of a task that has these pending items already.
    pub(super) fn new(
        frame: Option<&TaskFrame<'s, S>>,
        reduction: W::Reduction,
        call: &'s Call,
        pending_items: Tree<'s, W>,
    ) -> Self {
        let (frame, cancels) = (frame.map(|frame| frame.share()), Cell::new(false));
        Leaf { frame, cancels, reduction, call, accumulator: None, pending_items }
    }

    /// Cancels the call's tasks: at once, or when the fold returns.
    fn cancel_tasks(&self) {
        match &self.frame {
            Some(frame) => frame.handle().cancel(),
            None => self.cancels.set(true),
        }
    }

    /// Gives back the permits of the task, if it has any.
    fn empty_reserve(&self) {
        if let Some(frame) = &self.frame {
            frame.reserve.empty();
        }
    }

    /// Returns the output of the items folded since the last pending item.
    fn segment(&mut self) -> Option<W::Output> {
        self.accumulator.take().map(|accumulator| self.reduction.finish(accumulator))
    }

    /// Divides the reduction at the task's position. Returns the reduction of the items before that position.
    fn divide(&mut self) -> W::Reduction {
        let (left, right) = self.reduction.clone().divide_item();
        self.reduction = right;
        left
    }

    /// Adds a place for the pending item at the task's position to the tree, with that note.
    fn grow(&mut self, kind: LineKind) -> ItemPlace<'s, W> {
        let (reduction, call) = (&self.reduction, self.call);
        self.pending_items.grow(kind, || Joint { reduction: reduction.clone(), call })
    }

    /// Ends the task, and returns its output.
    pub(super) fn end(mut self) -> Done<'s, W> {
        // Other tasks may have the permits while outputs are reduced.
        self.empty_reserve();
        let last = self.segment();
        self.pending_items.end(last, &self.reduction, self.call)
    }

    /// Delivers the output of the items folded since the last pending item, if there are any, to a place of its own.
    fn deliver_segment(&mut self) {
        if let Some(segment) = self.segment() {
            let place = self.grow(LineKind::New).link();
            self.divide();
            place.deliver(segment);
        }
    }

    /// Puts the task aside. Returns everything up to its position, and the reduction of the items after it.
    pub(super) fn pause(mut self) -> (Tree<'s, W>, W::Reduction) {
        self.empty_reserve();
        self.deliver_segment();
        (self.pending_items, self.reduction)
    }
}

impl<'s, S: Detach<'s>, W: Workload + 's> Suspendable<'s> for Leaf<'s, S, W> {
    fn wait_for<I, F>(mut self, futures: I, fold: &mut F) -> ControlFlow<Self, Self>
    where
        I: Iterator<Item: IntoFuture<Output: Send + 's, IntoFuture: Send + 's>>,
        F: StepFold<'s, <I::Item as IntoFuture>::Output, Self>,
    {
        let frame = Rc::clone(self.frame.as_ref().expect(NO_FRAME));
        let handle = frame.handle();
        let kind = frame.kind(W::Reduction::ENDS.search || F::FACTS.goes_first);
        let mut slot = Default::default();
        let mut futures = futures.map(IntoFuture::into_future);
        let mut needed = true;
        while needed {
            // Before the item is made.
            if handle.is_cancelled() {
                // Behind this step's last item the task goes on. The look before the next step sees the cancellation, and knows what is left.
                if futures.size_hint().1 == Some(0) {
                    break;
                }
                self.call.leave_out();
                needed = false;
                continue;
            }
            let Some(future) = futures.next() else { break };
            let permit = frame.reserve.take();
            // Only now: a hit that was found with this permit is known (invariant 6 of the scheduler).
            if W::Reduction::ENDS.interruptible && self.reduction.stopped() {
                needed = false;
                continue;
            }
            let Some(permit) = permit else {
                // It has not begun, and will when there is a permit.
                let pending = self.pending_item(fold.later(), frame.next_kind());
                pending.run_with_permit(&handle, frame.reserve.acquire(kind), begin(future));
                continue;
            };
            let Poll::Ready(output) = handle.poll_once(&mut slot, future) else {
                let pending = self.pending_item(fold.later(), frame.next_kind());
                frame.suspend(&handle, &mut slot, Awaiting { permit, pending });
                continue;
            };
            // As in `Awaiting`: the next item may begin while this one is folded, unless this one waits again or may end a search.
            frame.reserve.put(permit, F::FACTS.waits || ends_early::<W>());
            let folded = frame.fold_begun(|| fold.fold(self, iter::once(output)));
            needed = folded.is_continue();
            let (Continue(leaf) | Break(leaf)) = folded;
            self = leaf;
        }
        // Dropped before the return value is made: a panic in this drop would leak that value.
        drop(futures);
        if needed { Continue(self) } else { Break(self) }
    }

    fn cancel(&self) {
        self.cancel_tasks();
    }
}

impl<'s, S: Detach<'s>, W: Workload + 's> Leaf<'s, S, W> {
    /// Makes a pending item at the task's position, which waits for its next permit in that way.
    fn pending_item<F>(&mut self, fold: F, kind: LineKind) -> PendingItem<'s, W, F> {
        self.deliver_segment();
        let place = self.grow(kind);
        PendingItem { reduction: self.divide(), call: self.call, fold, place }
    }
}

/// Cancels the pending items, if the reduction has stopped everywhere: because of an item, or of two outputs.
pub(super) fn cancel_if_stopped<'s, S: Detach<'s>, W: Workload>(
    reduction: &W::Reduction,
    handle: &S::Handle,
) {
    if W::Reduction::ENDS.stops_all && reduction.stopped() {
        handle.cancel();
    }
}

/// The permit of a task that completes a pending item, at its beginning.
enum Has<'s> {
    /// For the next future of the item: the task [waits](FoldFacts::waits) again.
    ForNext(Permit<'s>),
    /// The permit of the last future, which is ready, if the task keeps it.
    Last(Option<Permit<'s>>),
}

/// A pending item: its future's output has a place of its own.
///
/// A million waiting items are a million of these, so there are no fields that can be found elsewhere.
struct PendingItem<'s, W: Workload, F> {
    reduction: W::Reduction,
    call: &'s Call,
    fold: F,
    place: ItemPlace<'s, W>,
}

impl<'s, W: Workload + 's, F> PendingItem<'s, W, F> {
    /// Runs the task that completes the item. A task that waits again has a frame, with the permit.
    fn run<S: Detach<'s>>(
        self,
        handle: &S::Handle,
        has: Has<'s>,
        task: impl FnOnce(Leaf<'s, S, W>, F) -> Folded<'s, S, W>,
    ) {
        let PendingItem { reduction, call, fold, place } = self;
        let end = W::Reduction::ENDS.stops_all.then(|| reduction.clone());
        call.watch(|| {
            let (next, last) = match has {
                Has::ForNext(permit) => (Some(permit), None),
                Has::Last(permit) => (None, permit),
            };
            let kind = place.kind();
            let frame = next.map(|permit| {
                // Its items have begun, so they need no place.
                let reserve = Reserve::new(permit.source(), Some(permit), Place::FIRST);
                TaskFrame::new(handle.clone(), reserve, kind, handle.is_proactive())
            });
            let leaf = Leaf::new(frame.as_ref(), reduction, call, Tree::of_item());
            let (Continue(leaf) | Break(leaf)) = task(leaf, fold);
            let held = frame.as_ref().and_then(|frame| frame.take_held());
            held.into_iter().for_each(|held| handle.suspend_beside(held));
            if leaf.cancels.get() {
                handle.cancel();
            }
            drop(last);
            if leaf.end().deliver(place.link()) && ends_early::<W>() {
                handle.cancel();
            }
            if let Some(reduction) = end {
                cancel_if_stopped::<S, W>(&reduction, handle);
            }
        });
    }

    /// Runs a task that makes the item's first or next future, as soon as there is a permit for it.
    fn run_with_permit<S, T>(self, handle: &S::Handle, permit: Acquire<'s>, task: T)
    where
        S: Detach<'s>,
        F: Send + 's,
        T: FnOnce(Leaf<'s, S, W>, F) -> Folded<'s, S, W> + Send + 's,
    {
        let mut slot = Default::default();
        match handle.poll_once(&mut slot, permit) {
            Poll::Ready(permit) => self.run(handle, Has::ForNext(permit), task),
            Poll::Pending => {
                handle.waits_for_room();
                handle.suspend(&mut slot, ForPermit { pending: self, task });
            }
        }
    }

    /// Completes the pending item and returns `None` if the call has been stopped; else returns the item.
    fn close_if_stopped<H: Suspend<'s, S>, S>(self, handle: &H) -> Option<Self> {
        if handle.is_cancelled() || self.call.is_due() {
            self.close();
            return None;
        }
        Some(self)
    }

    /// Completes the pending item without an output of its own.
    fn close(self) {
        let PendingItem { reduction, call, place, .. } = self;
        call.leave_out();
        call.watch(|| place.link().deliver(nothing::<W>(&reduction)));
    }
}

/// A pending item whose future is in flight.
struct Awaiting<'s, H> {
    permit: Permit<'s>,
    pending: H,
}

impl<'s, S, W, F, V> Resume<'s, S, V> for Awaiting<'s, PendingItem<'s, W, F>>
where
    S: Detach<'s>,
    W: Workload + 's,
    F: StepFold<'s, V, Leaf<'s, S, W>> + Send + 's,
    V: Send + 's,
{
    fn resume(self, scope: &S, output: V, _: Context) {
        let Awaiting { permit, pending } = self;
        let handle = scope.handle();
        let Some(pending) = pending.close_if_stopped(&handle) else { return };
        // A constant: the rest is compiled only for chains that wait several times.
        if const { !F::FACTS.waits } {
            // The next item may begin while this one is folded. Not so in a search, of which this may be the end.
            let last = Has::Last(Some(permit).filter(|_| ends_early::<W>()));
            return pending.run(&handle, last, go_on(output));
        }
        // Another future is to come. It is made when the item has a permit for it: in turns with the other items that wait.
        let (room, kind) = (permit.source(), pending.place.kind());
        // The permit of an item that goes first is for its next future, if it is good for another one.
        let keeps = if kind == LineKind::First { room.allows_reuse() } else { !room.is_wanted() };
        if keeps {
            return pending.run(&handle, Has::ForNext(permit), go_on(output));
        }
        pending.run_with_permit(&handle, room.exchange(permit, kind, Place::FIRST), go_on(output));
    }

    fn cancelled(self, _: &S) {
        self.pending.close();
    }
}

/// A pending item that waits for a permit, and the task that makes its first or next future then.
struct ForPermit<H, T> {
    pending: H,
    task: T,
}

impl<'s, S, W, F, T> Resume<'s, S, Permit<'s>> for ForPermit<PendingItem<'s, W, F>, T>
where
    S: Detach<'s>,
    W: Workload + 's,
    F: Send + 's,
    T: FnOnce(Leaf<'s, S, W>, F) -> Folded<'s, S, W> + Send + 's,
{
    fn resume(self, scope: &S, permit: Permit<'s>, _: Context) {
        let handle = scope.handle();
        if let Some(pending) = self.pending.close_if_stopped(&handle) {
            pending.run(&handle, Has::ForNext(permit), self.task);
        }
    }

    fn cancelled(self, _: &S) {
        self.pending.close();
    }
}

/// Returns the task that begins the first future of an item.
fn begin<'s, S, W, F, U>(future: U) -> impl FnOnce(Leaf<'s, S, W>, F) -> Folded<'s, S, W> + Send + 's
where
    S: Detach<'s>,
    W: Workload + 's,
    U: Future<Output: Send + 's> + Send + 's,
    F: StepFold<'s, U::Output, Leaf<'s, S, W>, Later = F> + Clone + Send + 's,
{
    |leaf, mut fold| leaf.wait_for(iter::once(future), &mut fold)
}

/// Returns the task that goes on with the output of an item's future.
fn go_on<'s, S, W, F, V>(output: V) -> impl FnOnce(Leaf<'s, S, W>, F) -> Folded<'s, S, W> + Send + 's
where
    S: Detach<'s>,
    W: Workload + 's,
    V: Send + 's,
    F: StepFold<'s, V, Leaf<'s, S, W>>,
{
    |leaf, mut fold| fold.fold(leaf, iter::once(output))
}
