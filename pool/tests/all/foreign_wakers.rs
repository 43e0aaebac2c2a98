//! Wakers of other runtimes run their own code when they are dropped. The pool drops them under no lock.

use crate::support::suspended::*;
use crate::support::*;
use furcate_pool::JoinHandle;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};

/// A waker whose drop opens a gate, and returns when a task has been woken.
struct Opens {
    gate: Arc<Gate>,
    woken: Arc<Wakes>,
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        add(&self.0);
    }
}

impl Wake for Opens {
    fn wake(self: Arc<Self>) {
        panic!("it has been replaced");
    }
}

impl Drop for Opens {
    fn drop(&mut self) {
        self.gate.open();
        until(|| self.woken.0.load(SeqCst) == 1);
    }
}

#[test]
fn a_handle_drops_wakers_without_its_lock() {
    within(LONG, || {
        let (pool, gate, woken) = (pool(1), Arc::new(Gate::default()), Arc::new(Wakes::default()));
        let handle: JoinHandle<()> = pool.spawn_future(gate.wait_for());
        let mut handle = pin!(handle);
        until(|| gate.waiting() == 1);
        {
            let first = Waker::from(Arc::new(Opens { gate, woken: Arc::clone(&woken) }));
            assert_eq!(handle.as_mut().poll(&mut Context::from_waker(&first)), Poll::Pending);
            assert_eq!(handle.as_mut().poll(&mut Context::from_waker(&first)), Poll::Pending);
        }
        let second = Waker::from(woken);
        // The last clone of the first waker is dropped here.
        assert_eq!(handle.as_mut().poll(&mut Context::from_waker(&second)), Poll::Pending);
        assert_eq!(handle.as_mut().poll(&mut Context::from_waker(&second)), Poll::Ready(()));
    });
}
