//! The same expression under furcate's prelude and under rayon's has the same result: every adaptor and every terminal.

#![allow(clippy::ptr_arg, reason = "the expressions clone and extend vectors")]

use proptest::prelude::*;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};

/// Declares a test per line: an expression over two vectors, evaluated with either library. The `Debug` outputs are
/// compared.
macro_rules! same {
    ($($name:ident: |$v:ident, $w:ident| $expression:expr;)+) => {$(
        mod $name {
            use super::*;

            fn by_furcate($v: &Vec<i32>, $w: &Vec<i32>) -> String {
                use furcate::prelude::*;
                let _ = $w;
                format!("{:?}", $expression)
            }
            fn by_rayon($v: &Vec<i32>, $w: &Vec<i32>) -> String {
                use rayon::prelude::*;
                let _ = $w;
                format!("{:?}", $expression)
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(16))]
                #[test]
                fn as_rayon(v in prop::collection::vec(-50..50_i32, 0..200), w in prop::collection::vec(-50..50_i32, 0..200)) {
                    prop_assert_eq!(by_furcate(&v, &w), by_rayon(&v, &w));
                }
            }
        }
    )+};
}

/// Sorts the items of a set or a map, so that they can be compared.
fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort();
    items
}

fn small(x: &i32) -> bool {
    *x % 3 == 0
}

// Adaptors.
same! {
    map: |v, w| v.par_iter().map(|x| x * 2).collect::<Vec<_>>();
    map_with: |v, w| v.par_iter().map_with(7, |seven, x| x * *seven).collect::<Vec<_>>();
    map_init: |v, w| v.par_iter().map_init(|| 7, |seven, x| x * *seven).collect::<Vec<_>>();
    filter: |v, w| v.par_iter().filter(|x| small(x)).collect::<Vec<_>>();
    filter_map: |v, w| v.par_iter().filter_map(|x| x.checked_rem(2).filter(|r| *r == 1)).collect::<Vec<_>>();
    flat_map: |v, w| v.par_iter().flat_map(|&x| 0..x % 5).collect::<Vec<_>>();
    flat_map_iter: |v, w| v.par_iter().flat_map_iter(|&x| 0..x % 5).collect::<Vec<_>>();
    flatten: |v, w| v.par_iter().map(|&x| vec![x; (x % 3).unsigned_abs() as usize]).flatten().collect::<Vec<_>>();
    flatten_iter: |v, w| v.par_iter().map(|&x| (x > 0).then_some(x)).flatten_iter().collect::<Vec<_>>();
    cloned: |v, w| v.par_iter().cloned().collect::<Vec<_>>();
    copied: |v, w| v.par_iter().copied().collect::<Vec<_>>();
    inspect: |v, w| v.par_iter().inspect(|_| ()).collect::<Vec<_>>();
    update: |v, w| v.par_iter().copied().update(|x| *x += 1).collect::<Vec<_>>();
    enumerate: |v, w| v.par_iter().enumerate().collect::<Vec<_>>();
    zip: |v, w| v.par_iter().zip(w).collect::<Vec<_>>();
    zip_eq: |v, w| v.par_iter().zip_eq(v.par_iter().rev()).collect::<Vec<_>>();
    rev: |v, w| v.par_iter().rev().collect::<Vec<_>>();
    skip: |v, w| v.par_iter().skip(9).collect::<Vec<_>>();
    take: |v, w| v.par_iter().take(9).collect::<Vec<_>>();
    step_by: |v, w| v.par_iter().step_by(7).collect::<Vec<_>>();
    chain: |v, w| v.par_iter().chain(w).collect::<Vec<_>>();
    interleave: |v, w| v.par_iter().interleave(w).collect::<Vec<_>>();
    interleave_shortest: |v, w| v.par_iter().interleave_shortest(w).collect::<Vec<_>>();
    intersperse: |v, w| v.par_iter().intersperse(&99).collect::<Vec<_>>();
    chunks: |v, w| v.par_iter().chunks(7).collect::<Vec<_>>();
    fold: |v, w| v.par_iter().fold(|| 0, |a, x| a + x).sum::<i32>();
    fold_with: |v, w| v.par_iter().fold_with(0, |a, x| a + x).sum::<i32>();
    fold_chunks: |v, w| v.par_iter().fold_chunks(7, || 1, |a, x| a * 3 % 1000 + x).collect::<Vec<_>>();
    fold_chunks_with: |v, w| v.par_iter().fold_chunks_with(7, 1, |a, x| a * 3 % 1000 + x).collect::<Vec<_>>();
    positions: |v, w| v.par_iter().positions(small).collect::<Vec<_>>();
    min_len: |v, w| v.par_iter().with_min_len(30).map(|x| x + 1).collect::<Vec<_>>();
    max_len: |v, w| v.par_iter().with_max_len(3).map(|x| x + 1).collect::<Vec<_>>();
}

