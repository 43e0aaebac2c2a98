//! Stops behind a backlog: how late items begin after a stop, and the cost of dropping the tasks that are queued or suspended.
//!
//! `cargo bench -p furcate-benches --bench stops`; `THREADS=n` takes another pool than one of as many threads as there are
//! processors, `QUICK=1` a tenth of the items.
//!
//! | column | what |
//! |---|---|
//! | items | number of items that are queued or wait when the stop comes |
//! | call | time of the call that stops: the drop, or `cancel` |
//! | began | number of items that began after that call had returned, or after the deadline |
//! | latest | when the last item began, after the stop |
//! | gone | when the last future was dropped, after the stop (the item that each worker is at ends first) |
//! | each | `gone`, less the time of an item, divided by the number of items |
//! | cpu | processor time of all threads from the stop until all is gone, divided by the number of items |
//! | next | for how long a call of 100 waits of 1 ms takes that comes right after the stop |

use async_io::Timer;
use furcate::policy::CancelToken;
use furcate::prelude::*;
use furcate::{ThreadPool, ThreadPoolBuilder};
use furcate_benches::{processors, quick, threads};
use futures_lite::future;
use std::future::pending;
use std::hint;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    let threads = threads().unwrap_or_else(processors);
    let all = if quick() { 1 } else { 10 };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let bench = Bench { pool: Arc::new(pool) };
    println!("{threads} threads\n");
    println!(
        "                                            items    call  began   latest      gone    each     cpu    next"
    );
    println!(
        "                                                       us              us        ms      ns      ns      ms"
    );
    bench.dropped("dropped: woken items of 100 us", 1, all * 2_000, 100);
    bench.dropped("dropped: 40 calls of woken items of 1 ms", 40, all * 20, 1_000);
    bench.dropped("dropped: 40 calls of woken items of 10 us", 40, all * 100, 10);
    bench.waiting("dropped: futures that are never woken", all * 5_000);
    bench.token("token: woken items of 500 us", all * 2_000, 500);
    bench.deadline("deadline: woken items of 200 us", all * 5_000, 1, 200, 150);
    bench.deadline("deadline: timers of 20 ms, items of 500 us", all * 100_000, 20, 500, 200);
}

/// Counts and times of a row's items.
struct Seen {
    start: Instant,
    polled: AtomicUsize,
    began: AtomicUsize,
    /// When the last one began, in nanoseconds from the start.
    latest: AtomicU64,
    gone: AtomicUsize,
    last_gone: AtomicU64,
}

impl Seen {
    fn new() -> Arc<Self> {
        let zero = || AtomicU64::new(0);
        Arc::new(Seen {
            start: Instant::now(),
            polled: AtomicUsize::new(0),
            began: AtomicUsize::new(0),
            latest: zero(),
            gone: AtomicUsize::new(0),
            last_gone: zero(),
        })
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Waits until `n` futures have been polled, and their timers are over.
    fn until_woken(&self, n: usize) {
        until(|| self.polled.load(SeqCst) == n);
        thread::sleep(Duration::from_millis(15));
    }

    fn begin(&self) {
        self.latest.fetch_max(self.now(), SeqCst);
        self.began.fetch_add(1, SeqCst);
    }
}

/// Part of a future; notes its drop.
struct Part(Arc<Seen>);

impl Drop for Part {
    fn drop(&mut self) {
        self.0.gone.fetch_add(1, SeqCst);
        self.0.last_gone.fetch_max(self.0.now(), SeqCst);
    }
}

fn spin(micros: u64) {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_micros(micros) {
        hint::spin_loop();
    }
}

fn until(done: impl Fn() -> bool) {
    while !done() {
        thread::sleep(Duration::from_micros(100));
    }
}

struct Bench {
    pool: Arc<ThreadPool>,
}

/// A row's stop.
struct Stopped {
    /// When, in nanoseconds from the start; and how long the call took.
    at: u64,
    call: u64,
    /// The processor time used until then.
    cpu: Duration,
    /// Number of items that had begun.
    began: usize,
    next: Duration,
}

impl Bench {
    fn items(
        &self,
        seen: &Arc<Seen>,
        n: usize,
        millis: u64,
        micros: u64,
    ) -> impl ParallelIterator<Item = ()> + use<> {
        let (made, seen) = (Arc::clone(seen), Arc::clone(seen));
        let wait = move |_| {
            let part = Part(Arc::clone(&made));
            async move {
                part.0.polled.fetch_add(1, SeqCst);
                Timer::after(Duration::from_millis(millis)).await;
                drop(part);
            }
        };
        (0..n).into_par_iter().map(wait).io_await().unbounded().on(Arc::clone(&self.pool)).map(move |()| {
            seen.begin();
            spin(micros);
        })
    }

