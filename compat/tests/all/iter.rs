//! The methods of `ParallelIterator`.

use furcate_compat::{Item, cases};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};

/// Sorts items that come in no order.
fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort();
    items
}

fn numbers<T: Item>(items: &[T]) -> Vec<i64> {
    items.iter().map(Item::number).collect()
}

/// The children of a node in a tree over a slice: two parts of the slice behind its first element.
fn halves<'v, T>(tree: &&'v [T]) -> Vec<&'v [T]> {
    let rest = tree.get(1..).unwrap_or_default();
    let (left, right) = rest.split_at(rest.len() / 3);
    [left, right].into_iter().filter(|half| !half.is_empty()).collect()
}

fn push(mut list: Vec<i64>, item: i64) -> Vec<i64> {
    list.push(item);
    list
}

fn append(mut left: Vec<i64>, mut right: Vec<i64>) -> Vec<i64> {
    left.append(&mut right);
    left
}

cases! { false:
    for_each: |t, v| { let seen = std::sync::Mutex::new(Vec::new()); v.into_par_iter().for_each(|x| { let y = t.f(&x); seen.lock().unwrap().push(y) }); sorted(seen.into_inner().unwrap()) };
    for_each_with: |t, v| v.into_par_iter().for_each_with(2, |two, x| assert_eq!(*two, 2, "{}", t.f(&x)));
    for_each_init: |t, v| v.into_par_iter().for_each_init(|| 2, |two, x| assert_eq!(*two, 2, "{}", t.f(&x)));
    count: |t, v| v.into_par_iter().inspect(|x| t.see(x)).count();
    map: |t, v| v.into_par_iter().map(|x| (t.f(&x), x.number())).collect::<Vec<_>>();
    map_with: |t, v| v.into_par_iter().map_with(vec![5], |five, x| t.f(&x) + five[0]).collect::<Vec<_>>();
    map_init: |t, v| v.into_par_iter().map_init(|| vec![5], |five, x| t.f(&x) + five[0]).collect::<Vec<_>>();
    cloned: |t, v| numbers(&v.par_iter().inspect(|x| t.see(*x)).cloned().collect::<Vec<_>>());
    copied: |t, v| v.par_iter().map(|x| t.f(x)).collect::<Vec<_>>().par_iter().copied().collect::<Vec<i64>>();
    inspect: |t, v| numbers(&v.into_par_iter().inspect(|x| t.see(x)).collect::<Vec<_>>());
    update: |t, v| v.into_par_iter().map(|x| t.f(&x)).update(|x| *x += 1).collect::<Vec<_>>();
    filter: |t, v| numbers(&v.into_par_iter().filter(|x| t.p(x)).collect::<Vec<_>>());
    filter_map: |t, v| v.into_par_iter().filter_map(|x| t.p(&x).then(|| x.number())).collect::<Vec<_>>();
    flat_map: |t, v| numbers(&v.into_par_iter().flat_map(|x| vec![x.clone(); t.few(&x)]).collect::<Vec<_>>());
    flat_map_iter: |t, v| numbers(&v.into_par_iter().flat_map_iter(|x| vec![x.clone(); t.few(&x)]).collect::<Vec<_>>());
    flatten: |t, v| numbers(&v.into_par_iter().map(|x| vec![x.clone(); t.few(&x)]).flatten().collect::<Vec<_>>());
    flatten_iter: |t, v| numbers(&v.into_par_iter().map(|x| t.p(&x).then_some(x)).flatten_iter().collect::<Vec<_>>());
    reduce: |t, v| v.into_par_iter().map(|x| vec![t.f(&x)]).reduce(Vec::new, append);
    reduce_with: |t, v| v.into_par_iter().map(|x| vec![t.f(&x)]).reduce_with(append);
    fold: |t, v| v.into_par_iter().fold(Vec::new, |list, x| push(list, t.f(&x))).reduce(Vec::new, append);
    fold_with: |t, v| v.into_par_iter().fold_with(Vec::new(), |list, x| push(list, t.f(&x))).reduce(Vec::new, append);
    try_fold: |t, v| v.into_par_iter().try_fold(Vec::new, |list, x| Some(push(list, t.f(&x)))).try_reduce(Vec::new, |a, b| Some(append(a, b)));
    try_fold_with: |t, v| v.into_par_iter().try_fold_with(Vec::new(), |list, x| Ok::<_, ()>(push(list, t.f(&x)))).try_reduce(Vec::new, |a, b| Ok(append(a, b)));
    sum: |t, v| v.into_par_iter().map(|x| t.f(&x)).sum::<i64>();
    product: |t, v| v.into_par_iter().map(|x| std::num::Wrapping(t.f(&x) | 1)).product::<std::num::Wrapping<i64>>();
    min: |t, v| v.into_par_iter().inspect(|x| t.see(x)).min().map(|x| x.number());
    max: |t, v| v.into_par_iter().inspect(|x| t.see(x)).max().map(|x| x.number());
    min_by: |t, v| v.into_par_iter().enumerate().inspect(|(_, x)| t.see(x)).min_by(|(_, a), (_, b)| (a.number() % 7).cmp(&(b.number() % 7))).map(|(i, _)| i);
    max_by: |t, v| v.into_par_iter().enumerate().inspect(|(_, x)| t.see(x)).max_by(|(_, a), (_, b)| (a.number() % 7).cmp(&(b.number() % 7))).map(|(i, _)| i);
    min_by_key: |t, v| v.into_par_iter().enumerate().min_by_key(|(_, x)| t.f(x) % 7).map(|(i, _)| i);
    max_by_key: |t, v| v.into_par_iter().enumerate().max_by_key(|(_, x)| t.f(x) % 7).map(|(i, _)| i);
    chain: |t, v| { let w = v.clone(); numbers(&v.into_par_iter().chain(w).inspect(|x| t.see(x)).collect::<Vec<_>>()) };
    unzip: |t, v| v.into_par_iter().map(|x| (t.f(&x), x.number())).unzip::<_, _, Vec<_>, BTreeSet<_>>();
    partition: |t, v| { let (a, b): (Vec<_>, Vec<_>) = v.into_par_iter().partition(|x| t.p(x)); (numbers(&a), numbers(&b)) };
    partition_map: |t, v| v.into_par_iter().partition_map::<Vec<_>, Vec<_>, _, _, _>(|x| if t.p(&x) { iter::Either::Left(x.number()) } else { iter::Either::Right(-x.number()) });
    intersperse: |t, v| v.into_par_iter().map(|x| t.f(&x)).intersperse(0).collect::<Vec<_>>();
    skip_any: |t, v| v.into_par_iter().inspect(|x| t.see(x)).skip_any(7).count();
    skip_any_while: |t, v| v.into_par_iter().inspect(|x| t.see(x)).skip_any_while(|_| false).count();
    take_any_all: |t, v| v.into_par_iter().inspect(|x| t.see(x)).take_any(100_000).count();
    panic_fuse: |t, v| numbers(&v.into_par_iter().panic_fuse().inspect(|x| t.see(x)).collect::<Vec<_>>());
    opt_len: |t, v| (v.par_iter().map(|x| t.f(x)).opt_len(), v.par_iter().filter(|x| t.p(*x)).opt_len());
    collect_vec_list: |t, v| v.into_par_iter().filter(|x| t.p(x)).map(|x| x.number()).collect_vec_list().into_iter().flatten().collect::<Vec<_>>();
    collect_box: |t, v| v.into_par_iter().map(|x| t.f(&x)).collect::<Box<[i64]>>();
    collect_deque: |t, v| v.into_par_iter().map(|x| t.f(&x)).collect::<VecDeque<i64>>();
    collect_list: |t, v| v.into_par_iter().map(|x| t.f(&x)).collect::<LinkedList<i64>>();
    collect_heap: |t, v| v.into_par_iter().map(|x| t.f(&x)).collect::<BinaryHeap<i64>>().into_sorted_vec();
    collect_hash_set: |t, v| sorted(v.into_par_iter().inspect(|x| t.see(x)).collect::<HashSet<_>>().into_iter().map(|x| x.number()));
    collect_hash_map: |t, v| sorted(v.into_par_iter().map(|x| (t.f(&x) % 5, x.number())).collect::<HashMap<_, _>>());
    collect_b_tree_set: |t, v| v.into_par_iter().inspect(|x| t.see(x)).collect::<BTreeSet<_>>().into_iter().map(|x| x.number()).collect::<Vec<_>>();
    collect_b_tree_map: |t, v| v.into_par_iter().map(|x| (t.f(&x) % 5, x.number())).collect::<BTreeMap<_, _>>();
    collect_string: |t, v| v.into_par_iter().map(|x| t.f(&x).to_string()).collect::<String>();
    collect_unit: |t, v| v.into_par_iter().map(|x| t.see(&x)).collect::<()>();
    collect_pair: |t, v| v.into_par_iter().map(|x| (t.f(&x), x.number())).collect::<(Vec<_>, BTreeSet<_>)>();
    par_extend: |t, v| { let mut to = vec![1, 2]; to.par_extend(v.into_par_iter().map(|x| t.f(&x))); to };
    par_bridge: |t, v| sorted(v.into_iter().par_bridge().map(|x| (t.f(&x), x.number())).collect::<Vec<_>>());
    par_drain: |t, v| { let mut v = v; let n = v.len() / 3; let taken = v.par_drain(n..).map(|x| t.f(&x)).collect::<Vec<_>>(); (taken, numbers(&v)) };
    by_reference: |t, v| v.par_iter().map(|x| t.f(x)).collect::<Vec<_>>();
    by_mutable_reference: |t, v| { let mut v = v; v.par_iter_mut().for_each(|x| { t.f(x); let y = x.clone(); *x = y; }); numbers(&v) };
    tuples: |t, v| { let w = v.clone(); (v, w).into_par_iter().map(|(a, b)| t.f(&a) + b.number()).collect::<Vec<_>>() };
    options: |t, v| (v.first().cloned().into_par_iter().map(|x| t.f(&x)).collect::<Vec<_>>(), v.len());
    split: |t, v| iter::split(&v[..], |part| if part.len() < 5 { (part, None) } else { let (a, b) = part.split_at(part.len() / 2); (a, Some(b)) }).flat_map(|part| part).map(|x| t.f(x)).collect::<Vec<_>>();
    walk_tree_prefix: |t, v| iter::walk_tree_prefix(&v[..], |part| { let rest = part.get(1..).unwrap_or_default(); let (a, b) = rest.split_at(rest.len() / 3); [a, b].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>() }).map(|part| part.first().map(|x| t.f(x))).collect::<Vec<_>>();
}

