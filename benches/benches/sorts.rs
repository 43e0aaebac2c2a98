//! Sorts of slices against std's and rayon's, over inputs of many shapes.
//!
//! `cargo bench -p furcate-benches --bench sorts`; words after `--` choose rows whose names contain one of them,
//! `ROUNDS=n` more or fewer rounds.
//!
//! Every row is one input, sorted by each contender in turn, round after round; a copy of the input is made before the
//! clock starts. The ratios say how many times faster furcate is: below 1 it has lost. All of rayon's and furcate's are
//! called from outside their pools, as programs call them.

use furcate_benches::{Timed, interleave_timed, mix, rounds};
use std::cmp::Ordering::Equal;
use std::time::{Duration, Instant};

const N: usize = 10_000_000;
const STRINGS: usize = 1_000_000;

/// A sort.
type Sort<T> = fn(&mut [T]);

/// Chooses rows, and prints them.
struct Table {
    rounds: usize,
    chosen: Vec<String>,
}

fn main() {
    let chosen = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let table = Table { rounds: rounds(11), chosen };
    println!(
        "milliseconds, medians of {} interleaved rounds, {} threads",
        table.rounds,
        furcate::current_num_threads()
    );
    println!(
        "{:<9} {:<34} {:>9} {:>9} {:>9} {:>9} {:>11}",
        "", "input", "std", "rayon", "furcate", "std/ours", "rayon/ours"
    );
    numbers(&table);
    strings(&table);
    keys(&table);
}

