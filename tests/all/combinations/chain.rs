//! Chains that are put together at run time: sources, adaptors, and the words of a schedule.
//!
//! Each is written in both worlds, parallel and sequential.

use super::erased::{Indexed, Items};
use furcate::prelude::*;
use std::collections::VecDeque;

/// The chain so far.
pub(crate) enum Chain<'s> {
    Plain(Items<'s>),
    Indexed(Indexed<'s>),
}

macro_rules! plain {
    ($items:expr) => {
        Chain::Plain(Items::new($items))
    };
}

macro_rules! indexed {
    ($items:expr) => {
        Chain::Indexed(Indexed::new($items))
    };
}

/// Chains a method that works on any chain, and keeps an indexed one indexed.
macro_rules! either {
    ($chain:expr, |$it:ident| $chained:expr) => {
        match $chain {
            Chain::Plain($it) => plain!($chained),
            Chain::Indexed($it) => indexed!($chained),
        }
    };
}

/// A function that a source calls with its chain.
type Run<'r> = &'r mut dyn FnMut(Chain<'_>);

/// A source, which turns the input into a chain for adaptors.
pub(crate) struct Source {
    pub(crate) name: &'static str,
    pub(crate) indexed: bool,
    pub(crate) sequential: fn(&[u64]) -> Vec<u64>,
    pub(crate) parallel: fn(&[u64], Run<'_>),
}

macro_rules! sources {
    ($($kind:ident { $($name:ident: |$v:ident| $(let $owned:pat = $from:expr;)? $par:expr, $seq:expr;)+ })+) => {
        pub(crate) const SOURCES: &[Source] = &[$($(
            Source {
                name: stringify!($name),
                indexed: sources!(@is $kind),
                sequential: |$v| $seq,
                parallel: |$v, run| {
                    $(let $owned = $from;)?
                    run($kind!($par))
                },
            },
        )+)+];
    };
    (@is plain) => { false };
    (@is indexed) => { true };
}

/// Returns the numbers at even and at odd places, each sorted.
fn two_sorted(v: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let (mut even, mut odd) = (Vec::new(), Vec::new());
    for (i, &x) in v.iter().enumerate() {
        if i % 2 == 0 { even.push(x) } else { odd.push(x) }
    }
    even.sort_unstable();
    odd.sort_unstable();
    (even, odd)
}

fn sorted(v: &[u64]) -> Vec<u64> {
    let mut v = v.to_vec();
    v.sort_unstable();
    v
}

fn text(v: &[u64]) -> String {
    v.iter().map(|&x| char::from_u32(x as u32 * 40 + 40).unwrap()).collect()
}

sources! {
    indexed {
        slice_copied: |v| v.par_iter().copied(), v.to_vec();
        slice_cloned: |v| v.par_iter().cloned(), v.to_vec();
        range: |v| (0..v.len() as u64).into_par_iter(), (0..v.len() as u64).collect();
        inclusive_range: |v| (5..=v.len() as u64).into_par_iter(), (5..=v.len() as u64).collect();
        range_to_the_maximum: |v| (u64::MAX - v.len() as u64..=u64::MAX).into_par_iter().map(|x| x - u64::MAX / 2),
            (u64::MAX - v.len() as u64..=u64::MAX).map(|x| x - u64::MAX / 2).collect();
        vec_by_value: |v| v.to_vec().into_par_iter(), v.to_vec();
        deque_by_value: |v| v.iter().copied().collect::<VecDeque<_>>().into_par_iter(), v.to_vec();
        mutable_slice: |v| let mut own = v.to_vec(); own.par_iter_mut().map(|x| { *x += 1; *x }),
            v.iter().map(|x| x + 1).collect();
        drained: |v| let mut own = v.to_vec(); own.par_drain(v.len() / 4..), v[v.len() / 4..].to_vec();
        chunks_of_a_slice: |v| v.par_chunks(3).map(|c| c.iter().fold(0, |a, x| a * 7 + x)),
            v.chunks(3).map(|c| c.iter().fold(0, |a, x| a * 7 + x)).collect();
        windows: |v| v.par_windows(2).map(|w| w[0] * 7 + w[1]), v.windows(2).map(|w| w[0] * 7 + w[1]).collect();
        repeat_n: |v| furcate::iter::repeat_n(7_u64, v.len()), vec![7; v.len()];
        merged: |v| let (left, right) = two_sorted(v); left.par_iter().merge(&right).copied(), sorted(v);
        merged_by_value: |v| let (left, right) = two_sorted(v); left.into_par_iter().merge(right), sorted(v);
    }
    plain {
        chars: |v| let text = text(v); text.par_chars().map(u64::from), text(v).chars().map(u64::from).collect();
        char_indices: |v| let text = text(v); text.par_char_indices().map(|(at, _)| at as u64),
            text(v).char_indices().map(|(at, _)| at as u64).collect();
        split_slice: |v| v.par_split(|x| x % 8 == 0).map(|part| part.iter().fold(1, |a, x| a * 3 % 1009 + x)),
            v.split(|x| x % 8 == 0).map(|part| part.iter().fold(1, |a, x| a * 3 % 1009 + x)).collect();
        pieces: |v| v.wrap_iter().flat_map_iter(|piece| piece.iter().copied()), v.to_vec();
        worked: |v| v.work(|_| vec![], |seen, piece, n| {
                let (now, later) = piece.split_at(n.min(piece.len()));
                seen.extend_from_slice(now);
                *piece = later;
            }, |seen| seen).flatten_iter(), v.to_vec();
    }
}

/// An adaptor.
pub(crate) struct Adaptor {
    pub(crate) name: &'static str,
    /// Whether it needs positions.
    pub(crate) asks: bool,
    /// Whether it keeps the positions of its base.
    pub(crate) keeps: bool,
    pub(crate) sequential: fn(Vec<u64>) -> Vec<u64>,
    pub(crate) parallel: for<'s> fn(Chain<'s>) -> Chain<'s>,
}

macro_rules! adaptors {
    ($($kind:ident { $($name:ident: |$it:ident| $par:expr, $seq:expr;)+ })+) => {
        pub(crate) const ADAPTORS: &[Adaptor] = &[$($(
            Adaptor {
                name: stringify!($name),
                asks: adaptors!(@asks $kind),
                keeps: adaptors!(@keeps $kind),
                sequential: |v| {
                    let $it = v.into_iter();
                    $seq.collect()
                },
                parallel: |chain| adaptors!(@$kind chain, |$it| $par),
            },
        )+)+];
    };
    (@asks keeps_positions) => { true };
    (@asks loses_positions) => { true };
    (@asks $any:ident) => { false };
    (@keeps anywhere) => { true };
    (@keeps keeps_positions) => { true };
    (@keeps $any:ident) => { false };
    (@anywhere $chain:ident, |$it:ident| $par:expr) => { either!($chain, |$it| $par) };
    (@keeps_positions $chain:ident, |$it:ident| $par:expr) => {
        match $chain {
            Chain::Plain(_) => unreachable!("it has no positions"),
            Chain::Indexed($it) => indexed!($par),
        }
    };
    (@loses_positions $chain:ident, |$it:ident| $par:expr) => {
        match $chain {
            Chain::Plain(_) => unreachable!("it has no positions"),
            Chain::Indexed($it) => plain!($par),
        }
    };
    (@makes_plain $chain:ident, |$it:ident| $par:expr) => {
        match $chain {
            Chain::Plain($it) => plain!($par),
            Chain::Indexed($it) => plain!($par),
        }
    };
    (@gated $chain:ident, |$it:ident| $par:expr) => {
        match $chain {
            Chain::Plain($it) => Chain::Plain(Items::gated($it.policy(), $par)),
            Chain::Indexed($it) => Chain::Plain(Items::gated($it.policy(), $par)),
        }
    };
}

/// An associative operation that is not commutative: the composition of x -> ax + b, as one number.
fn compose(first: u64, second: u64) -> u64 {
    let (a, b) = (first >> 32, first & 0xFFFF_FFFF);
    let (c, d) = (second >> 32, second & 0xFFFF_FFFF);
    (a * c % 65_521) << 32 | ((b * c + d) % 65_521)
}

fn as_map(x: u64) -> u64 {
    ((x % 50 + 2) << 32) | (x % 65_521)
}

fn alternate(left: Vec<u64>, right: Vec<u64>, to_the_end: bool) -> Vec<u64> {
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let mut all = Vec::new();
    loop {
        match left.next() {
            Some(x) => all.push(x),
            None if to_the_end => return all.into_iter().chain(right).collect(),
            None => return all,
        }
        match right.next() {
            Some(x) => all.push(x),
            None if to_the_end => return all.into_iter().chain(left).collect(),
            None => return all,
        }
    }
}

fn in_chunks(
    v: impl Iterator<Item = u64>,
    len: usize,
    of: impl Fn(&[u64]) -> u64,
) -> std::vec::IntoIter<u64> {
    v.collect::<Vec<_>>().chunks(len).map(of).collect::<Vec<_>>().into_iter()
}

fn exclusive(v: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
    let mut sum = as_map(1);
    v.map(move |x| {
        let next = compose(sum, as_map(x));
        std::mem::replace(&mut sum, next)
    })
}

adaptors! {
    anywhere {
        map: |it| it.map(|x| x ^ 5), it.map(|x| x ^ 5);
        update: |it| it.update(|x| *x += 3), it.map(|x| x + 3);
        inspect: |it| it.inspect(|x| assert!(*x < u64::MAX)), it;
        map_with: |it| it.map_with(7, |seven, x| x % 1000 * *seven), it.map(|x| x % 1000 * 7);
        map_init: |it| it.map_init(|| vec![1], |one, x| x % 999 + one[0]), it.map(|x| x % 999 + 1);
        panic_fuse: |it| it.panic_fuse(), it;
        chain: |it| it.chain(100..130), it.chain(100..130);
        intersperse: |it| it.intersperse(17), it.flat_map(|x| [17, x]).skip(1);
        inclusive_scan: |it| it.map(as_map).inclusive_scan(compose),
            it.map(as_map).scan(1 << 32, |sum, x| { *sum = compose(*sum, x); Some(*sum) });
        exclusive_scan: |it| it.map(as_map).exclusive_scan(as_map(1), compose), exclusive(it);
    }
    keeps_positions {
        enumerate: |it| it.enumerate().map(|(i, x)| i as u64 + x % 9999), it.enumerate().map(|(i, x)| i as u64 + x % 9999);
        rev: |it| it.rev(), it.rev();
        skip: |it| it.skip(5), it.skip(5);
        take: |it| it.take(40), it.take(40);
        step_by: |it| it.step_by(3), it.step_by(3);
        zip: |it| it.zip(20..90_u64).map(|(a, b)| a % 999 * 100 + b), it.zip(20..90).map(|(a, b)| a % 999 * 100 + b);
        zip_on_the_right: |it| (20..90_u64).into_par_iter().zip(it).map(|(a, b)| b % 999 * 100 + a),
            it.zip(20..90).map(|(a, b)| a % 999 * 100 + b);
        interleave: |it| it.interleave(0..30_u64), alternate(it.collect(), (0..30).collect(), true).into_iter();
        interleave_shortest: |it| it.interleave_shortest(0..30_u64), alternate(it.collect(), (0..30).collect(), false).into_iter();
        chunks: |it| it.chunks(4).map(|c| c.iter().fold(0, |a, x| a * 7 + x % 999)),
            in_chunks(it, 4, |c| c.iter().fold(0, |a, x| a * 7 + x % 999));
        fold_chunks: |it| it.fold_chunks(3, || 0, |a, x| a * 7 + x % 999),
            in_chunks(it, 3, |c| c.iter().fold(0, |a, x| a * 7 + x % 999));
        fold_chunks_with: |it| it.fold_chunks_with(5, 1, |a, x| a * 7 + x % 999),
            in_chunks(it, 5, |c| c.iter().fold(1, |a, x| a * 7 + x % 999));
    }
    loses_positions {
        positions: |it| it.positions(|x| x % 2 == 0).map(|at| at as u64), it.enumerate().filter(|(_, x)| x % 2 == 0).map(|(at, _)| at as u64);
    }
    gated {
        while_some: |it| it.map(Some).while_some(), it;
        take_any: |it| it.take_any(1_000_000), it;
        take_any_while: |it| it.take_any_while(|_| true), it;
    }
    makes_plain {
        filter: |it| it.filter(|x| x % 3 > 0), it.filter(|x| x % 3 > 0);
        filter_map: |it| it.filter_map(|x| x.checked_sub(20)), it.filter_map(|x| x.checked_sub(20));
        flat_map: |it| it.flat_map(|x| 0..x % 4), it.flat_map(|x| 0..x % 4);
        flat_map_iter: |it| it.flat_map_iter(|x| (0..x % 4).rev()), it.flat_map(|x| (0..x % 4).rev());
        flatten: |it| it.map(|x| (x % 3 > 0).then_some(x)).flatten(), it.filter(|x| x % 3 > 0);
        flatten_iter: |it| it.map(|x| [x, x + 1]).flatten_iter(), it.flat_map(|x| [x, x + 1]);
        fold: |it| it.fold(Vec::new, |mut v, x| { v.push(x); v }).flatten_iter(), it;
        fold_with: |it| it.fold_with(vec![], |mut v, x| { v.push(x + 1); v }).flatten_iter(), it.map(|x| x + 1);
        try_fold: |it| it.try_fold(Vec::new, |mut v, x| { v.push(x); Some(v) }).flat_map_iter(Option::unwrap), it;
        skip_any: |it| it.skip_any(0), it;
        skip_any_while: |it| it.skip_any_while(|_| false), it;
    }
}

pub(crate) mod schedule {
    //! The words of a schedule.

    use super::super::erased::{Indexed, Items};
    use super::Chain;
    use furcate::prelude::*;

    /// Name of no word.
    pub(crate) const NOTHING: &str = "nothing";

    macro_rules! words {
        ($($NAMES:ident { $($name:ident: |$it:ident, $n:pat_param| $chained:expr;)+ })+) => {
            $(pub(crate) const $NAMES: &[&str] = &[NOTHING, $(stringify!($name)),+];)+

            /// Chains the word with a given name, with an argument.
            pub(crate) fn chain<'s>(chain: Chain<'s>, name: &str, argument: usize) -> Chain<'s> {
                $($(
                    if name == stringify!($name) {
                        let $n = argument;
                        return either!(chain, |$it| $chained);
                    }
                )+)+
                unreachable!("no such word")
            }
        };
    }

    words! {
        POLICIES {
            bound_depth: |it, n| it.bound_depth(n as u32 - 1);
            force_depth: |it, n| it.force_depth(n as u32 / 2);
            even_levels: |it, _| it.even_levels();
            size_limit: |it, n| it.size_limit(n * 3 - 3);
            cap: |it, n| it.cap(n);
            join_context_policy: |it, n| it.join_context_policy(n as u32 - 1);
            thief_splitting: |it, n| it.thief_splitting(n as u32 - 1);
            with_min_len: |it, n| it.with_min_len(n * 2);
            with_max_len: |it, n| it.with_max_len(n * 4);
        }
        SCHEDULERS {
            join: |it, _| it.join();
            depjoin: |it, _| it.depjoin();
            adaptive: |it, _| it.adaptive();
            adaptive_nano_blocks: |it, n| it.adaptive().nano_blocks(n % 4, n * 5 % 9); // 0, and max < min, too
            sequential: |it, _| it.sequential();
            depjoin_in_the_place_of_another: |it, _| it.adaptive().sequential().depjoin();
        }
        BLOCKS {
            by_exponential_blocks: |it, _| it.by_exponential_blocks();
            by_uniform_blocks: |it, n| it.by_uniform_blocks(n * 4);
            by_blocks: |it, n| it.by_blocks(vec![n, 0, 30 % n, 20]);
        }
    }
}
