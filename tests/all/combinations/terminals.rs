//! Terminals, on any chain, compared with the results of a sequential loop.

use either::Either;
use furcate::policy::CancelToken;
use furcate::prelude::*;
use std::cmp::Ordering;
use std::fmt::Debug;
use std::num::Wrapping;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use testkit::collect::is_part_of;

type Outcome = Result<(), String>;

#[inline(never)]
fn same<T: PartialEq + Debug>(result: T, expected: T) -> Outcome {
    if result == expected { Ok(()) } else { Err(format!("{result:?} instead of {expected:?}")) }
}

/// Checks the result of a search for any hit, or none.
fn any_of(result: Option<u64>, v: &[u64], is_hit: impl Fn(&u64) -> bool) -> Outcome {
    match result {
        Some(hit) if v.contains(&hit) && is_hit(&hit) => Ok(()),
        None if !v.iter().any(is_hit) => Ok(()),
        other => Err(format!("{other:?} among {v:?}")),
    }
}

/// Concatenates lists: only the right reduction order makes the right list.
fn concat(mut left: Vec<u64>, mut right: Vec<u64>) -> Vec<u64> {
    left.append(&mut right);
    left
}

macro_rules! terminals {
    (for $Trait:ident: $NAMES:ident, $run:ident { $($name:ident: |$it:ident, $v:ident| $outcome:expr;)+ }) => {
        pub(crate) const $NAMES: &[&str] = &[$(stringify!($name)),+];

        /// Runs the terminal with a given name.
        pub(crate) fn $run<I: $Trait<Item = u64>>(name: &str, items: I, expected: &[u64]) -> Outcome {
            $(
                if name == stringify!($name) {
                    let ($it, $v) = (items, expected);
                    return $outcome;
                }
            )+
            unreachable!("no such terminal")
        }
    };
}

terminals! { for ParallelIterator: PLAIN, plain {
    collect: |it, v| same(it.collect::<Vec<_>>(), v.to_vec());
    collect_vec_list: |it, v| same(it.collect_vec_list().into_iter().flatten().collect::<Vec<_>>(), v.to_vec());
    collect_string: |it, v| same(it.map(letter).collect::<String>(), v.iter().copied().map(letter).collect());
    collect_results: |it, v| {
        let end = |x| if rare(&x) { Err(x) } else { Ok(x) };
        match it.map(end).collect::<Result<Vec<_>, _>>() {
            Ok(all) => same(all, v.iter().copied().map(end).collect::<Result<_, _>>().unwrap_or_default()),
            Err(hit) => any_of(Some(hit), v, rare),
        }
    };
    par_extend: |it, v| {
        let mut all = vec![1, 2, 3];
        all.par_extend(it);
        same(&all[3..], v)
    };
    unzip: |it, v| same(
        it.map(|x| (x, x + 1)).unzip::<_, _, Vec<_>, Vec<_>>(),
        v.iter().map(|x| (x, x + 1)).unzip(),
    );
    partition: |it, v| same(
        it.partition::<Vec<_>, Vec<_>, _>(|x| x % 3 == 0),
        v.iter().partition(|x| *x % 3 == 0),
    );
    partition_map: |it, v| {
        let (even, odd): (Vec<_>, Vec<_>) =
            it.partition_map(|x| if x % 2 == 0 { Either::Left(x) } else { Either::Right(x + 1) });
        same((even, odd), (
            v.iter().filter(|x| *x % 2 == 0).copied().collect(),
            v.iter().filter(|x| *x % 2 == 1).map(|x| x + 1).collect(),
        ))
    };
    for_each: |it, v| {
        let seen = Mutex::new(Vec::new());
        it.for_each(|x| seen.lock().unwrap().push(x));
        same_items(seen, v)
    };
    for_each_with: |it, v| {
        let seen = Mutex::new(Vec::new());
        it.for_each_with(&seen, |seen, x| seen.lock().unwrap().push(x));
        same_items(seen, v)
    };
    for_each_init: |it, v| {
        let seen = Mutex::new(Vec::new());
        it.for_each_init(|| 1, |one, x| seen.lock().unwrap().push(x * *one));
        same_items(seen, v)
    };
    reduce: |it, v| same(it.map(|x| vec![x]).reduce(Vec::new, concat), v.to_vec());
    reduce_with: |it, v| same(it.map(|x| vec![x]).reduce_with(concat).unwrap_or_default(), v.to_vec());
    sum: |it, v| same(it.map(Wrapping).sum::<Wrapping<u64>>(), v.iter().copied().map(Wrapping).sum());
    product: |it, v| same(
        it.map(|x| Wrapping(x | 1)).product::<Wrapping<u64>>(),
        v.iter().map(|&x| Wrapping(x | 1)).product(),
    );
    count: |it, v| same(it.count(), v.len());
    min: |it, v| same(it.min(), v.iter().copied().min());
    max: |it, v| same(it.max(), v.iter().copied().max());
    min_by: |it, v| same(it.min_by(by_digit), v.iter().copied().min_by(by_digit));
    max_by: |it, v| same(it.max_by(by_digit), v.iter().copied().max_by(by_digit));
    min_by_key: |it, v| same(it.min_by_key(|x| x % 10), v.iter().copied().min_by_key(|x| x % 10));
    max_by_key: |it, v| same(it.max_by_key(|x| x % 10), v.iter().copied().max_by_key(|x| x % 10));
    any: |it, v| same(it.any(|x| rare(&x)), v.iter().any(rare));
    all: |it, v| same(it.all(|x| !rare(&x)), !v.iter().any(rare));
    find_any: |it, v| any_of(it.find_any(rare), v, rare);
    find_first: |it, v| same(it.find_first(rare), v.iter().copied().find(rare));
    find_last: |it, v| same(it.find_last(rare), v.iter().copied().rfind(rare));
    find_map_any: |it, v| any_of(it.find_map_any(|x| rare(&x).then_some(x)), v, rare);
    find_map_first: |it, v| same(it.find_map_first(|x| rare(&x).then_some(x + 1)), v.iter().copied().find(rare).map(|x| x + 1));
    find_map_last: |it, v| same(it.find_map_last(|x| rare(&x).then_some(x + 1)), v.iter().copied().rfind(rare).map(|x| x + 1));
    try_for_each: |it, v| match it.try_for_each(|x| if rare(&x) { Err(x) } else { Ok(()) }) {
        Err(hit) => any_of(Some(hit), v, rare),
        Ok(()) => same(v.iter().any(rare), false),
    };
    try_reduce: |it, v| same(
        it.map(|x| (!rare(&x)).then(|| vec![x])).try_reduce(Vec::new, |a, b| Some(concat(a, b))),
        (!v.iter().any(rare)).then(|| v.to_vec()),
    );
    try_reduce_with: |it, v| same(
        it.map(|x| (!rare(&x)).then(|| vec![x])).try_reduce_with(|a, b| Some(concat(a, b))),
        if v.is_empty() { None } else { Some((!v.iter().any(rare)).then(|| v.to_vec())) },
    );
    while_some: |it, v| {
        // Each task yields its first items; all of them, if nothing ends it.
        let some: Vec<u64> = it.map(|x| (!rare(&x)).then_some(x)).while_some().collect();
        if v.iter().any(rare) { same(is_part_of(&some, v), true) } else { same(&some[..], v) }
    };
    blocks_iter: |it, v| same(it.blocks_iter([1, 0, 7]).items().collect::<Vec<_>>(), v.to_vec());
    stop_on_that_does_not: |it, v| same(it.stop_on(&CancelToken::new()).collect::<Vec<_>>(), Ok(v.to_vec()));
    deadline_far_off: |it, v| same(
        it.map(|x| vec![x]).deadline(Instant::now() + Duration::from_secs(3600)).reduce(Vec::new, concat),
        Ok(v.to_vec()),
    );
    find_first_within_both: |it, v| {
        let later = Instant::now() + Duration::from_secs(3600);
        same(it.deadline(later).stop_on(&CancelToken::new()).find_first(rare), Ok(v.iter().copied().find(rare)))
    };
    stop_on_that_does: |it, v| {
        let token = CancelToken::new();
        let it = it.inspect(|x| if rare(x) { token.cancel() });
        match it.stop_on(&token).collect::<Vec<_>>() {
            Ok(all) => same(all, v.to_vec()),
            Err(interrupted) => same(is_part_of(interrupted.done(), v), true),
        }
    };
    stop_on_and_filter: |it, v| same(
        it.stop_on(&CancelToken::new()).run(|items| items.filter(|x| x % 2 == 0).count()),
        Ok(v.iter().filter(|x| *x % 2 == 0).count()),
    );
} }

