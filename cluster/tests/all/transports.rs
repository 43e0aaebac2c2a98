//! Transports that delay messages, damage them, or lose them.

use crate::support::{LONG, Random, busy, text, within};
use furcate::ThreadPoolBuilder;
use furcate::policy::CancelToken;
use furcate::prelude::*;
use furcate_cluster::frame::{self, Frame, FrameContext, Next};
use furcate_cluster::transport::{Envelope, Malformed, Message};
use furcate_cluster::{SpreadOver, Transport, World};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

/// A line of messages from one rank to another.
type Line = Mutex<VecDeque<Vec<u8>>>;

/// A fault of the transport. Messages are counted over all ranks.
#[derive(Clone, Copy, Debug)]
enum Fault {
    None,
    /// The message with this number is damaged.
    Damage(u64),
    /// All outputs are lost.
    LoseOutputs,
    /// All outputs go to a gap that is not there.
    OtherGap,
    /// All fetches are sent twice.
    FetchTwice,
    /// All fetches name an output that is not held.
    OtherOutput,
    /// All replies to fetches name another fetch.
    OtherFetch,
    /// The rank with this number runs another build.
    OtherBuild(usize),
    /// All outputs have a byte too many.
    LongerOutputs,
    /// Stops arrive when the call has ended.
    LateStops,
    /// The buffers for results are small: the rank keeps each of them until it is told to flush, for so many calls.
    KeepEnds(usize),
    /// Rank 0 hears of a failure when the call has ended.
    LateAborts,
}

/// Encoded messages, with their receivers.
type KeptEnds = Vec<(usize, Vec<u8>)>;

/// Between two ranks messages keep their order. Between three ranks they overtake each other: a look at the mail takes the oldest message of a
/// random sender, or nothing.
#[derive(Debug)]
struct Unsteady {
    rank: usize,
    ranks: usize,
    /// The lines from each rank to each rank.
    lines: Arc<[Line]>,
    random: Mutex<u64>,
    sent: Arc<AtomicU64>,
    /// Messages that found no room, with their receivers, and the number of times that the rank tried to hand them on.
    kept: Mutex<(KeptEnds, usize)>,
    fault: Fault,
}

impl Unsteady {
    fn worlds(ranks: usize, seed: u64, fault: Fault) -> Vec<World> {
        let lines: Arc<[Line]> = (0..ranks * ranks).map(|_| Line::default()).collect();
        let sent = Arc::new(AtomicU64::new(0));
        let world = |rank| {
            let random = Mutex::new(seed + rank as u64);
            let (lines, sent) = (Arc::clone(&lines), Arc::clone(&sent));
            World::new(Unsteady { rank, ranks, lines, random, sent, kept: Mutex::default(), fault })
        };
        (0..ranks).map(world).collect()
    }

    fn random(&self, bound: usize) -> usize {
        let mut state = self.random.lock().unwrap();
        let mut random = Random(*state);
        let number = random.index(bound);
        *state = random.0;
        number
    }
}

impl Transport for Unsteady {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.ranks
    }

    fn send(&self, to: usize, envelope: &Envelope) -> usize {
        let mut envelope = envelope.clone();
        match (self.fault, &mut envelope.message) {
            (Fault::LoseOutputs, Message::Output { .. } | Message::Fetched { .. })
            | (Fault::LateStops, Message::Stop { .. }) => {
                return 0;
            }
            (Fault::LateAborts, Message::Abort(_)) if to == 0 => return 0,
            (Fault::FetchTwice, Message::Fetch { .. }) => {
                let line = &self.lines[self.rank * self.ranks + to];
                line.lock().unwrap().push_back(envelope.encode());
            }
            (Fault::OtherOutput, Message::Fetch { id, .. }) => *id += 1 << 40,
            (Fault::OtherFetch, Message::Fetched { ticket, .. }) => *ticket += 1 << 40,
            (Fault::OtherGap, Message::Output { gap, .. }) => *gap += 1 << 40,
            (Fault::LongerOutputs, Message::Output { bytes, .. }) => bytes.push(0),
            _ => {}
        }
        let mut bytes = envelope.encode();
        if matches!(self.fault, Fault::Damage(number) if self.sent.fetch_add(1, Relaxed) == number) {
            bytes.truncate(bytes.len() / 2);
        }
        let len = bytes.len();
        if matches!((self.fault, &envelope.message), (Fault::KeepEnds(_), Message::End(_))) {
            self.kept.lock().unwrap().0.push((to, bytes));
            return len;
        }
        self.lines[self.rank * self.ranks + to].lock().unwrap().push_back(bytes);
        len
    }

    fn poll(&self) -> Option<(usize, Result<Envelope, Malformed>)> {
        let from = self.random(self.ranks);
        let bytes = self.lines[from * self.ranks + self.rank].lock().unwrap().pop_front()?;
        Some((from, Envelope::decode(&bytes)))
    }

    fn flush(&self) -> bool {
        let (kept, tries) = &mut *self.kept.lock().unwrap();
        if kept.is_empty() {
            return true;
        }
        *tries += 1;
        let Fault::KeepEnds(needed) = self.fault else { unreachable!("only ends are kept") };
        if *tries < needed {
            return false;
        }
        for (to, bytes) in kept.drain(..) {
            self.lines[self.rank * self.ranks + to].lock().unwrap().push_back(bytes);
        }
        true
    }

    fn wait(&self, at_most: Duration) {
        thread::sleep(at_most.min(Duration::from_micros(20)));
    }

    fn build(&self) -> u64 {
        if matches!(self.fault, Fault::OtherBuild(rank) if rank == self.rank) { 0xBAD } else { 0x600D }
    }
}

