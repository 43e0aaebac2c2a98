//! Spawned roots. The data that a computation owns live as long as any part of it, and its `end` is called once, on a
//! worker.

use furcate_pool::detach::{Detach, Detachable, RightPart, SpawnedOutcome, Unattended};
use furcate_pool::{
    Context, Executor, Inline, JoinHandle, Pool, Scope, ThreadPool, ThreadPoolBuilder, current_thread_index,
};
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;
use testkit::pool;

const LONG: Duration = Duration::from_secs(30);

/// A test's computation: its data, its closure, and the receiver of its outcome.
struct Compute<T, B> {
    data: T,
    begin: B,
    told: Sender<Told<T>>,
}

/// The data, the outcome, and the worker on which `end` was called.
type Told<T> = (T, SpawnedOutcome<()>, Option<usize>);

/// Trait for closures: with it the compiler infers their lifetimes.
trait Begin<T>: Send + 'static {
    fn begin<'s>(&mut self, data: &'s mut T, scope: &Scope<'s>);
}

impl<T, F> Begin<T> for F
where
    F: for<'s> FnMut(&'s mut T, &Scope<'s>) + Send + 'static,
{
    fn begin<'s>(&mut self, data: &'s mut T, scope: &Scope<'s>) {
        self(data, scope)
    }
}

impl<T, B, E> Unattended<E> for Compute<T, B>
where
    T: Send + 'static,
    B: Begin<T>,
    E: for<'s> Executor<Scope<'s> = Scope<'s>>,
{
    fn begin<'s>(&'s mut self, scope: &Scope<'s>) {
        self.begin.begin(&mut self.data, scope);
    }

    fn end(self, end: SpawnedOutcome<()>) {
        // A test that is not interested has dropped the receiver.
        let _ = self.told.send((self.data, end, current_thread_index()));
    }
}

fn compute<T, B>(data: T, begin: B) -> (Compute<T, B>, Receiver<Told<T>>)
where
    B: for<'s> FnMut(&'s mut T, &Scope<'s>) + Send + 'static,
{
    let (told, ends) = channel();
    (Compute { data, begin, told }, ends)
}

/// Runs a computation, and returns the arguments of its `end`.
#[track_caller]
fn run<T: Send + 'static, B>(pool: &ThreadPool, data: T, begin: B) -> (T, SpawnedOutcome<()>)
where
    B: for<'s> FnMut(&'s mut T, &Scope<'s>) + Send + 'static,
{
    let (computation, ends) = compute(data, begin);
    pool.spawn_detached(computation);
    let (data, end, worker) = ends.recv_timeout(LONG).expect("it is told its end");
    assert!(worker.is_some_and(|worker| worker < pool.current_num_threads()));
    assert!(ends.recv().is_err(), "once");
    (data, end)
}

fn message(end: SpawnedOutcome<()>) -> &'static str {
    let SpawnedOutcome::Panicked(payload) = end else { panic!("it ended otherwise: {end:?}") };
    payload.downcast_ref::<&str>().unwrap()
}

#[test]
fn all_borrow_what_it_owns() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for _ in 0..50 {
            let (parts, end) = run(&pool, vec![0_usize; 30], |parts, scope| {
                for (i, part) in parts.iter_mut().enumerate() {
                    match i % 3 {
                        // A job, and a job that it spawns.
                        0 => scope.spawn(move |scope| scope.spawn(move |_| *part = i)),
                        // A task that is woken from outside.
                        1 => drop(scope.spawn_future(async move {
                            async_io::Timer::after(Duration::from_millis(2)).await;
                            *part = i;
                        })),
                        // A handle keeps the scope alive.
                        _ => {
                            let handle = scope.handle();
                            scope.spawn(move |_| drop(handle.spawn_future(async move { *part = i })));
                        }
                    }
                }
            });
            assert!(matches!(end, SpawnedOutcome::Done(())));
            assert!(parts.into_iter().eq(0..30));
        }
    }
}

/// Forks: the right part is stolen or comes back.
#[test]
fn detached_parts_borrow_too() {
    struct Right<'s>(&'s AtomicUsize);
    impl<'s> Detachable<'s, Scope<'s>> for Right<'s> {
        type Meeting = ();
        fn run(self, _: &Scope<'s>, _: Arc<()>, _: Context) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let pool = pool(2);
    for round in 0..200 {
        let (count, end) = run(&pool, AtomicUsize::new(0), move |count, scope| {
            let count = &*count;
            let left = || {
                if round % 2 == 0 {
                    std::thread::sleep(Duration::from_micros(100));
                }
                count.fetch_add(1, Relaxed);
            };
            if let ((), RightPart::Back(right)) = scope.fork(left, Right(count)) {
                right.0.fetch_add(1, Relaxed);
            }
        });
        assert!(matches!(end, SpawnedOutcome::Done(())));
        assert_eq!(count.into_inner(), 2);
    }
}

#[test]
fn the_first_panic_is_told() {
    for threads in [1, 3] {
        let pool = pool(threads);
        let (_, end) = run(&pool, (), |(), _| panic!("begin"));
        assert_eq!(message(end), "begin");
        let (_, end) = run(&pool, (), |(), scope| scope.spawn(|_| panic!("job")));
        assert_eq!(message(end), "job");
        let (_, end) = run(&pool, (), |(), scope| drop(scope.spawn_future(async { panic!("task") })));
        assert_eq!(message(end), "task");
        // A suspended task is dropped, and may panic, too.
        let (data, end) = run(&pool, String::from("there"), |data, scope| {
            drop(scope.spawn_future(async {
                let _loud = Loud(data);
                pending::<()>().await;
            }));
            scope.spawn(|_| panic!("job"));
        });
        assert_eq!((data.as_str(), message(end)), ("there", "job"));
        assert_eq!(pool.install(|| 1), 1);
    }
}

struct Loud<'a>(&'a str);

