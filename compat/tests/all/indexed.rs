//! The methods of `IndexedParallelIterator`, of slices and of strings.

use furcate_compat::{Item, cases};
use std::cmp::Ordering;

fn numbers<T: Item>(items: &[T]) -> Vec<i64> {
    items.iter().map(Item::number).collect()
}

/// A text of the items' numbers.
fn text<T: Item>(items: &[T]) -> String {
    items.iter().map(|x| format!("{}é,\n", x.number())).collect()
}

/// Floating-point numbers, some of which are not a number.
fn with_nans(numbers: &[i64]) -> Vec<f64> {
    let scattered = numbers.iter().map(|number| number.wrapping_mul(7919) % 101);
    scattered.map(|number| if number % 5 == 0 { f64::NAN } else { number as f64 }).collect()
}

/// The numbers, in an order of their own.
fn bits(mut numbers: Vec<f64>) -> Vec<u64> {
    numbers.sort_by(f64::total_cmp);
    numbers.into_iter().map(f64::to_bits).collect()
}

cases! { false:
    collect_into_vec: |t, v| { let mut to = vec![1]; v.into_par_iter().map(|x| t.f(&x)).collect_into_vec(&mut to); to };
    unzip_into_vecs: |t, v| { let (mut a, mut b) = (vec![1], vec![]); v.into_par_iter().map(|x| (t.f(&x), x.number())).unzip_into_vecs(&mut a, &mut b); (a, b) };
    zip: |t, v| { let w = v.clone(); v.into_par_iter().zip(w.par_iter().skip(1)).map(|(a, b)| (t.f(&a), b.number())).collect::<Vec<_>>().len() <= w.len() };
    zip_all: |t, v| { let w = v.clone(); v.into_par_iter().zip(w).map(|(a, b)| (t.f(&a), b.number())).collect::<Vec<_>>() };
    zip_eq: |t, v| { let w = v.clone(); v.into_par_iter().zip_eq(w).map(|(a, b)| (t.f(&a), b.number())).collect::<Vec<_>>() };
    interleave: |t, v| v.par_iter().map(|x| t.f(x)).interleave(v.par_iter().take(5).map(|x| x.number())).collect::<Vec<_>>();
    interleave_shortest: |t, v| { let all: Vec<_> = v.par_iter().map(|x| t.f(x)).collect(); all.par_iter().interleave_shortest(all.par_iter().rev()).cloned().collect::<Vec<_>>() };
    chunks: |t, v| v.into_par_iter().inspect(|x| t.see(x)).chunks(4).map(|chunk| numbers(&chunk)).collect::<Vec<_>>();
    fold_chunks: |t, v| v.into_par_iter().fold_chunks(4, || 1, |a, x| a * 3 % 1000 + t.f(&x)).collect::<Vec<_>>();
    fold_chunks_with: |t, v| v.into_par_iter().fold_chunks_with(4, 1, |a, x| a * 3 % 1000 + t.f(&x)).collect::<Vec<_>>();
    enumerate: |t, v| v.into_par_iter().enumerate().map(|(i, x)| (i, t.f(&x))).collect::<Vec<_>>();
    step_by: |t, v| numbers(&{ v.par_iter().for_each(|x| t.see(x)); v }.into_par_iter().step_by(3).collect::<Vec<_>>());
    skip: |t, v| numbers(&{ v.par_iter().for_each(|x| t.see(x)); v }.into_par_iter().skip(3).collect::<Vec<_>>());
    take: |t, v| numbers(&{ v.par_iter().for_each(|x| t.see(x)); v }.into_par_iter().take(3).collect::<Vec<_>>());
    positions: |t, v| v.into_par_iter().positions(|x| t.p(&x)).collect::<Vec<_>>();
    rev: |t, v| v.into_par_iter().rev().map(|x| t.f(&x)).collect::<Vec<_>>();
    with_min_len: |t, v| v.into_par_iter().with_min_len(10).map(|x| t.f(&x)).collect::<Vec<_>>();
    with_max_len: |t, v| v.into_par_iter().with_max_len(3).map(|x| t.f(&x)).collect::<Vec<_>>();
    by_exponential_blocks: |t, v| v.into_par_iter().by_exponential_blocks().map(|x| t.f(&x)).collect_vec_list().into_iter().flatten().collect::<Vec<_>>();
    by_uniform_blocks: |t, v| v.into_par_iter().by_uniform_blocks(5).map(|x| t.f(&x)).collect_vec_list().into_iter().flatten().collect::<Vec<_>>();
    len: |t, v| v.par_iter().map(|x| t.f(x)).enumerate().rev().len();
    par_chunks: |t, v| v.par_chunks(4).map(|chunk| chunk.iter().map(|x| t.f(x)).sum::<i64>()).collect::<Vec<_>>();
    par_chunks_exact: |t, v| (v.par_chunks_exact(4).map(numbers).collect::<Vec<_>>(), numbers(v.par_chunks_exact(4).remainder()), v.par_iter().map(|x| t.f(x)).sum::<i64>());
    par_rchunks: |t, v| v.par_rchunks(4).map(|chunk| chunk.iter().map(|x| t.f(x)).sum::<i64>()).collect::<Vec<_>>();
    par_rchunks_exact: |t, v| (v.par_rchunks_exact(4).map(numbers).collect::<Vec<_>>(), numbers(v.par_rchunks_exact(4).remainder()), v.par_iter().map(|x| t.f(x)).sum::<i64>());
    par_windows: |t, v| (v.par_windows(3).map(numbers).collect::<Vec<_>>(), v.par_iter().map(|x| t.f(x)).sum::<i64>());
    par_array_windows: |t, v| (v.par_array_windows::<2>().map(|pair| numbers(pair)).collect::<Vec<_>>(), v.par_iter().map(|x| t.f(x)).sum::<i64>());
    par_split: |t, v| v.par_split(|x| t.p(x)).map(numbers).collect::<Vec<_>>();
    par_split_inclusive: |t, v| v.par_split_inclusive(|x| t.p(x)).map(numbers).collect::<Vec<_>>();
    par_chunk_by: |t, v| { v.par_iter().for_each(|x| t.see(x)); v.par_chunk_by(|a, b| a.number() <= b.number()).map(numbers).collect::<Vec<_>>() };
    par_chunks_mut: |t, v| { let mut v = v; v.par_chunks_mut(4).for_each(|chunk| { chunk.iter().for_each(|x| t.see(x)); chunk.reverse(); }); numbers(&v) };
    par_chunks_exact_mut: |t, v| { let mut v = v; v.par_chunks_exact_mut(4).for_each(<[_]>::reverse); v.par_iter().map(|x| t.f(x)).collect::<Vec<_>>() };
    par_rchunks_mut: |t, v| { let mut v = v; v.par_rchunks_mut(4).for_each(<[_]>::reverse); v.par_iter().map(|x| t.f(x)).collect::<Vec<_>>() };
    par_rchunks_exact_mut: |t, v| { let mut v = v; v.par_rchunks_exact_mut(4).for_each(<[_]>::reverse); v.par_iter().map(|x| t.f(x)).collect::<Vec<_>>() };
    par_split_mut: |t, v| { let mut v = v; v.par_split_mut(|x| t.p(x)).for_each(<[_]>::reverse); numbers(&v) };
    par_split_inclusive_mut: |t, v| { let mut v = v; v.par_split_inclusive_mut(|x| t.p(x)).for_each(<[_]>::reverse); numbers(&v) };
    par_chunk_by_mut: |t, v| { let mut v = v; v.par_chunk_by_mut(|a, b| a.number() <= b.number()).for_each(<[_]>::reverse); v.par_iter().map(|x| t.f(x)).collect::<Vec<_>>() };
    par_sort: |t, v| { let mut v = v; v.par_iter().for_each(|x| t.see(x)); v.par_sort(); numbers(&v) };
    par_sort_by: |t, v| { let mut v: Vec<_> = v.into_par_iter().enumerate().map(|(i, x)| (t.f(&x) % 7, i)).collect(); v.par_sort_by(|a, b| a.0.cmp(&b.0)); v };
    par_sort_by_key: |t, v| { let mut v: Vec<_> = v.into_par_iter().enumerate().map(|(i, x)| (t.f(&x) % 7, i)).collect(); v.par_sort_by_key(|a| a.0); v };
    par_sort_by_cached_key: |t, v| { let mut v = v; v.par_iter().for_each(|x| t.see(x)); v.par_sort_by_cached_key(|x| -x.number()); numbers(&v) };
    par_sort_unstable: |t, v| { let mut v = v; v.par_iter().for_each(|x| t.see(x)); v.par_sort_unstable(); numbers(&v) };
    par_sort_unstable_by: |t, v| { let mut v = v; v.par_iter().for_each(|x| t.see(x)); v.par_sort_unstable_by(|a, b| b.cmp(a)); numbers(&v) };
    par_sort_unstable_by_key: |t, v| { let mut v = v; v.par_iter().for_each(|x| t.see(x)); v.par_sort_unstable_by_key(|x| -x.number()); numbers(&v) };
    par_sort_by_wrong_order: |t, v| { let mut v = with_nans(&v.par_iter().map(|x| t.f(x)).collect::<Vec<_>>()); v.par_sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal)); bits(v) };
    par_sort_unstable_by_wrong_order: |t, v| { let mut v = with_nans(&v.par_iter().map(|x| t.f(x)).collect::<Vec<_>>()); v.par_sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal)); bits(v) };
    par_chars: |t, v| { v.par_iter().for_each(|x| t.see(x)); text(&v).par_chars().collect::<String>() };
    par_char_indices: |t, v| { v.par_iter().for_each(|x| t.see(x)); text(&v).par_char_indices().collect::<Vec<_>>() };
    par_bytes: |t, v| { v.par_iter().for_each(|x| t.see(x)); text(&v).par_bytes().collect::<Vec<_>>() };
    par_encode_utf16: |t, v| { v.par_iter().for_each(|x| t.see(x)); text(&v).par_encode_utf16().collect::<Vec<_>>() };
    par_split_of_text: |t, v| { v.par_iter().for_each(|x| t.see(x)); text(&v).par_split([',', '1']).map(str::to_string).collect::<Vec<_>>() };
    par_split_inclusive_of_text: |t, v| { v.par_iter().for_each(|x| t.see(x)); text(&v).par_split_inclusive('é').map(str::to_string).collect::<Vec<_>>() };
    par_split_terminator: |t, v| { v.par_iter().for_each(|x| t.see(x)); text(&v).par_split_terminator('\n').map(str::to_string).collect::<Vec<_>>() };
    par_lines: |t, v| { v.par_iter().for_each(|x| t.see(x)); text(&v).par_lines().map(str::to_string).collect::<Vec<_>>() };
    par_split_whitespace: |t, v| { v.par_iter().for_each(|x| t.see(x)); text(&v).par_split_whitespace().map(str::to_string).collect::<Vec<_>>() };
    par_split_ascii_whitespace: |t, v| { v.par_iter().for_each(|x| t.see(x)); text(&v).par_split_ascii_whitespace().map(str::to_string).collect::<Vec<_>>() };
    par_matches: |t, v| { v.par_iter().for_each(|x| t.see(x)); text(&v).par_matches(|c: char| c.is_numeric()).map(str::to_string).collect::<Vec<_>>() };
    par_match_indices: |t, v| { v.par_iter().for_each(|x| t.see(x)); text(&v).par_match_indices('1').map(|(i, _)| i).collect::<Vec<_>>() };
}

