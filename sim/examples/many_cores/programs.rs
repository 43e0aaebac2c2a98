//! The programs: chains, joins and tasks of furcate, whose leaves compute for a given time.

use furcate::ThreadPool;
use furcate::prelude::*;
use furcate_schedulers::Timer;
use furcate_sim::thread;
use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const US: Duration = Duration::from_micros(1);

/// Rounds of [`compute`] per nanosecond on the machine at hand.
static SPEED: OnceLock<f64> = OnceLock::new();

/// Runs rounds of a chain of multiplications, each of which needs the result of the one before.
fn compute(rounds: u64) {
    let mut value = black_box(1_u64);
    for round in 0..rounds {
        value = value.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ round;
    }
    black_box(value);
}

/// Measures the machine's speed: the best of many short runs, because another process may have disturbed some of them.
pub(crate) fn calibrate() {
    const ROUNDS: u64 = 200_000;
    let best = (0..300).map(|_| {
        let begin = Instant::now();
        compute(ROUNDS);
        begin.elapsed()
    });
    SPEED.get_or_init(|| ROUNDS as f64 / best.min().unwrap_or(US).as_nanos() as f64);
}

/// Uses processor time: virtual time in a simulation, else real time. A thread that is preempted meanwhile takes longer, in both.
fn work(time: Duration) {
    if cfg!(furcate_sim) {
        furcate_sim::work(time);
    } else {
        compute((time.as_nanos() as f64 * SPEED.get().expect("`calibrate` was called")) as u64);
    }
}