impl Drop for Loud<'_> {
    fn drop(&mut self) {
        assert_eq!(self.0, "not there", "in drop");
    }
}

/// The panic of an `end` is treated like the panic of a future with its handle dropped.
#[test]
fn a_panic_of_its_end_goes_to_the_handler() {
    struct Ends;
    impl<E: Executor> Unattended<E> for Ends {
        fn begin<'s>(&'s mut self, _: &E::Scope<'s>) {}
        fn end(self, _: SpawnedOutcome<()>) {
            panic!("at its end");
        }
    }
    let (sender, receiver) = channel();
    let sender = Mutex::new(sender);
    let handler = move |payload: Box<dyn std::any::Any + Send>| {
        sender.lock().unwrap().send(*payload.downcast_ref::<&str>().unwrap()).unwrap();
    };
    let pool = ThreadPoolBuilder::new().num_threads(1).panic_handler(handler).build().unwrap();
    for _ in 0..3 {
        (&pool).spawn_detached(Ends);
        assert_eq!(receiver.recv_timeout(LONG), Ok("at its end"));
    }
    assert_eq!(pool.install(|| 1), 1);
}

/// Counts drops.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn a_pool_that_is_dropped_cancels_what_waits() {
    for threads in [1, 3] {
        let (pool, drops, runs) =
            (pool(threads), Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let ends: Vec<_> = (0..20)
            .map(|_| {
                let (drops, runs) = (Arc::clone(&drops), Arc::clone(&runs));
                let (computation, ends) = compute(7, move |seven, scope| {
                    let seven = &*seven;
                    for _ in 0..10 {
                        let (dropped, runs) = (Dropped(Arc::clone(&drops)), Arc::clone(&runs));
                        drop(scope.spawn_future(async move {
                            let _dropped = dropped;
                            runs.fetch_add(1, Relaxed);
                            pending::<()>().await;
                            unreachable!("{seven}");
                        }));
                    }
                });
                (&pool).spawn_detached(computation);
                ends
            })
            .collect();
        while runs.load(Relaxed) < 200 {
            std::thread::yield_now();
        }
        drop(pool);
        // The drop of the pool has waited for all of them.
        assert_eq!(drops.load(Relaxed), 200);
        for ends in ends {
            let (seven, end, worker) = ends.try_recv().expect("it has been told");
            assert!(seven == 7 && matches!(end, SpawnedOutcome::Cancelled) && worker.is_some());
        }
    }
}

/// Computations spawned before the pool is dropped and not begun by then, and computations spawned by a job that runs
/// during the drop.
#[test]
fn a_pool_that_is_dropped_begins_nothing() {
    let pool = pool(1);
    let ended = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = channel();
    // This computation waits. It is the first one to be dropped with the pool.
    let flag = Arc::clone(&ended);
    let (waits, first) = compute((), move |(), scope| {
        struct Tells(Arc<AtomicBool>);
        impl Drop for Tells {
            fn drop(&mut self) {
                self.0.store(true, Relaxed);
            }
        }
        let tells = Tells(Arc::clone(&flag));
        drop(scope.spawn_future(async move {
            let _tells = tells;
            pending::<()>().await;
        }));
    });
    (&pool).spawn_detached(waits);
    pool.install(|| ());
    // Keeps the only worker busy until that drop.
    let flag = Arc::clone(&ended);
    pool.spawn(move || {
        while !flag.load(Relaxed) {
            std::thread::yield_now();
        }
        let (late, third) = compute((), |(), _| panic!("it begins"));
        Pool.spawn_detached(late);
        sender.send(third).unwrap();
    });
    let (early, second) = compute((), |(), _| panic!("it begins"));
    (&pool).spawn_detached(early);
    drop(pool);
    let third = receiver.recv().unwrap();
    for ends in [first, second, third] {
        assert!(matches!(ends.try_recv(), Ok(((), SpawnedOutcome::Cancelled, Some(_)))));
    }
}