cases! { true:
    cmp: |t, v| v.par_iter().inspect(|x| t.see(*x)).cmp(v.par_iter().rev());
    partial_cmp: |t, v| v.par_iter().inspect(|x| t.see(*x)).partial_cmp(v.par_iter().rev()) == Some(Ordering::Less);
    eq: |t, v| v.par_iter().inspect(|x| t.see(*x)).eq(v.par_iter().rev());
    ne: |t, v| v.par_iter().inspect(|x| t.see(*x)).ne(v.par_iter().rev());
    lt: |t, v| v.par_iter().inspect(|x| t.see(*x)).lt(v.par_iter().rev());
    le: |t, v| v.par_iter().inspect(|x| t.see(*x)).le(v.par_iter().rev());
    gt: |t, v| v.par_iter().inspect(|x| t.see(*x)).gt(v.par_iter().rev());
    ge: |t, v| v.par_iter().inspect(|x| t.see(*x)).ge(v.par_iter().rev());
    position_any: |t, v| v.into_par_iter().position_any(|x| !t.q(&x)).is_some();
    position_first: |t, v| v.into_par_iter().position_first(|x| t.p(&x));
    position_last: |t, v| v.into_par_iter().position_last(|x| t.p(&x));
}

// Iterators of different lengths.
cases! { true:
    comparisons: |t, v| {
        let half = v[..v.len() / 2].to_vec();
        let (long, short) = (|| v.par_iter().map(|x| t.f(x)), || half.par_iter().map(|x| t.f(x)));
        let orders = (long().cmp(short()), short().cmp(long()), long().partial_cmp(short()), short().partial_cmp(long()));
        let less = (long().lt(short()), long().le(short()), short().gt(long()), short().ge(long()));
        (orders, less, long().eq(short()), short().ne(long()))
    };
}