/// Returns a random number for each number: the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
fn mix(number: u64) -> u64 {
    let mixed = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// Returns a random fraction in 0..1 for each number.
fn fraction(number: u64) -> f64 {
    (mix(number) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A program: its name, and a call that returns its work and span.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&ThreadPool) -> (Duration, Duration),
}

pub(crate) const PROGRAMS: &[Program] = &[
    Program { name: "tree, leaves of 10 us", run: |pool| tree(pool, 16, 10 * US) },
    Program { name: "tree, leaves of 1 us", run: |pool| tree(pool, 19, US) },
    Program { name: "skewed tree", run: skewed },
    Program { name: "uts, binomial", run: |pool| uts(pool, 17, binomial) },
    Program { name: "uts, geometric", run: |pool| uts(pool, 19, geometric) },
    Program { name: "recpfor", run: recpfor },
    Program { name: "merge sort", run: merge_sort },
    Program { name: "loop, items of 1 us", run: |pool| items(pool, 500_000, US) },
    Program { name: "loop, items of 10 us", run: |pool| items(pool, 60_000, 10 * US) },
    Program { name: "loop, items of 100 us", run: |pool| items(pool, 8_000, 100 * US) },
    Program { name: "call of 20 us", run: |pool| calls(pool, 20) },
    Program { name: "call of 50 us", run: |pool| calls(pool, 50) },
    Program { name: "call of 100 us", run: |pool| calls(pool, 100) },
    Program { name: "call of 5 ms", run: |pool| calls(pool, 5_000) },
    Program { name: "calls from 16 threads", run: outside },
    Program { name: "map and reduce, waits of 1 ms", run: |pool| waits(pool, 1_000 * US) },
    Program { name: "map and reduce, waits of 10 ms", run: |pool| waits(pool, 10_000 * US) },
    Program { name: "100,000 timers", run: timers },
    Program { name: "server", run: server },
    Program { name: "search, hit at 10 %", run: |pool| search(pool, 10) },
    Program { name: "search, hit at 50 %", run: |pool| search(pool, 50) },
    Program { name: "search, hit at 90 %", run: |pool| search(pool, 90) },
    Program { name: "search, no hit", run: |pool| search(pool, 100) },
];

fn tree(pool: &ThreadPool, depth: u32, leaf: Duration) -> (Duration, Duration) {
    fn node(depth: u32, leaf: Duration) {
        match depth {
            0 => work(leaf),
            _ => _ = furcate::join(|| node(depth - 1, leaf), || node(depth - 1, leaf)),
        }
    }
    pool.install(|| node(depth, leaf));
    (leaf * (1 << depth), leaf)
}

/// Each node gives a tenth of its work to one side.
fn skewed(pool: &ThreadPool) -> (Duration, Duration) {
    fn node(time: Duration) {
        if time <= 10 * US {
            return work(time);
        }
        furcate::join(|| node(time / 10), || node(time - time / 10));
    }
    let time = 1_000_000 * US;
    pool.install(|| node(time));
    (time, 10 * US)
}

/// Unbalanced trees (Olivier et al., *UTS: An Unbalanced Tree Search Benchmark*, 2006). The number of a node's children is a function of the node's
/// hash and depth. The hash is `mix` instead of SHA-1, so the trees are not the published ones.
fn uts(pool: &ThreadPool, root: u64, children: fn(u64, u32) -> u64) -> (Duration, Duration) {
    const NODE: Duration = Duration::from_micros(2);
    /// Returns the number of nodes and the height of the tree below a node.
    fn visit(node: u64, depth: u32, children: fn(u64, u32) -> u64) -> (u32, u32) {
        work(NODE);
        let child = |number: u64| mix(node.wrapping_add((number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        let (nodes, height) = (0..children(node, depth))
            .into_par_iter()
            .size_limit(1)
            .map(|number| visit(child(number), depth + 1, children))
            .reduce(|| (0, 0), |left, right| (left.0 + right.0, left.1.max(right.1)));
        (nodes + 1, height + 1)
    }
    let (nodes, height) = pool.install(|| visit(mix(root), 0, children));
    (NODE * nodes, NODE * height)
}

/// A root of 4000 children; each other node has 4 children with a probability of 250/1024.
fn binomial(node: u64, depth: u32) -> u64 {
    match depth {
        0 => 4000,
        _ if node >> 40 & 1023 < 250 => 4,
        _ => 0,
    }
}

/// A geometric distribution with a mean of 4 down to a depth of 9, as the published tree T1, whose depth is 10.
fn geometric(node: u64, depth: u32) -> u64 {
    let fraction = (node >> 11) as f64 / (1_u64 << 53) as f64;
    if depth < 9 { ((1.0 - fraction).ln() / 0.8_f64.ln()) as u64 } else { 0 }
}

/// Parallel loops in a recursion (Shiina and Taura 2022).
fn recpfor(pool: &ThreadPool) -> (Duration, Duration) {
    const LEAF: Duration = Duration::from_micros(10);
    fn loops(n: u64) -> u64 {
        let mut leaves = 0;
        for _ in 0..2 {
            (0..n).into_par_iter().size_limit(1).for_each(|_| work(LEAF));
            leaves += n;
        }
        if n > 1 {
            let (left, right) = furcate::join(|| loops(n / 2), || loops(n / 2));
            leaves += left + right;
        }
        leaves
    }
    let leaves = pool.install(|| loops(4096));
    (LEAF * u32::try_from(leaves).unwrap(), LEAF * 2 * 13)
}

/// The shape of a merge sort: leaves that sort, and parallel merges.
fn merge_sort(pool: &ThreadPool) -> (Duration, Duration) {
    const UNIT: Duration = Duration::from_nanos(1);
    fn merge(n: u32) {
        if n <= 8192 {
            return work(UNIT * n);
        }
        furcate::join(|| merge(n / 2), || merge(n - n / 2));
    }
    fn sort(n: u32) -> Duration {
        if n <= 8192 {
            work(UNIT * n * 13);
            return UNIT * n * 13;
        }
        let (left, right) = furcate::join(|| sort(n / 2), || sort(n - n / 2));
        merge(n);
        left + right + UNIT * n
    }
    let time = pool.install(|| sort(1 << 25));
    (time, UNIT * 8192 * 25)
}

fn items(pool: &ThreadPool, count: u32, each: Duration) -> (Duration, Duration) {
    pool.install(|| (0..count).into_par_iter().for_each(|_| work(each)));
    (each * count, each)
}

/// Calls one after the other, with items of 1 us.
fn calls(pool: &ThreadPool, count: u32) -> (Duration, Duration) {
    for _ in 0..200 {
        (0..count).into_par_iter().on(pool).for_each(|_| work(US));
        // The caller's own work.
        work(30 * US);
    }
    (200 * (count + 30) * US, 200 * 31 * US)
}

fn outside(pool: &ThreadPool) -> (Duration, Duration) {
    thread::scope(|threads| {
        for _ in 0..16 {
            let run = || (0..50).for_each(|_| (0..400).into_par_iter().on(pool).for_each(|_| work(US)));
            thread::Builder::new().spawn_scoped(threads, run).unwrap();
        }
    });
    (16 * 50 * 400 * US, 50 * US)
}

/// Answers that come after a wait, and work on each (Singer, Xu and Lee, *ProWS*, 2019). All waits may be in flight at once.
fn waits(pool: &ThreadPool, wait: Duration) -> (Duration, Duration) {
    let (count, leaf) = (20_000_u32, 10 * US);
    let fetch = |_| Timer::after(wait);
    pool.install(|| {
        let answers = (0..count).into_par_iter().map(fetch).io_await().unbounded();
        answers.map(|()| work(leaf)).count()
    });
    (leaf * count, wait + leaf)
}

/// Timers that end within 10 ms of their begin, and work behind each.
fn timers(pool: &ThreadPool) -> (Duration, Duration) {
    let (count, longest) = (100_000_u32, 10_000 * US);
    let timer = |number| Timer::after(longest.mul_f64(fraction(u64::from(number))));
    pool.install(|| (0..count).into_par_iter().map(timer).io_await().unbounded().map(|()| work(US)).count());
    (US * count, longest + US)
}

/// Connections that each wait for requests, and answer each request by a parallel call.
fn server(pool: &ThreadPool) -> (Duration, Duration) {
    /// Returns the wait before a request, and the microseconds of work on it.
    fn request(connection: u64, number: u64) -> (Duration, u32) {
        let key = 2 * (connection * 50 + number);
        (US.mul_f64(200.0 + 1800.0 * fraction(key)), 20 + (180.0 * fraction(key + 1)) as u32)
    }
    let connections = (0..64).map(|connection| {
        pool.spawn_future(async move {
            for number in 0..50 {
                let (wait, count) = request(connection, number);
                Timer::after(wait).await;
                (0..count).into_par_iter().for_each(|_| work(US));
            }
        })
    });
    connections.collect::<Vec<_>>().into_iter().for_each(furcate::block_on);
    let requests = |connection| (0..50).map(move |number| request(connection, number));
    let work: u32 = (0..64).flat_map(requests).map(|(_, count)| count).sum();
    let span = (0..64).map(|connection| requests(connection).map(|(wait, _)| wait + US).sum()).max();
    (US * work, span.unwrap_or_default())
}

/// A search whose hit lies behind so many percent of the items; at 100, there is none.
fn search(pool: &ThreadPool, percent: u32) -> (Duration, Duration) {
    let (count, hit) = (100_000, percent * 1_000);
    let found = pool.install(|| {
        (0..count).into_par_iter().find_first(|&number| {
            work(US);
            number == hit
        })
    });
    assert_eq!(found, (hit < count).then_some(hit));
    (US * hit, US)
}
