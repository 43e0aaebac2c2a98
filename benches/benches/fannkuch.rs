//! Fannkuch-redux by `work`: a schedule that adapts against parts whose number is tuned by hand (Kvik, Section 4.3).
//!
//! `cargo bench -p furcate-benches --bench fannkuch`; `N=n` for other decks than 11 cards, `ROUNDS=n` for more or fewer
//! rounds, `QUICK=1` for 8 cards. With 11 it takes some two minutes. `PAPER=1` takes 13 cards and the paper's rows only, an hour.
//!
//! The program is that of `examples/fannkuch`. Static are the parts that `bound_depth(d)` makes, 2^d of the same length,
//! and the best of them is known only after the race. The last column is the best static time over a row's: below 1 the
//! row has lost.

#[path = "../../examples/fannkuch/deck.rs"]
mod deck;

use deck::{Outcome, fannkuch, in_one_loop, total};
use furcate::prelude::*;
use furcate_benches::{Contender, interleave, paper, quick, rounds};

/// Names of the static rows; the d-th makes 2^d parts.
const PARTS: [&str; 11] = [
    "1 part",
    "2 parts",
    "4 parts",
    "8 parts",
    "16 parts",
    "32 parts",
    "64 parts",
    "128 parts",
    "256 parts",
    "512 parts",
    "1024 parts",
];

/// Name of the row of rayon.
const RAYON: &str = "rayon, static";

/// The published checksums of 7 to 12 cards.
const CHECKSUMS: [i64; 6] = [228, 1_616, 8_629, 73_196, 556_355, 3_968_050];

/// The published greatest numbers of flips of 7 cards and more.
const FLIPS: [u32; 7] = [16, 22, 30, 38, 51, 65, 80];

/// The program of the benchmarks game in Rust: a loop of rayon's over parts, eight for each thread, the best number in Kvik's paper.
fn by_rayon(n: usize) -> Outcome {
    use rayon::iter::{IntoParallelIterator, ParallelIterator};
    let parts = 8 * rayon::current_num_threads() as u64;
    let outcomes = IntoParallelIterator::into_par_iter(0..parts).map(|part| in_one_loop(n, part, parts));
    outcomes.reduce(Outcome::default, Outcome::and)
}

fn main() {
    let usual = match quick() {
        true => 8,
        false if paper() => 13,
        false => 11,
    };
    let n = std::env::var("N").map_or(usual, |n| n.parse().expect("N is a number"));
    assert!((7..=13).contains(&n), "N is 7 to 13");
    let rounds = rounds(3);

    let published = || {
        let outcome = in_one_loop(n, 0, 1);
        assert_eq!(outcome.max_flips, FLIPS[n - 7], "as published");
        assert!(n > 12 || outcome.checksum == CHECKSUMS[n - 7], "as published");
        outcome
    };
    let mut contenders: Vec<Contender<'_, Outcome>> = vec![("one loop", Box::new(published))];
    let parts = if paper() { &[][..] } else { &PARTS };
    for (depth, &name) in (0..).zip(parts) {
        contenders.push((name, Box::new(move || total(fannkuch(n).bound_depth(depth).join()))));
    }
    contenders.push(("default", Box::new(|| total(fannkuch(n)))));
    contenders.push(("thief_splitting(2)", Box::new(|| total(fannkuch(n).thief_splitting(2)))));
    contenders.push(("thief_splitting(4)", Box::new(|| total(fannkuch(n).thief_splitting(4)))));
    contenders.push(("adaptive", Box::new(|| total(fannkuch(n).adaptive()))));
    contenders.push((RAYON, Box::new(|| by_rayon(n))));

    let medians = interleave(&format!("fannkuch({n})"), rounds, &mut contenders);
    let seconds = |i: usize| medians.rows[i].1.as_secs_f64();
    let is_static = |i: &usize| (1..=parts.len()).contains(i) || medians.rows[*i].0 == RAYON;
    let all = (1..medians.rows.len()).filter(is_static);
    let best = all.min_by(|&i, &j| seconds(i).total_cmp(&seconds(j))).expect("there are some");
    println!(
        "fannkuch({n}), medians of {rounds} interleaved rounds, {} threads; the best static one is `{}`",
        furcate::current_num_threads(),
        medians.rows[best].0
    );
    println!("{:<20} {:>10} {:>9} {:>9}", "", "ms", "loop/it", "best/it");
    for (i, (name, _)) in medians.rows.iter().enumerate() {
        println!(
            "{name:<20} {:>10.2} {:>9.2} {:>9.3}",
            seconds(i) * 1e3,
            seconds(0) / seconds(i),
            seconds(best) / seconds(i)
        );
    }
}
