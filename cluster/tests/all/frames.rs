//! Frames: computations that go on after a join, against the same computation run by one thread.

use crate::support::other::Other;
use crate::support::{LONG, Random, busy, text, within};
use furcate::prelude::*;
use furcate_cluster::frame::{self, Frame, FrameContext, Frames, Future, Next};
use furcate_cluster::transport::Message;
use furcate_cluster::{Counts, SpreadOver, Threads, World};
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Every number of ranks and workers that the tests use.
const RANKS: [(usize, usize); 6] = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (4, 1)];

/// Every way to steal and to join: continuations with the greedy join and with the stalling one, then children. A frame that waits for stolen children
/// lies beside the worker's stack in the third way, and on the stack in the last one.
const RULES: [for<'w> fn(Frames<'w>) -> Frames<'w>; 4] = [
    |frames| frames,
    |frames| frames.stalling(),
    |frames| frames.child_stealing(),
    |frames| frames.run_to_completion(),
];

fn threads((ranks, workers): (usize, usize)) -> Threads {
    Threads::new(ranks).workers(workers).timeout(Duration::from_secs(20))
}

/// A random program: some rounds, each of which forks children and joins them, with futures of earlier rounds.
#[derive(Serialize, Deserialize)]
enum Program {
    Begin { seed: u64, height: u32 },
    Round { seed: u64, height: u32, rounds: usize, text: String, open: Vec<Future<String>> },
}

/// The random choices of a round: seeds of its children, seeds of the futures it forks, and how many open futures it waits for.
fn choices(seed: u64, rounds: usize) -> (Vec<u64>, Vec<u64>, Random) {
    let mut random = Random(seed ^ (rounds as u64) << 32);
    let children = (0..random.index(4)).map(|_| random.next()).collect();
    let futures = (0..random.index(3)).map(|_| random.next()).collect();
    (children, futures, random)
}

fn rounds(seed: u64, height: u32) -> usize {
    if height == 0 { 0 } else { Random(!seed).index(4) }
}

impl Frame for Program {
    type Output = String;
    type Data = ();

    fn step(self, results: Vec<String>, context: &mut FrameContext<'_, Self>) -> Next<Self> {
        let (seed, height, left, mut text, mut open) = match self {
            Program::Begin { seed, height } => {
                (seed, height, rounds(seed, height), format!("({}", seed % 100), vec![])
            }
            Program::Round { seed, height, rounds, text, open } => (seed, height, rounds, text, open),
        };
        busy(seed % 500);
        results.iter().for_each(|result| text += result);
        if left == 0 && open.is_empty() {
            return Next::Return(text + ")");
        }
        if left == 0 {
            let then = Program::Round { seed, height, rounds: 0, text: text + "/", open: vec![] };
            return Next::after(open, then);
        }
        let (children, futures, mut random) = choices(seed, left);
        let begin = |seed| Program::Begin { seed, height: height - 1 };
        open.extend(futures.into_iter().map(|seed| context.fork(begin(seed))));
        let rest = open.split_off(random.index(open.len() + 1));
        Next::Wait {
            children: children.into_iter().map(begin).collect(),
            futures: open,
            then: Program::Round { seed, height, rounds: left - 1, text: text + ";", open: rest },
        }
    }
}

/// The same program, run by one thread. Futures are run when they are forked.
fn oracle(seed: u64, height: u32) -> String {
    let mut text = format!("({}", seed % 100);
    let mut open: Vec<String> = vec![];
    for left in (1..=rounds(seed, height)).rev() {
        let (children, futures, mut random) = choices(seed, left);
        open.extend(futures.into_iter().map(|seed| oracle(seed, height - 1)));
        let rest = open.split_off(random.index(open.len() + 1));
        text += ";";
        children.into_iter().for_each(|seed| text += &oracle(seed, height - 1));
        open.iter().for_each(|output| text += output);
        open = rest;
    }
    if !open.is_empty() {
        text += "/";
        open.iter().for_each(|output| text += output);
    }
    text + ")"
}

