//! Searches of 10^8 numbers, on several schedules, against the sequential search and rayon (Kvik, Section 4.1).
//!
//! `cargo bench -p furcate-benches --bench searches`; words after `--` choose tables whose titles contain one of them,
//! `ROUNDS=n` more or fewer rounds, `QUICK=1` small sizes. All tables take some two minutes.
//!
//! A table is one search with one predicate: *cheap* is a comparison, which some loops are vectorized for, *costly* takes
//! some 5 ns (and there are fewer numbers). One of n numbers is the hit; its place is counted from where the search
//! begins, so that `find_last` has it near the end. Each block of a table is one place, and one interleaved run of all
//! rows; calls come from outside the pools. `serial/it` and `rayon/it` say how many times faster than these a row is:
//! below 1 it has lost. For the 20 places, k n/20 - 1, times are totals, ratios are medians of the places' ratios, and in brackets stands
//! the least ratio with its k.

use furcate_benches::record::record;
use furcate_benches::{Choice, Timed, interleave_timed, quick, rounds};
use std::fmt::Debug;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A search for the number given.
type Search<'a, R> = (&'static str, Box<dyn Fn(u32) -> R + 'a>);

/// The rows of all tables.
const ROWS: usize = 8;

/// How many calls in a row are timed, where they are short.
const CALLS: u32 = 200;

/// How many places there are, at even distances: the last one is the end of the numbers, the tenth one that of their first half.
const PLACES: u64 = 20;

/// One search on all schedules; the terminals' names are the same everywhere.
macro_rules! searches {
    ($v:ident, |$number:ident| $serial:expr, |$it:ident| $parallel:expr) => {{
        let searches: [Search<'_, _>; ROWS] = [
            ("serial", Box::new(move |$number: u32| $serial)),
            searches!(@"rayon", rayon, $number, { let $it = $v.par_iter(); $parallel }),
            searches!(@"default", furcate, $number, { let $it = $v.par_iter(); $parallel }),
            searches!(@"join", furcate, $number, { let $it = $v.par_iter().join(); $parallel }),
            searches!(@"adaptive", furcate, $number, { let $it = $v.par_iter().adaptive(); $parallel }),
            searches!(@"thief_splitting", furcate, $number, { let $it = $v.par_iter().thief_splitting(3).join(); $parallel }),
            searches!(@"adaptive by_blocks", furcate, $number, {
                let $it = $v.par_iter().adaptive().by_exponential_blocks();
                $parallel
            }),
            searches!(@"thief_splitting by_blocks", furcate, $number, {
                let $it = $v.par_iter().thief_splitting(3).join().by_exponential_blocks();
                $parallel
            }),
        ];
        searches
    }};
    (@$name:literal, $library:ident, $number:ident, $parallel:block) => {
        ($name, Box::new(move |$number: u32| {
            use $library::prelude::*;
            $parallel
        }))
    };
}

fn main() {
    let mut tables = Tables { rounds: rounds(if quick() { 1 } else { 3 }), choice: Choice::from_args() };
    println!("medians of {} interleaved rounds, {} threads", tables.rounds, furcate::current_num_threads());
    let n = if quick() { 100_000 } else { 100_000_000 };
    // Nothing is to be known about the numbers where the loops are compiled.
    let v = black_box((0..n).collect::<Vec<u32>>());
    tables.of_predicate("cheap", &v, |x| x);
    tables.of_predicate("costly", &v[..v.len() / 20], costly);
    tables.choice.finish();
}

/// Another number for every number, in some 5 ns where the processor computes several at once.
#[inline]
fn costly(mut x: u32) -> u32 {
    for _ in 0..14 {
        x = (x ^ (x >> 15)).wrapping_mul(0x2C1B_3C6D);
    }
    x
}

struct Tables {
    rounds: usize,
    choice: Choice,
}

impl Tables {
    /// All searches for x where `hash(x)` is that of the hit.
    fn of_predicate(&mut self, kind: &str, v: &[u32], hash: impl Fn(u32) -> u32 + Copy + Send + Sync) {
        let is = move |x: u32, number: u32| hash(x) == number;
        let title = |search: &str| format!("{search}, {kind}, {} u32", v.len());
        self.table(
            &title("find_first"),
            v,
            hash,
            searches!(v, |number| v.iter().find(|x| is(**x, number)), |it| it
                .find_first(|x| is(**x, number))),
        );
        self.table(
            &title("all"),
            v,
            hash,
            searches!(
                v,
                |number| v.iter().all(|x| !is(*x, number)), //
                |it| it.all(|x| !is(*x, number))
            ),
        );
        self.table(
            &title("position_first"),
            v,
            hash,
            searches!(v, |number| v.iter().position(|x| is(*x, number)), |it| it
                .position_first(|x| is(*x, number))),
        );
        self.table(
            &title("find_any"),
            v,
            hash,
            searches!(v, |number| v.iter().find(|x| is(**x, number)), |it| it.find_any(|x| is(**x, number))),
        );
        let from_behind = |number: u32| hash(v.len() as u32 - 1 - number);
        self.table(
            &title("find_last"),
            v,
            from_behind,
            searches!(v, |number| v.iter().rfind(|x| is(**x, number)), |it| it
                .find_last(|x| is(**x, number))),
        );
    }

