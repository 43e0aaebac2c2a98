//! Frames: computations that go on after a join, on whatever rank the last of its results arrives.
//!
//! A chain is divided once, and its outputs are reduced. A recursive algorithm goes on: it waits for the halves, uses their results, and forks
//! again. A tile of a wavefront waits for its neighbors. Such a computation is a state machine, its [`Frame`]. A step of it
//! takes the results of the frames before it, and returns the [`Next`] one:
//!
//! | next | meaning |
//! |---|---|
//! | [`Return`](Next::Return) | the frame is done: its output goes to the frame that waits for it |
//! | [`Wait`](Next::Wait) | the children run, and then the frame `then`, with their outputs and those of some [futures](Future) |
//!
//! ```
//! use furcate_cluster::Threads;
//! use furcate_cluster::frame::{self, Frame, FrameContext, Next};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! enum Fib {
//!     Of(u32),
//!     Add,
//! }
//!
//! impl Frame for Fib {
//!     type Output = u64;
//!     type Data = ();
//!
//!     fn step(self, results: Vec<u64>, _: &mut FrameContext<'_, Self>) -> Next<Self> {
//!         match self {
//!             Fib::Of(n) if n < 2 => Next::Return(u64::from(n)),
//!             Fib::Of(n) => Next::join([Fib::Of(n - 1), Fib::Of(n - 2)], Fib::Add),
//!             Fib::Add => Next::Return(results[0] + results[1]),
//!         }
//!     }
//! }
//!
//! let results = Threads::new(2).run(|world| frame::run(world, Fib::Of(20), &()));
//! assert_eq!(results, [6765; 2]);
//! ```
//!
//! # How frames run
//!
//! A frame that can be run is *ready*. Each worker has a deque of ready frames: it takes the youngest, other workers and other ranks take the
//! oldest. A frame that waits lies in a *join node* of the rank that ran its last step. Its children know the node, so an output goes there
//! directly, as a call of a function or as one message. The worker that brings the last output makes the frame ready, and runs it next.
//! This is the greedy join (Shiina and Taura, IEEE Cluster 2022): no worker ever waits in a join, and none asks whether a join is done.
//! A rank that has sent an output away and is out of work asks the receiver first, because a frame may have become ready there.
//!
//! # How this differs from moving stacks
//!
//! The runtime of that paper (in MassiveThreads/DM), and Itoyori, move the stack of a thread, so any function may fork and join anywhere.
//! They need stacks at equal addresses on all machines, which are all alike, and a network that reads remote memory. A frame has to name its state over
//! a join, as the compiler does for an `async` function, and serde encodes it. In return nothing is unsafe, and the machines may differ. A frame
//! cannot borrow: it uses [`FrameContext::data`] of its rank.
//!
//! In the paper the last finisher takes the waiting thread over, wherever it is. Here the frame becomes ready on the rank where it waits, and
//! is stolen from there as any other frame.

mod run;
mod table;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serializer};
use std::fmt;
use std::marker::PhantomData;

pub use run::{Frames, run};
pub(crate) use table::Address;

use run::FrameCall;

/// A computation that goes on after a join: a state machine that can travel. See the [module](self).
///
/// All frames of a call have one type, usually an enum. Its [step](Self::step) should take some 10 microseconds or more, because a frame
/// that waits costs an allocation and a frame that is stolen a message.
pub trait Frame: Serialize + DeserializeOwned + Send + Sized {
    /// The output of a frame.
    type Output: Serialize + DeserializeOwned + Send;

    /// Data that every rank has, of its own: the input, a mapped file, a buffer.
    type Data: Sync + ?Sized;