/// A computation may keep handles of its tasks in its data, and use them when all tasks have ended.
#[test]
fn handles_of_tasks_outlive_the_scope() {
    #[derive(Default)]
    struct Handles(Vec<JoinHandle<()>>, AtomicUsize);
    let pool = pool(2);
    for _ in 0..50 {
        let (handles, end) = run(&pool, Handles::default(), |handles, scope| {
            let Handles(handles, count) = handles;
            for i in 0..10 {
                let count = &*count;
                handles.push(scope.spawn_future(async move {
                    async_io::Timer::after(Duration::from_millis(i % 3)).await;
                    count.fetch_add(1, Relaxed);
                }));
            }
        });
        assert!(matches!(end, SpawnedOutcome::Done(())));
        assert_eq!(handles.1.load(Relaxed), 10);
        for handle in handles.0 {
            handle.cancel();
            assert!(handle.is_finished());
        }
    }
}

/// The last task to end does so on a thread that does not belong to the pool.
#[test]
fn the_last_task_is_cancelled_from_outside() {
    let pool = pool(2);
    for _ in 0..300 {
        let (sender, receiver) = channel();
        let (computation, ends) = compute(String::from("borrowed"), move |text, scope| {
            let text = &*text;
            let handle = scope.spawn_future(async move {
                pending::<()>().await;
                assert_eq!(text, "borrowed");
            });
            sender.send(handle).unwrap();
        });
        (&pool).spawn_detached(computation);
        let handle: JoinHandle<()> = receiver.recv_timeout(LONG).unwrap();
        handle.cancel();
        let (text, end, worker) = ends.recv_timeout(LONG).expect("it ends");
        assert!(text == "borrowed" && matches!(end, SpawnedOutcome::Done(())) && worker.is_some());
    }
}

/// One thread wakes while another one drops the pool: each computation ends once, and then nothing is left.
#[test]
fn woken_while_the_pool_is_dropped() {
    for round in 0..200 {
        let pool = pool(1 + round % 3);
        let wakers = Arc::new(Mutex::new(Vec::<(Arc<AtomicBool>, Waker)>::new()));
        let ends: Vec<_> = (0..5)
            .map(|_| {
                let wakers = Arc::clone(&wakers);
                let (computation, ends) = compute(AtomicUsize::new(0), move |count, scope| {
                    for _ in 0..3 {
                        let (count, wakers) = (&*count, Arc::clone(&wakers));
                        let woken = Arc::new(AtomicBool::new(false));
                        drop(scope.spawn_future(async move {
                            poll_fn(|context| {
                                if woken.load(Relaxed) {
                                    return Poll::Ready(());
                                }
                                wakers.lock().unwrap().push((Arc::clone(&woken), context.waker().clone()));
                                Poll::Pending
                            })
                            .await;
                            count.fetch_add(1, Relaxed);
                        }));
                    }
                });
                (&pool).spawn_detached(computation);
                ends
            })
            .collect();
        if round % 2 == 0 {
            while wakers.lock().unwrap().len() < 15 {
                std::thread::yield_now();
            }
        }
        let wake = Arc::clone(&wakers);
        let waking = std::thread::spawn(move || {
            let wakers = std::mem::take(&mut *wake.lock().unwrap());
            for (woken, waker) in wakers {
                woken.store(true, Relaxed);
                waker.wake();
            }
        });
        drop(pool);
        for ends in ends {
            let (count, end, _) = ends.try_recv().expect("it has been told");
            match end {
                SpawnedOutcome::Done(()) => assert_eq!(count.into_inner(), 3),
                SpawnedOutcome::Cancelled => assert!(count.into_inner() <= 3),
                SpawnedOutcome::Panicked(_) => panic!("nobody panics"),
            }
            assert!(ends.try_recv().is_err());
        }
        waking.join().unwrap();
    }
}

/// A computation that owns the last reference to its pool.
#[test]
fn it_may_own_its_pool() {
    for _ in 0..20 {
        let pool = Arc::new(pool(2));
        let (computation, ends) = compute(Arc::clone(&pool), |pool, scope| {
            let pool = &*pool;
            scope.spawn(move |_| assert_eq!(pool.current_num_threads(), 2));
        });
        pool.spawn_detached(computation);
        drop(pool);
        let (pool, end, _) = ends.recv_timeout(LONG).unwrap();
        assert!(matches!(end, SpawnedOutcome::Done(())));
        drop(pool);
    }
}

/// By default an engine runs the computation in the calling thread.
#[test]
fn in_the_calling_thread() {
    struct Here(Sender<(usize, bool)>, usize);
    impl Unattended<Inline> for Here {
        fn begin<'s>(&'s mut self, scope: &<Inline as Executor>::Scope<'s>) {
            self.1 = Detach::<'s>::num_threads(scope);
        }
        fn end(self, end: SpawnedOutcome<()>) {
            self.0.send((self.1, matches!(end, SpawnedOutcome::Done(())))).unwrap();
        }
    }
    let (sender, receiver) = channel();
    Inline.spawn_detached(Here(sender, 0));
    assert_eq!(receiver.try_recv(), Ok((1, true)));
    struct Panics;
    impl Unattended<Inline> for Panics {
        fn begin<'s>(&'s mut self, _: &<Inline as Executor>::Scope<'s>) {
            panic!("here");
        }
        fn end(self, end: SpawnedOutcome<()>) {
            assert_eq!(message(end), "here");
        }
    }
    Inline.spawn_detached(Panics);
}
