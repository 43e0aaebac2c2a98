//! The foundation's two promises.
//!
//! 1. A leaf runs as fast as the sequential loop: furcate under `sequential()` against std's iterator, one thread.
//! 2. A whole call costs what rayon's costs: the same chain on the same pool.
//!
//! `cargo bench -p furcate-benches --bench foundation`; `ROUNDS=n` for more or fewer rounds.

use furcate_benches::{Medians, interleave, rounds};

const N: usize = 10_000_000;

fn main() {
    // `cargo bench` and `cargo test` hand over flags of their own harness; there is nothing to choose here.
    let rounds = rounds(101);
    let v: Vec<u64> = (0..N as u64).map(|x| x.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20).collect();
    let w: Vec<u64> = v.iter().rev().copied().collect();

    println!(
        "{N} elements, {} threads, medians of {rounds} interleaved rounds\n",
        rayon::current_num_threads()
    );
    leaves(&v, &w, rounds);
    whole_calls(&v, &w, rounds);
}

fn header(title: &str, peer: &str) {
    println!("{title}");
    println!("{:<50} {:>10} {:>10} {:>8}", "", "furcate", peer, "ratio");
}

fn row(name: &str, medians: &Medians) {
    let [(_, furcate), (_, peer)] = medians.rows[..] else { unreachable!("two contenders") };
    println!(
        "{name:<50} {:>7.3} ms {:>7.3} ms {:>8.3}",
        furcate.as_secs_f64() * 1e3,
        peer.as_secs_f64() * 1e3,
        furcate.as_secs_f64() / peer.as_secs_f64()
    );
}

/// Runs two expressions against each other.
macro_rules! duel {
    ($rounds:expr, $name:expr, $ours:expr, $theirs:expr) => {
        row(
            $name,
            &interleave(
                $name,
                $rounds,
                &mut [("furcate", Box::new(|| $ours)), ("peer", Box::new(|| $theirs))],
            ),
        )
    };
}

/// Furcate's sequential scheduler against std.
fn leaves(v: &[u64], w: &[u64], rounds: usize) {
    use furcate::prelude::*;
    // Unknown to the compiler, as lengths usually are. Otherwise the compiler specializes inlined code for this very
    // number.
    let n = std::hint::black_box(N as u64);
    header("One leaf against the sequential loop (ratio <= 1.05 is the goal)", "std");
    duel!(
        rounds,
        "(0..n).map().filter().sum(), u64",
        (0..n).into_par_iter().sequential().map(|x| x * 3).filter(|x| x % 2 == 0).sum::<u64>(),
        (0..n).map(|x| x * 3).filter(|x| x % 2 == 0).sum::<u64>()
    );
    duel!(
        rounds,
        "(1..=n).map().filter().sum(), u64",
        (1..=n).into_par_iter().sequential().map(|x| x * 3).filter(|x| x % 2 == 0).sum::<u64>(),
        (1..=n).map(|x| x * 3).filter(|x| x % 2 == 0).sum::<u64>()
    );
    duel!(
        rounds,
        "(1..=n).map().sum(), u32",
        (1..=n as u32).into_par_iter().sequential().map(|x| u64::from(x ^ 0x55)).sum::<u64>(),
        (1..=n as u32).map(|x| u64::from(x ^ 0x55)).sum::<u64>()
    );
    duel!(
        rounds,
        "(0..n).map().filter().map().sum(), u32",
        (0..n as u32)
            .into_par_iter()
            .sequential()
            .map(|x| x.wrapping_mul(3))
            .filter(|x| x & 0x10 == 0)
            .map(u64::from)
            .sum::<u64>(),
        (0..n as u32).map(|x| x.wrapping_mul(3)).filter(|x| x & 0x10 == 0).map(u64::from).sum::<u64>()
    );
    duel!(
        rounds,
        "(0..n).map().filter().sum(), u32, parity",
        (0..n as u32)
            .into_par_iter()
            .sequential()
            .map(|x| x.wrapping_mul(3))
            .filter(|x| x % 2 == 0)
            .map(u64::from)
            .sum::<u64>(),
        (0..n as u32).map(|x| x.wrapping_mul(3)).filter(|x| x % 2 == 0).map(u64::from).sum::<u64>()
    );
    duel!(rounds, "slice.sum()", v.par_iter().sequential().sum::<u64>(), v.iter().sum::<u64>());
    duel!(
        rounds,
        "slice.zip(slice).map().sum()",
        v.par_iter().sequential().zip(w).map(|(a, b)| a ^ b).sum::<u64>(),
        v.iter().zip(w).map(|(a, b)| a ^ b).sum::<u64>()
    );
    duel!(
        rounds,
        "slice.chunks(1000).map(sum).max()",
        v.par_chunks(1000).sequential().map(|c| c.iter().sum::<u64>()).max(),
        v.chunks(1000).map(|c| c.iter().sum::<u64>()).max()
    );
    duel!(
        rounds,
        "slice.map().collect()",
        v.par_iter().sequential().map(|x| x * 3).collect::<Vec<u64>>(),
        v.iter().map(|x| x * 3).collect::<Vec<u64>>()
    );
    println!();
}

