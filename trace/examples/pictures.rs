//! Draws what the scheduler did in four computations, each into a file of its own: `cargo run --release -p furcate-trace --example pictures [DIRECTORY]`.

use furcate::prelude::*;
use furcate::trace;
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let directory = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let numbers: Vec<u32> = (0..1_000_000_u32).map(|x| x.wrapping_mul(2_654_435_761)).collect();
    // The pool's threads start before the first picture.
    furcate::join(|| (), || ());

    draw(&directory.join("sum.svg"), || numbers.par_iter().map(|x| u64::from(*x % 7)).sum::<u64>())?;
    draw(&directory.join("even-levels.svg"), || {
        numbers.par_iter().map(|x| u64::from(*x % 7)).bound_depth(3).even_levels().force_depth(3).sum::<u64>()
    })?;
    draw(&directory.join("find-first.svg"), || {
        let last = numbers[600_000];
        numbers
            .par_iter()
            .by_blocks(std::iter::successors(Some(20_000), |n| Some(n * 2)))
            .find_first(|x| **x == last)
    })?;
    let mut unsorted = numbers.clone();
    draw(&directory.join("sort.svg"), || unsorted.par_sort())
}

fn draw<R>(path: &Path, f: impl FnOnce() -> R) -> std::io::Result<()> {
    trace::start().expect("no other recording is under way");
    std::hint::black_box(f());
    let trace = trace::stop().expect("a recording is under way");
    std::fs::write(path, furcate_trace::svg(&trace))?;
    println!("{}\n{}", path.display(), trace.summary());
    Ok(())
}