terminals! { for IndexedParallelIterator: INDEXED, indexed {
    position_any: |it, v| {
        let place = it.position_any(|x| rare(&x));
        any_of(place.map(|i| v[i]), v, rare)
    };
    position_first: |it, v| same(it.position_first(|x| rare(&x)), v.iter().position(rare));
    position_last: |it, v| same(it.position_last(|x| rare(&x)), v.iter().rposition(rare));
    collect_into_vec: |it, v| {
        let mut all = vec![1, 2, 3];
        it.collect_into_vec(&mut all);
        same(&all[..], v)
    };
    unzip_into_vecs: |it, v| {
        let (mut left, mut right) = (vec![], vec![]);
        it.map(|x| (x, x + 1)).unzip_into_vecs(&mut left, &mut right);
        same((left, right), v.iter().map(|x| (x, x + 1)).unzip())
    };
    eq: |it, v| same(it.eq(v.to_vec()), true);
    ne: |it, v| same(it.ne(changed(v)), true);
    cmp: |it, v| same(it.cmp(changed(v)), v.cmp(&changed(v)));
    partial_cmp: |it, v| same(it.partial_cmp(v.to_vec()), Some(Ordering::Equal));
    lt: |it, v| same(it.lt(changed(v)), v < &changed(v)[..]);
    len: |it, v| same((it.len(), it.opt_len(), it.count()), (v.len(), Some(v.len()), v.len()));
    backward: |it, v| same(it.rev().collect::<Vec<_>>(), v.iter().rev().copied().collect());
    backward_find_first: |it, v| same(it.rev().find_first(rare), v.iter().copied().rfind(rare));
    backward_find_last: |it, v| same(it.rev().find_last(rare), v.iter().copied().find(rare));
} }

fn letter(x: u64) -> char {
    char::from(b'a' + (x % 26) as u8)
}

fn by_digit(a: &u64, b: &u64) -> Ordering {
    (a % 10).cmp(&(b % 10))
}

/// Changes the last item, or adds one, so that the result is greater or less.
fn changed(v: &[u64]) -> Vec<u64> {
    let mut changed = v.to_vec();
    match changed.last_mut() {
        Some(last) if *last % 2 == 0 => *last += 1,
        Some(last) => *last -= 1,
        None => changed.push(1),
    }
    changed
}

fn same_items(seen: Mutex<Vec<u64>>, v: &[u64]) -> Outcome {
    let (mut seen, mut v) = (seen.into_inner().unwrap(), v.to_vec());
    seen.sort_unstable();
    v.sort_unstable();
    same(seen, v)
}

/// Whether a number is one of the few hits in a hundred.
pub(crate) fn rare(x: &u64) -> bool {
    x % 23 == 7
}
