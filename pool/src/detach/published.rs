//! Parts in slots that their owner and a job share: for engines whose jobs cannot be taken back.
//!
//! The part belongs to the thread that comes first. The job of a part that was taken back finds the slot empty. Threads of such an
//! engine cannot report that they look for work either. A *bait* does: a job that only records that another thread has come for it.

use super::{Detach, Detachable, ONE_AT_A_TIME, Offers, RightPart};
use crate::quiet_drop::{drop_at_end, drop_quietly};
use crate::sync::machine::{Mutex, MutexGuard};
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A scope whose parts lie in slots.
pub trait Publish<'scope>: Detach<'scope> {
    /// Has one of the threads run the part in this slot, if the part is still there then. The caller empties the slot before its frame
    /// ends.
    ///
    /// # Panics
    ///
    /// If the engine panics. The caller then empties the slot.
    fn publish<J: Detachable<'scope, Self>>(&self, slot: SharedPart<J, J::Meeting>);

    /// Has one of the threads set the flag, if that is another thread than the calling one.
    fn lay_bait(&self, bitten: Arc<AtomicBool>);
}

/// The place that the owner of a part and a job share; `None` once the part has been taken.
pub struct SharedPart<J, M>(Arc<Mutex<Option<PartAndMeeting<J, M>>>>);

/// A part that waits to be taken, with the meeting that its thief shares.
type PartAndMeeting<J, M> = (J, Arc<M>);

impl<J, M> Clone for SharedPart<J, M> {
    fn clone(&self) -> Self {
        SharedPart(Arc::clone(&self.0))
    }
}

impl<J, M> SharedPart<J, M> {
    fn lock(&self) -> MutexGuard<'_, Option<PartAndMeeting<J, M>>> {
        self.0.lock().expect("no code panics with this lock")
    }

    /// Takes the part for a thief, if it is still there. Calls `taken` under the lock if so.
    pub fn steal(&self, taken: impl FnOnce()) -> Option<(J, Arc<M>)> {
        let mut part = self.lock();
        if part.is_some() {
            taken();
        }
        part.take()
    }

    /// Takes the part back, if it is still there.
    fn take_back(&self) -> Option<J> {
        // The meeting may be dropped here, and its drop is user code: not under the lock, and without a panic.
        let taken = self.lock().take();
        taken.map(|(part, meeting)| {
            drop_quietly(meeting);
            part
        })
    }

    fn is_empty(&self) -> bool {
        self.lock().is_none()
    }
}

fn publish<'scope, S, J>(scope: &S, part: J) -> (SharedPart<J, J::Meeting>, Arc<J::Meeting>)
where
    S: Publish<'scope>,
    J: Detachable<'scope, S>,
{
    let meeting = Arc::<J::Meeting>::default();
    let slot = SharedPart(Arc::new(Mutex::new(Some((part, Arc::clone(&meeting))))));
    // Unwind-safe: if the engine panics, so does this call.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| scope.publish(slot.clone()))) {
        drop_quietly((slot.take_back(), meeting));
        resume_unwind(payload);
    }
    (slot, meeting)
}

/// See [`Detach::fork`].
pub fn fork<'scope, S, J, A, R>(scope: &S, left: A, right: J) -> (R, RightPart<J, J::Meeting>)
where
    S: Publish<'scope>,
    J: Detachable<'scope, S>,
    A: FnOnce() -> R,
{
    let (slot, meeting) = publish(scope, right);
    // Unwind-safe: if `left` panics, so does this call.
    let left = catch_unwind(AssertUnwindSafe(left));
    let right = slot.take_back();
    match left {
        Ok(left) => (left, right.map_or(RightPart::Taken(meeting), RightPart::Back)),
        Err(payload) => {
            // The drop of the right half may panic as well; the first panic counts.
            drop_quietly((right, meeting));
            resume_unwind(payload)
        }
    }
}

/// See [`Detach::offers`]. The offers are only lent. Their drop takes back a part that was not taken, so no slot is full after this call:
/// the `unsafe` code of engines relies on that.
pub fn offers<'scope, S, J, B, R>(scope: &S, body: B) -> R
where
    S: Publish<'scope>,
    J: Detachable<'scope, S>,
    B: FnOnce(&mut PublishedOffers<'_, 'scope, S, J>) -> R,
{
    body(&mut PublishedOffers::new(scope))
}

/// The place in a computation where a task offers parts of itself.
pub struct PublishedOffers<'o, 'scope, S: Publish<'scope>, J: Detachable<'scope, S>> {
    scope: &'o S,
    /// Whether another thread has come for the bait.
    bitten: Arc<AtomicBool>,
    slot: Option<SharedPart<J, J::Meeting>>,
    /// Marker: the value belongs to the task that made it.
    _this_thread: PhantomData<*const ()>,
}

impl<'o, 'scope, S: Publish<'scope>, J: Detachable<'scope, S>> PublishedOffers<'o, 'scope, S, J> {
    /// Begins to offer parts: lays the bait. Private, so that nobody else can forget the value: see [`offers`].
    fn new(scope: &'o S) -> Self {
        let offers = PublishedOffers { scope, bitten: Arc::default(), slot: None, _this_thread: PhantomData };
        scope.lay_bait(Arc::clone(&offers.bitten));
        offers
    }
}

impl<'scope, S: Publish<'scope>, J: Detachable<'scope, S>> Offers<J, J::Meeting>
    for PublishedOffers<'_, 'scope, S, J>
{
    fn demand(&mut self) -> bool {
        // Relaxed: a hint.
        self.bitten.load(Relaxed)
    }

    fn offer(&mut self, part: J) -> Arc<J::Meeting> {
        assert!(self.slot.as_ref().is_none_or(SharedPart::is_empty), "{ONE_AT_A_TIME}");
        let (slot, meeting) = publish(self.scope, part);
        self.slot = Some(slot);
        // Relaxed: a hint.
        if self.bitten.swap(false, Relaxed) {
            // Behind the part: the threads take the oldest job first.
            self.scope.lay_bait(Arc::clone(&self.bitten));
        }
        meeting
    }

    fn is_taken(&mut self) -> bool {
        self.slot.take_if(|slot| slot.is_empty()).is_some()
    }

    fn take_back(&mut self) -> Option<J> {
        self.slot.take().and_then(|slot| slot.take_back())
    }
}

impl<'scope, S: Publish<'scope>, J: Detachable<'scope, S>> Drop for PublishedOffers<'_, 'scope, S, J> {
    fn drop(&mut self) {
        drop_at_end(self.take_back());
    }
}

impl<'scope, S: Publish<'scope>, J: Detachable<'scope, S>> fmt::Debug for PublishedOffers<'_, 'scope, S, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishedOffers").finish_non_exhaustive()
    }
}

impl<J, M> fmt::Debug for SharedPart<J, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedPart").finish_non_exhaustive()
    }
}