#[test]
fn random_programs_give_what_one_thread_gives() {
    within(LONG, || {
        for ranks in RANKS {
            let expected: Vec<String> = (0..60).map(|seed| oracle(seed * 7919, 5)).collect();
            assert!(expected.iter().any(|text| text.len() > 500), "some programs are large");
            for (number, rule) in RULES.into_iter().enumerate() {
                let run = |world: &World, seed| {
                    rule(Frames::new(world)).run(Program::Begin { seed, height: 5 }, &())
                };
                let all = |world: &World| (0..60).map(|seed| run(world, seed * 7919)).collect::<Vec<_>>();
                for results in threads(ranks).run(all) {
                    assert_eq!(results, expected, "{ranks:?}, rule {number}");
                }
            }
        }
    });
}

/// The number of nodes of a binary tree, with work in the leaves.
#[derive(Clone, Serialize, Deserialize)]
enum Tree {
    Of(u32),
    Sum,
}

impl Frame for Tree {
    type Output = u64;
    type Data = u64;

    fn step(self, results: Vec<u64>, context: &mut FrameContext<'_, Self>) -> Next<Self> {
        match self {
            Tree::Of(0) => {
                busy(*context.data());
                Next::Return(1)
            }
            Tree::Of(height) => Next::join([height - 1; 2].map(Tree::Of), Tree::Sum),
            Tree::Sum => Next::Return(1 + results.iter().sum::<u64>()),
        }
    }
}

/// Lets all ranks come to a call, so that no rank has done all the work before another one begins.
fn begin_together(world: &World) {
    assert_eq!((0..8_u64).into_par_iter().spread(world).sum::<u64>(), 28);
}

/// A tree whose frames wait for the futures of both halves.
#[derive(Serialize, Deserialize)]
struct Later(Tree);

impl Frame for Later {
    type Output = u64;
    type Data = u64;

    fn step(self, results: Vec<u64>, context: &mut FrameContext<'_, Self>) -> Next<Self> {
        match self.0 {
            Tree::Of(height @ 1..) => {
                let halves = [height - 1; 2].map(|height| context.fork(Later(Tree::Of(height))));
                Next::after(halves, Later(Tree::Sum))
            }
            Tree::Of(0) => {
                busy(*context.data());
                Next::Return(1)
            }
            Tree::Sum => Next::Return(1 + results.iter().sum::<u64>()),
        }
    }
}

/// With the greedy join a frame goes on at once. With the stalling join it waits until nothing else can run.
#[test]
fn greedy_joins_go_on_at_once() {
    within(LONG, || {
        let stalls_less = || {
            let counts = threads((1, 1)).run(|world| {
                let run = |frames: Frames<'_>| {
                    assert_eq!(frames.run(Later(Tree::Of(8)), &2000), 511);
                    world.counts()
                };
                let greedy = run(Frames::new(world));
                let stalling = run(Frames::new(world).stalling());
                (greedy, stalling)
            });
            let (greedy, stalling) = &counts[0];
            assert_eq!((greedy.waits, stalling.waits), (255, 510));
            assert_eq!((greedy.blocked, stalling.blocked), (255, 510), "no future is there at once");
            // Depth first: a frame of each height waits, and one has all its results.
            assert_eq!((greedy.waiting, greedy.resumable), (8, 1));
            assert!(stalling.waiting > 100 && stalling.resumable > 100, "{stalling:?}");
            greedy.stalled > 0 && stalling.stalled > 10 * greedy.stalled
        };
        // On a busy machine the rank may be without a core while a frame of the greedy join could go on.
        assert!((0..10).any(|_| stalls_less()));
    });
}

/// Without steals no frame is blocked in a nested join, under any rule.
#[test]
fn only_steals_block_joins() {
    within(LONG, || {
        for rule in RULES {
            let counts = threads((1, 1)).run(|world| {
                assert_eq!(rule(Frames::new(world)).run(Tree::Of(8), &0), 511);
                world.counts()
            });
            assert_eq!((counts[0].waits, counts[0].blocked), (255, 0));
        }
    });
}

