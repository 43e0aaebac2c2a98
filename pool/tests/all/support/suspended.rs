//! Futures that other threads wake, and continuations for their outputs.

use super::{Flag, LONG, pool, within};
use furcate_pool::detach::{Detach, Resume, Suspend};
use furcate_pool::{Context, Executor, Scope, ThreadPool};
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{self, Poll, Waker};
use std::thread;

/// A continuation made of a closure.
pub(crate) struct Then<'s, R> {
    pub(crate) resume: R,
    pub(crate) cancelled: Option<&'s AtomicUsize>,
}

impl<'s, S, T, R> Resume<'s, S, T> for Then<'s, R>
where
    R: FnOnce(&S, T, Context) + Send + 's,
{
    fn resume(self, scope: &S, output: T, context: Context) {
        (self.resume)(scope, output, context);
    }

    fn cancelled(self, _: &S) {
        self.cancelled.expect("not to be cancelled").fetch_add(1, SeqCst);
    }
}

/// Polls a future, and calls `resume` with its output: at once, or when it is ready. Returns whether it was ready at
/// once.
pub(crate) fn start<'s, S, F, R>(scope: &S, future: F, resume: R) -> bool
where
    S: Detach<'s>,
    F: Future + Send + 's,
    R: FnOnce(&S, F::Output, Context) + Send + 's,
{
    go_on(scope, &scope.handle(), future, Then { resume, cancelled: None })
}

/// As [`start`]; a cancelled task is counted instead.
pub(crate) fn start_or<'s, S, F, R>(scope: &S, cancelled: &'s AtomicUsize, future: F, resume: R) -> bool
where
    S: Detach<'s>,
    F: Future + Send + 's,
    R: FnOnce(&S, F::Output, Context) + Send + 's,
{
    go_on(scope, &scope.handle(), future, Then { resume, cancelled: Some(cancelled) })
}

/// Polls a future with a given continuation.
pub(crate) fn go_on<'s, S, F, K>(scope: &S, handle: &S::Handle, future: F, then: K) -> bool
where
    S: Detach<'s>,
    F: Future + Send + 's,
    K: Resume<'s, S, F::Output>,
{
    let mut then = Some(then);
    let mut slot = Default::default();
    let output = handle.poll(&mut slot, future, || then.take().expect("made once"));
    if let Some(output) = output {
        let then = then.take().expect("not for a future that is ready");
        then.resume(scope, output, Context::new(false));
        return true;
    }
    false
}

/// A thread that wakes the wakers sent to it.
pub(crate) struct Alarm {
    send: mpsc::Sender<Call>,
    thread: Option<thread::JoinHandle<()>>,
}

struct Call {
    waker: Waker,
    woken: Arc<AtomicBool>,
}

impl Alarm {
    pub(crate) fn new() -> Self {
        let (send, receive) = mpsc::channel::<Call>();
        let wake = move || {
            for Call { waker, woken } in receive {
                // The poll that follows sees this, if the wake synchronizes with it.
                woken.store(true, Relaxed);
                waker.wake();
            }
        };
        Alarm { send, thread: Some(thread::spawn(wake)) }
    }

    /// Returns a future that is pending `times` times, and is woken by this thread each time.
    pub(crate) fn future(&self, times: usize) -> Alarmed {
        Alarmed { send: self.send.clone(), times, woken: None, strict: true }
    }

    /// As `future`, for futures that are also polled because of other ones.
    pub(crate) fn timer(&self, times: usize) -> Alarmed {
        Alarmed { strict: false, ..self.future(times) }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.send = mpsc::channel().0;
        self.thread.take().expect("joined once").join().expect("wakers do not panic");
    }
}

/// See [`Alarm::future`].
pub(crate) struct Alarmed {
    send: mpsc::Sender<Call>,
    times: usize,
    /// Whether the future panics if it is polled without having been woken.
    strict: bool,
    woken: Option<Arc<AtomicBool>>,
}

impl Future for Alarmed {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<()> {
        if self.woken.as_ref().is_some_and(|woken| !woken.load(Relaxed)) {
            assert!(!self.strict, "polled, but not woken");
            return Poll::Pending;
        }
        let Some(times) = self.times.checked_sub(1) else { return Poll::Ready(()) };
        self.times = times;
        let woken = Arc::new(AtomicBool::new(false));
        self.woken = Some(Arc::clone(&woken));
        let _ = self.send.send(Call { waker: context.waker().clone(), woken });
        Poll::Pending
    }
}

/// A gate that futures wait for. It keeps their wakers until a thread opens it.
#[derive(Default)]
pub(crate) struct Gate {
    open: Flag,
    pub(crate) polls: AtomicUsize,
    pub(crate) wakers: Mutex<Vec<Waker>>,
}

