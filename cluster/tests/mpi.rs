//! Calls on the ranks that `mpirun` has started: `ci/cluster.sh` runs this program with several numbers of ranks, on every transport. Without
//! a launcher there is one rank.
//!
//! Each rank checks every result. A rank that finds a wrong one panics, and the program fails.

use furcate::prelude::*;
use furcate_cluster::frame::{self, Frame, FrameContext, Future, Next};
use furcate_cluster::{Distributed, SpreadOver, World};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A call on all ranks, and what each has to get.
type Check = fn(&World);

fn main() {
    let world = furcate_cluster::init().expect("the ranks make a world");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["lengths"] => return lengths(&world),
        ["another-build"] => return another_build(&world),
        [failure, rank] if ["killed", "killed-between", "panics-between"].contains(&failure) => {
            fails(&world, failure, rank.parse().expect("the number of a rank"));
        }
        _ => {}
    }
    one_world(true);
    let begin = Instant::now();
    for (name, check) in CHECKS {
        check(&world);
        if world.is_root() {
            println!("{name}: ok after {:?}", begin.elapsed());
        }
    }
    drop(world);
    one_world(false);
}

/// There is no second world, neither beside the first one nor after it.
fn one_world(is_there: bool) {
    if cfg!(feature = "mpi") {
        let error = furcate_cluster::init().expect_err("a process has one world").to_string();
        let reason = if is_there { "has a world already" } else { "MPI has ended" };
        assert!(error.contains(reason), "{error}");
    }
}

const CHECKS: [(&str, Check); 11] = [
    ("lengths", lengths),
    ("order", order),
    ("long outputs", long_outputs),
    ("rank 0 is busy", rank_0_is_busy),
    ("a distributed vector", distributed_vector),
    ("searches", searches),
    ("many short calls", many_short_calls),
    ("frames", frames),
    ("late ranks", late_ranks),
    ("a panic", a_panic),
    ("another chain", another_chain),
];

fn lengths(world: &World) {
    for len in [0_u64, 1, 2, 7, 1000, 100_000] {
        assert_eq!((0..len).into_par_iter().spread(world).sum::<u64>(), (0..len).sum(), "{len}");
        assert_eq!((0..len).into_par_iter().spread(world).count(), len);
    }
    // By value: a piece that is empty, one unit, and a few.
    let take = |sum: &mut u64, units: &mut Vec<u64>, n: usize| {
        (0..n).map_while(|_| units.pop()).for_each(|unit| *sum += unit);
    };
    for len in [0_u64, 1, 2, 1000] {
        let units: Vec<u64> = (0..len).collect();
        assert_eq!(
            units.clone().work(|_| 0, take, |sum| sum).spread(world).sum::<u64>(),
            (0..len).sum(),
            "{len}"
        );
        let all = units.wrap_iter().spread(world).reduce(Vec::new, |a, b| [a, b].concat());
        assert!(all.into_iter().eq(0..len), "{len}");
    }
}

fn order(world: &World) {
    let text = (0..2000).map(|i| i.to_string()).collect::<String>();
    for _ in 0..10 {
        let spread = (0..2000).into_par_iter().map(|i: u32| i.to_string()).spread(world);
        assert_eq!(spread.reduce(String::new, |a, b| a + &b), text);
        let numbers: Vec<u32> = (0..5000).into_par_iter().filter(|x| x % 3 == 0).spread(world).collect();
        assert!(numbers.into_iter().eq((0..5000).step_by(3)));
    }
}

/// Outputs that are longer than the buffers of any transport.
fn long_outputs(world: &World) {
    let numbers: Vec<u64> = (0..2_000_000_u64).into_par_iter().map(|x| x * 3).spread(world).collect();
    assert!(numbers.into_iter().eq((0..2_000_000).map(|x| x * 3)));
}

/// Rank 0 does something else for three seconds after a call. The other ranks have the result before that.
fn rank_0_is_busy(world: &World) {
    long_outputs(world);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is set").as_millis() as u64;
    if world.is_root() {
        sleep(Duration::from_secs(3));
    }
    // Each rank has one of the items, which is not divided.
    let times: Vec<u64> = (0..world.size()).into_par_iter().map(|_| now).spread(world).collect();
    assert!(
        times.iter().all(|time| *time < times[0] + 2000),
        "milliseconds at which each had the result: {times:?}"
    );
}

/// The first items take longer, so some of them are stolen. All ranks together have every item.
fn distributed_vector(world: &World) {
    for len in [0, 1, 3, 2000] {
        let mut vector = Distributed::new();
        let items = (0..len).into_par_iter().map(|x: usize| {
            if x < 300 {
                sleep(Duration::from_micros(20));
            }
            x.to_string()
        });
        items.spread(world).collect_into(&mut vector);
        assert_eq!(vector.total_len(), len);
        assert!(vector.iter().all(|(position, item)| *item == position.to_string()));
        let whole = vector.gather(world);
        let expected = world.is_root().then(|| (0..len).map(|x| x.to_string()).collect());
        assert_eq!(whole, expected);
    }
}

fn searches(world: &World) {
    for wanted in [0_u64, 77_777, 199_999, 300_000] {
        let numbers = || (0..200_000_u64).into_par_iter();
        assert_eq!(numbers().spread(world).any(|x| x == wanted), wanted < 200_000);
        assert_eq!(
            numbers().spread(world).find_first(|x| *x >= wanted),
            (wanted < 200_000).then_some(wanted),
            "the first at or behind {wanted}"
        );
    }
}

