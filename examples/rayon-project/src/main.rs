//! A project on rayon, ndarray and indexmap. One line of its `Cargo.toml`, the patch, runs all of them on furcate's pool.
//!
//! ```text
//! cargo run --release --manifest-path examples/rayon-project/Cargo.toml
//! ```

use indexmap::IndexMap;
use ndarray::Array2;
use std::time::Duration;

/// The part of the project that has always used rayon.
mod with_rayon {
    use super::*;
    use ndarray::Zip;
    use rayon::prelude::*;

    /// Returns the sorted Collatz steps of all numbers, by rayon's iterators.
    pub fn steps(numbers: u64) -> Vec<u32> {
        let steps = |n| {
            std::iter::successors(Some(n), |&n| (n > 1).then(|| if n % 2 == 0 { n / 2 } else { 3 * n + 1 }))
        };
        let mut all: Vec<u32> = (1..=numbers).into_par_iter().map(|n| steps(n).count() as u32 - 1).collect();
        all.par_sort_unstable();
        all
    }

    /// Maps each word to its length, by indexmap, which is built on rayon.
    pub fn lengths(text: &str) -> IndexMap<&str, usize> {
        text.par_split_whitespace().map(|word| (word, word.len())).collect()
    }

    /// Computes a distance for each cell of a grid, by ndarray, which is built on rayon.
    pub fn distances(side: usize) -> f64 {
        let mut grid = Array2::<f64>::zeros((side, side));
        Zip::indexed(&mut grid).par_for_each(|(x, y), cell| *cell = (x as f64).hypot(y as f64));
        grid.par_iter().cloned().reduce(|| 0.0, f64::max)
    }
}

/// The first chain that the project has moved to furcate: rayon cannot wait without a thread.
mod with_furcate {
    use super::*;
    use furcate::prelude::*;

    /// Asks a slow server for each length. 200 requests wait at once, and no thread does.
    pub fn ask(lengths: &IndexMap<&str, usize>) -> usize {
        (0..200_usize)
            .into_par_iter()
            .map(|i| async move {
                async_io::Timer::after(Duration::from_millis(20)).await;
                i
            })
            .io_await()
            // Behind the wait: one of rayon's iterators, in the same pool.
            .map(|i| rayon::iter::ParallelIterator::sum::<usize>(lengths.par_values()) * (i % 2))
            .sum()
    }
}

fn main() {
    let steps = with_rayon::steps(100_000);
    println!(
        "rayon:    the longest of {} Collatz sequences has {} steps",
        steps.len(),
        steps[steps.len() - 1]
    );

    let lengths = with_rayon::lengths("one two three four five six seven eight nine ten two three");
    println!(
        "indexmap: {} different words, the first is {:?}",
        lengths.len(),
        lengths.keys().next().unwrap()
    );

    println!("ndarray:  the farthest cell is {:.1} away", with_rayon::distances(301));

    println!("furcate:  the answers sum up to {}", with_furcate::ask(&lengths));

    // Both names stand for one pool.
    assert_eq!(rayon::current_num_threads(), furcate::current_num_threads());
    let jobs = furcate::global_stats().total();
    println!("one pool of {} threads ran all of it: {} forks", rayon::current_num_threads(), jobs.forks);
    assert!(jobs.forks > 0, "rayon's forks are furcate's");
}
