//! I1, generated: schedulers x policies x places x sources x adaptors x terminals equal the sequential iterator.
//!
//! Chains are put together at run time, of the library's own methods on erased iterators (`erased`), so that compile
//! time does not limit the choice. The test tries:
//!
//! * **Exhaustive:** every scheduler (none, `join`, `depjoin`, `adaptive`, `adaptive` with `nano_blocks`, `sequential`,
//!   one in the place of another), each alone and under every kind of blocks, x every ordered pair of policies, each
//!   policy alone, and none, x every place (from outside, pools of 1, 2, 3 and 8 threads, and an engine that steals at
//!   random). With `--cfg furcate_rayon` the pools are rayon's.
//! * **All pairs:** any two of scheduler, blocks, first and second policy, place, source, first and second adaptor,
//!   terminal, length, and where in the chain policies and scheduler are named, meet in some case, unless they do not
//!   fit together. The test checks that they do.
//! * **Sampled:** all else, and chains of up to eight adaptors, by a seed that is printed. `FURCATE_SEED` sets it, and
//!   `FURCATE_CASES` the number of long chains.
//!
//! Behavior that depends on the types of a chain is left to the tests of static chains (`tests/all/chains.rs`, every pair
//! of adaptors).

mod cases;
mod chain;
mod covering;
mod erased;
mod schedule;
pub(crate) mod terminals;

use self::cases::Case;
use covering::Covering;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use testkit::Random;

/// The number of an environment variable, if it is set.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Runs cases in a thread of its own, and fails, instead of hanging, when one takes too long.
fn run(what: &str, seed: u64, cases: impl FnOnce(&mut Random, &mut dyn FnMut(&Case)) + Send + 'static) {
    let since = Instant::now();
    let now: Arc<Mutex<Option<Case>>> = Arc::default();
    let running = Arc::clone(&now);
    let (done, next) = mpsc::channel();
    let runner = thread::spawn(move || {
        cases(&mut Random(seed), &mut |case| {
            *running.lock().unwrap() = Some(case.clone());
            case.check();
            done.send(()).expect("somebody waits");
        });
    });
    let mut count = 0;
    loop {
        match next.recv_timeout(Duration::from_secs(60)) {
            Ok(()) => count += 1,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("hangs, with seed {seed}: {:?}", now.lock()),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    if runner.join().is_err() {
        panic!("failed, with seed {seed}, case {count}");
    }
    println!("{count} {what} in {:?}, seed {seed}", since.elapsed());
}

#[test]
fn every_scheduler_under_every_pair_of_policies_and_all_pairs_of_anything() {
    run("combinations", setting("FURCATE_SEED", 1), |random, check| {
        let mut covering = Covering::new();
        for (scheduler, blocks) in cases::schedulers() {
            for (first, second) in cases::pairs_of_policies() {
                for place in cases::places() {
                    check(&Case::covering(&mut covering, random, [scheduler, blocks, first, second], place));
                }
            }
        }
        covering.assert_complete();
    });
}

#[test]
fn long_chains() {
    run("long chains", setting("FURCATE_SEED", 1), |random, check| {
        for _ in 0..setting("FURCATE_CASES", 10_000) {
            check(&Case::long(random));
        }
    });
}
