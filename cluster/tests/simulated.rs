//! Simulated ranks: RecPFor by every way to steal, and with faults.
//!
//! ```console
//! RUSTFLAGS="--cfg furcate_sim" cargo test --release -p furcate-cluster --test simulated
//! ```

#![cfg(furcate_sim)]

#[path = "../examples/support/simulated.rs"]
mod support;

use furcate::prelude::*;
use furcate_cluster::frame::Frames;
use furcate_cluster::{Faults, Simulated, SpreadOver, World};
use furcate_sim::{Machine, simulate, work};
use std::time::Duration;
use support::{End, LOOPS, RecPFor, faulty};

/// Child stealing needs more steals than continuation stealing, because its joins are blocked more often.
#[test]
fn each_way_to_steal_gives_the_result() {
    let run = |variant: fn(Frames<'_>) -> Frames<'_>| {
        let run = simulate(Machine::RANKS.with_cores(9), 1, move || {
            Simulated::new(8).run(|world| {
                let root = RecPFor::Loops { len: 128, left: LOOPS, sum: 0 };
                assert_eq!(variant(Frames::new(world)).run(root, &()), 5 * 128 * 8);
                world.counts().blocked
            })
        });
        run.result.iter().sum::<u64>()
    };
    let greedy = run(|frames| frames);
    let [stalling, full, rtc] = [
        run(|frames| frames.stalling()),
        run(|frames| frames.child_stealing()),
        run(|frames| frames.run_to_completion()),
    ];
    assert!(greedy.max(stalling) < full.min(rtc), "{greedy} {stalling} {full} {rtc}");
}

/// A request that comes before its victim begins the call is served in the call. (The thief has withdrawn it, and sends no other one.)
#[test]
fn an_early_thief_gets_frames() {
    let run = simulate(Machine::RANKS.with_cores(3), 1, || {
        Simulated::new(2).run(|world| {
            Frames::new(world).run(RecPFor::Add(0), &());
            if world.is_root() {
                work(Duration::from_millis(10));
            }
            Frames::new(world).run(RecPFor::Loops { len: 64, left: LOOPS, sum: 0 }, &());
            world.counts().won
        })
    });
    assert!(run.result[1] > 0, "{:?}", run.result);
}

/// A rank that reads its mail more slowly than requests come does its part of a call all the same.
#[test]
fn a_slow_rank_is_not_kept_by_requests() {
    let run = |program: fn(&World) -> u64| {
        simulate(Machine::RANKS.with_cores(17), 1, move || {
            let faults = Faults { slow: Some((0, Duration::from_micros(500))), ..Faults::default() };
            Simulated::new(16).faults(faults).timeout(Duration::from_secs(2)).run(program)
        })
    };
    let sum = run(|world| (0..200_u64).into_par_iter().map(|x| x).spread(world).sum::<u64>());
    assert_eq!(sum.result, [19_900; 16]);
    let leaves = run(|world| Frames::new(world).run(RecPFor::Loops { len: 4, left: LOOPS, sum: 0 }, &()));
    assert_eq!(leaves.result, [60; 16]);
}

/// Each rank of a run ends as documented for its faults. See [`faulty`].
#[test]
fn faults_end_as_documented() {
    let ends = (0..300).map(|seed| {
        let ends = std::thread::spawn(move || faulty(seed))
            .join()
            .unwrap_or_else(|_| panic!("seed {seed} has panicked"));
        ends.into_iter()
            .map(move |end| end.unwrap_or_else(|text| panic!("seed {seed}: {text}")))
            .collect::<Vec<_>>()
    });
    let ends: Vec<End> = ends.flatten().collect();
    for end in [End::Right, End::Died, End::TimedOut, End::Malformed] {
        assert!(ends.contains(&end), "no rank ends as {end:?}");
    }
}
