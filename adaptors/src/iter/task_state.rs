//! The state that a task keeps: of `map_with`, `map_init`, `fold` and `fold_with`.
//!
//! A *task* is one leaf of the division tree. Its state is made where the task begins, and must not notice whether the
//! scheduler folds the task at one go or in nano-loops
//! ([`Producer::partial_fold`](furcate_schedulers::Producer::partial_fold)), nor whether a thief takes something away
//! from it between two of these. Between nano-loops nothing of a task exists but its producer: so the state lies in
//! there, as a [`TaskState`].
//!
//! ```text
//!              divide                    partial_fold, ...               into_iter
//!   [seed] ------------> [seed], [seed]  ----------------> [seed|state] -----------> state
//!                                                               |
//!                                                               | divide
//!                                                               v
//!                                                    [seed|state], [seed]
//! ```
//!
//! # Invariants
//!
//! 1. *One state per task.* A state is made by the first nano-loop or, if there was none, by the leaf; after that
//!    every nano-loop and at last the leaf goes on with it. Nothing is made for a part that is only divided.
//! 2. *A cut gives the state to the left part*, which goes on with what comes first: items and state of a task stay in
//!    order. The right part is a new task, and will make its own.
//! 3. *A new task sees nothing of the old one's items.* So the seed stays beside the state, as it was: a right part
//!    that is cut off after some nano-loops starts from the seed, not from a copy of the state. By invariant 1 the
//!    last use of a seed may consume it: a task that is folded at one go costs no clone but that of its division.
//! 4. *A state that is to come out is something left.* A fold that holds a state has a size of at least 1, though its
//!    base be used up; so a scheduler that drops empty parts never drops a state with items in it. The state comes
//!    out once: with the leaf, or with a nano-loop that finds nothing left but the state.
//! 5. *Panics.* While user code runs, the state is a local variable of the nano-loop or of the leaf, which unwinding
//!    drops; no part that still exists refers to it.
//!
//! What a *task* is, is up to those who call: an adaptor further down that makes its nano-loops by cutting (`rev`,
//! `zip`) makes every piece that it cuts off a task, with a state of its own. That is more states, never a wrong one.
//!
//! The state is `Send`, because the producer that it lies in is.

/// What the states of tasks are made from. It is divided with the producer, so it need not be shared.
pub trait Seed: Sized + Send {
    /// The state of a task.
    type State: Send;

    /// The seeds of two parts.
    fn divide(self) -> (Self, Self);

    /// Makes a state and stays.
    fn make(&self) -> Self::State;

    /// Makes the last state.
    fn into_state(self) -> Self::State;
}

/// A seed that makes states by calling a function, which lies in the adaptor.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct Call<'a, F>(pub(crate) &'a F);

impl<T: Send, F: Fn() -> T + Sync> Seed for Call<'_, F> {
    type State = T;

    #[inline]
    fn divide(self) -> (Self, Self) {
        (Call(self.0), self)
    }

    #[inline]
    fn make(&self) -> T {
        (self.0)()
    }

    #[inline]
    fn into_state(self) -> T {
        self.make()
    }
}

/// A seed that makes states by cloning a value, once for every division.
#[derive(Debug)]
pub struct Copies<T>(T);

impl<T> Copies<T> {
    /// Takes the value out of an adaptor, so that it is neither cloned nor kept alive without need.
    ///
    /// # Panics
    ///
    /// If it has been taken before.
    pub(crate) fn take(value: &mut Option<T>) -> Self {
        Copies(value.take().expect("an iterator with a state is lent once"))
    }
}

impl<T: Clone + Send> Seed for Copies<T> {
    type State = T;

    #[inline]
    fn divide(self) -> (Self, Self) {
        (Copies(self.0.clone()), self)
    }

    #[inline]
    fn make(&self) -> T {
        self.0.clone()
    }

    #[inline]
    fn into_state(self) -> T {
        self.0
    }
}

/// What a part of the computation knows of its task's state: how it is made and, once it has been, the state.
pub(crate) struct TaskState<S: Seed> {
    seed: S,
    held: Option<S::State>,
}

impl<S: Seed> TaskState<S> {
    #[inline]
    pub(crate) fn new(seed: S) -> Self {
        TaskState { seed, held: None }
    }

    /// Has the task begun?
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Cuts (invariants 2 and 3).
    #[inline]
    pub(crate) fn divide(self) -> (Self, Self) {
        let (left, right) = self.seed.divide();
        (TaskState { seed: left, held: self.held }, TaskState::new(right))
    }

    /// The state, for a nano-loop, which will [`hold`](Self::hold) it again (invariant 1).
    #[inline]
    pub(crate) fn take(&mut self) -> S::State {
        self.held.take().unwrap_or_else(|| self.seed.make())
    }

    /// Keeps the state for the next nano-loop.
    #[inline]
    pub(crate) fn hold(mut self, state: S::State) -> Self {
        self.held = Some(state);
        self
    }

    /// The state, for the leaf (invariants 1 and 3).
    #[inline]
    pub(crate) fn into_state(self) -> S::State {
        match self.held {
            Some(state) => state,
            None => self.seed.into_state(),
        }
    }
}
