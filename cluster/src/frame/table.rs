//! A worker's part of a call's frames: the ready ones, the waiting ones, and the futures that it has made.
//!
//! ```text
//!   shard of worker w:   ready (youngest last)   |   nodes: frames that wait   |   futures
//!                                                        ▲ outputs                  ▲ outputs, and who waits for them
//! ```
//!
//! # Invariants
//!
//! 1. A node's frame becomes ready once: with its last missing output. Until then the node is in the table, and no other frame has its number.
//! 2. A future gives its output to as many takers as it was made for. Then it leaves the table.
//! 3. Numbers are not used twice, neither in a call nor in two calls of a world. (They are, after 2^28 calls, or 2^36 numbers in a call.) So
//!    a message or a future for a number that is not there, or no longer, is refused, and harms no other frame.

use super::Future;
use furcate_pool::sync::clock::Instant;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

/// Destination of an output: a place in a node, or a future.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Address {
    pub(crate) rank: u32,
    /// Index of the shard.
    pub(crate) shard: u32,
    pub(crate) number: u64,
    pub(crate) place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Place {
    Future,
    /// Index of a result of a frame that waits.
    Result(u32),
}

/// A frame that can be run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ready<F, O> {
    pub(crate) frame: F,
    pub(crate) results: Vec<O>,
    /// Futures that the frame waits for when a worker takes it, unless the join is the greedy one.
    pub(crate) futures: Vec<Future<O>>,
    /// Destination of the frame's output.
    pub(crate) up: Address,
    /// The time of the last result, if the frame has waited.
    #[serde(skip)]
    pub(crate) since: Option<Instant>,
    /// The time from which the frame was blocked, if it was: see [`Counts::blocked`](crate::Counts::blocked).
    #[serde(skip)]
    pub(crate) blocked: Option<Instant>,
}

impl<F, O> Ready<F, O> {
    /// A frame that has not waited.
    pub(crate) fn new(frame: F, up: Address) -> Self {
        Ready { frame, results: Vec::new(), futures: Vec::new(), up, since: None, blocked: None }
    }
}

/// A frame that waits.
#[derive(Debug)]
struct Node<F, O> {
    frame: F,
    up: Address,
    results: Vec<Option<O>>,
    missing: usize,
    /// Index of the last child, if there are any.
    last: Option<usize>,
    blocked: Option<Instant>,
}

/// The output of a frame that was forked, or those that wait for it.
#[derive(Debug)]
struct Pending<O> {
    /// One for each taker that has not come, when the frame is done.
    outputs: Vec<O>,
    is_done: bool,
    takers: Vec<Address>,
    /// Number of takers that have not got an output (invariant 2).
    left: usize,
    clone: Option<CloneOutput<O>>,
}

/// Clones an output.
pub(crate) type CloneOutput<O> = fn(&O) -> O;

/// There is no such frame or future, or not any more.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unknown;

/// A worker's part of a call's frames.
#[derive(Debug)]
pub(crate) struct Shard<F, O> {
    pub(crate) ready: VecDeque<Ready<F, O>>,
    /// Frames that this rank runs when nothing is ready, the oldest first: those that wait for nothing, and those that have
    /// [stalled](Self::stalled).
    pub(crate) later: VecDeque<Ready<F, O>>,
    /// Frames that [stall](super::Frames::stalling), the oldest first: one of them is moved to `later` when a steal has failed.
    pub(crate) stalled: VecDeque<Ready<F, O>>,
    /// Frames on the worker's stack that wait until they can go on, for [`run_to_completion`](super::Frames::run_to_completion): the destinations
    /// of their outputs, which no two frames share, and the frames when they can go on. The youngest last.
    pub(crate) stack: Vec<(Address, Option<Ready<F, O>>)>,
    nodes: HashMap<u64, Node<F, O>>,
    futures: HashMap<u64, Pending<O>>,
    /// The next number (invariant 3).
    next: u64,
}

/// Number of bits for the numbers of one call.
const NUMBERS: u32 = 36;

