//! An anytime search: the shortest round trip that can be found until a deadline.
//!
//! Each item is a seed: it shuffles the cities and then turns parts of the trip round as long as that makes it shorter
//! (2-opt). There are far more seeds than anybody waits for. `deadline` ends the search in all tasks, and what comes out
//! is the best trip of those seeds that were done; `stop_on` ends it earlier, when a trip is good enough.

use furcate::iter::Interrupted;
use furcate::policy::CancelToken;
use furcate::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

const CITIES: usize = 80;
const SEEDS: u64 = 1_000_000;

type City = (f64, f64);

/// A round trip: the cities in the order of the visits.
#[derive(Clone, Debug)]
struct Trip {
    length: f64,
    visits: Vec<usize>,
}

/// Cities anywhere in a square, the same ones every time.
fn cities() -> Vec<City> {
    let mut state = 2;
    let mut coordinate = || (random(&mut state) % 10_000) as f64 / 100.0;
    (0..CITIES).map(|_| (coordinate(), coordinate())).collect()
}

fn distance(a: City, b: City) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

/// Random numbers, as good as they need be (splitmix64).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The trip that one seed leads to.
fn search(cities: &[City], seed: u64) -> Trip {
    let n = cities.len();
    let mut visits: Vec<usize> = (0..n).collect();
    let mut state = seed;
    for i in (1..n).rev() {
        visits.swap(i, (random(&mut state) % (i as u64 + 1)) as usize);
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
    let cities = cities();
    let shorter = |a: &Trip, b: &Trip| a.length.total_cmp(&b.length);

    println!("the shortest round trip through {CITIES} cities, of as many seeds as there is time for");
    let mut best = f64::INFINITY;
    for millis in [20, 100, 500] {
        let seeds = AtomicUsize::new(0);
        let begin = Instant::now();
        let found = (0..SEEDS)
            .into_par_iter()
            .map(|seed| {
                let trip = search(&cities, seed);
                seeds.fetch_add(1, Relaxed);
                trip
            })
            .deadline(begin + Duration::from_millis(millis))
            .min_by(shorter);
        // The type does not let us forget that not all was done; here, that is as good.
        let trip = found.unwrap_or_else(Interrupted::into_done).expect("one seed at least");
        assert!(trip.visits.len() == CITIES && trip.length > 0.0);
        best = best.min(trip.length);
        println!(
            "deadline {millis:>4} ms: length {:7.2} of {:>6} seeds, after {:?}",
            trip.length,
            seeds.into_inner(),
            begin.elapsed()
        );
    }

    // Or until it is good enough: a token ends the search from within.
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
        .deadline(begin + Duration::from_secs(2))
        .min_by(shorter);
    match found {
        Ok(trip) => println!("all seeds are done: {:?}", trip.map(|trip| trip.length)),
        Err(interrupted) => println!(
            "{}, after {:?}: length {:7.2}, the goal was {goal:.2}",
            interrupted.reason(),
            begin.elapsed(),
            interrupted.done().as_ref().map_or(f64::INFINITY, |trip| trip.length)
        ),
    }
}
