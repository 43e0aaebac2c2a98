//! Fannkuch-redux by `work`: a schedule that adapts against parts whose number is tuned by hand (Kvik, Section 4.3).
//!
//! `cargo bench -p furcate-benches --bench fannkuch`; `N=n` for other decks than 11 cards, `ROUNDS=n` for more or fewer
//! rounds, `QUICK=1` for 8 cards. With 11 it takes some two minutes.
//!
//! The program is that of `examples/fannkuch`. Static are the parts that `bound_depth(d)` makes, 2^d of the same length,
//! and the best of them is known only after the race. The last column is the best static time over a row's: below 1 the
//! row has lost.

#[path = "../../examples/fannkuch/deck.rs"]
mod deck;

use deck::{Outcome, fannkuch, in_one_loop, total};
use furcate::prelude::*;
use furcate_benches::{Contender, interleave, quick, rounds};

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

/// The published outcomes for 7 cards and more.
const OUTCOMES: [Outcome; 6] = [
    Outcome { checksum: 228, max_flips: 16 },
    Outcome { checksum: 1_616, max_flips: 22 },
    Outcome { checksum: 8_629, max_flips: 30 },
    Outcome { checksum: 73_196, max_flips: 38 },
    Outcome { checksum: 556_355, max_flips: 51 },
    Outcome { checksum: 3_968_050, max_flips: 65 },
];

fn main() {
    let usual = if quick() { 8 } else { 11 };
    let n = std::env::var("N").map_or(usual, |n| n.parse().expect("N is a number"));
    assert!((7..=12).contains(&n), "N is 7 to 12");
    let rounds = rounds(3);

    let published = || {
        let outcome = in_one_loop(n);
        assert_eq!(outcome, OUTCOMES[n - 7], "as published");
        outcome
    };
    let mut contenders: Vec<Contender<'_, Outcome>> = vec![("one loop", Box::new(published))];
    for (depth, name) in (0..).zip(PARTS) {
        contenders.push((name, Box::new(move || total(fannkuch(n).bound_depth(depth).join()))));
    }
    contenders.push(("default", Box::new(|| total(fannkuch(n)))));
    contenders.push(("thief_splitting(2)", Box::new(|| total(fannkuch(n).thief_splitting(2)))));
    contenders.push(("thief_splitting(4)", Box::new(|| total(fannkuch(n).thief_splitting(4)))));
    contenders.push(("adaptive", Box::new(|| total(fannkuch(n).adaptive()))));

    let medians = interleave(&format!("fannkuch({n})"), rounds, &mut contenders);
    let seconds = |i: usize| medians.rows[i].1.as_secs_f64();
    let best = (1..=PARTS.len()).min_by(|&i, &j| seconds(i).total_cmp(&seconds(j))).expect("there are some");
    println!(
        "fannkuch({n}), medians of {rounds} interleaved rounds, {} threads; the best static one makes {}",
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
