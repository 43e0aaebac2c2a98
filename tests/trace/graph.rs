//! Graphs of traces, against the trees of forks of the programs.

use furcate::prelude::*;
use furcate::trace::{Advice, Graph, PieceKind, Settings, Step};
use furcate::{ThreadPool, ThreadPoolBuilder, join};
use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;
use testkit::traces::{traced, traced_by};
use testkit::{Random, spin};

fn pool(threads: usize) -> ThreadPool {
    // Some megabytes for the test with deep recursion.
    ThreadPoolBuilder::new().num_threads(threads).stack_size(256 << 20).build().unwrap()
}

/// Writes the steps of a root: `(left|right)` for each fork, `L` and a size for each leaf, `R` for each reduction.
fn word(steps: &[Step]) -> String {
    let one = |step: &Step| match step {
        Step::Fork { .. } => "(".to_owned(),
        Step::Right => "|".to_owned(),
        Step::Join => ")".to_owned(),
        Step::Piece(piece) => match piece.kind {
            PieceKind::Leaf(size) => format!("L{size}"),
            PieceKind::Reduction => "R".to_owned(),
            _ => String::new(),
        },
        _ => panic!("another step"),
    };
    steps.iter().map(one).collect()
}

fn words(graph: &Graph) -> Vec<String> {
    graph.roots().iter().map(|steps| word(steps)).collect()
}

/// A tree of forks whose leaves take some time. The oracle is its word.
enum Tree {
    Leaf(Duration),
    Fork(Box<[Tree; 2]>),
}

impl Tree {
    fn random(forks: u64, random: &mut Random) -> Tree {
        if forks == 0 {
            return Tree::Leaf(Duration::from_micros(random.below(20)));
        }
        let left = random.below(forks);
        Tree::Fork(Box::new([Tree::random(left, random), Tree::random(forks - 1 - left, random)]))
    }

    fn run(&self) {
        match self {
            Tree::Leaf(time) => spin(*time),
            Tree::Fork(halves) => _ = join(|| halves[0].run(), || halves[1].run()),
        }
    }

    fn word(&self) -> String {
        match self {
            Tree::Leaf(_) => String::new(),
            Tree::Fork(halves) => format!("({}|{})", halves[0].word(), halves[1].word()),
        }
    }

    fn work(&self) -> Duration {
        match self {
            Tree::Leaf(time) => *time,
            Tree::Fork(halves) => halves[0].work() + halves[1].work(),
        }
    }

    fn span(&self) -> Duration {
        match self {
            Tree::Leaf(time) => *time,
            Tree::Fork(halves) => halves[0].span().max(halves[1].span()),
        }
    }
}

/// Whoever runs the halves, the graph is the program's tree, and contains its work.
#[test]
fn the_graph_is_the_tree_of_the_forks() {
    let mut random = Random(7);
    let mut stolen = 0;
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for forks in (0..60).chain([500, 1000]) {
            let tree = Tree::random(forks, &mut random);
            let ((), trace) = traced(|| pool.install(|| tree.run()));
            let graph = trace.graph();
            let [root] = words(&graph).try_into().unwrap();
            assert_eq!(root, tree.word(), "{threads} threads");
            assert!(graph.work() >= tree.work() && graph.span() >= tree.span());
            assert!(graph.span() <= graph.work());
            let here = graph.roots()[0].iter().filter(|step| matches!(step, Step::Fork { stolen: true }));
            stolen += here.count();
        }
    }
    assert!(stolen > 0, "some half was stolen");
}

#[test]
fn a_chain_is_its_division_tree_with_reductions() {
    for threads in [1, 2] {
        let pool = pool(threads);
        let chain = || (0..800_u64).into_par_iter().bound_depth(2).force_depth(2).map(|x| x ^ 1);
        let (sum, trace) = traced(|| pool.install(|| chain().sum::<u64>()));
        assert_eq!(sum, 799 * 400);
        assert_eq!(words(&trace.graph()), ["((L200|L200)R|(L200|L200)R)R"]);
    }
}

