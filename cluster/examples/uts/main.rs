//! UTS, the unbalanced tree search benchmark, on all ranks of a world.
//!
//! `cargo run --release -p furcate-cluster --example uts -- T1 --ranks 2` counts the nodes of a published tree, and compares the number. The
//! benchmark's own options describe any other tree: `-t 1 -a 3 -d 10 -b 4 -r 19` is T1. `--compare` adds the efficiency: the time of the
//! sequential program, divided by the time on all workers and by their number.
//!
//! Two published trees are for many machines: T1XXL (`-t 1 -a 3 -d 15 -b 4 -r 29`) has 4,230,646,601 nodes, and T1WL
//! (`-t 1 -a 3 -d 18 -b 4 -r 19`) has 270,751,679,750.

#[path = "../../../examples/common/mod.rs"]
mod common;
#[path = "../support/efficiency.rs"]
mod efficiency;
#[path = "../support/progress.rs"]
mod progress;
#[path = "../support/ranks.rs"]
mod ranks;
mod tree;

use clap::Parser;
use common::arguments::{Bounds, reject};
use common::output::{grouped, line};
use common::table::{Cell, Table, time};
use common::timing::timed;
use efficiency::efficiency;
use furcate::prelude::*;
use furcate_cluster::{ByValue, Portable, SpreadOver, World};
use progress::Done;
use ranks::Ranks;
use std::sync::Arc;
use tree::{Open, Tree};

const DEPTH: Bounds<u32> = Bounds::new(1, 1000);

/// Counts the nodes of a tree that is found while it is searched.
#[derive(Parser)]
#[command(name = "uts")]
struct Arguments {
    /// A published tree: T1, T1L, T1XXL, T1WL, T2, T2L, T3 or T3L. The options change it.
    name: Option<String>,
    /// Kind: 0 binomial, 1 geometric, 2 hybrid.
    #[arg(short = 't', value_parser = clap::value_parser!(u32).range(0..3))]
    kind: Option<u32>,
    /// Shape of a geometric tree: 0 linear, 1 exponential, 2 cyclic, 3 fixed.
    #[arg(short = 'a', value_parser = clap::value_parser!(u32).range(0..4))]
    shape: Option<u32>,
    #[arg(short = 'd', value_parser = DEPTH.parser(), help = DEPTH.help("Depth of a geometric tree"))]
    depth: Option<u32>,
    /// Children of the root, or mean number of children.
    #[arg(short = 'b')]
    branching: Option<f64>,
    /// Seed.
    #[arg(short = 'r')]
    seed: Option<u32>,
    /// Probability that a node of a binomial tree has children.
    #[arg(short = 'q')]
    probability: Option<f64>,
    /// Number of those children.
    #[arg(short = 'm')]
    children: Option<u32>,
    /// Depth at which a hybrid tree becomes binomial, as a part of -d.
    #[arg(short = 'f')]
    shift: Option<f64>,
    /// Compares with the same chain on one rank, and with the sequential program.
    #[arg(long)]
    compare: bool,
    #[command(flatten)]
    ranks: Ranks,
}

impl Arguments {
    /// Returns the tree, and the published number of its nodes.
    fn tree(&self) -> (Tree, Option<u64>) {
        let named = self.name.as_ref().map(|name| {
            let published =
                Tree::PUBLISHED.into_iter().find(|(published, ..)| published.eq_ignore_ascii_case(name));
            published.unwrap_or_else(|| {
                reject::<Self>(format!("{name} is no tree: give T1, T1L, T1XXL, T1WL, T2, T2L, T3 or T3L"))
            })
        });
        let base = named.map_or(Tree::DEFAULT, |(_, tree, _)| tree);
        let tree = Tree {
            kind: self.kind.unwrap_or(base.kind),
            shape: self.shape.unwrap_or(base.shape),
            depth: self.depth.unwrap_or(base.depth),
            branching: self.branching.unwrap_or(base.branching),
            seed: self.seed.unwrap_or(base.seed),
            probability: self.probability.unwrap_or(base.probability),
            children: self.children.unwrap_or(base.children),
            shift: self.shift.unwrap_or(base.shift),
        };
        let published = Tree::PUBLISHED.into_iter().find(|(_, published, _)| *published == tree);
        (tree, published.map(|(_, _, nodes)| nodes))
    }
}

/// The chain: nodes below the root, counted in steps.
fn below(tree: &Tree, done: &Done) -> impl Portable<Item = u64, Form = ByValue<Open>> {
    let step = |count: &mut u64, open: &mut Open, n: usize| {
        let before = *count;
        open.step(tree, n, count);
        done.add(*count - before);
    };
    Open::of_root(tree).work(|_| 0, step, |count| count)
}

fn main() {
    let arguments = Arguments::parse();
    let (tree, published) = arguments.tree();
    let count = |world: &World, done: &Arc<Done>| {
        let (nodes, duration) = timed(|| 1 + below(&tree, done).spread(world).sum::<u64>());
        (nodes, duration, world.table())
    };
    let Some(((nodes, duration, table), ranks, workers)) = arguments.ranks.run(("uts", "nodes"), count)
    else {
        return;
    };
    if let Some(published) = published {
        assert_eq!(nodes, published, "the published number of nodes");
    }
    line(format_args!("{} nodes in {} on {}", grouped(nodes), time(duration), ranks));
    line(table);
    if arguments.compare {
        let (serial, sequential) = timed(|| tree.count(&tree.root()));
        assert_eq!(serial, nodes);
        let mut table = Table::new(["time", "efficiency"]);
        let mut row = |name: String, time, workers| {
            table.row(name, [Cell::Time(time), Cell::Text(efficiency(sequential, time, workers))]);
        };
        row("sequential program".to_owned(), sequential, 1);
        row(ranks, duration, workers);
        for threads in [1, 2] {
            let pool = furcate::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let (here, time) =
                timed(|| pool.install(|| 1 + below(&tree, &Done::default()).adaptive().sum::<u64>()));
            assert_eq!(here, nodes);
            row(format!("one machine, {threads} threads"), time, threads);
        }
        line(table);
    }
}
