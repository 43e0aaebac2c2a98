//! RecPFor of Shiina and Taura (IEEE Cluster 2022) on simulated ranks, and its runs with faults.

use furcate::prelude::*;
use furcate_cluster::frame::{Frame, FrameContext, Frames, Next};
use furcate_cluster::{Died, Faults, Simulated, SpreadOver};
use furcate_sim::{Machine, simulate, work};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Time of a leaf.
pub(crate) const LEAF: Duration = Duration::from_micros(10);
/// Loops on each level.
pub(crate) const LOOPS: u32 = 5;

/// A state of the computation.
#[derive(Serialize, Deserialize)]
pub(crate) enum RecPFor {
    /// Some loops are left, then the halves.
    Loops { len: u64, left: u32, sum: u64 },
    /// A part of a loop.
    Loop { len: u64 },
    /// Adds results to a sum.
    Add(u64),
}

impl Frame for RecPFor {
    type Output = u64;
    type Data = ();

    fn step(self, results: Vec<u64>, _: &mut FrameContext<'_, Self>) -> Next<Self> {
        let results: u64 = results.into_iter().sum();
        match self {
            RecPFor::Loops { len, left: 0, sum } if len > 1 => {
                let half = |len| RecPFor::Loops { len, left: LOOPS, sum: 0 };
                Next::join([half(len / 2), half(len - len / 2)], RecPFor::Add(sum + results))
            }
            RecPFor::Loops { left: 0, sum, .. } | RecPFor::Add(sum) => Next::Return(sum + results),
            RecPFor::Loops { len, left, sum } => {
                let then = RecPFor::Loops { len, left: left - 1, sum: sum + results };
                Next::join([RecPFor::Loop { len }], then)
            }
            RecPFor::Loop { len: 1 } => {
                work(LEAF);
                Next::Return(1)
            }
            RecPFor::Loop { len } => {
                let half = |len| RecPFor::Loop { len };
                Next::join([half(len / 2), half(len - len / 2)], RecPFor::Add(0))
            }
        }
    }
}

/// The documented ends of a rank in a run with faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    Right,
    Died,
    TimedOut,
    Malformed,
}

/// Returns the faults of a seed, and the number of ranks.
pub(crate) fn faults_of(seed: u64) -> (usize, Faults) {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut draw = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % below
    };
    let ranks = 2 + draw(7) as usize;
    let mut faults = Faults { seed, ..Faults::default() };
    if draw(4) > 0 {
        faults.delayed = 1 + draw(10);
        faults.delay = Duration::from_micros(1 + draw(5_000));
    }
    let rank = draw(ranks as u64) as usize;
    let at = Duration::from_micros(draw(6_000));
    match draw(5) {
        3 => faults.damaged = 50 + draw(1_000),
        0 => faults.stops = Some((rank, at, Duration::from_micros(1 + draw(400_000)))),
        1 => faults.slow = Some((rank, Duration::from_micros(1 + draw(200)))),
        2 => faults.dies = Some((rank, at)),
        _ => {}
    }
    (ranks, faults)
}

/// Runs a chain and a computation of frames on ranks with faults. Returns the end of each rank, or an error if none of the faults leads to that end.
pub(crate) fn faulty(seed: u64) -> Vec<Result<End, String>> {
    let (ranks, faults) = faults_of(seed);
    let machine = Machine::RANKS.with_cores(ranks + 1);
    let run = simulate(machine, seed, move || {
        // Near the end of a computation, its last frames and outputs may travel, 5 ms each, while all ranks are out of work.
        let simulated = Simulated::new(ranks).faults(faults).timeout(Duration::from_millis(200));
        let ends = simulated.try_run(|world| {
            let items = (0..200_u64).into_par_iter().map(|x| {
                work(LEAF);
                x
            });
            let sum = items.spread(world).sum::<u64>();
            let leaves = Frames::new(world).run(RecPFor::Loops { len: 16, left: LOOPS, sum: 0 }, &());
            (sum, leaves)
        });
        let is_whole = faults.dies.is_none() && faults.stops.is_none() && faults.damaged == 0;
        let end = |end: std::thread::Result<(u64, u64)>| match end {
            Ok((19_900, 400)) => Ok(End::Right),
            Ok(other) => Err(format!("a wrong result: {other:?}")),
            Err(payload) if payload.is::<Died>() => Ok(End::Died),
            Err(payload) => match payload.downcast_ref::<String>() {
                Some(text)
                    if text.contains("is out of work, and has heard of no work from any other rank") =>
                {
                    Ok(End::TimedOut)
                }
                Some(text) if text.contains("a message that cannot be decoded: it is damaged") => {
                    Ok(End::Malformed)
                }
                Some(text) => Err(text.clone()),
                None => Err("a panic without a text".to_owned()),
            },
        };
        let demanded = |end: End| match end {
            End::Right => Ok(end),
            End::TimedOut if !is_whole => Ok(end),
            End::Died if faults.dies.is_some() => Ok(end),
            End::Malformed if faults.damaged > 0 => Ok(end),
            _ => Err(format!("{end:?}, without a fault that leads to it")),
        };
        ends.into_iter().map(|it| end(it).and_then(demanded)).collect::<Vec<_>>()
    });
    run.result
}
