//! `map_with`

use super::map_state::map_with_state;
use crate::iter::adaptor::adaptor;
use crate::iter::task_state::Copies;

adaptor! {
    /// Transforms every item with a clone of a value: see
    /// [`ParallelIterator::map_with`](crate::iter::ParallelIterator::map_with).
    MapWith<I, T, F> {
        /// `None` once it has been lent.
        init: Option<T>,
        map_op: F,
    }
}

map_with_state! {
    impl[I, T] MapWith<I, T>,
    states T, seeds Copies<T> = |adaptor| Copies::take(&mut adaptor.init),
    where [T: Clone + Send]
}