/// A leaf's first position and its chain's place are known whoever ran the leaf, and whichever thread made the call.
#[test]
fn leaves_have_first_positions_and_places() {
    let leaves = |graph: &Graph| {
        let pieces = graph.pieces().filter_map(|piece| match piece.kind {
            PieceKind::Leaf(size) => Some((piece.place, piece.first, size)),
            _ => None,
        });
        pieces.collect::<Vec<_>>()
    };
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let chain = || (0..1000_u64).into_par_iter().bound_depth(3).force_depth(3);
        for _ in 0..20 {
            let (sum, trace) = traced(|| pool.install(|| chain().sum::<u64>()));
            assert_eq!(sum, 499_500);
            let place = format!("{}:{}", file!(), line!() - 2);
            let expected: Vec<_> = (0..8).map(|n| (Some(&*place), Some(n * 125), 125)).collect();
            assert_eq!(leaves(&trace.graph()), expected, "{threads} threads");
        }
        // A call inside a leaf has positions of its own, and does not disturb those around it. Neither do forks inside a leaf.
        let inner = |n: u64| {
            join(|| (), || ());
            (0..8).into_par_iter().bound_depth(1).force_depth(1).map(|x| x * n).sum::<u64>()
        };
        let outer = || (0..4_u64).into_par_iter().bound_depth(2).force_depth(2).map(inner).sum::<u64>();
        let (sum, trace) = traced(|| pool.install(outer));
        assert_eq!(sum, 28 * 6);
        let found: Vec<_> =
            leaves(&trace.graph()).into_iter().map(|(_, first, size)| (first, size)).collect();
        let of_one = |n| [(Some(n), 1), (Some(0), 4), (Some(4), 4)];
        assert_eq!(found, (0..4).flat_map(of_one).collect::<Vec<_>>());
    }
    let (_, trace) = traced(|| (0..1000_u64).into_par_iter().bound_depth(1).force_depth(1).sum::<u64>());
    let found: Vec<_> = leaves(&trace.graph()).into_iter().map(|(_, first, size)| (first, size)).collect();
    assert_eq!(found, [(Some(0), 500), (Some(500), 500)], "a call from outside");
}

/// Positions that are known are right, under each schedule and whatever was left out: each leaf notes its first item.
#[test]
fn first_positions_are_right_or_not_known() {
    let first_items = Mutex::new(HashSet::new());
    let note = |is_noted: &mut bool, item: u64| {
        if !std::mem::replace(is_noted, true) {
            first_items.lock().unwrap().insert(item);
        }
    };
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let chain = || (0..10_000_u64).into_par_iter();
        for _ in 0..5 {
            let run = |call: &(dyn Fn() + Sync)| {
                let ((), trace) = traced(|| pool.install(call));
                let noted = std::mem::take(&mut *first_items.lock().unwrap());
                let known: Vec<_> = trace.graph().pieces().filter_map(|piece| piece.first).collect();
                assert!(known.iter().all(|first| noted.contains(first)), "{known:?}");
                known.len()
            };
            assert!(run(&|| chain().for_each_init(|| false, note)) > 0);
            assert!(run(&|| chain().size_limit(100).for_each_init(|| false, note)) > 0);
            // More forks than are recorded.
            run(&|| chain().size_limit(1).for_each_init(|| false, note));
            run(&|| chain().adaptive().for_each_init(|| false, note));
            run(&|| chain().depjoin().size_limit(100).for_each_init(|| false, note));
            assert!(run(&|| chain().by_exponential_blocks().for_each_init(|| false, note)) > 5);
            let sizes = [10, 0, 200, 1000];
            assert!(run(&|| chain().size_limit(100).by_blocks(sizes).for_each_init(|| false, note)) > 20);
        }
    }
}