impl Table {
    fn row<T: Clone + PartialEq>(
        &self,
        kind: &str,
        input: &str,
        make: impl Fn() -> Vec<T>,
        sorts: [Sort<T>; 3],
    ) {
        let name = format!("{kind} {input}");
        if !self.chosen.is_empty() && !self.chosen.iter().any(|word| name.contains(word.as_str())) {
            return;
        }
        let original = make();
        let timed = |sort: Sort<T>| {
            let original = &original;
            Box::new(move || {
                let mut v = original.clone();
                let start = Instant::now();
                sort(&mut v);
                (start.elapsed(), v)
            }) as Box<dyn FnMut() -> (Duration, Vec<T>) + '_>
        };
        let [std, rayon, furcate] = sorts.map(timed);
        let mut contenders: [Timed<'_, Vec<T>>; 3] = [("furcate", furcate), ("std", std), ("rayon", rayon)];
        let medians = interleave_timed(&name, self.rounds, &mut contenders);
        let [furcate, std, rayon] = [0, 1, 2].map(|i| medians.rows[i].1.as_secs_f64() * 1e3);
        println!(
            "{kind:<9} {input:<34} {std:>9.2} {rayon:>9.2} {furcate:>9.2} {:>9.2} {:>11.2}",
            std / furcate,
            rayon / furcate
        );
    }
}

fn random(i: usize) -> u32 {
    mix(i) as u32
}

/// Shapes of inputs of n numbers: names, and the i-th of n.
type Shape = (&'static str, fn(usize, usize) -> u32);

const SHAPES: [Shape; 14] = [
    ("random", |i, _| random(i)),
    ("sorted", |i, _| i as u32),
    ("reversed", |i, n| (n - i) as u32),
    ("16 distinct", |i, _| random(i) % 16),
    ("saw-tooth of 1000", |i, _| (i % 1000) as u32),
    ("saw-tooth of n/10", |i, n| (i % (n / 10)) as u32),
    ("sorted, one out of place", |i, n| if i == n / 3 { n as u32 } else { i as u32 }),
    ("sorted, the last out of place", |i, n| if i == n - 1 { n as u32 / 2 } else { i as u32 }),
    ("sorted, 1000 random at the end", |i, n| if i + 1000 < n { i as u32 } else { random(i) % n as u32 }),
    ("sorted, 1 % random at the end", |i, n| if i < n / 100 * 99 { i as u32 } else { random(i) % n as u32 }),
    ("second half before the first", |i, n| ((i + n / 2) % n) as u32),
    ("organ pipe", |i, n| i.min(n - i) as u32),
    ("mostly ascending", |i, n| mostly_ascending(i, n)),
    ("mostly descending", |i, n| n as u32 - mostly_ascending(i, n)),
];

/// The i-th of the numbers up to n, except that about the square root of n of them are random.
fn mostly_ascending(i: usize, n: usize) -> u32 {
    let value = if random(i) as usize % n.isqrt() == 0 { random(n + i) as usize % n } else { i };
    value as u32
}

fn numbers(table: &Table) {
    for (shape, at) in SHAPES {
        let make = || (0..N).map(|i| at(i, N)).collect::<Vec<u32>>();
        table.row("stable", &format!("10^7 u32, {shape}"), make, stable());
    }
    for (shape, at) in SHAPES {
        let make = || (0..N).map(|i| at(i, N)).collect::<Vec<u32>>();
        table.row("unstable", &format!("10^7 u32, {shape}"), make, unstable());
    }
    for n in [1_000, 10_000, 100_000, 1_000_000] {
        let make = || (0..n).map(random).collect::<Vec<u32>>();
        table.row("stable", &format!("{n} u32, random"), make, stable());
        table.row("unstable", &format!("{n} u32, random"), make, unstable());
    }
    for distinct in [2, 16, 256, 4096, 65_536] {
        for n in [N / 100, N / 10] {
            let make = || (0..n).map(|i| mix(i) % distinct).collect::<Vec<u64>>();
            table.row("stable", &format!("{n} u64, {distinct} distinct"), make, stable());
            table.row("unstable", &format!("{n} u64, {distinct} distinct"), make, unstable());
        }
    }
    let floats = || (0..N / 10).map(|i| mix(i) as f64).collect::<Vec<f64>>();
    let sorts: [Sort<f64>; 3] = [
        |v| v.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(Equal)),
        |v| {
            rayon::slice::ParallelSliceMut::par_sort_unstable_by(v, |a, b| a.partial_cmp(b).unwrap_or(Equal));
        },
        |v| {
            furcate::slice::ParallelSliceMut::par_sort_unstable_by(v, |a, b| {
                a.partial_cmp(b).unwrap_or(Equal)
            });
        },
    ];
    table.row("unstable", "10^6 f64 by partial_cmp, random", floats, sorts);
    let pairs = || (0..N / 5).map(|i| [mix(i), i as u64]).collect::<Vec<_>>();
    table.row("stable", "2 * 10^6 [u64; 2], random", pairs, stable());
    table.row("unstable", "2 * 10^6 [u64; 2], random", pairs, unstable());
    let large = || (0..N / 50).map(|i| [[mix(i); 4], [i as u64; 4]]).collect::<Vec<_>>();
    table.row("stable", "2 * 10^5 [u64; 8], random", large, stable());
    table.row("unstable", "2 * 10^5 [u64; 8], random", large, unstable());
}

fn strings(table: &Table) {
    let make = || (0..STRINGS).map(|i| format!("{:x}", mix(i))).collect::<Vec<String>>();
    table.row("stable", "10^6 String, random", make, stable());
    table.row("unstable", "10^6 String, random", make, unstable());
    let make = || (0..STRINGS).map(|i| format!("{i:07}")).collect::<Vec<String>>();
    table.row("stable", "10^6 String, sorted", make, stable());
    let make = || (0..STRINGS).map(|i| format!("{:07}", STRINGS - i)).collect::<Vec<String>>();
    table.row("stable", "10^6 String, reversed", make, stable());
    let make = || (0..STRINGS).map(|i| format!("common prefix {}", mix(i) % 16)).collect::<Vec<String>>();
    table.row("stable", "10^6 String, 16 distinct", make, stable());
}

fn keys(table: &Table) {
    let make = || (0..STRINGS).map(random).collect::<Vec<u32>>();
    table.row(
        "cached",
        "10^6 u32 by to_string",
        make,
        [
            |v| v.sort_by_cached_key(u32::to_string),
            |v| rayon::slice::ParallelSliceMut::par_sort_by_cached_key(v, u32::to_string),
            |v| furcate::slice::ParallelSliceMut::par_sort_by_cached_key(v, u32::to_string),
        ],
    );
}

fn stable<T: Ord + Send>() -> [Sort<T>; 3] {
    [
        |v| v.sort(),
        |v| rayon::slice::ParallelSliceMut::par_sort(v),
        |v| furcate::slice::ParallelSliceMut::par_sort(v),
    ]
}

fn unstable<T: Ord + Send>() -> [Sort<T>; 3] {
    [
        |v| v.sort_unstable(),
        |v| rayon::slice::ParallelSliceMut::par_sort_unstable(v),
        |v| furcate::slice::ParallelSliceMut::par_sort_unstable(v),
    ]
}
