//! Every adaptor, policy, scheduler and engine may be named behind `stop_on` and `deadline`, as well as before them.

use furcate::policy::{CancelToken, Reason, SizeLimit};
use furcate::prelude::*;
use furcate::{Inline, Join, Priority};
use std::collections::BTreeSet;

const PARALLEL: &str = include_str!("../../src/iter/parallel.rs");
const INDEXED: &str = include_str!("../../src/iter/indexed.rs");

/// Methods that are neither adaptors nor terminals: facts, the stops themselves, and methods whose result could not
/// report a stop or is none of our chains.
const OTHERS: &[&str] = &[
    "producer",
    "schedule",
    "policy",
    "scheduler",
    "executor",
    "opt_len",
    "units",
    "drive",
    "stop_on",
    "deadline",
    "blocks_iter",
    "into_stream",
    "into_stream_unordered",
    "into_iter_ordered",
    "into_iter_unordered",
    "into_rayon",
    "into_rayon_unindexed",
    "scopes",
    "indexed_producer",
    "len",
];

/// Returns the methods of a trait, except those in sections of terminals, marked by lines of dashes.
fn adaptors(source: &str) -> BTreeSet<&str> {
    let mut in_terminals = false;
    let mut names = BTreeSet::new();
    for line in source.lines().skip_while(|line| !line.starts_with("pub trait ")) {
        if line.starts_with("    // ----") {
            in_terminals = line.contains(" terminals");
        } else if line == "}" {
            break;
        }
        if !in_terminals && let Some(rest) = line.strip_prefix("    fn ") {
            names.extend(rest.split(['<', '(']).next().filter(|name| !OTHERS.contains(name)));
        }
    }
    names
}

/// An adaptor of one's own.
#[derive(Clone)]
struct Doubled;

impl furcate::iter::Stage<u32> for Doubled {
    type Item = u32;
    type Iter<I: Iterator<Item = u32>> = std::iter::Map<I, fn(u32) -> u32>;
    fn apply<I: Iterator<Item = u32>>(self, items: I) -> Self::Iter<I> {
        items.map(|x| 2 * x)
    }
}

#[test]
fn every_adaptor_stands_behind_a_stop_too() {
    let token = &CancelToken::new();
    let mut seen = BTreeSet::new();
    macro_rules! check {
        ($source:expr => $($name:ident($($argument:expr),*))+) => {$(
            let before = $source.$name($($argument),*).stop_on(token).collect::<Vec<_>>();
            let behind = $source.stop_on(token).$name($($argument),*).collect::<Vec<_>>();
            assert_eq!(before, behind, "{}", stringify!($name));
            assert!(behind.is_ok_and(|items| !items.is_empty()), "{}", stringify!($name));
            seen.insert(stringify!($name));
        )+};
    }
    check! { (0..100_u32).into_par_iter() =>
        with(furcate::Plan::new().size_limit(9)) with_policy(SizeLimit::new(10)) bound_depth(3) force_depth(2) even_levels() size_limit(7) cap(2)
        join_context_policy(2) thief_splitting(3) with_min_len(2) with_max_len(30) with_scheduler(Join) sequential() join()
        depjoin() adaptive() by_blocks([10, 20]) by_exponential_blocks() by_uniform_blocks(9) on(Inline) priority(Priority::Urgent)
        stage(Doubled) map(|x| x + 1) filter(|x| x % 2 == 0) filter_map(|x| x.checked_sub(3)) flat_map(|x| 0..x % 3)
        flat_map_iter(|x| 0..x % 3) inspect(|_| ()) log("numbers") progress(|_| ()) update(|x| *x += 1) map_with(1, |n, x| x + *n)
        map_init(|| 1, |n, x| x + *n) take_any(100) skip_any(0) take_any_while(|_| true) skip_any_while(|_| false) panic_fuse()
        inclusive_scan(|a, b| a + b) exclusive_scan(0, |a, b| a + b) chain(5..8) intersperse(0)
        enumerate() rev() skip(3) take(3) step_by(3) chunks(7) fold_chunks(3, || 0, |a, b| a + b)
        fold_chunks_with(3, 0, |a, b| a + b) positions(|x| x > 50) zip(3..5) zip_eq(100..200) interleave(0..3)
        interleave_shortest(0..3) merge(7..9) merge_by(7..9, |a, b| a.cmp(b)) merge_by_key(7..9, |x| *x)
    }
    check! { (0..100_u32).into_par_iter().bound_depth(2) =>
        fold(|| 0, |a, b| a + b) fold_with(0, |a, b| a + b) try_fold(|| 0_u32, u32::checked_add)
        try_fold_with(0_u32, u32::checked_add)
    }
    check! { [[1], [2]].into_par_iter() => flatten() flatten_iter() }
    check! { [1, 2].par_iter() => cloned() copied() }
    check! { [Some(1), Some(2)].into_par_iter() => while_some() }
    check! { [1, 2].into_par_iter().map(std::future::ready) => io_await() }
    let expected: BTreeSet<_> = adaptors(PARALLEL).union(&adaptors(INDEXED)).copied().collect();
    assert!(expected.len() > 60, "the source is not read as it should be: {expected:?}");
    assert_eq!(seen, expected);
}

#[test]
fn what_stands_behind_a_stop_is_stopped() {
    let token = CancelToken::new();
    let items = (0..u64::MAX).into_par_iter().stop_on(&token).map(|x| {
        if x == 5 {
            token.cancel();
        }
        x
    });
    let interrupted = items.filter(|x| x % 2 == 0).size_limit(1000).collect::<Vec<_>>().unwrap_err();
    assert_eq!(interrupted.reason(), Reason::Cancelled);
    let token = CancelToken::new();
    token.cancel();
    let numbered = (0..9).into_par_iter().stop_on(&token).enumerate().rev().count();
    assert_eq!(numbered.unwrap_err().into_done(), 0);
}