impl Gate {
    pub(crate) fn wait(&self) -> Waiting<'_> {
        Waiting(self)
    }

    /// As `wait`, for a future that owns its reference to the gate.
    pub(crate) fn wait_for(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<> {
        let gate = Arc::clone(self);
        async move { gate.wait().await }
    }

    pub(crate) fn wakers(&self) -> Vec<Waker> {
        self.wakers.lock().unwrap().clone()
    }

    pub(crate) fn waiting(&self) -> usize {
        self.wakers.lock().unwrap().len()
    }

    /// Opens the gate, and wakes all futures that wait.
    pub(crate) fn open(&self) {
        self.open.set();
        let wakers = std::mem::take(&mut *self.wakers.lock().unwrap());
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Opens the gate without a wake.
    pub(crate) fn unlock(&self) {
        self.open.set();
    }

    pub(crate) fn polls(&self) -> usize {
        self.polls.load(SeqCst)
    }
}

pub(crate) struct Waiting<'g>(&'g Gate);

impl Future for Waiting<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<()> {
        let gate = self.0;
        gate.polls.fetch_add(1, SeqCst);
        let mut wakers = gate.wakers.lock().unwrap();
        // Under the lock: a thread that opens the gate takes the wakers afterwards.
        if gate.open.is_set() {
            return Poll::Ready(());
        }
        wakers.push(context.waker().clone());
        Poll::Pending
    }
}

/// Counts the polls, moves and drops of watched futures.
#[derive(Default)]
pub(crate) struct Watch {
    made: AtomicUsize,
    pub(crate) dropped: AtomicUsize,
    pub(crate) polls: AtomicUsize,
    pub(crate) moved: AtomicUsize,
}

impl Watch {
    /// Watches a future: its address, and its drop.
    pub(crate) fn on<F>(&self, future: F) -> Watched<'_, F> {
        self.made.fetch_add(1, SeqCst);
        Watched { watch: self, lies: 0, future, _pinned: PhantomPinned }
    }

    /// Checks that every watched future was dropped once, at the address at which it was polled.
    #[track_caller]
    pub(crate) fn check(&self, made: usize) {
        assert_eq!(self.made.load(SeqCst), made, "made");
        assert_eq!(self.dropped.load(SeqCst), made, "dropped");
        assert_eq!(self.moved.load(SeqCst), 0, "moved");
    }
}

pub(crate) struct Watched<'w, F> {
    watch: &'w Watch,
    /// Its address at the first poll; 0 before.
    lies: usize,
    future: F,
    _pinned: PhantomPinned,
}

impl<F> Watched<'_, F> {
    fn is_moved(&self) -> bool {
        self.lies != 0 && self.lies != std::ptr::from_ref(self).addr()
    }
}

impl<F: Future> Future for Watched<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<F::Output> {
        // SAFETY: nothing is moved out of the future.
        let this = unsafe { self.get_unchecked_mut() };
        this.watch.polls.fetch_add(1, SeqCst);
        this.watch.moved.fetch_add(usize::from(this.is_moved()), SeqCst);
        this.lies = std::ptr::from_ref(this).addr();
        // SAFETY: the inner future is pinned with this one.
        unsafe { Pin::new_unchecked(&mut this.future) }.poll(context)
    }
}

impl<F> Drop for Watched<'_, F> {
    fn drop(&mut self) {
        self.watch.moved.fetch_add(usize::from(self.is_moved()), SeqCst);
        self.watch.dropped.fetch_add(1, SeqCst);
    }
}

/// Wakes itself that many times, and is pending meanwhile.
pub(crate) struct Restless(pub usize);

impl Future for Restless {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<()> {
        let Some(times) = self.0.checked_sub(1) else { return Poll::Ready(()) };
        self.0 = times;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Runs a test on pools of several sizes; afterwards every task that was suspended has been resumed or dropped.
#[track_caller]
pub(crate) fn on_pools(test: impl Fn(&ThreadPool) + Send + Sync + 'static) {
    within(LONG, move || {
        for threads in super::detached::SIZES {
            let pool = pool(threads);
            test(&pool);
            settled(&pool);
        }
    });
}

/// Checks that every suspended task has been resumed or dropped. Also checks that every mugged deque was stolen from
/// before, except deques whose tasks were dropped, and that only the workers' own deques are left (W7).
#[track_caller]
pub(crate) fn settled(pool: &ThreadPool) {
    let total = pool.stats().total();
    assert_eq!(total.suspensions, total.resumes + total.cancelled, "suspended = resumed + cancelled");
    assert!(total.mugs <= total.steals_resumable + total.cancelled, "stolen from, then mugged: {total:?}");
    super::until(|| {
        let all = pool.stats();
        all.deques.live() == all.workers.len() as u64
    });
}

/// Runs `body`, waits until all its suspended tasks have ended, and returns the body's result.
pub(crate) fn call<'s, R: Send>(pool: &ThreadPool, body: impl FnOnce(&Scope<'s>) -> R + Send) -> R {
    Executor::detached(&pool, body)
}