    /// Runs the frame to its next join, or to its end.
    ///
    /// `results` are those that it has waited for, in the order of [`Next::Wait`]: first the outputs of the children, then those of the futures. In the first
    /// step there are none.
    ///
    /// # Panics
    ///
    /// A panic ends the call on all ranks.
    fn step(self, results: Vec<Self::Output>, context: &mut FrameContext<'_, Self>) -> Next<Self>;
}

/// The action of a frame after a step.
pub enum Next<F: Frame> {
    /// The frame is done.
    Return(F::Output),
    /// The children run, in any order. When all outputs are there, of the children and of the futures, `then` runs, and gets them in this order. Without any,
    /// `then` runs when nothing else is ready on this rank.
    Wait {
        /// Frames that run now.
        children: Vec<F>,
        /// Futures of frames that were forked before.
        futures: Vec<Future<F::Output>>,
        /// The frame that goes on with the outputs.
        then: F,
    },
}

impl<F: Frame> Next<F> {
    /// Forks the children, and joins them: `then` gets their outputs, in order.
    pub fn join(children: impl IntoIterator<Item = F>, then: F) -> Self {
        Next::Wait { children: children.into_iter().collect(), futures: Vec::new(), then }
    }

    /// Waits for futures: `then` gets their outputs, in order.
    pub fn after(futures: impl IntoIterator<Item = Future<F::Output>>, then: F) -> Self {
        Next::Wait { children: Vec::new(), futures: futures.into_iter().collect(), then }
    }
}

impl<F: Frame> fmt::Debug for Next<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Next::Return(_) => f.write_str("Return"),
            Next::Wait { children, futures, .. } => f
                .debug_struct("Wait")
                .field("children", &children.len())
                .field("futures", &futures.len())
                .finish_non_exhaustive(),
        }
    }
}

/// The output of a frame that was forked by [`FrameContext::fork`], to be waited for once, by any frame on any rank.
///
/// A future can be sent: a frame may hold it, or put it into its output. So a frame can depend on frames that it has not forked, as a tile of a wavefront
/// does. The call does not wait for a frame for whose future nobody waits: when the root is done, such frames are dropped,
/// or end after their step.
#[derive(PartialEq, Eq, Hash)]
pub struct Future<O> {
    address: Address,
    output: PhantomData<fn() -> O>,
}

impl<O> Future<O> {
    fn new(address: Address) -> Self {
        Future { address, output: PhantomData }
    }
}

impl<O> fmt::Debug for Future<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Future").field("address", &self.address).finish_non_exhaustive()
    }
}

impl<O> Serialize for Future<O> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.address.serialize(serializer)
    }
}

impl<'de, O> Deserialize<'de> for Future<O> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Address::deserialize(deserializer).map(Future::new)
    }
}

/// Given to a frame's step: forks frames, and lends the rank's data.
pub struct FrameContext<'c, F: Frame> {
    call: &'c FrameCall<'c, F>,
    worker: usize,
}

impl<F: Frame> fmt::Debug for FrameContext<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameContext").field("worker", &self.worker).finish_non_exhaustive()
    }
}

impl<'c, F: Frame> FrameContext<'c, F> {
    /// Returns this rank's data.
    pub fn data(&self) -> &'c F::Data {
        self.call.data()
    }

    /// Returns the rank that runs this step.
    pub fn rank(&self) -> usize {
        self.call.world().rank()
    }

    /// Forks a frame. Its output is waited for by [`Next::Wait`], in this frame or any other one.
    #[must_use = "a frame for whose future nobody waits may be dropped at the end of the call"]
    pub fn fork(&mut self, frame: F) -> Future<F::Output> {
        self.fork_after([], frame)
    }

    /// Forks a frame that begins when all its predecessors are done: its first step gets their outputs, in order.
    #[must_use = "a frame for whose future nobody waits may be dropped at the end of the call"]
    pub fn fork_after(
        &mut self,
        predecessors: impl IntoIterator<Item = Future<F::Output>>,
        frame: F,
    ) -> Future<F::Output> {
        Future::new(self.call.fork(self.worker, frame, predecessors.into_iter().collect(), (1, None)))
    }

    /// Forks a frame whose output is waited for `N` times. Each time but the last one clones it.
    pub fn fork_for<const N: usize>(&mut self, frame: F) -> [Future<F::Output>; N]
    where
        F::Output: Clone,
    {
        let address = self.call.fork(self.worker, frame, Vec::new(), (N, Some(F::Output::clone)));
        [address; N].map(Future::new)
    }
}