cases! { true:
    any: |t, v| v.into_par_iter().any(|x| !t.q(&x));
    all: |t, v| v.into_par_iter().all(|x| t.q(&x));
    find_any: |t, v| v.into_par_iter().find_any(|x| !t.q(x)).map(|x| x.number() % 37 == 0);
    find_first: |t, v| v.into_par_iter().enumerate().find_first(|(_, x)| t.p(x)).map(|(i, x)| (i, x.number()));
    find_last: |t, v| v.into_par_iter().enumerate().find_last(|(_, x)| t.p(x)).map(|(i, x)| (i, x.number()));
    find_map_any: |t, v| v.into_par_iter().find_map_any(|x| (!t.q(&x)).then_some(1));
    find_map_first: |t, v| v.into_par_iter().enumerate().find_map_first(|(i, x)| t.p(&x).then_some(i));
    find_map_last: |t, v| v.into_par_iter().enumerate().find_map_last(|(i, x)| t.p(&x).then_some(i));
    while_some: |t, v| v.into_par_iter().map(|x| Some(t.f(&x))).while_some().collect::<Vec<_>>();
    take_any: |t, v| v.into_par_iter().inspect(|x| t.see(x)).take_any(7).count();
    take_any_while: |t, v| v.into_par_iter().take_any_while(|x| t.f(x) > -1000).count();
    try_for_each: |t, v| v.into_par_iter().try_for_each(|x| if t.q(&x) { Ok(()) } else { Err("bad") });
    try_for_each_with: |t, v| v.into_par_iter().try_for_each_with(1, |_, x| t.q(&x).then_some(()));
    try_for_each_init: |t, v| v.into_par_iter().try_for_each_init(|| 1, |_, x| t.q(&x).then_some(()));
    try_reduce: |t, v| v.into_par_iter().map(|x| t.q(&x).then(|| vec![x.number()])).try_reduce(Vec::new, |a, b| Some(append(a, b)));
    try_reduce_with: |t, v| v.into_par_iter().map(|x| t.q(&x).then(|| vec![x.number()])).try_reduce_with(|a, b| Some(append(a, b)));
    collect_option: |t, v| v.into_par_iter().map(|x| t.q(&x).then(|| x.number())).collect::<Option<Vec<_>>>();
    collect_result: |t, v| v.into_par_iter().map(|x| if t.q(&x) { Ok(x.number()) } else { Err("bad") }).collect::<Result<Vec<_>, _>>();
    sum_of_options: |t, v| v.into_par_iter().map(|x| t.q(&x).then(|| x.number())).sum::<Option<i64>>();
}