/// Runs a program on all ranks of some worlds.
fn run<T: Send>(worlds: Vec<World>, program: impl Fn(&World) -> T + Sync) -> Vec<thread::Result<T>> {
    let program = &program;
    thread::scope(|scope| {
        let rank = |world: World| scope.spawn(move || catch_unwind(AssertUnwindSafe(|| program(&world))));
        let ranks: Vec<_> = worlds.into_iter().map(rank).collect();
        ranks.into_iter().map(|rank| rank.join().expect("panics are caught")).collect()
    })
}

#[track_caller]
fn all_equal<T: PartialEq + Debug>(results: Vec<thread::Result<T>>, expected: &T, seed: u64) {
    for result in results {
        let result = result.unwrap_or_else(|payload| panic!("seed {seed}: {}", text(&*payload)));
        assert_eq!(&result, expected, "seed {seed}");
    }
}

#[test]
fn messages_that_overtake_each_other() {
    within(LONG, || {
        for seed in 0..40 {
            let ranks = 2 + seed as usize % 4;
            let expected: Vec<String> =
                (3..8_u64).map(|i| (0..40 * i).map(|x| format!("{x} ")).collect()).collect();
            let worlds = Unsteady::worlds(ranks, seed * 1000, Fault::None).into_iter();
            // Outputs are sent at once, or held, or some of them.
            let inline = [1 << 30, 0, 600][seed as usize % 3];
            let worlds = worlds.map(|world| world.with_inline(inline)).collect();
            let results = run(worlds, |world| {
                let call = |i: u64| {
                    let load = |x: u64| busy(Random(seed ^ (x / 30)).next() % 5000);
                    let items =
                        (0..40 * i).into_par_iter().inspect(|&x| _ = load(x)).map(|x| format!("{x} "));
                    items.spread(world).reduce(String::new, |a, b| a + &b)
                };
                (3..8).map(call).collect::<Vec<_>>()
            });
            all_equal(results, &expected, seed);
        }
    });
}

/// All ranks agree about an interruption, and about the result, though the token's message comes late.
/// The text of a range's numbers, by halves.
#[derive(Serialize, Deserialize)]
enum Halves {
    Of(u64, u64),
    Join,
}

impl Frame for Halves {
    type Output = String;
    type Data = u64;

    fn step(self, results: Vec<String>, context: &mut FrameContext<'_, Self>) -> Next<Self> {
        match self {
            Halves::Of(begin, len) if len > 3 => {
                let right = Halves::Of(begin + len / 2, len - len / 2);
                Next::join([Halves::Of(begin, len / 2), right], Halves::Join)
            }
            Halves::Of(begin, len) => {
                busy(Random(context.data() ^ begin).next() % 5000);
                Next::Return((begin..begin + len).map(|x| format!("{x} ")).collect())
            }
            Halves::Join => Next::Return(results.concat()),
        }
    }
}

