//! The kits of the book's chapter "Extending Furcate": each works, in parallel, and is as short as the chapter says.
#![cfg(not(furcate_rayon))]

use furcate::detach::{Job, OnThreads, Threads};
use furcate::iter::{FromProducer, Stage, Staged, from_producer};
use furcate::prelude::*;
use furcate::{
    Division, Executor, Facts, Fork, IndexedProducer, Node, Part, PartScheduler, Plan, ThreadPoolBuilder,
    Verdict, block_on,
};
use std::collections::HashSet;
use std::iter::Flatten;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice::{ChunksExact, Iter};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

// The book shows the lines between the marks.

// kit: policy
#[derive(Clone)]
struct Pages;

impl Policy for Pages {
    fn wants_split(&mut self, node: &Node) -> Verdict {
        (node.len > 4096).into()
    }
}
// end

// kit: adaptor
#[derive(Clone)]
struct Halve;

impl Stage<u64> for Halve {
    type Item = u64;
    type Iter<I: Iterator<Item = u64>> = std::iter::Map<I, fn(u64) -> u64>;
    fn apply<I: Iterator<Item = u64>>(self, items: I) -> Self::Iter<I> {
        items.map(|x| x / 2)
    }
}

trait Halving: ParallelIterator<Item = u64> {
    fn halve(self) -> Staged<Self, Halve> {
        self.stage(Halve)
    }
}
impl<I: ParallelIterator<Item = u64>> Halving for I {}
// end

// kit: scheduler
#[derive(Clone)]
struct Coarse(usize);

impl PartScheduler for Coarse {
    fn run<P: Part>(&self, part: P) -> P::Output {
        let is_large = part.size() > self.0;
        match part.divide() {
            Division::Leaf(part) => part.fold(|rest| self.run(rest)),
            Division::Two(fork) if is_large => fork.join(|part| self.run(part)),
            Division::Two(fork) => fork.in_turn(|part| self.run(part)),
        }
    }
}
// end

// kit: rows
/// A matrix, row by row in one vector.
struct Matrix {
    cells: Vec<f64>,
    columns: usize,
}

/// Some rows of it, one below the other.
struct Rows<'m> {
    cells: &'m [f64],
    columns: usize,
}

impl Divisible for Rows<'_> {
    fn size(&self) -> usize {
        self.cells.len() / self.columns
    }
    fn divide_at(self, rows: usize) -> (Self, Self) {
        let (upper, lower) = self.cells.split_at(rows.min(self.size()) * self.columns);
        (Rows { cells: upper, ..self }, Rows { cells: lower, ..self })
    }
}

impl<'m> IntoIterator for Rows<'m> {
    type Item = &'m [f64];
    type IntoIter = ChunksExact<'m, f64>;
    fn into_iter(self) -> Self::IntoIter {
        self.cells.chunks_exact(self.columns)
    }
}

impl Producer for Rows<'_> {
    const FACTS: Facts = Facts::SINGLE; // a unit is one item
}
impl IndexedProducer for Rows<'_> {} // the sizes are exact, and so are the cuts

impl<'m> IntoParallelIterator for &'m Matrix {
    type Item = &'m [f64];
    type Iter = FromProducer<Rows<'m>>;
    fn into_par_iter(self) -> Self::Iter {
        from_producer(Rows { cells: &self.cells, columns: self.columns })
    }
}
// end

// kit: buckets
/// A hash map with open addressing. A bucket is empty, or has a key and its value.
struct Map<K, V> {
    buckets: Vec<Option<(K, V)>>,
}

/// Some of its buckets.
#[derive(Divisible)]
struct Buckets<'m, K, V> {
    buckets: &'m [Option<(K, V)>],
}

impl<'m, K, V> IntoIterator for Buckets<'m, K, V> {
    type Item = &'m (K, V);
    type IntoIter = Flatten<Iter<'m, Option<(K, V)>>>;
    fn into_iter(self) -> Self::IntoIter {
        self.buckets.iter().flatten()
    }
}

impl<K: Sync, V: Sync> Producer for Buckets<'_, K, V> {
    const FACTS: Facts = Facts::SINGLE; // a unit is at most one item
}

impl<'m, K: Sync, V: Sync> IntoParallelIterator for &'m Map<K, V> {
    type Item = &'m (K, V);
    type Iter = FromProducer<Buckets<'m, K, V>>;
    fn into_par_iter(self) -> Self::Iter {
        from_producer(Buckets { buckets: &self.buckets })
    }
}
// end

// kit: engine
/// Threads that take jobs from one channel.
#[derive(Clone)]
struct Team {
    jobs: Sender<Job>,
    size: usize,
}