    /// A table: `hit` says what the predicate compares with, for the hit to be at a place.
    fn table<R: PartialEq + Debug>(
        &mut self,
        title: &str,
        v: &[u32],
        hit: impl Fn(u32) -> u32,
        searches: [Search<'_, R>; ROWS],
    ) {
        if !self.choice.has(title) {
            return;
        }
        println!("\n{title}");
        let n = v.len() as u32;
        let times = |name: &str, place: u32| {
            let calls = if place < 100 { CALLS } else { 1 };
            let times = race(&format!("{title}, {name}"), self.rounds, &searches, hit(place), calls);
            block(&searches, name, &[times]);
        };
        // All hash functions are one to one, so no item has this hash.
        let none = race(&format!("{title}, no hit"), self.rounds, &searches, hit(n), 1);
        times("hit at n/2 - 1", n / 2 - 1);
        // A round goes over all places, so that a second in which the machine does something else does not count against one place.
        let rounds: Vec<Vec<[f64; ROWS]>> = (0..self.rounds)
            .map(|_| {
                let places = (1..=PLACES).map(|k| (u64::from(n) * k / PLACES) as u32 - 1);
                places.map(|place| race("", 1, &searches, hit(place), 1)).collect()
            })
            .collect();
        let medians = |place: usize| {
            std::array::from_fn(|row| median(rounds.iter().map(|places| places[place][row]).collect()))
        };
        let places: Vec<[f64; ROWS]> = (0..PLACES as usize).map(medians).collect();
        block(&searches, "20 places", &places);
        // What is a round elsewhere is a place here.
        let of_row = |row: usize| places.iter().map(|times| Duration::from_secs_f64(times[row])).collect();
        let rows = searches.iter().zip(0..).map(|((name, _), row)| (*name, of_row(row)));
        record(&format!("{title}, 20 places"), rows);
        times("hit at 10", 10);
        times("hit at n - 1", n - 1);
        block(&searches, "no hit", &[none]);
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Every row's seconds for one search.
fn race<R: PartialEq>(
    title: &str,
    rounds: usize,
    searches: &[Search<'_, R>],
    number: u32,
    calls: u32,
) -> [f64; ROWS] {
    let mut contenders: Vec<Timed<'_, R>> = Vec::new();
    for (name, search) in searches {
        let run = move || {
            let start = Instant::now();
            let found = search(black_box(number));
            let once = start.elapsed();
            // A search that is short for one contender can be long for another: rayon's `find_last` begins at the
            // front.
            if calls == 1 || once > Duration::from_millis(1) {
                return (once, found);
            }
            let start = Instant::now();
            for _ in 0..calls {
                black_box(search(black_box(number)));
            }
            (start.elapsed() / calls, found)
        };
        contenders.push((name, Box::new(run)));
    }
    let medians = interleave_timed(title, rounds, &mut contenders);
    std::array::from_fn(|row| medians.rows[row].1.as_secs_f64())
}

/// Prints one block, of all rows' seconds at one place or several.
fn block<R>(searches: &[Search<'_, R>], name: &str, places: &[[f64; ROWS]]) {
    let total = |row: usize| places.iter().map(|times| times[row]).sum::<f64>();
    let (scale, unit) = if total(0) < 1e-4 { (1e6, "us") } else { (1e3, "ms") };
    println!("  {name:<28} {unit:>10} {:>16} {:>16}", "serial/it", "rayon/it");
    for (row, (contender, _)) in searches.iter().enumerate() {
        let [serial, rayon] = [0, 1].map(|peer| ratios(places, peer, row));
        println!("    {contender:<26} {:>10.3} {serial:>16} {rayon:>16}", total(row) * scale);
    }
}

/// The median of a peer's times over a row's; of several places, also the least one, and which place it is.
fn ratios(places: &[[f64; ROWS]], peer: usize, row: usize) -> String {
    let mut ratios: Vec<(f64, usize)> =
        places.iter().zip(1..).map(|(times, k)| (times[peer] / times[row], k)).collect();
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ((median, _), (least, k)) = (ratios[ratios.len() / 2], ratios[0]);
    if ratios.len() == 1 { format!("{median:.2}") } else { format!("{median:.2} ({least:.2} at {k})") }
}
