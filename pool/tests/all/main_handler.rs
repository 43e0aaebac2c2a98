//! Threads that drive a reactor while they rest.

use crate::support::{Begin, Flag, LONG, add, fib, forked, meet, spawned, until, within};
use furcate_pool::{MainLoop, ThreadPool, ThreadPoolBuilder, block_on, current_thread_index};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::mem;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// A reactor: a thread in its `block_on` takes the answers, and wakes the waiters.
#[derive(Default)]
struct Reactor {
    answers: Mutex<VecDeque<Arc<Answer>>>,
    changed: Condvar,
}

/// An answer, its waiter, and the thread that has seen it.
#[derive(Default)]
struct Answer(Mutex<(Option<Waker>, Option<ThreadId>)>);

impl Reactor {
    /// Asks, and waits for the answer. Returns whether the thread that has seen the answer goes on.
    async fn ask(&self) -> bool {
        let answer = Arc::new(Answer::default());
        let mut asked = false;
        poll_fn(|context| {
            let seen = answer.0.lock().unwrap().1;
            if let Some(thread) = seen {
                return Poll::Ready(thread == thread::current().id());
            }
            answer.0.lock().unwrap().0 = Some(context.waker().clone());
            if !mem::replace(&mut asked, true) {
                self.answers.lock().unwrap().push_back(Arc::clone(&answer));
                self.changed.notify_one();
            }
            Poll::Pending
        })
        .await
    }

    fn block_on(self: &Arc<Self>, main: MainLoop<'_>) {
        let woken = Arc::new(Woken { is_set: AtomicBool::new(false), reactor: Arc::clone(self) });
        let waker = Waker::from(Arc::clone(&woken));
        let mut main = pin!(main);
        while main.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            assert_eq!(current_thread_index(), None, "outside its main loop, the thread is no worker");
            loop {
                let nothing = |answers: &mut VecDeque<_>| answers.is_empty() && !woken.is_set.load(SeqCst);
                let mut answers = self.changed.wait_while(self.answers.lock().unwrap(), nothing).unwrap();
                if woken.is_set.swap(false, SeqCst) {
                    break;
                }
                let answer = answers.pop_front().unwrap();
                drop(answers);
                let mut answer = answer.0.lock().unwrap();
                answer.1 = Some(thread::current().id());
                let waiter = answer.0.take();
                drop(answer);
                waiter.unwrap().wake();
            }
        }
    }
}

/// The waker of a main loop. Foreign code: it sees no worker.
struct Woken {
    is_set: AtomicBool,
    reactor: Arc<Reactor>,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        assert_eq!(current_thread_index(), None, "a waker is called outside the pool");
        self.is_set.store(true, SeqCst);
        let _answers = self.reactor.answers.lock().unwrap();
        self.reactor.changed.notify_all();
    }
}

impl Drop for Woken {
    fn drop(&mut self) {
        assert_eq!(current_thread_index(), None, "a waker is dropped outside the pool");
    }
}

fn driving(threads: usize) -> (Arc<Reactor>, ThreadPool) {
    let reactor = Arc::<Reactor>::default();
    let drives = Arc::clone(&reactor);
    let builder =
        ThreadPoolBuilder::new().num_threads(threads).main_handler(move |main| drives.block_on(main));
    (reactor, builder.build().unwrap())
}

#[test]
fn pools_with_main_handlers_run_every_job() {
    within(LONG, || {
        for threads in [1, 2, 3, 8] {
            let (reactor, pool) = driving(threads);
            let asks = (0..20).map(|_| {
                let reactor = Arc::clone(&reactor);
                pool.spawn_future(async move {
                    for _ in 0..50 {
                        reactor.ask().await;
                        assert_eq!(fib(10), 55);
                    }
                })
            });
            let asks: Vec<_> = asks.collect();
            assert_eq!(pool.install(|| fib(15)), 610);
            asks.into_iter().for_each(block_on);
            let ran = Arc::new(AtomicUsize::new(0));
            for _ in 0..100 {
                let ran = Arc::clone(&ran);
                pool.spawn(move || add(&ran));
            }
            pool.broadcast(|_| ());
            // Waits for the jobs and the threads.
            drop(pool);
            assert_eq!(ran.load(SeqCst), 100);
        }
    });
}

/// With one thread, and with one more that stands by.
#[test]
fn the_thread_that_has_seen_an_answer_runs_the_task() {
    within(LONG, || {
        for threads in [1, 2] {
            let (reactor, pool) = driving(threads);
            let ask = move || {
                let reactor = Arc::clone(&reactor);
                async move {
                    let mut stays = 0;
                    for _ in 0..1_000 {
                        stays += usize::from(reactor.ask().await);
                    }
                    stays
                }
            };
            let asks = [(); 4].map(|()| pool.spawn_future(ask()));
            let stays: usize = asks.into_iter().map(block_on).sum();
            assert!(stays > 3_000, "{stays} of 4000 with {threads} threads");
        }
    });
}

#[test]
fn another_thread_drives_while_the_driver_is_in_a_long_job() {
    within(LONG, || {
        let (reactor, pool) = driving(2);
        let time = || {
            let answered = Arc::new(Flag::default());
            let long = {
                let (reactor, answered) = (Arc::clone(&reactor), Arc::clone(&answered));
                pool.spawn_future(async move {
                    reactor.ask().await;
                    // The thread that has seen this answer sees no other one.
                    answered.wait();
                })
            };
            let (reactor, begin) = (Arc::clone(&reactor), Instant::now());
            let short = pool.spawn_future(async move {
                for _ in 0..100 {
                    reactor.ask().await;
                }
                answered.set();
            });
            block_on(short);
            block_on(long);
            begin.elapsed()
        };
        // A timed searcher that did not drive earlier would do so after 20 ms. On a busy machine nearly every try takes as long, because the threads wait for
        // processors; alone it takes 1.3 ms.
        assert!((0..1_000).any(|_| time() < Duration::from_millis(10)));
    });
}

