//! The adaptor `map_with`.

use super::map_state::MapState;
use crate::iter::ParallelIterator;
use crate::iter::adaptor::adaptor;
use crate::iter::stage::adapt_items;
use crate::iter::task_state::CloneSeed;

adaptor! {
    /// Transforms every item with a clone of a value: see
    /// [`ParallelIterator::map_with`](crate::iter::ParallelIterator::map_with).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let it: furcate::iter::MapWith<_, _, _> = (0..3).into_par_iter().map_with(sender, |to, x| to.send(x));
    /// assert!(it.all(|sent| sent.is_ok()));
    /// assert_eq!(receiver.iter().sum::<i32>(), 3);
    /// ```
    MapWith<I, T, F> {
        /// Initial value; `None` once it has been lent.
        init: Option<T>,
        map_op: F,
    }
}

adapt_items! {
    impl[I, T, F, R] MapWith<I, T, F>
    by MapState<'a, CloneSeed<T>, F> = |it| MapState { seed: CloneSeed::take(&mut it.init), map_op: &it.map_op } => R, indexed
    where [I: ParallelIterator, T: Clone + Send, F: Fn(&mut T, I::Item) -> R + Sync + Send, R: Send]
}