// Terminals that fold.
same! {
    for_each: |v, w| { let mut v = v.clone(); v.par_iter_mut().for_each(|x| *x += 1); v };
    for_each_with: |v, w| { let mut v = v.clone(); v.par_iter_mut().for_each_with(3, |by, x| *x += *by); v };
    for_each_init: |v, w| { let mut v = v.clone(); v.par_iter_mut().for_each_init(|| 3, |by, x| *x += *by); v };
    reduce: |v, w| v.par_iter().map(|x| vec![*x]).reduce(Vec::new, |mut a, mut b| { a.append(&mut b); a });
    reduce_with: |v, w| v.par_iter().map(|x| vec![*x]).reduce_with(|mut a, mut b| { a.append(&mut b); a });
    sum: |v, w| v.par_iter().sum::<i32>();
    product: |v, w| v.par_iter().map(|x| f64::from(x % 2 + 2)).take(40).product::<f64>();
    count: |v, w| v.par_iter().filter(|x| small(x)).count();
    min: |v, w| v.par_iter().min();
    max: |v, w| v.par_iter().max();
    min_by: |v, w| v.par_iter().min_by(|a, b| (*a % 7).cmp(&(*b % 7)));
    max_by: |v, w| v.par_iter().max_by(|a, b| (*a % 7).cmp(&(*b % 7)));
    min_by_key: |v, w| v.par_iter().enumerate().min_by_key(|(_, x)| *x % 7);
    max_by_key: |v, w| v.par_iter().enumerate().max_by_key(|(_, x)| *x % 7);
    any: |v, w| v.par_iter().any(|x| *x == 17);
    all: |v, w| v.par_iter().all(|x| *x < 48);
    find_any: |v, w| v.par_iter().find_any(|x| **x == 17);
    find_first: |v, w| v.par_iter().find_first(|x| small(x));
    find_last: |v, w| v.par_iter().find_last(|x| small(x));
    find_map_any: |v, w| v.par_iter().find_map_any(|x| (*x == 17).then_some('x'));
    find_map_first: |v, w| v.par_iter().enumerate().find_map_first(|(i, x)| small(x).then_some(i));
    find_map_last: |v, w| v.par_iter().enumerate().find_map_last(|(i, x)| small(x).then_some(i));
    position_any: |v, w| v.par_iter().position_any(|x| *x == 99);
    position_first: |v, w| v.par_iter().position_first(small);
    position_last: |v, w| v.par_iter().position_last(small);
    cmp: |v, w| v.par_iter().cmp(w) as i8;
    partial_cmp: |v, w| v.par_iter().partial_cmp(w) == Some(Ordering::Less);
    eq: |v, w| (v.par_iter().eq(w), v.par_iter().eq(v));
    ne: |v, w| (v.par_iter().ne(w), v.par_iter().ne(v));
    lt: |v, w| (v.par_iter().lt(w), v.par_iter().lt(v));
    le: |v, w| (v.par_iter().le(w), v.par_iter().le(v));
    gt: |v, w| (v.par_iter().gt(w), v.par_iter().gt(v));
    ge: |v, w| (v.par_iter().ge(w), v.par_iter().ge(v));
}