    fn next(&self) -> Duration {
        let begun = Instant::now();
        let wait = |_| async { Timer::after(Duration::from_millis(1)).await };
        assert_eq!((0..100).into_par_iter().map(wait).io_await().on(&*self.pool).count(), 100);
        begun.elapsed()
    }

    /// Waits until all have been woken, stops, and runs the next call.
    fn stop(&self, seen: &Seen, stop: impl FnOnce()) -> Stopped {
        let (at, cpu) = (seen.now(), processor_time());
        stop();
        let (call, began) = (seen.now() - at, seen.began.load(SeqCst));
        Stopped { at, call, cpu, began, next: self.next() }
    }

    fn dropped(&self, title: &str, calls: usize, n: usize, micros: u64) {
        let seen = Seen::new();
        let mut terminals: Vec<_> =
            (0..calls).map(|_| self.items(&seen, n, 5, micros).async_count()).collect();
        for terminal in &mut terminals {
            assert!(future::block_on(future::poll_once(terminal)).is_none());
        }
        seen.until_woken(calls * n);
        let left = calls * n - seen.began.load(SeqCst);
        let stopped = self.stop(&seen, || drop(terminals));
        until(|| seen.gone.load(SeqCst) == calls * n);
        row(title, &seen, left, micros, &stopped);
    }

    fn waiting(&self, title: &str, n: usize) {
        let seen = Seen::new();
        let (made, polled) = (Arc::clone(&seen), Arc::clone(&seen));
        let wait = move |_| {
            let (part, polled) = (Part(Arc::clone(&made)), Arc::clone(&polled));
            async move {
                polled.begin();
                let _part = part;
                pending::<()>().await;
            }
        };
        let items = (0..n).into_par_iter().map(wait).io_await().unbounded().on(Arc::clone(&self.pool));
        let mut terminal = items.async_count();
        assert!(future::block_on(future::poll_once(&mut terminal)).is_none());
        until(|| seen.began.load(SeqCst) == n);
        let stopped = self.stop(&seen, || drop(terminal));
        until(|| seen.gone.load(SeqCst) == n);
        row(title, &seen, n, 0, &stopped);
    }

    fn token(&self, title: &str, n: usize, micros: u64) {
        let (seen, token) = (Seen::new(), CancelToken::new());
        let items = self.items(&seen, n, 5, micros).stop_on(&token);
        thread::scope(|threads| {
            let call = threads.spawn(|| items.count().is_err());
            seen.until_woken(n);
            let left = n - seen.began.load(SeqCst);
            let stopped = self.stop(&seen, || token.cancel());
            assert!(call.join().expect("no panic"));
            row(title, &seen, left, micros, &stopped);
        });
    }

    fn deadline(&self, title: &str, n: usize, millis: u64, micros: u64, after: u64) {
        let seen = Seen::new();
        let (late, cpu) = (AtomicUsize::new(0), Mutex::new(None));
        let deadline = seen.start + Duration::from_millis(after);
        let begun = seen.now();
        let items = self.items(&seen, n, millis, micros).inspect(|()| {
            // Near the stop.
            if Instant::now() > deadline - Duration::from_micros(2 * micros) {
                cpu.lock().expect("no panic").get_or_insert_with(processor_time);
            }
            // Behind the item.
            if Instant::now() > deadline + Duration::from_micros(micros) {
                late.fetch_add(1, SeqCst);
            }
        });
        let done = items.deadline(deadline).count();
        let returned = seen.now();
        assert!(done.is_err());
        let stopped = Stopped {
            at: after * 1_000_000,
            call: 0,
            cpu: cpu.into_inner().expect("no panic").unwrap_or_else(processor_time),
            began: seen.began.load(SeqCst) - late.into_inner(),
            next: self.next(),
        };
        let left = seen.gone.load(SeqCst) - seen.began.load(SeqCst);
        row(title, &seen, left, micros, &stopped);
        println!("    returned {:.1} ms after it was called", (returned - begun) as f64 / 1e6);
    }
}

/// The processor time that this process has used.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn row(title: &str, seen: &Seen, items: usize, micros: u64, stopped: &Stopped) {
    let cpu = processor_time() - stopped.cpu;
    let since = |at: u64| at as f64 - stopped.at as f64;
    let gone = since(seen.last_gone.load(SeqCst));
    println!(
        "{title:<44}{items:>6} {:>6.1} {:>6} {:>8.1} {:>9.2} {:>7.0} {:>7.0} {:>7.2}",
        stopped.call as f64 / 1e3,
        seen.began.load(SeqCst) - stopped.began,
        since(seen.latest.load(SeqCst)) / 1e3,
        gone / 1e6,
        (gone - micros as f64 * 1e3).max(0.0) / items.max(1) as f64,
        cpu.as_nanos() as f64 / items.max(1) as f64,
        stopped.next.as_secs_f64() * 1e3,
    );
}