// The methods on `par_iter` and `par_iter_mut`.
cases! { false:
    update_of_copies: |t, v| v.par_iter().map(|x| t.f(x)).collect::<Vec<_>>().par_iter().copied().update(|x| *x += 1).collect::<Vec<_>>();
    flat_map_to_ranges: |t, v| v.par_iter().flat_map(|x| 0..(t.f(x) % 5) as i32).collect::<Vec<_>>();
    flat_map_iter_to_ranges: |t, v| v.par_iter().flat_map_iter(|x| 0..t.f(x) % 5).collect::<Vec<_>>();
    fold_to_sums: |t, v| v.par_iter().fold(|| 0, |a, x| a + t.f(x)).sum::<i64>();
    fold_with_to_sums: |t, v| v.par_iter().fold_with(0, |a, x| a + t.f(x)).sum::<i64>();
    product_of_floats: |t, v| { v.par_iter().for_each(|x| t.see(x)); v.par_iter().map(|x| t.few(x) as f64).take(40).product::<f64>() };
    collect_deque_of_some: |t, v| v.par_iter().filter(|x| t.p(*x)).map(|x| x.number()).collect::<VecDeque<_>>();
    collect_list_of_some: |t, v| v.par_iter().filter(|x| t.p(*x)).map(|x| x.number()).collect::<LinkedList<_>>();
    collect_string_of_chars: |t, v| v.par_iter().map(|x| char::from(t.f(x).unsigned_abs() as u8)).collect::<String>();
    collect_pair_of_vectors: |t, v| v.par_iter().map(|x| (t.f(x), x.number())).collect::<(Vec<_>, Vec<_>)>();
}