/// Blocks follow each other from the front, so the positions of their leaves are known. From the back they are not.
#[test]
fn leaves_in_blocks_have_positions() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let chain = || (0..1000_u64).into_par_iter().bound_depth(1).force_depth(1).by_blocks([100, 300]);
        let leaves = |call: &(dyn Fn() + Sync)| {
            let ((), trace) = traced(|| pool.install(call));
            let pieces = trace.graph();
            let pieces = pieces.pieces().filter(|piece| matches!(piece.kind, PieceKind::Leaf(_)));
            pieces.map(|piece| piece.first).collect::<Vec<_>>()
        };
        let firsts = [0, 50, 100, 250, 400, 700].map(Some);
        assert_eq!(leaves(&|| assert_eq!(chain().sum::<u64>(), 499_500)), firsts);
        assert_eq!(leaves(&|| assert_eq!(chain().find_first(|x| *x == 399), Some(399))), firsts[..4]);
        let unknown = leaves(&|| assert_eq!(chain().find_last(|x| *x == 601), Some(601)));
        assert_eq!(unknown, [None; 4], "blocks of 100 and 300");
        // Chains inside a leaf have blocks of their own.
        let inner = |_| assert_eq!(chain().find_first(|x| *x == 99), Some(99));
        let outer = || (0..2).into_par_iter().bound_depth(1).force_depth(1).for_each(inner);
        assert_eq!(leaves(&outer), [0, 0, 50, 1, 0, 50].map(Some));
    }
}

/// Nothing that looks at a graph recurses: it may be deeper than the stack of the thread that looks.
#[test]
fn graphs_are_as_deep_as_programs() {
    fn chain(depth: u32) {
        if depth > 0 {
            join(|| (), || chain(depth - 1));
        }
    }
    let depth = 30_000;
    let pool = pool(2);
    let ((), trace) = traced(|| pool.install(|| chain(depth)));
    let look = move || {
        let graph = trace.graph();
        let [root] = words(&graph).try_into().unwrap();
        assert_eq!(root, "(|".repeat(depth as usize) + &")".repeat(depth as usize));
        assert!(graph.span() <= graph.work());
    };
    std::thread::Builder::new().stack_size(128 << 10).spawn(look).unwrap().join().unwrap();
}

/// A ring that lost its begin still gives steps that are nested.
#[test]
fn graphs_of_full_rings_are_nested() {
    let pool = pool(2);
    let tree = Tree::random(3000, &mut Random(11));
    for events in [2, 10, 100, 1000] {
        let settings = Settings::new().events_per_thread(events);
        let ((), trace) = traced_by(settings, || pool.install(|| tree.run()));
        assert!(trace.lost() > 0);
        for steps in trace.graph().roots() {
            let mut open = Vec::new();
            for step in steps {
                match step {
                    Step::Fork { .. } => open.push(false),
                    Step::Right => assert!(!std::mem::replace(open.last_mut().unwrap(), true)),
                    Step::Join => assert_eq!(open.pop(), Some(true)),
                    _ => {}
                }
            }
            assert!(open.is_empty());
        }
    }
}

/// The table says in words why a program is not faster.
#[test]
fn a_program_that_is_not_divided_is_told_so() {
    let pool = pool(2);
    let long = Duration::from_millis(500);
    let ((), trace) = traced(|| {
        pool.install(|| {
            let chain = (0..64_u64).into_par_iter().bound_depth(3).force_depth(3);
            chain.for_each(|i| {
                if i == 60 {
                    spin(long)
                }
            });
        });
    });
    let summary = trace.summary();
    let busy: Duration = summary.threads.iter().map(|thread| thread.busy).sum();
    let by_number = summary.by_busy_threads.iter().zip(0..).map(|(time, number)| *time * number);
    assert_eq!(busy, by_number.sum());
    assert!(
        summary
            .advice()
            .iter()
            .any(|advice| matches!(advice, Advice::LongLeaf { time, .. } if *time >= long)),
        "{summary}"
    );
    assert!(summary.to_string().contains("divide finer"), "{summary}");

    let ((), trace) = traced(|| {
        pool.install(|| join(|| (), || ()));
        spin(long);
    });
    let summary = trace.summary();
    assert!(matches!(summary.advice()[..], [Advice::Idle(share)] if share > 0.5), "{summary}");
}

/// Threads that wait for a lock look busy, but use no processor.
#[cfg(target_os = "linux")]
#[test]
fn a_lock_that_all_wait_for_is_seen() {
    let (pool, lock) = (pool(4), Mutex::new(()));
    let ((), trace) = traced(|| {
        pool.install(|| {
            (0..40).into_par_iter().with_max_len(1).for_each(|_| {
                let _held = lock.lock().unwrap();
                spin(Duration::from_millis(5));
            });
        });
    });
    let summary = trace.summary();
    assert!(
        summary.advice().iter().any(|advice| matches!(advice, Advice::Blocked(share) if *share > 0.4)),
        "{summary}"
    );
}
