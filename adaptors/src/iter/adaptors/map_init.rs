//! The adaptor `map_init`.

use super::map_state::map_with_state;
use crate::iter::adaptor::adaptor;
use crate::iter::task_state::CallSeed;

adaptor! {
    /// Transforms every item with a state that every task makes: see
    /// [`ParallelIterator::map_init`](crate::iter::ParallelIterator::map_init).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::MapInit<_, _, _> = (0..3).into_par_iter().map_init(|| 10, |ten, x| *ten * x);
    /// assert_eq!(it.collect::<Vec<i32>>(), [0, 10, 20]);
    /// ```
    MapInit<I, INIT, F> {
        init: INIT,
        map_op: F,
    }
}

map_with_state! {
    impl[I, INIT, T] MapInit<I, INIT>,
    states T, seeds CallSeed<'a, INIT> = |adaptor| CallSeed(&adaptor.init),
    where [INIT: Fn() -> T + Sync + Send]
}
