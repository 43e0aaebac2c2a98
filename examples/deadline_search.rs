//! An anytime search: the shortest round trip that can be found until a deadline.
//!
//! `cargo run --release --example deadline_search -- [CITIES [MILLISECONDS]]` searches in a random map.
//!
//! Each item is a seed: it shuffles the cities, and then reverses parts of the trip as long as that makes the trip shorter
//! (2-opt). There are far more seeds than time. `deadline` ends the search in all tasks, and the result is the best trip
//! of the seeds that were done. `stop_on` ends the search earlier, when a trip is good enough.

mod common;

use clap::Parser;
use common::arguments::Bounds;
use common::output::{grouped, line};
use common::progress::Progress;
use common::random::Random;
use common::table::{Cell, Table, time};
use furcate::iter::Interrupted;
use furcate::policy::CancelToken;
use furcate::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

const SEEDS: u64 = 1_000_000;

/// The time of a seed grows with the third power: 500 cities take some 0.1 s.
const CITIES: Bounds<usize> = Bounds::new(5, 500);
const MILLISECONDS: Bounds<u64> = Bounds::new(1, 60_000);

/// Searches the shortest round trip through some cities, until a deadline.
#[derive(Parser)]
struct Arguments {
    #[arg(default_value_t = 80, value_parser = CITIES.parser(), help = CITIES.help("Number of cities"))]
    cities: usize,

    #[arg(default_value_t = 500, value_parser = MILLISECONDS.parser(),
          help = MILLISECONDS.help("The longest deadline in milliseconds"))]
    milliseconds: u64,
}

type City = (f64, f64);

/// A round trip: the cities in the order of the visits.
#[derive(Clone, Debug)]
struct Trip {
    length: f64,
    visits: Vec<usize>,
}

/// Cities anywhere in a square of 100 by 100, the same ones in every run.
fn cities(n: usize) -> Vec<City> {
    let mut random = Random(2);
    let mut coordinate = || random.below(10_000) as f64 / 100.0;
    (0..n).map(|_| (coordinate(), coordinate())).collect()
}

fn distance(a: City, b: City) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

/// Returns the trip that one seed leads to.
fn search(cities: &[City], seed: u64) -> Trip {
    let n = cities.len();
    let mut visits: Vec<usize> = (0..n).collect();
    let mut random = Random(seed);
    for i in (1..n).rev() {
        visits.swap(i, random.below(i as u64 + 1) as usize);
    }
    let leg = |visits: &[usize], i: usize, j: usize| distance(cities[visits[i]], cities[visits[j % n]]);
    let mut better = true;
    while better {
        better = false;
        for i in 0..n - 1 {
            for j in i + 1..n {
                let before = leg(&visits, i, i + 1) + leg(&visits, j, j + 1);
                let after = leg(&visits, i, j) + leg(&visits, i + 1, j + 1);
                if after < before - 1e-9 {
                    visits[i + 1..=j].reverse();
                    better = true;
                }
            }
        }
    }
    Trip { length: (0..n).map(|i| leg(&visits, i, i + 1)).sum(), visits }
}

fn main() {
    let Arguments { cities: n, milliseconds } = Arguments::parse();
    let cities = cities(n);
    let shorter = |a: &Trip, b: &Trip| a.length.total_cmp(&b.length);
    let length = |trip: Option<&Trip>| trip.map_or("none".into(), |trip| format!("{:.2}", trip.length));

    let deadlines = [(milliseconds / 25).max(1), (milliseconds / 5).max(1), milliseconds];
    let progress = Progress::new("deadline_search", deadlines.len() + 1);
    let mut table = Table::new(["length", "seeds", "time"]);
    let mut best = f64::INFINITY;
    for deadline in deadlines {
        let seeds = AtomicUsize::new(0);
        let begin = Instant::now();
        let found = (0..SEEDS)
            .into_par_iter()
            .map(|seed| {
                let trip = search(&cities, seed);
                seeds.fetch_add(1, Relaxed);
                trip
            })
            .deadline(begin + Duration::from_millis(deadline))
            .min_by(shorter);
        // The type is a reminder that not all seeds were processed. Here the best trip of some seeds is good enough.
        let trip = found.unwrap_or_else(Interrupted::into_done);
        let elapsed = begin.elapsed();
        if let Some(trip) = &trip {
            assert!(trip.visits.len() == n && trip.length > 0.0);
            best = best.min(trip.length);
        }
        table.row(
            format!("deadline {deadline} ms"),
            [Cell::Text(length(trip.as_ref())), Cell::Count(seeds.into_inner() as u64), Cell::Time(elapsed)],
        );
        progress.step();
    }

    // The search can also end at a trip that is good enough: a token ends the search from within.
    let token = CancelToken::new();
    let goal = best * 1.01;
    let begin = Instant::now();
    let found = (0..SEEDS)
        .into_par_iter()
        .map(|seed| search(&cities, SEEDS + seed))
        .inspect(|trip| {
            if trip.length <= goal {
                token.cancel();
            }
        })
        .stop_on(&token)
        .deadline(begin + Duration::from_millis(4 * milliseconds))
        .min_by(shorter);
    let elapsed = time(begin.elapsed());
    drop(progress);
    line(format_args!("the shortest round trip through {} cities\n\n{table}\n", grouped(n)));
    match found {
        Ok(trip) => {
            line(format_args!("all seeds are done after {elapsed}: length {}", length(trip.as_ref())))
        }
        Err(interrupted) => line(format_args!(
            "goal {goal:.2}: {} after {elapsed}, with length {}",
            interrupted.reason(),
            length(interrupted.done().as_ref())
        )),
    }
}
