//! Collecting into `()`, and into `Cow`.

use super::from_par_iter;
use crate::iter::{FromParallelIterator, IntoParallelIterator, ParallelExtend, ParallelIterator};
use std::borrow::Cow;

from_par_iter! {
    [] (): (), |items| items.into_par_iter().for_each(drop);
    ['a, C: ToOwned<Owned: FromParallelIterator<T>> + ?Sized, T: Send] Cow<'a, C>: T, |items| Cow::Owned(C::Owned::from_par_iter(items));
}

/// Runs the iterator for its effects.
impl ParallelExtend<()> for () {
    fn par_extend<I: IntoParallelIterator<Item = ()>>(&mut self, items: I) {
        items.into_par_iter().for_each(drop);
    }
}
