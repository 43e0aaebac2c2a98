//! The state that a task keeps in `map_with`, `map_init`, `fold` and `fold_with`.
//!
//! # Invariants
//!
//! 1. *One state per task.* A part of the computation carries a [`Seed`]. The state is made from it where the task
//!    begins (in the leaf, or in [`Producer::partial_fold`](furcate_schedulers::Producer::partial_fold)), and is a
//!    local variable there, for all steps of the task. So it is never sent to another thread, and need not be
//!    `Send`. No state is made for a part that is only divided.
//! 2. *A new task is unaffected by the old one's items.* A part that is given away between two steps gets a seed
//!    as it was at the beginning, not a copy of the state.
//! 3. A task that is folded in one step consumes its seed: it costs no clones except those of its divisions.
//!
//! The caller decides what a *task* is. An adaptor further down that makes its steps by cutting (`rev`, `zip`)
//! makes every piece that it cuts off a task, with a state of its own. This makes more states, but never a wrong one.

use crate::iter::copies::copies;

/// A value from which the states of tasks are made. It is cloned where a part is divided.
pub trait Seed: Clone + Send {
    /// The state of a task.
    type State;

    /// Makes the state.
    fn into_state(self) -> Self::State;
}

/// A seed that makes states by calling a function, which lies in the adaptor.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct CallSeed<'a, F>(pub(crate) &'a F);

copies!(impl[F] CallSeed<'_, F>);

impl<T, F: Fn() -> T + Sync> Seed for CallSeed<'_, F> {
    type State = T;

    #[inline]
    fn into_state(self) -> T {
        (self.0)()
    }
}

/// A seed that makes states by cloning a value, once for every division.
#[derive(Clone, Debug)]
pub struct CloneSeed<T>(pub(crate) T);

impl<T> CloneSeed<T> {
    /// Takes the value out of an adaptor, so that it is neither cloned nor kept alive without need.
    ///
    /// # Panics
    ///
    /// If the value has been taken before.
    pub(crate) fn take(value: &mut Option<T>) -> Self {
        CloneSeed(value.take().expect("an iterator with a state is lent once"))
    }
}

impl<T: Clone + Send> Seed for CloneSeed<T> {
    type State = T;

    #[inline]
    fn into_state(self) -> T {
        self.0
    }
}
