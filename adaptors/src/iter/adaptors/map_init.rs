//! The adaptor `map_init`.

use super::map_state::MapState;
use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::stage::adapt_items;
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

adapt_items! {
    impl[I, INIT, T, F, R] MapInit<I, INIT, F>
    by MapState<'a, CallSeed<'a, INIT>, F> = |it| MapState { seed: CallSeed(&it.init), map_op: &it.map_op } => R, indexed
    where [I: ParallelIterator, INIT: Fn() -> T + Sync + Send, F: Fn(&mut T, I::Item) -> R + Sync + Send, R: Send]
}