/// Frames that note the order of their steps.
#[derive(Serialize, Deserialize)]
enum Order {
    Root,
    Child(u32),
    Then,
}

impl Frame for Order {
    type Output = ();
    type Data = Mutex<Vec<u32>>;

    fn step(self, _: Vec<()>, context: &mut FrameContext<'_, Self>) -> Next<Self> {
        match self {
            Order::Root => return Next::join([1, 2, 3].map(Order::Child), Order::Then),
            Order::Child(number) => context.data().lock().unwrap().push(number),
            Order::Then => context.data().lock().unwrap().push(0),
        }
        Next::Return(())
    }
}

/// Under child stealing the last child, the rest of the frame that forks, goes on first.
#[test]
fn the_rest_of_a_frame_goes_first_if_children_are_stolen() {
    within(LONG, || {
        for (rule, steals_children) in RULES.into_iter().zip([false, false, true, true]) {
            let orders = threads((1, 1)).run(|world| {
                let order = Mutex::default();
                rule(Frames::new(world)).run(Order::Root, &order);
                order.into_inner().unwrap()
            });
            assert_eq!(orders, [if steals_children { [3, 2, 1, 0] } else { [1, 2, 3, 0] }]);
        }
    });
}

/// Two frames that wait for the future of a third one, the second above the first on the stack. They note the order in which they go on.
#[derive(Serialize, Deserialize)]
enum Above {
    First,
    Second(Future<()>),
    Third,
    Then(u32),
}

impl Frame for Above {
    type Output = ();
    type Data = Mutex<Vec<u32>>;

    fn step(self, _: Vec<()>, context: &mut FrameContext<'_, Self>) -> Next<Self> {
        match self {
            Above::First => {
                let [first, second] = context.fork_for(Above::Third);
                let _ = context.fork(Above::Second(second));
                Next::after([first], Above::Then(1))
            }
            Above::Second(third) => Next::after([third], Above::Then(2)),
            Above::Third => Next::Return(()),
            Above::Then(number) => {
                context.data().lock().unwrap().push(number);
                Next::Return(())
            }
        }
    }
}

/// A frame that runs to completion goes on before those below it on the stack. Otherwise the one that has waited longer goes first, and ends the call.
#[test]
fn frames_on_the_stack_go_on_from_the_top() {
    within(LONG, || {
        for (rule, expected) in RULES[2..].iter().zip([vec![1], vec![2, 1]]) {
            let orders = threads((1, 1)).run(|world| {
                let order = Mutex::default();
                rule(Frames::new(world)).run(Above::First, &order);
                order.into_inner().unwrap()
            });
            assert_eq!(orders, [expected]);
        }
    });
}

/// While a worker is inside a long step, another one listens.
#[test]
fn a_rank_in_a_long_step_replies() {
    within(LONG, || {
        let waited = threads((2, 2)).run(|world| {
            begin_together(world);
            frame::run(world, Long::Root, &());
            world.counts()
        });
        // The other rank gets some of the frames that a step has forked before its end.
        assert!(waited[0].given > 0 && waited[1].steps > 0, "{waited:?}");
    });
}

/// A step that forks frames and then goes on for a long time. The forked frames end it.
#[derive(Serialize, Deserialize)]
enum Long {
    Root,
    Part,
    Join,
}

static PARTS: AtomicUsize = AtomicUsize::new(0);

impl Frame for Long {
    type Output = ();
    type Data = ();

