//! Adopted threads: the thread that has built a pool is one of the pool's workers.

use super::Registry;
use crate::engine::worker::{Worker, adopt, disown};
use std::cell::RefCell;
use std::ptr;
use std::sync::Arc;

/// The number of the adopted thread.
const NUMBER: usize = 0;

/// The registries of the pools that have adopted this thread. They are kept until the thread ends, because a pool may be dropped inside
/// one of its own calls of `join`. The frame of that call goes on using its worker.
struct Adopters(RefCell<Vec<Arc<Registry>>>);

impl Drop for Adopters {
    fn drop(&mut self) {
        for registry in self.0.take() {
            registry.let_go();
        }
    }
}

crate::sync::machine::thread_local! {
    static ADOPTERS: Adopters = const { Adopters(RefCell::new(Vec::new())) };
}

impl Registry {
    /// Makes the calling thread, which is no worker, the pool's worker 0, and gives it a slot.
    pub(crate) fn adopt_current_thread(self: &Arc<Self>) {
        let worker = self.worker(NUMBER).expect("the pool's own workers are there");
        self.begin_active(worker);
        ADOPTERS.with(|adopters| adopters.0.borrow_mut().push(Arc::clone(self)));
        // SAFETY: no other thread was started for this number. The registry is kept until the thread ends, and the thread is let go
        // before the registry is dropped.
        unsafe { adopt(worker) };
    }

    /// Ends the adoption of the calling thread, if this pool has adopted it and it is not in the middle of a job. Before that, the
    /// thread works until the pool's last job has ended.
    pub(super) fn release_current_thread(&self) {
        let _ = ADOPTERS.try_with(|adopters| {
            let adopted = adopters.0.borrow().iter().any(|adopter| ptr::eq(&**adopter, self));
            Worker::with_current(|worker| {
                let free = worker.filter(|worker| adopted && worker.is_of(self) && !worker.has_frames());
                if let Some(worker) = free {
                    if worker.slot().is_none() {
                        self.occupy_slot(worker);
                    }
                    // The jobs may broadcast; and the pool may have no other thread to run them.
                    self.slots.searching.begin(worker.number());
                    self.work(worker);
                    let _ = self.serve(worker, &mut None);
                    self.let_go();
                }
            });
        });
    }

    /// Makes the calling thread no worker of this pool any more, if that has not happened already.
    fn let_go(&self) {
        let worker = self.worker(NUMBER).expect("the pool's own workers are there");
        if ptr::eq(Worker::current(), worker) {
            disown();
        }
        if worker.slot().is_some() {
            self.release_slot(worker);
        }
    }
}