impl Team {
    fn new(size: usize) -> OnThreads<Team> {
        let (jobs, queue) = channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..size {
            let queue = Arc::clone(&queue);
            let next = move || queue.lock().unwrap().recv();
            thread::spawn(move || {
                while let Ok(job) = next() {
                    job.run();
                }
            });
        }
        OnThreads(Team { jobs, size })
    }
}

impl Threads for Team {
    fn run(&self, job: Job) {
        let _ = self.jobs.send(job);
    }

    fn num_threads(&self) -> usize {
        self.size
    }
}
// end

/// Returns the lines between two marks, in this file.
fn kit(name: &str) -> &'static str {
    let (_, kit) =
        include_str!("kits.rs").split_once(&format!("// kit: {name}\n")).expect("there is such a mark");
    kit.split_once("// end\n").expect("a kit has an end").0
}

/// Returns the number of lines of code: without blanks and comments.
fn lines(kit: &str) -> usize {
    kit.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with("//")).count()
}

#[test]
fn the_book_shows_these_kits_and_they_are_short() {
    let chapter = include_str!("../../book/src/extending.md");
    for (name, most) in
        [("policy", 8), ("adaptor", 15), ("scheduler", 40), ("rows", 40), ("buckets", 30), ("engine", 60)]
    {
        let (kit, lines) = (kit(name), lines(kit(name)));
        assert!(chapter.contains(kit), "the book's {name} is another one");
        assert!(lines <= most, "{name}: {lines} lines");
        assert!(
            chapter.contains(&format!("| {lines} |\n")),
            "the book's table has another number for the {name}"
        );
    }
}

/// Data of one's own have every adaptor, policy, scheduler and terminal of the library's data.
#[test]
fn rows_of_a_matrix() {
    for (rows, columns) in [(0, 3), (1, 1), (100, 7)] {
        let matrix = Matrix { cells: (0..rows * columns).map(|i| i as f64).collect(), columns };
        let firsts: Vec<usize> = (0..rows).map(|row| row * columns).collect();
        let found = || matrix.par_iter().map(|row| row[0] as usize);
        assert_eq!(found().size_limit(3).collect::<Vec<_>>(), firsts);
        assert_eq!(found().adaptive().collect::<Vec<_>>(), firsts);
        assert_eq!(
            found().rev().by_blocks([2, 5]).collect::<Vec<_>>(),
            firsts.iter().rev().copied().collect::<Vec<_>>()
        );
        assert!(
            matrix
                .par_iter()
                .enumerate()
                .all(|(i, row)| row.len() == columns && row[0] as usize == i * columns)
        );
        assert_eq!(matrix.par_iter().zip(&matrix).map(|(a, b)| a[0] - b[0]).sum::<f64>(), 0.0);
        let waits = matrix.par_iter().map(|row| async move { row.len() }).io_await();
        assert_eq!(waits.sum::<usize>(), rows * columns);
    }
}

#[test]
fn buckets_of_a_hash_map() {
    let buckets = |i: u64| (i % 3 == 1).then_some((i, i.to_string()));
    let map = Map { buckets: (0..1000).map(buckets).collect() };
    let keys: Vec<u64> = (0..1000).filter(|i| i % 3 == 1).collect();
    assert_eq!(map.par_iter().map(|(key, _)| *key).collect::<Vec<_>>(), keys);
    assert_eq!(map.par_iter().adaptive().map(|(key, _)| *key).collect::<Vec<_>>(), keys);
    assert_eq!(map.par_iter().find_any(|(_, name)| name == "997").map(|(key, _)| *key), Some(997));
    let empty = Map::<u8, u8> { buckets: vec![None; 100] };
    assert_eq!(empty.par_iter().count(), 0);
}

#[test]
fn a_policy_of_pages() {
    assert_eq!((0..10_000).wrap_iter().with_policy(Pages).count(), 4);
    assert_eq!((0..10_000).wrap_iter().with(Plan::new().with_policy(Pages).depjoin()).count(), 4);
}

/// An adaptor of one's own works before and behind `io_await`, with policies, searches and gates.
#[test]
fn halves_everywhere() {
    let items = || (0..1000_u64).into_par_iter().halve();
    let halves: Vec<u64> = (0..1000).map(|x| x / 2).collect();
    assert_eq!(items().size_limit(7).collect::<Vec<_>>(), halves);
    assert_eq!(items().adaptive().collect::<Vec<_>>(), halves);
    assert_eq!(
        items().io_await_each().halve().collect::<Vec<_>>(),
        (0..1000).map(|x| x / 4).collect::<Vec<_>>()
    );
    assert_eq!(items().find_first(|&x| x > 100), Some(101));
    // In one task: elsewhere a `None` may come first.
    let until_fifty = items().map(|x| (x < 50).then_some(x)).while_some().bound_depth(0);
    assert_eq!(until_fifty.halve().max(), Some(24));
}