/// The same chain in furcate and in rayon.
macro_rules! same {
    ($rounds:expr, $name:expr, |$($captured:ident),*| $chain:expr) => {
        duel!(
            $rounds,
            $name,
            {
                use furcate::prelude::*;
                $(let $captured = $captured;)*
                $chain
            },
            {
                use rayon::prelude::*;
                $(let $captured = $captured;)*
                $chain
            }
        )
    };
}

/// Furcate's defaults against rayon's, on rayon's pool.
fn whole_calls(v: &[u64], w: &[u64], rounds: usize) {
    header("Whole calls from outside the pool (ratio <= 1.05 is the goal)", "rayon");
    same!(rounds, "par_iter().sum()", |v| v.par_iter().sum::<u64>());
    same!(rounds, "par_iter().map().collect()", |v| v.par_iter().map(|x| x * 3).collect::<Vec<u64>>());
    same!(rounds, "par_iter().zip().map().sum()", |v, w| {
        v.par_iter().zip(w).map(|(a, b)| a ^ b).sum::<u64>()
    });
    same!(rounds, "par_iter().filter().count()", |v| v.par_iter().filter(|x| **x % 3 == 0).count());
    same!(rounds, "par_iter().filter().collect()", |v| {
        v.par_iter().filter(|x| **x % 3 == 0).copied().collect::<Vec<u64>>()
    });
    same!(rounds, "(0..n).map().filter().sum()", |v| {
        (0..v.len()).into_par_iter().map(|x| x * 3).filter(|x| x % 2 == 0).sum::<usize>()
    });
    same!(rounds, "n / 20 times flat_map(0..20).map().sum()", |v| {
        (0..v.len() / 20).into_par_iter().flat_map(|x| x..x + 20).map(|x| x ^ (x >> 3)).sum::<usize>()
    });
    same!(rounds, "once flat_map(0..n).map().sum() (rayon divides it)", |v| {
        (0..1).into_par_iter().flat_map(|_| 0..v.len()).map(|x| x ^ (x >> 3)).sum::<usize>()
    });
    same!(rounds, "par_chunks(1000).map(sum).max()", |v| {
        v.par_chunks(1000).map(|c| c.iter().sum::<u64>()).max()
    });
    println!();

    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("two threads can be started");
    header("Whole calls from inside a pool of 2 threads", "rayon");
    pool.install(|| {
        same!(rounds, "par_iter().sum()", |v| v.par_iter().sum::<u64>());
        same!(rounds, "par_iter().map().collect()", |v| {
            v.par_iter().map(|x| x * 3).collect::<Vec<u64>>()
        });
        same!(rounds, "par_iter().filter().count()", |v| v.par_iter().filter(|x| **x % 3 == 0).count());
    });
    println!();

    let few = &v[..1000];
    header("Small calls: 1000 elements, from outside", "rayon");
    same!(rounds * 50, "par_iter().sum()", |few| few.par_iter().sum::<u64>());
}
