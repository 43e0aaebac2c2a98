//! The thread that has built a pool, as one of its workers.

use super::Registry;
use crate::worker::{adopt, disown};
use std::cell::RefCell;
use std::sync::Arc;

/// Keeps the registry of an adopted thread alive for as long as the thread is its worker.
struct Adopted(Arc<Registry>);

/// The number of the adopted thread.
const NUMBER: usize = 0;

impl Drop for Adopted {
    fn drop(&mut self) {
        disown();
        self.0.leave_place(self.0.worker(NUMBER).expect("the pool's own workers are there"));
    }
}

thread_local! {
    static ADOPTED: RefCell<Option<Adopted>> = const { RefCell::new(None) };
}

impl Registry {
    /// Makes the calling thread, which is no worker, worker 0, on a place of its own.
    pub(crate) fn adopt_current_thread(self: &Arc<Self>) {
        let worker = self.worker(NUMBER).expect("the pool's own workers are there");
        self.begin_adopted(worker);
        // SAFETY: no other thread was started for this number; `Adopted` keeps the registry, and disowns the thread before
        // it lets go of it.
        unsafe { adopt(worker) };
        ADOPTED.with(|adopted| *adopted.borrow_mut() = Some(Adopted(Arc::clone(self))));
    }

    /// If the calling thread is this pool's by adoption, it is no more.
    pub(crate) fn release_current_thread(&self) {
        // A thread that ends has been released already.
        let _ = ADOPTED.try_with(|adopted| {
            let mut adopted = adopted.borrow_mut();
            if adopted.as_ref().is_some_and(|adopted| std::ptr::eq(&*adopted.0, self)) {
                *adopted = None;
            }
        });
    }
}