// Sources.
cases! { false:
    par_drain_of_the_front: |t, v| { let mut v = v; let n = v.len() / 2; let taken = v.par_drain(..n).map(|x| t.f(&x)).collect::<Vec<_>>(); (taken, numbers(&v)) };
    ranges: |t, v| ((0..v.len() as u64).into_par_iter().inspect(|&i| t.see(&v[i as usize])).sum::<u64>(), (0..=v.len() as i128).into_par_iter().max());
    hash_sets: |t, v| sorted(v.into_iter().collect::<HashSet<_>>().into_par_iter().map(|x| t.f(&x)).collect::<Vec<_>>());
    lists: |t, v| v.into_iter().collect::<LinkedList<_>>().into_par_iter().map(|x| t.f(&x)).collect::<Vec<_>>();
    tuples_of_references: |t, v| { let w = v[v.len() / 2..].to_vec(); ((&v, &w).into_par_iter().map(|(a, b)| t.f(a) * b.number()).collect::<Vec<_>>(), (&w, &v).into_par_iter().map(|(a, b)| t.f(a) * b.number()).collect::<Vec<_>>()) };
    wide_tuples: |t, v| { let w = v[v.len() / 2..].to_vec(); (v.clone(), &w, 0..50_i32, &v).into_par_iter().rev().map(|(a, b, i, c)| (t.f(&a), b.number(), i, c.number())).collect::<Vec<_>>() };
    single_tuples: |t, v| (&v,).into_par_iter().map(|(a,)| t.f(a)).collect::<Vec<_>>();
    shared_tuples: |t, v| { let w = v[v.len() / 2..].to_vec(); (v.clone(), w, v).par_iter().map(|(a, b, c)| t.f(a) + b.number() + c.number()).collect::<Vec<_>>() };
    mutable_tuples: |t, v| { let mut both = (v[v.len() / 2..].to_vec(), v); both.par_iter_mut().for_each(|(a, b)| { t.see(a); std::mem::swap(a, b) }); (numbers(&both.0), numbers(&both.1)) };
    either: |t, v| { let w = v[v.len() / 2..].to_vec(); let source = if v.len() < 9 { iter::Either::Left(v.par_iter()) } else { iter::Either::Right(w.par_iter()) }; source.enumerate().map(|(i, x)| (i, t.f(x))).collect::<Vec<_>>() };
    empty: |t, v| iter::empty::<i64>().chain(v.par_iter().map(|x| t.f(x)).collect::<Vec<_>>()).collect::<Vec<_>>();
    once: |t, v| iter::once(7).chain(v.par_iter().map(|x| t.f(x)).collect::<Vec<_>>()).collect::<Vec<_>>();
    repeat: |t, v| iter::repeat(7).take(v.len()).zip(&v).map(|(seven, x)| seven + t.f(x)).collect::<Vec<_>>();
    #[allow(deprecated, reason = "`repeatn`")]
    repeat_n: |t, v| (v.first().map(|x| iter::repeat_n(x.clone(), v.len()).map(|x| t.f(&x)).collect::<Vec<_>>()), iter::repeat_n(7, v.len()).collect::<Vec<_>>(), iter::repeatn(7, 3).count());
    split_and_flatten: |t, v| iter::split(&v[..], |part| if part.len() < 5 { (part, None) } else { let (a, b) = part.split_at(part.len() / 2); (a, Some(b)) }).flatten().map(|x| t.f(x)).collect::<Vec<_>>();
    walk_tree: |t, v| sorted(iter::walk_tree(&v[..], halves).map(|part| (part.len(), part.first().map(|x| t.f(x)))).collect::<Vec<_>>());
    walk_tree_postfix: |t, v| iter::walk_tree_postfix(&v[..], halves).map(|part| part.first().map(|x| t.f(x))).collect::<Vec<_>>();
}