    fn step(self, _: Vec<()>, context: &mut FrameContext<'_, Self>) -> Next<Self> {
        match self {
            Long::Root => {
                let parts: Vec<_> = (0..20).map(|_| context.fork(Long::Part)).collect();
                // Both ranks are threads of one process. The worker of this step runs no part.
                while PARTS.load(Relaxed) < 20 {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Next::after(parts, Long::Join)
            }
            Long::Part => {
                std::thread::sleep(Duration::from_millis(5));
                PARTS.fetch_add(1, Relaxed);
                Next::Return(())
            }
            Long::Join => Next::Return(()),
        }
    }
}

#[test]
fn work_is_stolen_by_other_ranks() {
    within(LONG, || {
        let counts: Vec<Counts> = threads((3, 1)).run(|world| {
            begin_together(world);
            assert_eq!(frame::run(world, Tree::Of(10), &200_000), 2047);
            world.counts()
        });
        let total = |count: fn(&Counts) -> u64| counts.iter().map(count).sum::<u64>();
        assert_eq!(total(|counts| counts.steps), 1024 + 2 * 1023, "each step is run once");
        assert_eq!(total(|counts| counts.waits), 1023);
        assert!(counts.iter().all(|counts| counts.steps > 0), "every rank has run some: {counts:?}");
        assert!(
            total(|counts| counts.given) >= 2 && total(|counts| counts.given) == total(|counts| counts.won)
        );
    });
}

/// A frame that goes on for ever with the youngest frames is no reason to keep the oldest.
#[test]
fn the_oldest_frames_are_stolen() {
    within(LONG, || {
        let counts = threads((2, 1)).run(|world| {
            frame::run(world, Tree::Of(12), &5000);
            world.counts()
        });
        let steps: u64 = counts.iter().map(|counts| counts.steps).sum();
        let won: u64 = counts.iter().map(|counts| counts.won).sum();
        assert!(won * 20 < steps, "{won} steals for {steps} steps");
    });
}

/// A wavefront: the number of paths through a grid. Each tile begins the next one of its row, which waits for the tile above.
#[derive(Serialize, Deserialize)]
enum Grid {
    /// A tile that has waited for the one above.
    Resume {
        row: usize,
        column: usize,
        left: u64,
    },
    /// A tile with the output of the one above.
    Run {
        row: usize,
        column: usize,
        left: u64,
        above: Tile,
    },
    Last,
}

/// The value of a tile, and the future of the next tile of its row.
#[derive(Serialize, Deserialize)]
struct Tile(u64, Option<Future<Tile>>);

const MODULUS: u64 = 1_000_000_007;

impl Frame for Grid {
    type Output = Tile;
    type Data = usize;

    fn step(self, results: Vec<Tile>, context: &mut FrameContext<'_, Self>) -> Next<Self> {
        let size = *context.data();
        let mut results = results.into_iter();
        let mut result = || results.next().expect("it has waited for a tile");
        let (row, column, left, above) = match self {
            Grid::Last => return Next::Return(result()),
            Grid::Resume { row, column, left } => (row, column, left, result()),
            Grid::Run { row, column, left, above } => (row, column, left, above),
        };
        busy(500);
        let value = if row + column == 0 { 1 } else { (left + above.0) % MODULUS };
        let column_behind = column + 1;
        let next = (column_behind < size).then(|| match above.1 {
            Some(above) => {
                context.fork_after([above], Grid::Resume { row, column: column_behind, left: value })
            }
            None => context.fork(Grid::Run { row, column: column_behind, left: value, above: Tile(0, None) }),
        });
        if row + 1 == size {
            return match next {
                Some(next) => Next::after([next], Grid::Last),
                None => Next::Return(Tile(value, None)),
            };
        }
        if column == 0 {
            // The first tile of a row begins the next row, and brings the last output back.
            let below = Grid::Run { row: row + 1, column: 0, left: 0, above: Tile(value, next) };
            return Next::join([below], Grid::Last);
        }
        Next::Return(Tile(value, next))
    }
}

fn paths(size: usize) -> u64 {
    let mut row = vec![1; size];
    for _ in 1..size {
        for column in 1..size {
            row[column] = (row[column] + row[column - 1]) % MODULUS;
        }
    }
    row[size - 1]
}

#[test]
fn futures_are_waited_for_on_any_rank() {
    within(LONG, || {
        for ranks in RANKS {
            for size in [1, 2, 3, 17, 40] {
                let run = |world: &World| {
                    let root = Grid::Run { row: 0, column: 0, left: 0, above: Tile(0, None) };
                    (frame::run(world, root, &size).0, world.counts())
                };
                for (value, _) in threads(ranks).run(run) {
                    assert_eq!(value, paths(size), "{ranks:?}, {size} tiles");
                }
            }
        }
    });
}

/// Small programs, each for one rule.
#[derive(Serialize, Deserialize)]
enum Rule {
    /// Forks a frame for three takers, each of which is a frame of its own.
    Shared,
    Take(Vec<Future<String>>),
    Join,
    Text(String),
    /// Waits for a future twice, by a copy of it.
    Twice,
    /// Waits for a future of another call.
    Forged(Future<String>),
    /// Forks a frame for which nobody waits, and which goes on for ever.
    Detached,
    Endless,
    /// A leaf panics on another rank than the first.
    Panics(u32),
    Unencodable(Refusing),
    /// Forks a frame that waits for its own future.
    Circle,
    /// Uses a parallel chain in a step.
    Chain,
}

/// A value that serde cannot encode.
struct Refusing;

impl Serialize for Refusing {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("it does not want to travel"))
    }
}

