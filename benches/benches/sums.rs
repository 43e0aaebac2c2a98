//! 64-bit sums of 10^8 numbers, bound by memory and by computation; and the cost of a chain of policies.
//!
//! `cargo bench -p furcate-benches --bench sums`; words after `--` choose tables whose names contain one of them,
//! `ROUNDS=n` more or fewer rounds, `QUICK=1` small sizes.
//!
//! Every table is one interleaved run, called from outside the pools. `serial/it` and `rayon/it` say how many times faster
//! than these a row is: below 1 it has lost. `it/best` is its time over that of the fastest row without a chain of
//! policies, `it/adaptive` that of a chain with `adaptive` over `adaptive` alone: what three policies add.

use furcate_benches::{Choice, Contender, interleave, quick, rounds};
use std::hint::black_box;

fn main() {
    let n: u64 = if quick() { 100_000 } else { 100_000_000 };
    let rounds = rounds(if quick() { 3 } else { 21 });
    let mut choice = Choice::from_args();
    println!("medians of {rounds} interleaved rounds, {} threads", furcate::current_num_threads());

    let name = format!("slice of {n} u64");
    if choice.has(&name) {
        let v: Vec<u64> = (0..n).map(hash).collect();
        let v = v.as_slice();
        table(&name, rounds, &mut contenders!(v.iter(), v.par_iter(), |it| it.sum()));
    }
    let name = format!("hashes of {n} numbers");
    if choice.has(&name) {
        // Unknown to the compiler, as lengths are.
        let n = black_box(n);
        table(&name, rounds, &mut contenders!(0..n, (0..n).into_par_iter(), |it| it.map(hash).sum()));
    }
    choice.finish();
}

/// 32 bits that look random, for the price of two multiplications.
fn hash(x: u64) -> u64 {
    let x = x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 32
}

/// How many rows name no policy.
const PLAIN: usize = 6;

/// One sum on all schedules.
macro_rules! contenders {
    ($serial:expr, $parallel:expr, |$it:ident| $sum:expr) => {{
        let contenders: [Contender<'_, u64>; 11] = [
            contenders!(@"serial", { let $it = $serial; $sum }),
            contenders!(@"rayon", { use rayon::prelude::*; let $it = $parallel; $sum }),
            contenders!(@"default", { use furcate::prelude::*; let $it = $parallel; $sum }),
            contenders!(@"join", { use furcate::prelude::*; let $it = $parallel.join(); $sum }),
            contenders!(@"depjoin", { use furcate::prelude::*; let $it = $parallel.depjoin(); $sum }),
            contenders!(@"adaptive", { use furcate::prelude::*; let $it = $parallel.adaptive(); $sum }),
            contenders!(@"bound_depth(20) size_limit(1000) cap(64) adaptive", {
                use furcate::prelude::*;
                let $it = $parallel.bound_depth(20).size_limit(1000).cap(64).adaptive();
                $sum
            }),
            contenders!(@"thief_splitting(4) size_limit(1000) bound_depth(20) adaptive", {
                use furcate::prelude::*;
                let $it = $parallel.thief_splitting(4).size_limit(1000).bound_depth(20).adaptive();
                $sum
            }),
            contenders!(@"bound_depth(20) size_limit(1000) cap(64)", {
                use furcate::prelude::*;
                let $it = $parallel.bound_depth(20).size_limit(1000).cap(64);
                $sum
            }),
            contenders!(@"thief_splitting(4) size_limit(1000) bound_depth(20)", {
                use furcate::prelude::*;
                let $it = $parallel.thief_splitting(4).size_limit(1000).bound_depth(20);
                $sum
            }),
            contenders!(@"thief_splitting(4) size_limit(1000) bound_depth(20) depjoin", {
                use furcate::prelude::*;
                let $it = $parallel.thief_splitting(4).size_limit(1000).bound_depth(20).depjoin();
                $sum
            }),
        ];
        contenders
    }};
    (@$name:literal, $sum:block) => { ($name, Box::new(|| $sum)) };
}
use contenders;

fn table(name: &str, rounds: usize, contenders: &mut [Contender<'_, u64>]) {
    let medians = interleave(name, rounds, contenders);
    let seconds = |row: &str| {
        let (_, median) = medians.rows.iter().find(|(name, _)| *name == row).expect("there is such a row");
        median.as_secs_f64()
    };
    let best = medians.rows[..PLAIN].iter().min_by_key(|(_, median)| *median).expect("there are some").0;
    println!("\n{name}; the fastest plain row is {best}");
    println!(
        "{:<60} {:>9} {:>9} {:>9} {:>8} {:>12}",
        "", "ms", "serial/it", "rayon/it", "it/best", "it/adaptive"
    );
    for (row, median) in &medians.rows {
        let it = median.as_secs_f64();
        let over_adaptive = if row.ends_with("adaptive") {
            format!("{:.3}", it / seconds("adaptive"))
        } else {
            String::new()
        };
        println!(
            "{row:<60} {:>9.3} {:>9.2} {:>9.2} {:>8.3} {over_adaptive:>12}",
            it * 1e3,
            seconds("serial") / it,
            seconds("rayon") / it,
            it / seconds(best),
        );
    }
}