/// Makes every item a future that is pending once, and awaits it.
trait AwaitEach: ParallelIterator<Item = u64> {
    fn io_await_each(self) -> impl ParallelIterator<Item = u64> {
        let pending = |x| async move {
            yield_once().await;
            x
        };
        self.map(pending).io_await()
    }
}
impl<I: ParallelIterator<Item = u64>> AwaitEach for I {}

async fn yield_once() {
    let mut polled = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut polled, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

/// The scheduler's results are the sequential ones, for every shape of tree; its forks are real, a cap is exact, a panic
/// comes through, and a tree as deep as a list does not overflow the stack.
#[test]
fn a_scheduler_of_large_forks() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let items = |coarse| (0..1000_u64).into_par_iter().on(&pool).with_scheduler(Coarse(coarse));
    for coarse in [0, 10, 100, usize::MAX] {
        assert_eq!(items(coarse).size_limit(1).collect::<Vec<_>>(), (0..1000).collect::<Vec<_>>());
        assert_eq!(
            items(coarse).bound_depth(4).map(|x| x.to_string()).reduce(String::new, |a, b| a + &b).len(),
            2890
        );
        assert_eq!(items(coarse).find_first(|&x| x >= 500), Some(500));
        let caught = catch_unwind(AssertUnwindSafe(|| items(coarse).for_each(|x| assert!(x != 700))));
        assert!(caught.is_err());
    }
    let meeting = Meeting::default();
    items(0)
        .force_depth(1)
        .for_each(|x| assert!(x % 500 != 0 || meeting.attend(), "the other half never ran"));

    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    items(0).size_limit(1).cap(1).for_each(|_| {
        most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
        now.fetch_sub(1, SeqCst);
    });
    assert_eq!(most.into_inner(), 1);

    /// Cut one by one.
    struct List(usize);
    impl furcate::Divisible for List {
        fn size(&self) -> usize {
            self.0
        }
        fn divide_at(self, _: usize) -> (Self, Self) {
            let first = self.0.min(1);
            (List(first), List(self.0 - first))
        }
    }
    let lists = List(20_000).wrap_iter().size_limit(1).with_scheduler(Coarse(0)).on(&pool);
    assert_eq!(lists.map(|list| list.0).sum::<usize>(), 20_000);
}

/// Waits until two threads have come, or for a minute.
#[derive(Default)]
struct Meeting {
    threads: Mutex<HashSet<thread::ThreadId>>,
    came: Condvar,
}

impl Meeting {
    /// Returns whether two threads have come.
    fn attend(&self) -> bool {
        let mut threads = self.threads.lock().unwrap();
        threads.insert(thread::current().id());
        self.came.notify_all();
        let minute = Duration::from_secs(60);
        let (_threads, waited) =
            self.came.wait_timeout_while(threads, minute, |threads| threads.len() < 2).unwrap();
        !waited.timed_out()
    }
}

/// Each item waits until a second thread has come to an item. Without a steal it would wait in vain.
#[test]
fn two_threads_share_the_work_of_every_scheduler() {
    let team = Team::new(2);
    let chain = |meeting| {
        let attend = move |_| Meeting::attend(meeting);
        (0..64).into_par_iter().map(attend).size_limit(8).on(team.clone())
    };
    let meeting = Meeting::default();
    assert!(chain(&meeting).join().all(|met| met), "join");
    let meeting = Meeting::default();
    assert!(chain(&meeting).depjoin().all(|met| met), "depjoin");

    // `adaptive` makes one task, and one more for each steal.
    let stolen = AtomicUsize::new(0);
    let busy = |_: usize| {
        thread::sleep(Duration::from_micros(100));
        thread::current().id()
    };
    let minute = std::time::Instant::now() + Duration::from_secs(60);
    while stolen.load(SeqCst) == 0 && std::time::Instant::now() < minute {
        let items = (0..1000).into_par_iter().map(busy).adaptive().nano_blocks(1, 4).on(team.clone());
        let tasks: Vec<HashSet<_>> = items
            .fold(HashSet::new, |mut threads, thread| {
                threads.insert(thread);
                threads
            })
            .collect();
        assert!(tasks.iter().all(|threads| threads.len() == 1), "a task stays in its thread");
        let threads: HashSet<_> = tasks.iter().flatten().collect();
        if threads.len() >= 2 {
            stolen.store(tasks.len() - 1, SeqCst);
        }
    }
    assert!(stolen.into_inner() > 0, "adaptive: no thread has stolen");
}

