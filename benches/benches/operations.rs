//! Single operations of the library, by criterion: a fork, in every form that people write, a small call, a sort, a steal, a suspension,
//! the deque, a policy's decision, a scheduler's leaf, and what stands in the book's list of wishes.
//!
//! `cargo bench -p furcate-benches --bench operations`. Whether a change costs time: run the bench with `-- --save-baseline before` on
//! the commit before the change, then with `-- --baseline before` on the change. `QUICK=1` only shows that everything runs.
//!
//! The bench uses the public API only, so the same file compiles with older commits. All groups but *call*, *sort*, *steal* and *wish* run inside a pool
//! of one worker: no job is stolen, and no thread is woken. Criterion prints the time of a call, and how many operations (`elem`) the calls
//! of a second contain.

use accurate::sum::OnlineExactSum;
use accurate::traits::SumAccumulator;
use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput};
use furcate::prelude::*;
use furcate::{Priority, ThreadPool, ThreadPoolBuilder, Worker};
use furcate_benches::quick;
use futures_channel::{mpsc, oneshot};
use futures_util::StreamExt;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::{Duration, Instant};

#[path = "../forms/src/programs.rs"]
#[macro_use]
mod programs;

use programs::{Data, FORMS, Owned, Tree};

fn main() {
    let mut criterion = settings();
    for group in [forks, forms, calls, sorts, steals, suspensions, deque, decisions, leaves, wishes] {
        group(&mut criterion);
    }
    criterion.final_summary();
}

fn settings() -> Criterion {
    let (warm_up, measurement) = if quick() { (1, 10) } else { (300, 1500) };
    Criterion::default()
        .sample_size(if quick() { 10 } else { 50 })
        .warm_up_time(Duration::from_millis(warm_up))
        .measurement_time(Duration::from_millis(measurement))
        .configure_from_args()
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Measures a call inside the pool that does `elements` operations.
fn inside(
    group: &mut BenchmarkGroup<'_, WallTime>,
    pool: &ThreadPool,
    name: &str,
    elements: u64,
    operation: impl Fn() + Sync,
) {
    group.throughput(Throughput::Elements(elements));
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|times| pool.install(|| time(times, &operation)));
    });
}

/// The time of so many calls.
fn time(times: u64, operation: impl Fn()) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        operation();
    }
    start.elapsed()
}

fn forks(criterion: &mut Criterion) {
    let pool = pool(1);
    let mut group = criterion.benchmark_group("fork");
    inside(&mut group, &pool, "join of two empty closures", 1, || {
        furcate::join(|| black_box(1), || black_box(2));
    });
    group.throughput(Throughput::Elements(1));
    group.bench_function("Worker::join of two empty closures", |bencher| {
        bencher.iter_custom(|times| {
            let run = |worker: &Worker| {
                time(times, || {
                    worker.join(|_| black_box(1), |_| black_box(2));
                })
            };
            pool.join_with(run, |_| ()).0
        });
    });
    // fib(n) forks fib(n + 1) - 1 times.
    inside(&mut group, &pool, "fib(16)", 1596, || {
        black_box(fib(black_box(16)));
    });
    inside(&mut group, &pool, "join in join in join, 100 deep", 100, || nested(black_box(100)));
    group.finish();
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (left, right) = furcate::join(|| fib(n - 1), || fib(n - 2));
    left + right
}

macro_rules! by_join {
    (move $c:tt, $left:expr, $right:expr) => {
        furcate::join(move || $left, move || $right)
    };
    ($c:tt, $left:expr, $right:expr) => {
        furcate::join(|| $left, || $right)
    };
}
macro_rules! inside_the_pool {
    ($c:tt, $call:expr) => {
        $call
    };
}
forms!(with_join: (): (), by_join, inside_the_pool);

/// The programs of `benches/forms.sh`.
fn forms(criterion: &mut Criterion) {
    let pool = pool(1);
    let mut group = criterion.benchmark_group("form");
    for form in FORMS {
        let size = if *form == "fib" { 16 } else { 1000 };
        group.throughput(Throughput::Elements(programs::forks(form, size)));
        group.bench_function(*form, |bencher| {
            bencher.iter_custom(|times| {
                pool.install(|| {
                    let mut data = Data::of(form, size);
                    let start = Instant::now();
                    for _ in 0..times {
                        black_box(with_join::run(form, black_box(&mut data)));
                    }
                    start.elapsed()
                })
            });
        });
    }
    group.finish();
}