impl<F, O> Shard<F, O> {
    /// Makes a shard for the call with this number (invariant 3).
    pub(crate) fn new(call: u64) -> Self {
        Shard {
            ready: VecDeque::new(),
            later: VecDeque::new(),
            stalled: VecDeque::new(),
            stack: Vec::new(),
            nodes: HashMap::new(),
            futures: HashMap::new(),
            next: call << NUMBERS,
        }
    }

    /// Returns a number that was not used before.
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Makes a node for a frame that waits for so many children and futures. Returns its number.
    pub(crate) fn wait(&mut self, frame: F, up: Address, (children, futures): (usize, usize)) -> u64 {
        let number = self.number();
        let missing = children + futures;
        let results = (0..missing).map(|_| None).collect();
        let last = children.checked_sub(1);
        self.nodes.insert(number, Node { frame, up, results, missing, last, blocked: None });
        number
    }

    /// Notes that a frame is blocked, if it still waits.
    pub(crate) fn block(&mut self, number: u64) {
        if let Some(node) = self.nodes.get_mut(&number) {
            node.blocked = Some(Instant::now());
        }
    }

    /// Takes a result of a frame that waits, at its place `to`. Returns the frame if it was the last one (invariant 1).
    pub(crate) fn take_result(&mut self, to: Address, output: O) -> Result<Option<Ready<F, O>>, Unknown> {
        let Place::Result(place) = to.place else { return Err(Unknown) };
        let node = self.nodes.get_mut(&to.number).ok_or(Unknown)?;
        let result = node.results.get_mut(place as usize).ok_or(Unknown)?;
        if result.is_some() {
            return Err(Unknown);
        }
        *result = Some(output);
        node.missing -= 1;
        if node.missing > 0 {
            // A child that still lies in the deque was not stolen: the worker runs it next.
            let is_child = |ready: &Ready<F, O>| Address { place: to.place, ..ready.up } == to;
            if node.blocked.is_none()
                && node.last.is_some_and(|last| node.results[last].is_some())
                && !self.ready.back().is_some_and(is_child)
            {
                node.blocked = Some(Instant::now());
            }
            return Ok(None);
        }
        let Node { frame, up, results, blocked, .. } = self.nodes.remove(&to.number).ok_or(Unknown)?;
        let results = results.into_iter().flatten().collect();
        Ok(Some(Ready { results, since: Some(Instant::now()), blocked, ..Ready::new(frame, up) }))
    }

    /// Makes a future for so many takers. Returns its number.
    pub(crate) fn future(&mut self, takers: usize, clone: Option<CloneOutput<O>>) -> u64 {
        let number = self.number();
        let pending =
            Pending { outputs: Vec::new(), is_done: false, takers: Vec::new(), left: takers, clone };
        self.futures.insert(number, pending);
        number
    }

    /// Returns how many outputs a future needs, and how they are cloned.
    pub(crate) fn copies(&self, number: u64) -> Result<(usize, Option<CloneOutput<O>>), Unknown> {
        let pending = self.futures.get(&number).filter(|pending| !pending.is_done).ok_or(Unknown)?;
        Ok((pending.left, pending.clone))
    }

    /// Takes the outputs of a future, as many as it [needs](Self::copies). Returns those for takers that wait.
    pub(crate) fn take_outputs(
        &mut self,
        number: u64,
        mut outputs: Vec<O>,
    ) -> Result<Vec<(Address, O)>, Unknown> {
        let pending = self.futures.get_mut(&number).ok_or(Unknown)?;
        if pending.is_done || outputs.len() != pending.left {
            return Err(Unknown);
        }
        let takers = std::mem::take(&mut pending.takers);
        pending.left -= takers.len();
        let rest = outputs.split_off(takers.len());
        (pending.is_done, pending.outputs) = (true, rest);
        if pending.left == 0 {
            self.futures.remove(&number);
        }
        Ok(takers.into_iter().zip(outputs).collect())
    }

