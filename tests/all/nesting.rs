//! I6: a chain on one worker never hangs, whatever the scheduler, also inside another chain's closure and after a
//! `yield_now`. Every test runs under a watchdog.

#[cfg(not(furcate_rayon))]
use furcate as engine;
use furcate::prelude::*;
use furcate::{ByBlocks, Doubling, Inline, Join, Sequential};
#[cfg(furcate_rayon)]
use rayon as engine;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Runs a function on pools of 1, 2 and 3 threads, and from outside. Panics if it takes absurdly long.
fn within_reach(run: impl Fn() -> u64 + Send + Sync + Clone + 'static, expected: u64) {
    for threads in [0, 1, 2, 3] {
        let (done, result) = mpsc::channel();
        let run = run.clone();
        thread::spawn(move || {
            let value = if threads == 0 {
                run()
            } else {
                engine::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&run)
            };
            done.send(value).unwrap();
        });
        let value = result.recv_timeout(Duration::from_secs(60));
        assert_eq!(value, Ok(expected), "on {threads} threads (0: from outside)");
    }
}

/// A chain in every closure of a chain.
macro_rules! nested {
    ($name:ident, $(.$schedule:ident($($argument:expr),*))*) => {
        #[test]
        fn $name() {
            fn inner(n: u64) -> u64 {
                (0..n).into_par_iter()$(.$schedule($($argument),*))*.map(|x| x % 3).sum()
            }
            within_reach(
                || {
                    (0..100_u64)
                        .into_par_iter()
                        $(.$schedule($($argument),*))*
                        .filter(|&x| inner(x) < 1000)
                        .map(|x| {
                            rayon::yield_now();
                            inner(x + 10) + inner(5)
                        })
                        .fold(|| inner(1), |sum, x| sum + x + inner(2) - 1)
                        .reduce(|| inner(1), |a, b| a + b + inner(2) - 1)
                },
                (10..110_u64).map(|n| (0..n).map(|x| x % 3).sum::<u64>() + 4).sum(),
            );
        }
    };
}

nested!(default_schedule,);
nested!(sequential, .with_scheduler(Sequential));
nested!(by_blocks, .with_scheduler(ByBlocks::new(Join, Doubling)));
nested!(join, .with_scheduler(Join));
nested!(deep, .size_limit(1));
nested!(few_tasks, .size_limit(1).cap(2));
nested!(forced, .force_depth(5).even_levels().cap(1));
nested!(by_steals, .thief_splitting(2).join_context_policy(9));
nested!(inline, .on(Inline).size_limit(3));

/// A wrapped piece that is divided again inside.
#[test]
fn pieces_in_pieces() {
    within_reach(
        || {
            (0..1000_u64)
                .wrap_iter()
                .size_limit(50)
                .map(|piece| piece.wrap_iter().bound_depth(3).map(|p| p.sum::<u64>()).sum::<u64>())
                .sum()
        },
        499_500,
    );
}

/// A search inside a search, with early ends.
#[test]
fn searches_in_searches() {
    within_reach(
        || {
            let divisors = |n: u64| (2..n).into_par_iter().find_first(|&d| n.is_multiple_of(d));
            let prime = (2..1000_u64).into_par_iter().find_last(|&n| divisors(n).is_none());
            let composite = (2..1000_u64).into_par_iter().any(|n| divisors(n) == Some(31));
            prime.unwrap() + u64::from(composite)
        },
        997 + 1,
    );
}