#[test]
fn all_terminals_run_on_the_team() {
    for size in [1, 2, 4] {
        let team = Team::new(size);
        assert_eq!(team.num_threads(), size);
        let items = || (0..10_000_u64).into_par_iter().on(team.clone());
        assert_eq!(items().sum::<u64>(), 49_995_000);
        assert_eq!(items().depjoin().map(|x| x * 2).collect::<Vec<_>>()[9_999], 19_998);
        assert_eq!(items().adaptive().filter(|x| x % 2 == 0).collect::<Vec<_>>().len(), 5000);
        assert_eq!(items().find_first(|x| x % 777 == 776), Some(776));
        assert_eq!(items().bound_depth(6).by_blocks([10, 1000]).max(), Some(9999));
        assert_eq!(block_on(items().async_sum::<u64>()), 49_995_000);
        let waits = (0..10_u64).into_par_iter().map(|x| async move { x }).io_await().on(team.clone());
        assert_eq!(waits.sum::<u64>(), 45);
        let stream = items().into_stream(16);
        let sum = futures_lite::StreamExt::fold(stream, 0, |sum, x| sum + x);
        assert_eq!(futures_lite::future::block_on(sum), 49_995_000);
    }
}

/// An engine whose threads have ended, or that drops jobs: calls lose parallelism, and nothing else.
#[test]
fn jobs_that_never_run_block_no_call() {
    #[derive(Clone)]
    struct Lost;
    impl Threads for Lost {
        fn run(&self, _: Job) {}
        fn num_threads(&self) -> usize {
            2
        }
    }
    let items = || (0..1000_u64).into_par_iter().on(OnThreads(Lost));
    assert_eq!(items().sum::<u64>(), 499_500);
    assert_eq!(items().depjoin().bound_depth(5).sum::<u64>(), 499_500);
    assert_eq!(items().adaptive().sum::<u64>(), 499_500);
    let lost = catch_unwind(AssertUnwindSafe(|| block_on(items().async_sum::<u64>())));
    assert!(lost.is_err(), "a spawned computation was dropped, and its future says so");
}

/// Jobs that run late find nothing, even long after the end of their call.
#[test]
fn late_jobs_find_nothing() {
    #[derive(Clone, Default)]
    struct Late(Arc<Mutex<Vec<Job>>>);
    impl Threads for Late {
        fn run(&self, job: Job) {
            self.0.lock().unwrap().push(job);
        }
        fn num_threads(&self) -> usize {
            4
        }
    }
    let late = Late::default();
    for plan in 0..3 {
        let items = vec![String::from("item"); 1000];
        let owned = items.into_par_iter().map(|item| item.len()).bound_depth(6).on(OnThreads(late.clone()));
        let sum = match plan {
            0 => owned.join().sum::<usize>(),
            1 => owned.depjoin().sum(),
            _ => owned.adaptive().nano_blocks(1, 1).sum(),
        };
        assert_eq!(sum, 4000);
    }
    let jobs = std::mem::take(&mut *late.0.lock().unwrap());
    assert!(jobs.len() > 100, "{} jobs", jobs.len());
    let half = jobs.len() / 2;
    for (number, job) in jobs.into_iter().enumerate() {
        if number < half { job.run() } else { drop(job) }
    }
}

/// The panic of the left half of a fork goes before that of the right one, and no thread is lost.
#[test]
fn panics_reach_the_caller() {
    let team = Team::new(2);
    let message = |left: bool, right: bool| {
        let meeting = Meeting::default();
        let half = |panics: bool, name: &'static str| {
            assert!(meeting.attend());
            if panics {
                std::panic::panic_any(name);
            }
        };
        let join = || team.join_context(|_| half(left, "left"), |_| half(right, "right"));
        catch_unwind(AssertUnwindSafe(join)).err().map(|payload| *payload.downcast::<&str>().unwrap())
    };
    assert_eq!(message(false, false), None);
    assert_eq!(message(true, false), Some("left"));
    assert_eq!(message(false, true), Some("right"));
    assert_eq!(message(true, true), Some("left"));
    let items = || (0..100_u64).into_par_iter().bound_depth(5).on(team.clone());
    let fifty = |x| assert!(x != 50, "fifty");
    let panics = |run: &dyn Fn()| catch_unwind(AssertUnwindSafe(run)).is_err();
    for _ in 0..20 {
        assert!(panics(&|| items().join().for_each(fifty)));
        assert!(panics(&|| items().depjoin().for_each(fifty)));
        assert!(panics(&|| items().adaptive().for_each(fifty)));
    }
    assert_eq!((0..100_u64).into_par_iter().on(team).sum::<u64>(), 4950);
}