    /// Takes a taker of a future. Returns the output if it is there.
    pub(crate) fn take_taker(&mut self, number: u64, taker: Address) -> Result<Option<O>, Unknown> {
        let pending = self.futures.get_mut(&number).ok_or(Unknown)?;
        if !pending.is_done {
            if pending.takers.len() >= pending.left {
                return Err(Unknown);
            }
            pending.takers.push(taker);
            return Ok(None);
        }
        pending.left -= 1;
        let output = pending.outputs.pop();
        if pending.left == 0 {
            self.futures.remove(&number);
        }
        output.map(Some).ok_or(Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: Address = Address { rank: 3, shard: 0, number: 9, place: Place::Future };

    fn taker(place: u32) -> Address {
        Address { place: Place::Result(place), ..UP }
    }

    #[test]
    fn the_last_result_makes_a_frame_ready() {
        let mut shard = Shard::<&str, char>::new(1);
        let number = shard.wait("then", UP, (2, 0));
        let at = |place| Address { number, ..taker(place) };
        assert_eq!(shard.take_result(at(1), 'b').map(|ready| ready.is_none()), Ok(true));
        assert_eq!(shard.take_result(at(1), 'x').map(|_| ()), Err(Unknown), "a second result for a place");
        assert_eq!(shard.take_result(at(2), 'x').map(|_| ()), Err(Unknown), "there is no such place");
        let ready = shard.take_result(at(0), 'a').ok().flatten().expect("it was the last one");
        assert_eq!((ready.frame, ready.results, ready.up), ("then", vec!['a', 'b'], UP));
        assert_eq!(shard.take_result(at(0), 'a').map(|_| ()), Err(Unknown), "it is gone");
        assert!(shard.nodes.is_empty());
    }

    /// A frame is blocked if its last child is done, and another one was stolen.
    #[test]
    fn a_stolen_child_blocks_a_frame() {
        for (order, is_stolen, is_blocked) in
            [([0, 1], false, false), ([0, 1], true, false), ([1, 0], false, false), ([1, 0], true, true)]
        {
            let mut shard = Shard::<&str, ()>::new(1);
            let number = shard.wait("then", UP, (2, 0));
            let at = |place| Address { number, ..taker(place) };
            if !is_stolen {
                shard.ready.push_back(Ready::new("child", at(order[1])));
            }
            assert_eq!(shard.take_result(at(order[0]), ()).map(|ready| ready.is_none()), Ok(true));
            let ready = shard.take_result(at(order[1]), ()).ok().flatten().expect("it was the last one");
            assert_eq!(ready.blocked.is_some(), is_blocked, "{order:?}, stolen: {is_stolen}");
        }
    }

    #[test]
    fn a_future_gives_its_output_to_each_taker_once() {
        for early in [false, true] {
            let mut shard = Shard::<(), &str>::new(1);
            let future = shard.future(2, Some(|output| output));
            assert_eq!(shard.copies(future).map(|(copies, _)| copies), Ok(2));
            if early {
                assert_eq!(shard.take_outputs(future, vec!["a", "b"]), Ok(vec![]));
                assert_eq!(shard.take_outputs(future, vec!["a", "b"]), Err(Unknown), "a second output");
                assert_eq!(shard.take_taker(future, taker(0)), Ok(Some("b")));
                assert_eq!(shard.take_taker(future, taker(1)), Ok(Some("a")));
            } else {
                assert_eq!(shard.take_taker(future, taker(0)), Ok(None));
                assert_eq!(shard.take_taker(future, taker(1)), Ok(None));
                assert_eq!(shard.take_taker(future, taker(2)), Err(Unknown), "it was made for two");
                let both = vec![(taker(0), "a"), (taker(1), "b")];
                assert_eq!(shard.take_outputs(future, vec!["a", "b"]), Ok(both));
            }
            assert_eq!(shard.take_taker(future, taker(2)), Err(Unknown), "nothing is left");
            assert!(shard.futures.is_empty());
        }
    }

    #[test]
    fn a_future_that_nobody_waits_for_takes_its_output() {
        let mut shard = Shard::<(), u8>::new(1);
        let future = shard.future(0, None);
        assert_eq!(shard.take_outputs(future, vec![]), Ok(vec![]));
        assert!(shard.futures.is_empty());
    }

    #[test]
    fn numbers_that_were_never_given_are_refused() {
        let mut shard = Shard::<(), u8>::new(1);
        assert_eq!(shard.copies(1).map(|_| ()), Err(Unknown));
        assert_eq!(shard.take_outputs(1, vec![0]), Err(Unknown));
        assert_eq!(shard.take_taker(1, taker(0)), Err(Unknown));
    }
}