fn many_short_calls(world: &World) {
    for call in 0..10_000_u64 {
        assert_eq!((0..10).into_par_iter().map(|x: u64| x + call).spread(world).sum::<u64>(), 45 + 10 * call);
    }
}

/// The numbers of a range as text, by halves.
#[derive(Serialize, Deserialize)]
enum Halves {
    Of {
        begin: u32,
        len: u32,
    },
    /// The right half, which also waits for the left one: a future of another frame.
    Right {
        left: Future<String>,
        begin: u32,
        len: u32,
    },
    /// Joins the right half and the left half.
    Swap,
    Join,
}

impl Frame for Halves {
    type Output = String;
    type Data = u64;

    fn step(self, mut results: Vec<String>, context: &mut FrameContext<'_, Self>) -> Next<Self> {
        match self {
            Halves::Of { begin, len: len @ 0..2 } => {
                black_box((0..*context.data()).fold(0_u64, |x, i| black_box(x ^ i)));
                Next::Return((begin..begin + len).map(|i| i.to_string()).collect())
            }
            Halves::Of { begin, len } => {
                let left = context.fork(Halves::Of { begin, len: len / 2 });
                Next::join([Halves::Right { left, begin: begin + len / 2, len: len - len / 2 }], Halves::Join)
            }
            Halves::Right { left, begin, len } => {
                let children = vec![Halves::Of { begin, len }];
                Next::Wait { children, futures: vec![left], then: Halves::Swap }
            }
            Halves::Swap => {
                results.reverse();
                Next::Return(results.concat())
            }
            Halves::Join => Next::Return(results.concat()),
        }
    }
}

fn frames(world: &World) {
    let stolen = || world.table().ranks().iter().map(|counts| counts.won).sum::<u64>();
    let before = stolen();
    for (len, work) in [(0, 0), (1, 0), (2, 0), (5000, 2000), (1000, 20_000)] {
        let text = frame::run(world, Halves::Of { begin: 0, len }, &work);
        assert_eq!(text, (0..len).map(|i| i.to_string()).collect::<String>());
    }
    assert!(world.size() == 1 || stolen() > before, "frames travel");
}

/// Each rank in turn comes seconds later than the others, which wait for it.
fn late_ranks(world: &World) {
    for late in 0..world.size() {
        if world.rank() == late {
            sleep(Duration::from_millis(2500));
        }
        works_on(world);
    }
}

fn works_on(world: &World) {
    assert_eq!((0..1000_u64).into_par_iter().spread(world).sum::<u64>(), 499_500);
}

/// A panic ends the call on all ranks, and its message names the rank. Calls after it work.
fn a_panic(world: &World) {
    let call = || {
        let numbers = (0..1000_u64).into_par_iter();
        numbers.map(|x| if x == 999 { panic!("number {x}") } else { x }).spread(world).sum::<u64>()
    };
    let payload = catch_unwind(AssertUnwindSafe(call)).expect_err("the call has a panic");
    let text = payload.downcast_ref::<String>().map_or("", String::as_str);
    assert!(text.contains("number 999"), "{text:?} on rank {}", world.rank());
    works_on(world);
}

/// A rank that makes another call is told so, and so are the others.
fn another_chain(world: &World) {
    let call = || match world.rank() {
        1 => u64::from((0..1000_u32).into_par_iter().spread(world).sum::<u32>()),
        _ => (0..1000_u64).into_par_iter().spread(world).sum::<u64>(),
    };
    let result = catch_unwind(AssertUnwindSafe(call));
    if world.size() > 1 {
        let payload = result.expect_err("the calls differ");
        let text = payload.downcast_ref::<String>().map_or("", String::as_str);
        assert!(text.contains("different calls"), "{text:?} on rank {}", world.rank());
    }
    works_on(world);
}

/// The last rank was started from another executable. Each rank is told so.
fn another_build(world: &World) {
    let call = || (0..1000_u64).into_par_iter().spread(world).sum::<u64>();
    let payload = catch_unwind(AssertUnwindSafe(call)).expect_err("the builds differ");
    let text = payload.downcast_ref::<String>().map_or("", String::as_str);
    assert!(text.contains("different builds"), "{text:?} on rank {}", world.rank());
}

/// A rank is killed amid a call or between two calls, or panics between two calls. The program has to end with an error.
fn fails(world: &World, failure: &str, rank: usize) -> ! {
    let sum = || (0..1000_u64).into_par_iter().spread(world).sum::<u64>();
    assert_eq!(sum(), 499_500);
    let fails_now = world.rank() == rank;
    match failure {
        "killed-between" if fails_now => kill_this_process(),
        "panics-between" if fails_now => panic!("rank {rank} panics between two calls"),
        "killed" => {
            // Every rank is inside its share for a while.
            let seen = AtomicUsize::new(0);
            let numbers = (0..1_000_000_u64).into_par_iter().inspect(|_| {
                if fails_now && seen.fetch_add(1, Relaxed) == 1000 {
                    kill_this_process();
                }
                sleep(Duration::from_micros(10));
            });
            numbers.spread(world).count();
        }
        _ => _ = sum(),
    }
    panic!("a call ended although a rank is dead");
}

/// Ends this process at once, as the system does with a process that needs too much memory.
fn kill_this_process() {
    let process = std::process::id().to_string();
    let status = std::process::Command::new("kill").args(["-KILL", &process]).status();
    panic!("this process was to be killed: {status:?}");
}
