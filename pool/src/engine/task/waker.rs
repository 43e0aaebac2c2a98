//! A task's wakers: a reference each.

use super::erased::Core;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::{Context, RawWaker, RawWakerVTable, Waker};

static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, release);

/// Calls `f` with a context whose waker wakes the task. The waker borrows the caller's reference.
pub(super) fn with<R>(task: NonNull<Core>, f: impl FnOnce(&mut Context<'_>) -> R) -> R {
    // SAFETY: the table's functions fulfill the waker contract for a pointer to a task that is there; and the thread
    // that polls a task keeps it alive.
    let waker = ManuallyDrop::new(unsafe { Waker::new(task.as_ptr().cast(), &TABLE) });
    f(&mut Context::from_waker(&waker))
}

/// # Safety
///
/// For all of these functions: `data` belongs to a waker that was made by `with` or by `clone`.
unsafe fn task(data: *const ()) -> NonNull<Core> {
    // SAFETY: it was made from a `NonNull`.
    unsafe { NonNull::new_unchecked(data.cast_mut().cast()) }
}

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker cloned keeps the task.
    unsafe { task(data).as_ref() }.state.retain();
    RawWaker::new(data, &TABLE)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the waker's own reference, which ends here.
    unsafe { Core::wake(task(data), true) };
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker keeps the task.
    unsafe { Core::wake(task(data), false) };
}

unsafe fn release(data: *const ()) {
    // SAFETY: the waker's own reference, which ends here.
    unsafe { Core::release(task(data)) };
}
