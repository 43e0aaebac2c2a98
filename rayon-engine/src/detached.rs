//! Detached parts on rayon's pool.
//!
//! [`Parts`] is rayon's scope under a name of this crate: `Detach` belongs to furcate-pool, and so does rayon's scope, where
//! rayon-core is patched with furcate's.
//!
//! Rayon has no parts that can be taken back, so a part lies in a slot that its owner and a spawned job share: the first one to come
//! takes the part. The job of a part that was taken back finds the slot empty. Rayon's workers cannot report that they
//! look for work either. A *bait* does: a job that only records that another worker has come for it.
//!
//! A panic passes through rayon in a wrapper: see [`Payload`].
//!
//! Cost: two allocations per part, and two per task that makes offers.

use furcate_pool::Context;
use furcate_pool::detach::{BlockingSuspend, Detach, Detachable, ONE_AT_A_TIME, Offers, RightPart};
use furcate_pool::quiet_drop::{drop_at_end, drop_quietly};
use rayon_core::{Scope, current_num_threads, current_thread_index};
use std::any::Any;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Runs a computation in one of rayon's scopes.
pub(super) fn root<'scope, B, R>(body: B) -> R
where
    B: FnOnce(&Parts<'scope>) -> R + Send,
    R: Send,
{
    // Unwind-safe: if the closure panics, this call does.
    let outcome =
        catch_unwind(AssertUnwindSafe(|| rayon_core::scope(|scope| guard(|| body(Parts::of(scope))))));
    outcome.unwrap_or_else(|payload| match payload.downcast::<Payload>() {
        Ok(mut payload) => resume_unwind(payload.0.take().expect("it is taken once, here")),
        Err(payload) => resume_unwind(payload),
    })
}

/// A panic's payload on its way through rayon, which drops all payloads of a scope except the first. If such a drop
/// panicked, rayon would not wait for the scope's end.
struct Payload(Option<Box<dyn Any + Send>>);

impl Drop for Payload {
    fn drop(&mut self) {
        drop_quietly(self.0.take());
    }
}

/// Calls `f`, and wraps the payload of its panic for rayon.
fn guard<R>(f: impl FnOnce() -> R) -> R {
    // Unwind-safe: if `f` panics, this call does.
    catch_unwind(AssertUnwindSafe(f))
        .unwrap_or_else(|payload| resume_unwind(Box::new(Payload(Some(payload)))))
}

/// A part that waits to be taken.
#[derive(Debug)]
struct SharedPart<J>(Arc<Mutex<Option<J>>>);

impl<J> SharedPart<J> {
    /// Spawns a job that takes the part, if it is still there then.
    fn spawn<'scope>(scope: &Parts<'scope>, part: J) -> (Self, Arc<J::Meeting>)
    where
        J: Detachable<'scope, Parts<'scope>>,
    {
        let (slot, meeting) = (SharedPart(Arc::new(Mutex::new(Some(part)))), Arc::<J::Meeting>::default());
        let (job, owner) = ((SharedPart(Arc::clone(&slot.0)), Arc::clone(&meeting)), current_thread_index());
        scope.0.spawn(move |scope| {
            let scope = Parts::of(scope);
            let (slot, meeting) = job;
            guard(|| {
                if let Some(part) = slot.take() {
                    part.run(scope, meeting, Context::new(current_thread_index() != owner));
                }
            });
        });
        (slot, meeting)
    }

    fn take(&self) -> Option<J> {
        self.0.lock().expect("nobody panics with this lock").take()
    }

    fn is_empty(&self) -> bool {
        self.0.lock().expect("nobody panics with this lock").is_none()
    }
}

/// A rayon scope, in which parts of a computation are detached.
#[derive(Debug)]
#[repr(transparent)]
pub struct Parts<'scope>(Scope<'scope>);

impl<'scope> Parts<'scope> {
    #[allow(unsafe_code)]
    fn of<'a>(scope: &'a Scope<'scope>) -> &'a Self {
        // SAFETY: the type is transparent.
        unsafe { &*std::ptr::from_ref(scope).cast() }
    }
}

impl<'scope> Detach<'scope> for Parts<'scope> {
    type Offers<'o, J: Detachable<'scope, Self>>
        = Offered<'o, 'scope, J>
    where
        Self: 'o;

    type Handle = BlockingSuspend;

    fn handle(&self) -> BlockingSuspend {
        BlockingSuspend::default()
    }

    fn num_threads(&self) -> usize {
        current_num_threads()
    }

    fn fork<J, A, R>(&self, left: A, right: J) -> (R, RightPart<J, J::Meeting>)
    where
        J: Detachable<'scope, Self>,
        A: FnOnce() -> R + Send,
    {
        let (slot, meeting) = SharedPart::spawn(self, right);
        // Unwind-safe: if `left` panics, this call does.
        let left = catch_unwind(AssertUnwindSafe(left));
        let right = slot.take();
        match left {
            Ok(left) => (left, right.map_or(RightPart::Taken(meeting), RightPart::Back)),
            Err(payload) => {
                // The drop of the right half may panic as well; the first panic counts.
                drop_quietly(right);
                resume_unwind(payload)
            }
        }
    }

    fn offers<J, B, R>(&self, body: B) -> R
    where
        J: Detachable<'scope, Self>,
        B: FnOnce(&mut Offered<'_, 'scope, J>) -> R,
    {
        let mut offered =
            Offered { scope: self, bitten: Arc::default(), slot: None, _this_thread: PhantomData };
        if current_num_threads() > 1 {
            offered.lay_bait();
        }
        body(&mut offered)
    }
}

/// The place in a scope where a task offers parts of itself.
#[derive(Debug)]
pub struct Offered<'o, 'scope, J> {
    scope: &'o Parts<'scope>,
    /// Whether another worker has come for the bait.
    bitten: Arc<AtomicBool>,
    slot: Option<SharedPart<J>>,
    /// Marker: the value belongs to the task that made it.
    _this_thread: PhantomData<*const ()>,
}

impl<J> Offered<'_, '_, J> {
    fn lay_bait(&self) {
        let (bitten, owner) = (Arc::clone(&self.bitten), current_thread_index());
        self.scope.0.spawn(move |_| {
            if current_thread_index() != owner {
                // Relaxed: a hint.
                bitten.store(true, Relaxed);
            }
        });
    }
}

impl<'scope, J: Detachable<'scope, Parts<'scope>>> Offers<J, J::Meeting> for Offered<'_, 'scope, J> {
    fn demand(&mut self) -> bool {
        // Relaxed: a hint.
        self.bitten.load(Relaxed)
    }

    fn offer(&mut self, part: J) -> Arc<J::Meeting> {
        assert!(self.slot.as_ref().is_none_or(SharedPart::is_empty), "{ONE_AT_A_TIME}");
        let (slot, meeting) = SharedPart::spawn(self.scope, part);
        self.slot = Some(slot);
        if self.bitten.swap(false, Relaxed) {
            // Behind the part: thieves take the oldest job first.
            self.lay_bait();
        }
        meeting
    }

    fn is_taken(&mut self) -> bool {
        self.slot.take_if(|slot| slot.is_empty()).is_some()
    }

    fn take_back(&mut self) -> Option<J> {
        self.slot.take().and_then(|slot| slot.take())
    }
}

impl<J> Drop for Offered<'_, '_, J> {
    fn drop(&mut self) {
        drop_at_end(self.slot.take().and_then(|slot| slot.take()));
    }
}