/// All ranks share one pool. A rank that waits for mail holds no thread of it.
#[test]
fn messages_about_frames_that_overtake_each_other() {
    within(LONG, || {
        for seed in 0..20 {
            let ranks = 2 + seed as usize % 4;
            let worlds = Unsteady::worlds(ranks, seed * 1000, Fault::None);
            let results = run(worlds, |world| frame::run(world, Halves::Of(0, 500), &seed));
            all_equal(results, &(0..500).map(|x| format!("{x} ")).collect(), seed);
        }
    });
}

#[test]
fn interruptions_that_are_overtaken() {
    within(LONG, || {
        for seed in 0..40 {
            let ranks = 2 + seed as usize % 4;
            let worlds = Unsteady::worlds(ranks, seed * 1000, Fault::None).into_iter();
            let inline = if seed % 2 == 0 { 0 } else { 1 << 30 };
            let worlds = worlds.map(|world| world.with_inline(inline)).collect();
            let results = run(worlds, |world| {
                let token = CancelToken::new();
                let seen = AtomicU64::new(0);
                let items = (0..1_u64 << 50).into_par_iter().inspect(|_| {
                    if seen.fetch_add(1, Relaxed) == 3000 && world.rank() == ranks - 1 {
                        token.cancel();
                    }
                });
                let stopped = items.spread(world).stop_on(&token).run(|spread| spread.count()).unwrap_err();
                (stopped.into_done(), (0..100).into_par_iter().spread(world).count())
            });
            let first = *results[0].as_ref().unwrap_or_else(|payload| panic!("{}", text(&**payload)));
            assert!(first.0 > 3000 && first.1 == 100);
            all_equal(results, &first, seed);
        }
    });
}

/// The last item cancels a token. All ranks agree whether that was in time, though nobody else hears of it before the end.
#[test]
fn interruptions_that_come_too_late() {
    within(LONG, || {
        for seed in 0..20 {
            let results = run(Unsteady::worlds(2, seed * 1000, Fault::LateStops), |world| {
                let token = CancelToken::new();
                let items = (0..2).into_par_iter().inspect(|&x| {
                    if x == 1 {
                        token.cancel();
                    }
                });
                items.spread(world).stop_on(&token).run(|spread| spread.count())
            });
            all_equal(results, &Ok(2), seed);
        }
    });
}

/// Rank 0 makes no other call, and does not end: it waits for the other ranks. They get the result though it fits in no buffer.
#[test]
fn rank_0_leaves_when_the_result_is_under_way() {
    within(LONG, || {
        let worlds = Unsteady::worlds(3, 1, Fault::KeepEnds(100)).into_iter();
        let worlds = worlds.map(|world| world.with_timeout(Duration::from_millis(1000))).collect();
        let all = Barrier::new(3);
        let results = run(worlds, |world| {
            let sum =
                catch_unwind(AssertUnwindSafe(|| (0..1000_u64).into_par_iter().spread(world).sum::<u64>()));
            all.wait();
            sum.unwrap_or_else(|payload| resume_unwind(payload))
        });
        all_equal(results, &499_500, 1);
    });
}

/// Rank 2 gives up while the others are inside long items. Rank 1 hears of it and leaves out its other items; rank 0 does not hear of it. No
/// rank takes the output of rank 1 for the whole.
#[test]
fn what_is_left_of_a_failed_call_is_not_a_result() {
    within(LONG, || {
        let (timeouts, all) = ([1000, 1000, 100].map(Duration::from_millis), Barrier::new(3));
        let worlds = Unsteady::worlds(3, 1, Fault::LateAborts).into_iter().zip(timeouts);
        let worlds = worlds.map(|(world, timeout)| world.with_timeout(timeout)).collect();
        let results = run(worlds, |world| {
            let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            // So no rank gives up one that has not begun.
            all.wait();
            // One unit after the other, so there are never two of them to give away.
            let walk = |count: &mut u64, units: &mut Vec<u64>, n: usize| {
                for unit in units.drain(..).take(n).collect::<Vec<_>>() {
                    *count += 1;
                    match unit {
                        0 => thread::sleep(Duration::from_millis(700)),
                        1 => {}
                        300 => thread::sleep(Duration::from_millis(300)),
                        _ => thread::sleep(Duration::from_millis(1)),
                    }
                    if unit > 1 {
                        units.push(unit - 1);
                    }
                }
            };
            pool.install(|| vec![0, 300, 1].work(|_| 0, walk, |count| count).spread(world).sum::<u64>())
        });
        for result in results {
            let payload = result.expect_err("items are missing");
            assert!(text(&*payload).contains("TIMEOUT"), "{}", text(&*payload));
        }
    });
}