/// Right halves lie in the deque until the innermost call returns.
fn nested(depth: u32) {
    if depth > 0 {
        furcate::join(|| nested(depth - 1), || black_box(depth));
    }
}

/// Calls from a thread outside the pool.
fn calls(criterion: &mut Criterion) {
    let numbers: Vec<u64> = (0..100).collect();
    let mut group = criterion.benchmark_group("call");
    group.bench_function("join from outside", |bencher| {
        bencher.iter(|| furcate::join(|| black_box(1), || black_box(2)));
    });
    group.bench_function("sum of 100 from outside", |bencher| {
        bencher.iter(|| black_box(&numbers).par_iter().sum::<u64>());
    });
    group.bench_function("map and collect of 100 from outside", |bencher| {
        bencher.iter(|| black_box(&numbers).par_iter().map(|x| x + 1).collect::<Vec<_>>());
    });
    group.bench_function("filter and count of 100 from outside", |bencher| {
        bencher.iter(|| black_box(&numbers).par_iter().filter(|x| **x % 3 == 0).count());
    });
    group.bench_function("find_any among 100 from outside", |bencher| {
        bencher.iter(|| black_box(&numbers).par_iter().find_any(|x| **x == 50));
    });
    let pool = pool(1);
    inside(&mut group, &pool, "sum of 100 inside", 1, || {
        black_box(black_box(&numbers).par_iter().sum::<u64>());
    });
    group.finish();
}

/// Sorts of 10^5 numbers, on the global pool.
fn sorts(criterion: &mut Criterion) {
    type Sort = fn(&mut [u32]);
    const LEN: u32 = 100_000;
    let mut group = criterion.benchmark_group("sort");
    group.throughput(Throughput::Elements(LEN.into()));
    let random = |x: u32| x.wrapping_mul(0x9E37_79B9) ^ (x >> 3);
    let data: [(&str, Vec<u32>); 4] = [
        ("random", (0..LEN).map(random).collect()),
        ("8 distinct", (0..LEN).map(|x| random(x) % 8).collect()),
        ("sorted", (0..LEN).collect()),
        ("1 % random at the end", (0..LEN).map(|x| if x < LEN / 100 * 99 { x } else { random(x) }).collect()),
    ];
    let sorts: [(&str, Sort); 2] = [("stable", |v| v.par_sort()), ("unstable", |v| v.par_sort_unstable())];
    for (pattern, unsorted) in &data {
        for (kind, sort) in sorts {
            group.bench_function(format!("{kind}, {pattern}"), |bencher| {
                bencher.iter_batched_ref(|| unsorted.clone(), |v| sort(v), BatchSize::LargeInput);
            });
        }
    }
    group.finish();
}

/// The left half of a fork ends only after the other worker has run the right half.
fn steals(criterion: &mut Criterion) {
    let pool = pool(2);
    let mut group = criterion.benchmark_group("steal");
    inside(&mut group, &pool, "fork, steal, run, join", 1, || {
        let stolen = AtomicBool::new(false);
        let wait = || {
            let mut looks = 0_u32;
            while !stolen.load(Acquire) {
                looks += 1;
                // On a machine that has one free processor, the other worker needs it.
                if looks % (1 << 10) == 0 { std::thread::yield_now() } else { std::hint::spin_loop() }
            }
        };
        furcate::join(wait, || stolen.store(true, Release));
    });
    group.finish();
}

fn suspensions(criterion: &mut Criterion) {
    let pool = pool(1);
    let mut group = criterion.benchmark_group("suspension");
    // Two tasks wake each other: each message suspends one task and resumes the other.
    group.throughput(Throughput::Elements(2));
    group.bench_function("two tasks send each other a message", |bencher| {
        bencher.iter_custom(|times| {
            let (to_second, mut from_first) = mpsc::unbounded();
            let (to_first, mut from_second) = mpsc::unbounded();
            let first = pool.spawn_future(async move {
                let start = Instant::now();
                for message in 0..times {
                    to_second.unbounded_send(message).unwrap();
                    from_second.next().await.unwrap();
                }
                start.elapsed()
            });
            let second = pool.spawn_future(async move {
                while let Some(message) = from_first.next().await {
                    let _last = to_first.unbounded_send(message);
                }
            });
            let time = furcate::block_on(first);
            furcate::block_on(second);
            time
        });
    });
    // A task is spawned, waits for a channel, is woken by another task, and ends.
    group.throughput(Throughput::Elements(1));
    group.bench_function("spawn a task that waits, wake it, wait for its end", |bencher| {
        bencher.iter_custom(|times| {
            let all = pool.spawn_future(async move {
                let start = Instant::now();
                for message in 0..times {
                    let (sender, receiver) = oneshot::channel();
                    let (says_waiting, waiting) = oneshot::channel();
                    let task = furcate::spawn_future(async move {
                        says_waiting.send(()).unwrap();
                        receiver.await.unwrap()
                    });
                    waiting.await.unwrap();
                    sender.send(message).unwrap();
                    assert_eq!(task.await, message);
                }
                start.elapsed()
            });
            furcate::block_on(all)
        });
    });
    inside(&mut group, &pool, "io_await of 1000 futures that yield once", 1000, || {
        let sum: u32 = (0..1000_u32).into_par_iter().map(Yields::from).io_await().sum();
        assert_eq!(sum, 499_500);
    });
    inside(&mut group, &pool, "io_await of 1000 futures that are ready", 1000, || {
        let sum: u32 =
            (0..1000_u32).into_par_iter().map(|x| std::future::ready(black_box(x))).io_await().sum();
        assert_eq!(sum, 499_500);
    });
    group.finish();
}