impl<'de> Deserialize<'de> for Refusing {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Ok(Refusing)
    }
}

/// The encoding of a future: its rank, its worker, its call and number, and the kind of place.
fn forged(rank: u32, worker: u32, call: u64, number: u64) -> Future<String> {
    let bytes = postcard::to_allocvec(&(rank, worker, (call << 36) + number, 0_u32)).expect("numbers");
    postcard::from_bytes(&bytes).expect("it looks like a future")
}

/// A copy of a future, as safe code can make one.
fn copy(future: &Future<String>) -> Future<String> {
    let bytes = postcard::to_allocvec(future).expect("a future can be encoded");
    postcard::from_bytes(&bytes).expect("and decoded")
}

impl Frame for Rule {
    type Output = String;
    type Data = AtomicUsize;

    fn step(self, results: Vec<String>, context: &mut FrameContext<'_, Self>) -> Next<Self> {
        match self {
            Rule::Shared => {
                let futures: [_; 3] = context.fork_for(Rule::Text("x".to_owned()));
                Next::join(futures.map(|future| Rule::Take(vec![future])), Rule::Join)
            }
            Rule::Take(futures) => Next::after(futures, Rule::Join),
            Rule::Join => Next::Return(results.concat()),
            Rule::Text(text) => Next::Return(text),
            Rule::Twice => {
                let future = context.fork(Rule::Text("once".to_owned()));
                Next::after([copy(&future), future], Rule::Join)
            }
            Rule::Forged(future) => Next::after([future], Rule::Join),
            Rule::Detached => {
                drop(context.fork(Rule::Endless));
                Next::join([Rule::Text("end".to_owned())], Rule::Join)
            }
            Rule::Endless => {
                context.data().fetch_add(1, Relaxed);
                Next::join([], Rule::Endless)
            }
            Rule::Panics(0) => {
                busy(5000);
                assert!(context.rank() == 0, "a frame of rank {} panics", context.rank());
                Next::Return(String::new())
            }
            Rule::Panics(height) => Next::join([height - 1; 2].map(Rule::Panics), Rule::Join),
            Rule::Unencodable(_) => {
                let children = [(); 20].map(|()| Rule::Unencodable(Refusing));
                Next::join(children, Rule::Unencodable(Refusing))
            }
            Rule::Chain => {
                let sum: u64 = (0..100_000_u64).into_par_iter().map(|x| x ^ 1).sum();
                assert_eq!(furcate::broadcast(|_| ()).len(), furcate::current_num_threads());
                Next::Return(sum.to_string())
            }
            Rule::Circle => {
                // The first future of the call.
                let [future, _] = context.fork_for(Rule::Take(vec![forged(0, 0, 1, 1)]));
                Next::after([future], Rule::Join)
            }
        }
    }
}

