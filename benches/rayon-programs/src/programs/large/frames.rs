//! A column engine. Its pool has as many threads as `POLARS_MAX_THREADS` says.

use crate::random::Random;
use crate::{Case, Size};
use polars::prelude::*;
use std::collections::BTreeMap;

/// A table of numbers with keys, of which each occurs some fifty times.
fn table(random: &mut Random, count: usize) -> (Vec<u32>, Vec<i64>) {
    let keys = (0..count).map(|_| random.below(count as u64 / 50) as u32).collect();
    (keys, (0..count).map(|_| random.below(1000) as i64).collect())
}

fn frame(names: [&str; 2], keys: &[u32], values: &[i64]) -> LazyFrame {
    let [key, value] = names;
    df!(key => keys, value => values).expect("the columns are equally long").lazy()
}

/// Sums, greatest values and counts of all keys.
pub(super) fn group(size: Size) -> Case {
    let (keys, values) = table(&mut Random(90), size.pick(3_000_000, 30_000));
    let mut groups: BTreeMap<u32, (i64, i64, u32)> = BTreeMap::new();
    for (key, value) in keys.iter().zip(&values) {
        let (sum, most, count) = groups.entry(*key).or_default();
        (*sum, *most, *count) = (*sum + value, *value.max(most), *count + 1);
    }
    let numbers = frame(["key", "value"], &keys, &values);
    Case::of(groups, move || {
        let value = || col("value");
        let columns = [value().sum().alias("sum"), value().max().alias("most"), len().alias("count")];
        let groups =
            numbers.clone().group_by([col("key")]).agg(columns).collect().expect("all columns exist");
        let column = |name| groups.column(name).expect("the query has made it");
        let numbers = |name| column(name).i64().expect("it has the type of the values").into_no_null_iter();
        let keys = column("key").u32().expect("it has the type of the keys").into_no_null_iter();
        let counts = column("count").u32().expect("counts have this type").into_no_null_iter();
        let rows = numbers("sum").zip(numbers("most")).zip(counts);
        keys.zip(rows.map(|((sum, most), count)| (sum, most, count))).collect()
    })
}

/// The sum over a table, where each number is multiplied by its key's number in another table.
pub(super) fn join(size: Size) -> Case {
    let mut random = Random(91);
    let (keys, values) = table(&mut random, size.pick(3_000_000, 30_000));
    // Half of the keys.
    let others: Vec<u32> = (0..keys.len() as u32 / 50).filter(|key| key % 2 == 1).rev().collect();
    let factors: Vec<i64> = others.iter().map(|_| random.below(1000) as i64).collect();
    let known: BTreeMap<u32, i64> = others.iter().copied().zip(factors.iter().copied()).collect();
    let expected: i64 =
        keys.iter().zip(&values).filter_map(|(key, value)| Some(value * known.get(key)?)).sum();
    let (left, right) =
        (frame(["key", "value"], &keys, &values), frame(["key", "factor"], &others, &factors));
    Case::of(expected, move || {
        let joined = left.clone().inner_join(right.clone(), col("key"), col("key"));
        let sum = joined.select([(col("value") * col("factor")).sum().alias("sum")]).collect();
        let sum = sum.expect("all columns exist");
        sum.column("sum")
            .expect("the query has made it")
            .i64()
            .expect("it has the type of the values")
            .get(0)
            .unwrap_or(0)
    })
}