// Terminals that collect.
same! {
    vec: |v, w| v.par_iter().map(|x| x + 1).collect::<Vec<_>>();
    boxed: |v, w| v.par_iter().map(|x| x + 1).collect::<Box<[_]>>();
    deque: |v, w| v.par_iter().filter(|x| small(x)).collect::<VecDeque<_>>();
    list: |v, w| v.par_iter().filter(|x| small(x)).collect::<LinkedList<_>>();
    heap: |v, w| v.par_iter().collect::<BinaryHeap<_>>().into_sorted_vec();
    hash_map: |v, w| sorted(v.par_iter().map(|x| (x % 5, *x)).collect::<HashMap<_, _>>());
    btree_map: |v, w| v.par_iter().map(|x| (x % 5, *x)).collect::<BTreeMap<_, _>>();
    hash_set: |v, w| sorted(v.par_iter().collect::<HashSet<_>>());
    btree_set: |v, w| v.par_iter().collect::<BTreeSet<_>>();
    string: |v, w| v.par_iter().map(ToString::to_string).collect::<String>();
    chars: |v, w| v.par_iter().map(|x| char::from(x.unsigned_abs() as u8)).collect::<String>();
    option: |v, w| v.par_iter().map(|x| (*x != 17).then_some(*x)).collect::<Option<Vec<_>>>();
    result: |v, w| v.par_iter().map(|x| if *x == 17 { Err("17") } else { Ok(*x) }).collect::<Result<Vec<_>, _>>();
    unit: |v, w| v.par_iter().for_each(|_| ());
    pairs: |v, w| v.par_iter().map(|x| (*x, -x)).collect::<(Vec<_>, Vec<_>)>();
    unzip: |v, w| v.par_iter().map(|x| (*x, -x)).unzip::<_, _, Vec<_>, BTreeSet<_>>();
    partition: |v, w| v.par_iter().partition::<Vec<&i32>, Vec<&i32>, _>(|x| small(x));
    partition_map: |v, w| v.par_iter().partition_map::<Vec<&i32>, Vec<i32>, _, _, _>(|x| if small(x) { either::Either::Left(x) } else { either::Either::Right(-x) });
    into_vec: |v, w| { let mut to = vec![1]; v.par_iter().map(|x| x + 1).collect_into_vec(&mut to); to };
    unzip_into: |v, w| { let (mut a, mut b) = (vec![1], vec![]); v.par_iter().enumerate().unzip_into_vecs(&mut a, &mut b); (a, b) };
    vec_list: |v, w| v.par_iter().collect_vec_list().into_iter().flatten().collect::<Vec<_>>();
    extend: |v, w| { let mut to = w.clone(); to.par_extend(v.par_iter().map(|x| x + 1)); to };
    drain: |v, w| { let mut from = v.clone(); let half = from.len() / 2; (from.par_drain(..half).collect::<Vec<_>>(), from.clone()) };
}