fn rule(world: &World, root: Rule) -> String {
    frame::run(world, root, &AtomicUsize::new(0))
}

#[test]
fn an_output_is_given_to_as_many_takers_as_were_named() {
    within(LONG, || {
        for ranks in RANKS {
            let results = threads(ranks).run(|world| rule(world, Rule::Shared));
            assert!(results.iter().all(|result| result == "xxx"), "{results:?}");
        }
    });
}

/// The panic of a call, on each rank.
fn failures(ranks: (usize, usize), program: impl Fn(&World) -> String + Sync) -> Vec<String> {
    let results = threads(ranks).try_run(program);
    results.into_iter().map(|result| text(&*result.expect_err("the call fails")).to_owned()).collect()
}

#[test]
fn a_future_that_is_waited_for_twice_ends_the_call() {
    within(LONG, || {
        for ranks in RANKS {
            for failure in failures(ranks, |world| rule(world, Rule::Twice)) {
                assert!(failure.contains("more often than it was made for"), "{failure}");
            }
        }
    });
}

#[test]
fn a_future_of_nowhere_ends_the_call() {
    within(LONG, || {
        for (rank, worker, call, number) in
            [(0, 0, 1, 9), (0, 9, 1, 1), (1, 0, 1, 1), (9, 0, 1, 1), (0, 0, 0, 1)]
        {
            let forged = || forged(rank, worker, call, number);
            for failure in failures((2, 1), |world| rule(world, Rule::Forged(forged()))) {
                assert!(failure.contains("waited for") || failure.contains("no rank"), "{failure}");
            }
        }
    });
}

#[test]
fn frames_that_nobody_waits_for_end_with_the_call() {
    within(LONG, || {
        for ranks in RANKS {
            for &rule in &RULES[..3] {
                let detached =
                    |world: &World| rule(Frames::new(world)).run(Rule::Detached, &AtomicUsize::new(0));
                let results = threads(ranks).run(detached);
                assert!(results.iter().all(|result| result == "end"), "{results:?}");
            }
        }
    });
}

#[test]
fn a_panic_ends_the_call_on_all_ranks() {
    within(LONG, || {
        for ranks in [(2, 1), (3, 2)] {
            let failures = failures(ranks, |world| {
                begin_together(world);
                rule(world, Rule::Panics(12))
            });
            assert!(failures.iter().all(|failure| failure.contains("panics")), "{failures:?}");
            assert!(
                failures[0].contains("rank 1 panicked") || failures[0].contains("rank 2 panicked"),
                "{failures:?}"
            );
        }
    });
}

#[test]
fn frames_that_cannot_be_encoded_end_the_call_and_are_not_lost() {
    within(LONG, || {
        let failures = failures((2, 1), |world| rule(world, Rule::Unencodable(Refusing)));
        assert!(failures.iter().all(|failure| failure.contains("cannot be encoded")), "{failures:?}");
    });
}

/// Frames that wait for one another are found out: at once if there is one rank, else by the timeout.
#[test]
fn frames_that_wait_for_one_another_end_the_call() {
    within(LONG, || {
        for (ranks, expected) in [(1, "wait for futures of one another"), (2, "TIMEOUT")] {
            let ranks = Threads::new(ranks).timeout(Duration::from_millis(300));
            let results = ranks.try_run(|world| rule(world, Rule::Circle));
            for result in results {
                let failure = result.expect_err("nothing can go on");
                assert!(text(&*failure).contains(expected), "{}", text(&*failure));
            }
        }
    });
}

#[test]
fn steps_may_use_parallel_chains_and_broadcasts() {
    within(LONG, || {
        let sum = (0..100_000_u64).map(|x| x ^ 1).sum::<u64>().to_string();
        for ranks in [(1, 1), (2, 2)] {
            let results = threads(ranks).run(|world| rule(world, Rule::Chain));
            assert!(results.iter().all(|result| *result == sum), "{results:?}");
        }
    });
}

