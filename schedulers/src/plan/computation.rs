//! Spawned computations: no thread waits for them.

use crate::{Policy, Producer, Reduction, Scheduler};
use furcate_pool::Executor;
use furcate_pool::detach::{SpawnedOutcome, Unattended};

/// A computation that owns all its data, so no thread need wait for it. [`Scheduler::spawn`] runs it.
///
/// ```
/// use furcate::detach::SpawnedOutcome;
/// use furcate::policy::BoundDepth;
/// use furcate::{Computation, DefaultExecutor, DepJoin, Producer, Reduction, Scheduler};
/// use std::ops::{ControlFlow, Range};
/// use std::sync::mpsc::{Sender, channel};
///
/// #[derive(Clone)]
/// struct Sum;
///
/// impl Reduction<u32> for Sum {
///     type Accumulator = u32;
///     type Output = u32;
///     fn start(&self) -> u32 {
///         0
///     }
///     fn fold_item(&self, sum: u32, item: u32) -> ControlFlow<u32, u32> {
///         ControlFlow::Continue(sum + item)
///     }
///     fn finish(&self, sum: u32) -> u32 {
///         sum
///     }
///     fn reduce(&self, left: u32, right: u32) -> u32 {
///         left + right
///     }
/// }
///
/// /// Sums a range, and sends what comes out.
/// struct SumOf(Range<u32>, Sender<u32>);
///
/// impl Computation for SumOf {
///     type Item = u32;
///     type Output = u32;
///     type Producer<'a> = Range<u32>;
///     type Policy = BoundDepth;
///     type Reduction<'a> = Sum;
///     fn parts(&mut self) -> (Range<u32>, BoundDepth, Sum) {
///         (self.0.clone(), BoundDepth::new(3), Sum)
///     }
///     fn end(self, end: SpawnedOutcome<u32>) {
///         let SpawnedOutcome::Done(sum) = end else { panic!("{end:?}") };
///         self.1.send(sum).unwrap();
///     }
/// }
///
/// let (sender, receiver) = channel();
/// DepJoin.spawn(SumOf(0..100, sender), &DefaultExecutor::default());
/// assert_eq!(receiver.recv(), Ok(4950));
/// ```
pub trait Computation: Send + Sized + 'static {
    /// Item type of the producer.
    type Item;
    /// Result type of the computation.
    type Output: Send + 'static;
    /// The data that are divided.
    type Producer<'a>: Producer<Item = Self::Item>
    where
        Self: 'a;
    /// The policy that says when to divide.
    type Policy: Policy + 'static;
    /// Folds the items.
    type Reduction<'a>: Reduction<Self::Item, Output = Self::Output>
    where
        Self: 'a;

    /// Returns the producer, policy and reduction to run. Called once.
    fn parts(&mut self) -> (Self::Producer<'_>, Self::Policy, Self::Reduction<'_>);

    /// Takes the outcome. Called once, when no task of the computation runs or waits any more, or ever will.
    fn end(self, end: SpawnedOutcome<Self::Output>);
}

/// A spawned computation during which a thread waits after all: the thread of the job that begins it.
pub(crate) struct AwaitedComputation<C: Computation, S, E> {
    computation: C,
    scheduler: S,
    executor: E,
    output: Option<C::Output>,
}

impl<C: Computation, S, E> AwaitedComputation<C, S, E> {
    pub(crate) fn new(computation: C, scheduler: S, executor: E) -> Self {
        AwaitedComputation { computation, scheduler, executor, output: None }
    }
}

impl<C: Computation, S: Scheduler + 'static, E: Executor + 'static> Unattended<E>
    for AwaitedComputation<C, S, E>
{
    fn begin<'s>(&'s mut self, _scope: &E::Scope<'s>) {
        self.output = Some(self.scheduler.schedule(self.computation.parts(), &self.executor));
    }

    fn end(self, end: SpawnedOutcome<()>) {
        let AwaitedComputation { computation, output, .. } = self;
        computation.end(end.map(|()| output.expect("it has been run")));
    }
}