#[test]
fn damaged_messages_end_the_call() {
    within(LONG, || {
        let mut failed = 0;
        for number in 0..20 {
            let worlds = Unsteady::worlds(3, number, Fault::Damage(number)).into_iter();
            let worlds = worlds.map(|world| world.with_timeout(Duration::from_secs(2))).collect();
            let results = run(worlds, |world| (0..1000_u64).into_par_iter().map(busy).spread(world).max());
            // The call may have ended before the damaged message, or without it.
            for result in results {
                match result {
                    Ok(max) => assert!(max.is_some()),
                    Err(payload) => {
                        let text = text(&*payload);
                        assert!(text.contains("cannot be decoded") || text.contains("TIMEOUT"), "{text}");
                        failed += 1;
                    }
                }
            }
        }
        assert!(failed >= 3, "the first messages are needed: {failed}");
    });
}

/// The message says that the builds differ, not the calls, and which rank has which.
#[test]
fn other_builds_are_reported_on_all_ranks() {
    within(LONG, || {
        for other in 0..3 {
            for seed in 0..5 {
                for result in run(Unsteady::worlds(3, seed, Fault::OtherBuild(other)), |world| {
                    (0..10_u64).into_par_iter().spread(world).count()
                }) {
                    let payload = result.unwrap_err();
                    let text = text(&*payload);
                    assert!(text.contains("different builds") && !text.contains("different calls"), "{text}");
                    assert!(text.contains("build 000000000000600d"), "{text}");
                    let who =
                        if other == 0 { "and rank 0 runs".into() } else { format!("rank {other} runs") };
                    assert!(text.contains(&format!("{who} build 0000000000000bad")), "{text}");
                }
            }
        }
    });
}

#[test]
fn outputs_for_other_gaps_end_the_call() {
    within(LONG, || {
        for result in run(Unsteady::worlds(3, 1, Fault::OtherGap), |world| {
            (0..10_u64).into_par_iter().spread(world).count()
        }) {
            let payload = result.unwrap_err();
            assert!(text(&*payload).contains("which this rank does not have"), "{}", text(&*payload));
        }
    });
}

#[test]
fn outputs_that_are_too_long_end_the_call() {
    within(LONG, || {
        for result in run(Unsteady::worlds(3, 1, Fault::LongerOutputs), |world| {
            (0..10_u64).into_par_iter().spread(world).count()
        }) {
            let payload = result.unwrap_err();
            assert!(text(&*payload).contains("too long"), "{}", text(&*payload));
        }
    });
}

#[test]
fn lost_messages_end_the_call() {
    within(LONG, || {
        for inline in [0, 1 << 30] {
            let worlds = Unsteady::worlds(3, 1, Fault::LoseOutputs).into_iter();
            let patient = |world: World| world.with_timeout(Duration::from_millis(300)).with_inline(inline);
            for result in
                run(worlds.map(patient).collect(), |world| (0..10_u64).into_par_iter().spread(world).count())
            {
                let payload = result.unwrap_err();
                assert!(text(&*payload).contains("FURCATE_CLUSTER_TIMEOUT"), "{}", text(&*payload));
            }
        }
    });
}

/// Fetches that cannot be right are refused. The rank that has sent them may have the result already, and leave.
#[test]
fn wrong_fetches_end_the_call() {
    within(LONG, || {
        for (fault, expected) in [
            (Fault::OtherOutput, "which does not hold it"),
            (Fault::FetchTwice, "which does not hold it"),
            (Fault::OtherFetch, "this rank has not asked for"),
        ] {
            let worlds = Unsteady::worlds(3, 1, fault).into_iter();
            let worlds =
                worlds.map(|world| world.with_inline(0).with_timeout(Duration::from_secs(2))).collect();
            let results = run(worlds, |world| (0..10_u64).into_par_iter().spread(world).count());
            let texts: Vec<_> =
                results.iter().filter_map(|result| result.as_ref().err()).map(|it| text(&**it)).collect();
            assert!(texts.iter().any(|text| text.contains(expected)), "{fault:?}: {texts:?}");
            assert!(
                texts.len() >= 2 + usize::from(!matches!(fault, Fault::FetchTwice)),
                "{fault:?}: {texts:?}"
            );
        }
    });
}