// Sources.
same! {
    chunks_of_slices: |v, w| v.par_chunks(7).map(<[i32]>::len).collect::<Vec<_>>();
    exact_chunks: |v, w| v.par_chunks_exact(7).map(|c| c[0]).collect::<Vec<_>>();
    rchunks: |v, w| v.par_rchunks(7).map(|c| c[0]).collect::<Vec<_>>();
    windows: |v, w| v.par_windows(3).map(|c| c[0] - c[2]).collect::<Vec<_>>();
    split: |v, w| v.par_split(small).map(<[i32]>::to_vec).collect::<Vec<_>>();
    ranges: |v, w| ((0..v.len() as u64).into_par_iter().sum::<u64>(), (0..=v.len() as i128).into_par_iter().max());
    owned: |v, w| v.clone().into_par_iter().rev().collect::<Vec<_>>();
    sets: |v, w| sorted(v.iter().collect::<HashSet<_>>().into_par_iter().collect::<Vec<_>>());
    lists: |v, w| v.iter().collect::<LinkedList<_>>().into_par_iter().collect::<Vec<_>>();
    texts: |v, w| format!("{v:?}").par_split([',', ' ']).map(str::len).collect::<Vec<_>>();
    lines: |v, w| format!("{v:#?}").par_lines().map(str::to_string).collect::<Vec<_>>();
    words: |v, w| format!("{v:?}").par_split_whitespace().map(str::to_string).collect::<Vec<_>>();
    letters: |v, w| format!("{v:?}ñ").par_char_indices().collect::<Vec<_>>();
    tuples: |v, w| (v, w).into_par_iter().map(|(a, b)| a * b).collect::<Vec<_>>();
    wide_tuples: |v, w| (v.clone(), w, 0..50, v).into_par_iter().rev().collect::<Vec<_>>();
    single_tuples: |v, w| (v,).into_par_iter().map(|(a,)| *a).collect::<Vec<_>>();
    shared_tuples: |v, w| (v.clone(), w.clone(), v.clone()).par_iter().map(|(a, b, c)| a + b + c).collect::<Vec<_>>();
    mutable_tuples: |v, w| { let mut both = (v.clone(), w.clone()); both.par_iter_mut().for_each(|(a, b)| std::mem::swap(a, b)); both };
    either_source: |v, w| { let chain = if v.len() > w.len() { either::Either::Left(v.par_iter()) } else { either::Either::Right(w.par_iter()) }; chain.enumerate().collect::<Vec<_>>() };
}

/// The functions of `iter` that make sources: both libraries have them under one name.
macro_rules! same_functions {
    ($($name:ident: |$iter:ident, $v:ident| $expression:expr;)+) => {$(
        mod $name {
            use super::*;

            #[allow(deprecated, reason = "`repeatn`")]
            fn by_furcate($v: &Vec<i32>) -> String {
                use furcate::iter as $iter;
                use furcate::prelude::*;
                format!("{:?}", $expression)
            }
            #[allow(deprecated, reason = "`repeatn`")]
            fn by_rayon($v: &Vec<i32>) -> String {
                use rayon::iter as $iter;
                use rayon::prelude::*;
                format!("{:?}", $expression)
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(16))]
                #[test]
                fn as_rayon(v in prop::collection::vec(-50..50_i32, 0..200)) {
                    prop_assert_eq!(by_furcate(&v), by_rayon(&v));
                }
            }
        }
    )+};
}

/// The children of a node in a tree over a slice: two parts of the slice behind its first element.
fn halves<'v>(tree: &&'v [i32]) -> Vec<&'v [i32]> {
    let rest = tree.get(1..).unwrap_or_default();
    let (left, right) = rest.split_at(rest.len() / 3);
    [left, right].into_iter().filter(|half| !half.is_empty()).collect()
}

same_functions! {
    empty_source: |iter, v| iter::empty::<i32>().chain(v.clone()).collect::<Vec<_>>();
    once_source: |iter, v| iter::once(7).chain(v.clone()).collect::<Vec<_>>();
    repeat_source: |iter, v| iter::repeat(7).take(v.len()).zip(v).collect::<Vec<_>>();
    repeat_n_source: |iter, v| (iter::repeat_n(7, v.len()).collect::<Vec<_>>(), iter::repeatn(7, 3).count());
    split_source: |iter, v| iter::split(&v[..], |part| if part.len() < 5 { (part, None) } else { let (a, b) = part.split_at(part.len() / 2); (a, Some(b)) }).flatten().collect::<Vec<_>>();
    walk: |iter, v| sorted(iter::walk_tree(&v[..], halves).map(|tree| tree.len()).collect::<Vec<_>>());
    walk_prefix: |iter, v| iter::walk_tree_prefix(&v[..], halves).map(|tree| tree.first()).collect::<Vec<_>>();
    walk_postfix: |iter, v| iter::walk_tree_postfix(&v[..], halves).map(|tree| tree.first()).collect::<Vec<_>>();
}
