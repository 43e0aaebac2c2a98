//! `map_init`

use super::map_state::map_with_state;
use crate::iter::adaptor::adaptor;
use crate::iter::task_state::Call;

adaptor! {
    /// Transforms every item with a state that every task makes: see
    /// [`ParallelIterator::map_init`](crate::iter::ParallelIterator::map_init).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::MapInit<_, _, _> = (9..12).into_par_iter().map_init(String::new, |digits, x| {
    ///     digits.clear();
    ///     digits.push_str(&x.to_string());
    ///     digits.len()
    /// });
    /// assert_eq!(it.collect::<Vec<_>>(), [1, 2, 2]);
    /// ```
    MapInit<I, INIT, F> {
        init: INIT,
        map_op: F,
    }
}

map_with_state! {
    impl[I, INIT, T] MapInit<I, INIT>,
    states T, seeds Call<'a, INIT> = |adaptor| Call(&adaptor.init),
    where [INIT: Fn() -> T + Sync + Send]
}
