use super::*;
use furcate_pool::block_on;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::task::Wake;

const MILLISECOND: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3600);

/// Counts calls, and reports each of them.
struct Wakes {
    count: AtomicUsize,
    report: mpsc::Sender<()>,
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.count.fetch_add(1, Relaxed);
        let _receiver_may_be_gone = self.report.send(());
    }
}

fn wakes() -> (Arc<Wakes>, mpsc::Receiver<()>) {
    let (report, reports) = mpsc::channel();
    (Arc::new(Wakes { count: AtomicUsize::new(0), report }), reports)
}

fn poll(timer: &mut Timer, waker: &Arc<Wakes>) -> bool {
    let waker = Waker::from(Arc::clone(waker));
    Pin::new(timer).poll(&mut Context::from_waker(&waker)).is_ready()
}

#[test]
fn no_timer_is_early_and_all_end() {
    let begin = Instant::now();
    thread::scope(|scope| {
        for milliseconds in [80, 200, 10, 140] {
            scope.spawn(move || {
                block_on(Timer::at(begin + milliseconds * MILLISECOND));
                assert!(begin.elapsed() >= milliseconds * MILLISECOND);
            });
        }
    });
    assert!(begin.elapsed() < HOUR / 60);
}

/// The thread sleeps until the late timer's time, and is notified of the early one (invariant 2).
#[test]
fn an_early_timer_does_not_wait_for_a_late_one() {
    let (waker, reports) = wakes();
    let mut late = Timer::after(HOUR);
    assert!(!poll(&mut late, &waker));
    thread::sleep(20 * MILLISECOND); // The thread sleeps by now.
    let mut early = Timer::after(200 * MILLISECOND);
    assert!(!poll(&mut early, &waker));
    reports.recv_timeout(HOUR / 60).unwrap();
    assert!(poll(&mut early, &waker) && !poll(&mut late, &waker));
    assert_eq!(waker.count.load(Relaxed), 1);
}

/// References to a waker: the test's own, and the entry's (invariant 1).
#[test]
fn a_timer_has_one_entry_which_goes_with_it() {
    let ((first, _), (second, _)) = (wakes(), wakes());
    let mut timer = Timer::after(HOUR);
    assert!(!poll(&mut timer, &first));
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (2, 1));
    assert!(!poll(&mut timer, &second));
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 2), "replaced");
    drop(timer);
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 1));
}

#[test]
fn a_timer_that_is_due_is_ready_without_an_entry() {
    let (waker, _reports) = wakes();
    assert!(poll(&mut Timer::at(Instant::now()), &waker));
    assert!(poll(&mut Timer::after(Duration::ZERO), &waker));
    assert_eq!(Arc::strong_count(&waker), 1);
}

#[test]
fn a_timer_later_than_all_instants_is_never_ready() {
    let (waker, _reports) = wakes();
    assert!(!poll(&mut Timer::after(Duration::MAX), &waker));
}

#[test]
fn a_waker_that_panics_does_not_end_the_thread() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            std::panic::resume_unwind(Box::new("from a waker"));
        }
    }
    let at = Instant::now() + 200 * MILLISECOND;
    let (waker, reports) = wakes();
    let (mut panics, mut timer) = (Timer::at(at), Timer::at(at));
    let hostile = Waker::from(Arc::new(Panics));
    assert!(Pin::new(&mut panics).poll(&mut Context::from_waker(&hostile)).is_pending());
    assert!(!poll(&mut timer, &waker));
    reports.recv_timeout(HOUR / 60).unwrap();
    let mut later = Timer::after(200 * MILLISECOND);
    assert!(!poll(&mut later, &waker));
    reports.recv_timeout(HOUR / 60).unwrap();
}

/// A waker may use timers: none is called under the lock (invariant 4).
#[test]
fn a_waker_may_poll_and_drop_timers() {
    struct Uses {
        timer: Mutex<Option<Timer>>,
        then: Arc<Wakes>,
    }
    impl Wake for Uses {
        fn wake(self: Arc<Self>) {
            drop(self.timer.lock().unwrap().take());
            let mut next = Timer::after(100 * MILLISECOND);
            assert!(!poll(&mut next, &self.then));
            mem::forget(next);
        }
    }
    let (waker, reports) = wakes();
    let mut dropped = Timer::after(HOUR);
    assert!(!poll(&mut dropped, &waker));
    let uses = Arc::new(Uses { timer: Mutex::new(Some(dropped)), then: Arc::clone(&waker) });
    let mut timer = Timer::after(100 * MILLISECOND);
    assert!(Pin::new(&mut timer).poll(&mut Context::from_waker(&uses.into())).is_pending());
    reports.recv_timeout(HOUR / 60).unwrap();
}
