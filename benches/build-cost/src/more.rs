//! Eight more chains over types that the others use, too: what a chain costs in a program that has some.

use crate::prelude::*;

fn longest(texts: &[String]) -> usize {
    texts.par_iter().map(String::len).max().unwrap_or(0)
}

fn count_long(texts: &[String]) -> usize {
    texts.par_iter().filter(|text| text.len() > 2).count()
}

fn parsed(texts: &[String]) -> Vec<u64> {
    texts.par_iter().filter_map(|text| text.parse().ok()).collect()
}

fn halves(numbers: &[u64]) -> Vec<f64> {
    numbers.par_iter().map(|&x| x as f64 / 2.0).collect()
}

fn differences(a: &[u64], b: &[f64]) -> f64 {
    a.par_iter().zip(b).map(|(&a, b)| (a as f64 - b).abs()).sum()
}

fn all_small(numbers: &[u64]) -> bool {
    numbers.par_iter().all(|&x| x < 2000)
}

fn upper(texts: &mut [String]) {
    texts.par_iter_mut().enumerate().for_each(|(i, text)| text.push_str(if i % 2 == 0 { "a" } else { "b" }));
}

fn position(numbers: &[u64]) -> Option<usize> {
    numbers.par_iter().position_any(|&x| x == 77)
}

/// Runs every chain once.
pub(crate) fn all() -> usize {
    let numbers: Vec<u64> = (0..1000).collect();
    let mut texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
    let mut result = longest(&texts) + count_long(&texts) + parsed(&texts).len();
    let halves = halves(&numbers);
    result += differences(&numbers, &halves) as usize + usize::from(all_small(&numbers));
    upper(&mut texts);
    result + texts[5].len() + position(&numbers).unwrap_or(0)
}