/// A future that is pending once, and wakes its task at once.
struct Yields {
    value: u32,
    was_pending: bool,
}

impl From<u32> for Yields {
    fn from(value: u32) -> Self {
        Self { value, was_pending: false }
    }
}

impl Future for Yields {
    type Output = u32;

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<u32> {
        if self.was_pending {
            return std::task::Poll::Ready(self.value);
        }
        self.was_pending = true;
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    }
}

/// The deque, as far as the public API reaches it: spawned jobs are pushed, then popped by the same worker.
fn deque(criterion: &mut Criterion) {
    let pool = pool(1);
    let mut group = criterion.benchmark_group("deque");
    inside(&mut group, &pool, "push and pop of 1000 spawned jobs", 1000, || {
        furcate::scope(|scope| {
            for i in 0..1000 {
                scope.spawn(move |_| {
                    black_box(i);
                });
            }
        });
    });
    inside(&mut group, &pool, "push and pop of one spawned job", 1, || {
        furcate::scope(|scope| {
            scope.spawn(|_| {
                black_box(1);
            });
        });
    });
    group.finish();
}

/// Division trees of 2^12 leaves, each of one item. The tree has 2^13 - 1 nodes, at each of which the chain's policies decide.
fn decisions(criterion: &mut Criterion) {
    const LEVELS: u32 = 12;
    const LEAVES: usize = 1 << LEVELS;
    const NODES: u64 = 2 * LEAVES as u64 - 1;
    let pool = pool(1);
    let empty = |x| {
        black_box(x);
    };
    let mut group = criterion.benchmark_group("decision");
    inside(&mut group, &pool, "bound_depth", NODES, || {
        (0..LEAVES).into_par_iter().bound_depth(LEVELS).for_each(empty);
    });
    inside(&mut group, &pool, "bound_depth, size_limit", NODES, || {
        (0..LEAVES).into_par_iter().bound_depth(LEVELS).size_limit(1).for_each(empty);
    });
    inside(&mut group, &pool, "bound_depth, size_limit, cap", NODES, || {
        (0..LEAVES).into_par_iter().bound_depth(LEVELS).size_limit(1).cap(LEAVES).for_each(empty);
    });
    inside(&mut group, &pool, "thief_splitting", NODES, || {
        (0..LEAVES).into_par_iter().thief_splitting(LEVELS).for_each(empty);
    });
    group.finish();
}

/// Calls of 2^12 leaves, each of one item that costs nothing. Under `sequential` and `adaptive` a worker that is alone folds all items in
/// one task, so an element is an iteration of a loop there.
fn leaves(criterion: &mut Criterion) {
    const LEVELS: u32 = 12;
    const LEAVES: usize = 1 << LEVELS;
    let pool = pool(1);
    let mut group = criterion.benchmark_group("leaf");
    macro_rules! scheduler {
        ($name:literal, $($words:tt)*) => {
            inside(&mut group, &pool, $name, LEAVES as u64, || {
                (0..LEAVES).into_par_iter().bound_depth(LEVELS)$($words)*.for_each(|x| {
                    black_box(x);
                });
            });
        };
    }
    scheduler!("join", .join());
    scheduler!("depjoin", .depjoin());
    scheduler!("adaptive", .adaptive());
    scheduler!("by_blocks of join", .join().by_exponential_blocks());
    scheduler!("sequential", .sequential());
    // Forced divisions: a tree of 2^12 leaves, although no other worker asks for parts.
    inside(&mut group, &pool, "adaptive, force_depth", LEAVES as u64, || {
        (0..LEAVES).into_par_iter().force_depth(LEVELS).adaptive().for_each(|x| {
            black_box(x);
        });
    });
    group.finish();
}

