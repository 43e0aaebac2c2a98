//! Every program on every engine against its oracle, on small sizes.

use std::time::Duration;

use super::*;
use crate::fork::{Engine, STACK, Visit, each};

/// Runs a program on every engine, with one thread to three.
struct Agree<'a, P>(&'a P);

impl<P: Program> Visit for Agree<'_, P> {
    fn visit<E: Engine>(&mut self) {
        for threads in 1..=3 {
            let engine = E::new(threads);
            // More than once: pools are to be left as they were found.
            for _ in 0..3 {
                let input = self.0.input();
                self.0.check(&engine.run(|fork| self.0.forked(fork, input)));
            }
        }
    }
}

fn agree(program: &impl Program) {
    program.check(&program.serial(program.input()));
    each(&mut Agree(program));
}

#[test]
fn fib() {
    for n in [0, 1, 2, 20] {
        agree(&Fib(n));
    }
    assert_eq!([0, 1, 2, 3, 4].map(|n| Fib(n).forks()), [0, 0, 1, 2, 4].map(Some));
}

#[test]
fn queens() {
    for n in [1, 2, 4, 8] {
        agree(&Queens(n));
    }
    Queens(10).check(&Queens(10).serial(10));
}

#[test]
fn small_trees() {
    agree(&Tree::SMALL_T1);
    agree(&Tree::SMALL_T3);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "millions of digests; run with --release")]
fn published_trees() {
    for tree in [Tree::T1, Tree::T2, Tree::T3] {
        tree.check(&tree.serial(()));
    }
}

#[test]
#[ignore = "300 million digests"]
fn published_large_trees() {
    let count = || {
        for tree in [Tree::T1L, Tree::T2L, Tree::T3L] {
            tree.check(&tree.serial(()));
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(count).expect("a thread can be started");
    thread.join().expect("all nodes are counted");
}

#[test]
fn matmul() {
    for n in [64, 128] {
        agree(&Matmul::new(n));
    }
}

#[test]
fn quicksort() {
    for n in [0, 1, 2_048, 2_049, 50_000] {
        agree(&Quicksort::new(n));
    }
}

#[test]
fn prompt() {
    agree(&Prompt::shallow(Duration::from_micros(1)));
    agree(&Prompt::deep(Duration::from_micros(1)));
}