/// The reactor sees an answer while the thread that drove it is in a job for that thread alone.
#[test]
fn another_thread_drives_while_the_driver_is_in_a_job_of_spawn_on() {
    within(LONG, || {
        const THREADS: usize = 4;
        let (reactor, pool) = driving(THREADS);
        // One of them drives.
        for index in 0..THREADS {
            let (answer, ended) = (Arc::<Answer>::default(), Arc::new(Flag::default()));
            let asked = Arc::clone(&answer);
            let task = pool.spawn_future(poll_fn(move |context| {
                let mut asked = asked.0.lock().unwrap();
                asked.0 = Some(context.waker().clone());
                if asked.1.is_some() { Poll::Ready(()) } else { Poll::Pending }
            }));
            until(|| answer.0.lock().unwrap().0.is_some());
            // Until no thread searches any more.
            thread::sleep(Duration::from_millis(100));
            let ends = Arc::clone(&ended);
            pool.spawn_on(index, move || ends.wait());
            reactor.answers.lock().unwrap().push_back(answer);
            reactor.changed.notify_one();
            block_on(task);
            ended.set();
        }
    });
}

#[test]
fn a_handler_may_return_early_or_panic_or_forget_the_loop() {
    within(LONG, || {
        fn polled(main: &mut MainLoop<'_>) {
            _ = pin!(main).poll(&mut Context::from_waker(Waker::noop()));
        }
        let handlers: [fn(MainLoop<'_>); 5] = [
            |_| (),
            |mut main| polled(&mut main),
            |mut main| {
                polled(&mut main);
                polled(&mut main);
                mem::forget(Box::new(main));
            },
            |_| panic!("on purpose"),
            |mut main| {
                polled(&mut main);
                panic!("on purpose");
            },
        ];
        for (nth, handler) in handlers.into_iter().enumerate() {
            let panics = Arc::new(AtomicUsize::new(0));
            let builder = ThreadPoolBuilder::new().num_threads(2).main_handler(handler).panic_handler({
                let panics = Arc::clone(&panics);
                move |_| add(&panics)
            });
            // Two threads, and no spare one: each of them panics once.
            let mut threads = Vec::new();
            let builder = builder.spawn_handler(|builder| {
                threads.push(thread::spawn(|| builder.run()));
                Ok(())
            });
            let pool = builder.build().unwrap();
            for _ in 0..3 {
                assert_eq!(pool.install(|| fib(15)), 610);
            }
            drop(pool);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            // A loop that is polled once may end with the pool.
            assert_eq!(panics.load(SeqCst), if nth < 3 { 0 } else { 2 }, "handler {nth}");
        }
    });
}

/// A driver that has left its reactor for good is replaced.
#[test]
fn another_thread_drives_when_the_drivers_handler_has_ended() {
    within(LONG, || {
        for forgets in [false, true] {
            let reactor = Arc::<Reactor>::default();
            let (drives, ended) = (Arc::clone(&reactor), Flag::default());
            let builder = ThreadPoolBuilder::new().num_threads(2).main_handler(move |mut main| {
                let polled = pin!(&mut main).poll(&mut Context::from_waker(Waker::noop()));
                if ended.is_set() || polled.is_ready() {
                    return drives.block_on(main);
                }
                ended.set();
                if forgets {
                    mem::forget(Box::new(main));
                }
            });
            let pool = builder.build().unwrap();
            let asks = pool.spawn_future(async move {
                for _ in 0..100 {
                    reactor.ask().await;
                }
            });
            block_on(asks);
        }
    });
}

/// The only worker that is left is the next driver. No processor is free for it, and those that keep them busy spin for the job.
#[test]
fn a_job_that_busy_workers_spin_for_is_run() {
    within(LONG, || {
        let parts = thread::available_parallelism().expect("the cores").get() + 1;
        for begin in [forked as Begin, spawned].repeat(5) {
            meet(&driving(parts).1, begin, parts, thread::yield_now);
        }
    });
}

#[test]
fn the_loop_is_between_the_start_and_the_end_of_a_thread() {
    within(LONG, || {
        let events = Arc::new(Mutex::new(Vec::new()));
        let note = |event: &'static str| {
            let events = Arc::clone(&events);
            move || {
                events.lock().unwrap().push((thread::current().id(), event, current_thread_index().is_some()))
            }
        };
        let (start, main, end, exit) = (note("start"), note("main"), note("end"), note("exit"));
        let builder = ThreadPoolBuilder::new()
            .num_threads(2)
            .start_handler(move |_| start())
            .exit_handler(move |_| exit());
        let builder = builder.main_handler(move |future| {
            main();
            block_on(future);
            end();
        });
        let pool = builder.build().unwrap();
        until(|| events.lock().unwrap().len() == 4);
        drop(pool);
        let all = events.lock().unwrap();
        for &(thread, ..) in &*all {
            let its: Vec<_> =
                all.iter().filter(|event| event.0 == thread).map(|event| (event.1, event.2)).collect();
            assert_eq!(its, [("start", true), ("main", false), ("end", false), ("exit", true)]);
        }
    });
}