/// The cost of the words that answer the book's list of wishes, on a pool of two workers, beside what users write elsewhere. (`into_iter_ordered` is called from
/// outside, on the global pool.)
fn wishes(criterion: &mut Criterion) {
    const FEW: u64 = 1000;
    const MANY: u64 = 1_000_000;
    let pool = pool(2);
    let mut group = criterion.benchmark_group("wish");
    for priority in [Priority::Normal, Priority::Urgent] {
        inside(&mut group, &pool, &format!("a call inside of a call, {priority:?}"), 1, || {
            furcate::with_priority(priority, || furcate::join(|| black_box(1), || black_box(2)));
        });
    }

    let client = jobserver::Client::new(4).unwrap();
    let with_tokens = ThreadPoolBuilder::new().num_threads(2).jobserver(client).build().unwrap();
    for (name, pool) in [("without tokens", &pool), ("with tokens of a jobserver", &with_tokens)] {
        let name = format!("install of a loop of some 0.2 ms, {name}");
        let loop_of_numbers = || black_box((0..100_000_u64).into_par_iter().map(mix).max());
        group.bench_function(name, |bencher| bencher.iter(|| pool.install(loop_of_numbers)));
    }

    let mut of_spawned = |name: &str, spawn: &dyn Fn(&ThreadPool)| {
        group.throughput(Throughput::Elements(FEW));
        group.bench_function(name, |bencher| bencher.iter(|| spawn(&pool)));
    };
    let by_channel = |spawn: &dyn Fn(std::sync::mpsc::Sender<u64>)| {
        let (sender, values) = std::sync::mpsc::channel();
        (0..FEW).for_each(|_| spawn(sender.clone()));
        assert_eq!(values.iter().take(FEW as usize).sum::<u64>(), FEW);
    };
    of_spawned("spawn, and the value by a channel", &|pool| {
        by_channel(&|sender| pool.spawn(move || sender.send(black_box(1)).unwrap()));
    });
    of_spawned("spawn_on(0), and the value by a channel", &|pool| {
        by_channel(&|sender| pool.spawn_on(0, move || sender.send(black_box(1)).unwrap()));
    });
    of_spawned("spawn_handle, and the value by block_on", &|pool| {
        let handles: Vec<_> = (0..FEW).map(|_| pool.spawn_handle(|| black_box(1))).collect();
        assert_eq!(handles.into_iter().map(furcate::block_on).sum::<u64>(), FEW);
    });
    group.throughput(Throughput::Elements(MANY / 10));
    group.bench_function("abandon of queued jobs", |bencher| {
        let filled = || {
            let pool = self::pool(2);
            (0..MANY / 10).for_each(|_| pool.spawn(|| std::thread::sleep(Duration::from_millis(1))));
            pool
        };
        bencher.iter_batched(filled, ThreadPool::abandon, BatchSize::PerIteration);
    });
    let numbers: Vec<f64> = (0..MANY).map(|x| x as f64).collect();
    inside(&mut group, &pool, "par_bridge, and collect", MANY, || {
        black_box(numbers.iter().par_bridge().map(|x| x + 1.0).collect::<Vec<_>>());
    });
    inside(&mut group, &pool, "par_bridge, ordered, and collect", MANY, || {
        black_box(numbers.iter().par_bridge().ordered().map(|x| x + 1.0).collect::<Vec<_>>());
    });
    group.bench_function("into_iter_ordered, and collect", |bencher| {
        bencher.iter(|| {
            let numbers: Vec<u64> =
                (0..MANY).into_par_iter().map(|x| x + 1).into_iter_ordered(4096).collect();
            assert_eq!(black_box(numbers).len(), MANY as usize);
        });
    });
    inside(&mut group, &pool, "sum of floats", MANY, || {
        black_box(numbers.par_iter().sum::<f64>());
    });
    inside(&mut group, &pool, "sum of floats, exact", MANY, || {
        let sum = numbers.par_iter().fold(OnlineExactSum::<f64>::zero, |sum, x| sum + *x).adaptive();
        black_box(sum.reduce_with(|left, right| left + right).unwrap().sum());
    });
    inside(&mut group, &pool, "random number by its place", MANY, || {
        black_box((0..MANY).into_par_iter().map(|place| mix(42 ^ mix(place)) >> 11).max());
    });
    group.finish();
}

/// A step of SplitMix64, as in the book's recipe.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