#[test]
fn calls_of_frames_and_chains_follow_each_other() {
    within(LONG, || {
        for ranks in RANKS {
            threads(ranks).run(|world| {
                for call in 0..300 {
                    assert_eq!(rule(world, Rule::Text(call.to_string())), call.to_string());
                    assert_eq!((0..call).into_par_iter().spread(world).sum::<u64>(), (0..call).sum());
                }
            });
        }
    });
}

#[test]
fn a_chain_and_frames_are_different_calls() {
    within(LONG, || {
        let failures = failures((2, 1), |world| match world.rank() {
            0 => rule(world, Rule::Text(String::new())),
            _ => (0..10_u64).into_par_iter().spread(world).sum::<u64>().to_string(),
        });
        assert!(failures.iter().all(|failure| failure.contains("different calls")), "{failures:?}");
    });
}

/// A future of an earlier call is no future of this one, although both calls number alike.
#[test]
fn a_future_of_an_earlier_call_ends_the_call() {
    within(LONG, || {
        for failure in failures((1, 1), |world| {
            let root = || Grid::Run { row: 0, column: 0, left: 0, above: Tile(0, None) };
            frame::run(world, root(), &2);
            rule(world, Rule::Forged(forged(0, 0, 1, 1)))
        }) {
            assert!(failure.contains("of another call"), "{failure}");
        }
    });
}

#[test]
fn calls_at_other_places_and_with_other_joins_are_other_calls() {
    within(LONG, || {
        let places = failures((2, 1), |world| match world.rank() {
            0 => rule(world, Rule::Text(String::new())),
            _ => frame::run(world, Rule::Text(String::new()), &AtomicUsize::new(0)),
        });
        let joins = failures((2, 1), |world| {
            let frames = Frames::new(world);
            let frames = if world.is_root() { frames } else { frames.stalling() };
            frames.run(Rule::Text(String::new()), &AtomicUsize::new(0))
        });
        assert!(
            places.iter().chain(&joins).all(|failure| failure.contains("different calls")),
            "{places:?} {joins:?}"
        );
    });
}

/// Messages that no rank of this program would send end the call, and do nothing else.
#[test]
fn forged_messages_end_the_call() {
    let up = (0_u32, 0_u32, 77_u64, 0_u32);
    let mine = (1_u32, 0_u32, 77_u64, 0_u32);
    let encode = |kind: u32, rest: Vec<u8>| [postcard::to_allocvec(&kind).expect("a number"), rest].concat();
    let place = |address: (u32, u32, u64, u32)| postcard::to_allocvec(&address).expect("numbers");
    let text = || postcard::to_allocvec("x").expect("a text");
    let forged = [
        (vec![], "cannot be decoded"),
        (vec![200], "cannot be decoded"),
        (encode(1, [place(up), text()].concat()), "to rank 1"),
        (encode(1, [place(mine), text()].concat()), "no frame waits"),
        (encode(1, [place(mine), text(), vec![0]].concat()), "too long"),
        (encode(2, [place(mine), place(up)].concat()), "more often"),
        (encode(2, [place(up), place(mine)].concat()), "to rank 1"),
        (encode(2, [place(mine), place((9, 0, 1, 0))].concat()), "to rank 1"),
    ];
    within(LONG, move || {
        for (bytes, expected) in forged {
            let other = Other::default();
            let rank = other.run(|world| rule(&world, Rule::Text(String::new())));
            other.sees(|message| matches!(message, Message::Request));
            other.tell(Message::Frame(bytes.clone()));
            let failure = rank.join().expect_err("the message is forged");
            assert!(
                crate::support::text(&*failure).contains(expected),
                "{bytes:?}: {}",
                crate::support::text(&*failure)
            );
        }
    });
}
