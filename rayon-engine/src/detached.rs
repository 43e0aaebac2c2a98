//! Detached parts on rayon's pool.
//!
//! [`Parts`] is rayon's scope under a name of this crate: `Detach` belongs to furcate-pool, and so does rayon's scope, where
//! rayon-core is patched with furcate's.
//!
//! Rayon has no parts that can be taken back, so a part lies in a slot that its owner and a spawned job share, as on threads of your
//! own ([`published`]). The rest of the kit for those, `OnThreads`, would block a worker of rayon until all parts have ended. A scope of
//! rayon runs other jobs meanwhile.
//!
//! A panic passes through rayon in a wrapper: see [`Payload`].
//!
//! Cost: two allocations per part, and two per task that makes offers.

use furcate_pool::Context;
use furcate_pool::detach::published::{self, Publish, PublishedOffers, SharedPart};
use furcate_pool::detach::{BlockingSuspend, Detach, Detachable, RightPart};
use furcate_pool::quiet_drop::drop_quietly;
use rayon_core::{Scope, current_num_threads, current_thread_index};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

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

impl<'scope> Publish<'scope> for Parts<'scope> {
    fn publish<J: Detachable<'scope, Self>>(&self, slot: SharedPart<J, J::Meeting>) {
        let owner = current_thread_index();
        self.0.spawn(move |scope| {
            guard(|| {
                if let Some((part, meeting)) = slot.steal(|| ()) {
                    part.run(Parts::of(scope), meeting, Context::new(current_thread_index() != owner));
                }
            });
        });
    }

    fn lay_bait(&self, bitten: Arc<AtomicBool>) {
        let owner = current_thread_index();
        if current_num_threads() > 1 {
            self.0.spawn(move |_| {
                if current_thread_index() != owner {
                    // Relaxed: a hint.
                    bitten.store(true, Relaxed);
                }
            });
        }
    }
}

impl<'scope> Detach<'scope> for Parts<'scope> {
    type Offers<'o, J: Detachable<'scope, Self>>
        = PublishedOffers<'o, 'scope, Self, J>
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
        published::fork(self, left, right)
    }

    fn offers<J, B, R>(&self, body: B) -> R
    where
        J: Detachable<'scope, Self>,
        B: FnOnce(&mut PublishedOffers<'_, 'scope, Self, J>) -> R,
    {
        published::offers(self, body)
    }
}
