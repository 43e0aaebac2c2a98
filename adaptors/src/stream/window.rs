//! The terminal of an ordered stream whose chain waits for futures: the items of every unit go into the stream's channel,
//! in the order of the units.
//!
//! A *unit* is the smallest amount of work that the scheduler begins by itself: one item of a source, with all items
//! that the chain makes of it.

use super::channel::Channel;
use super::items::Items;
use crate::iter::terminals::Terminal;
use furcate_schedulers::Reduction;
use std::fmt;
use std::ops::ControlFlow::{self, Continue};
use std::sync::Arc;
use std::task::{Context, Poll};

/// The terminal: see the [module](self).
pub(super) struct Windowed<T>(pub(super) Arc<Channel<T>>);

impl<T: Send + 'static> Terminal<T> for Windowed<T> {
    type Output = Items<T>;
    type Reduction<'a> = Window<'a, T>;

    fn reduction(&self) -> Window<'_, T> {
        Window(&self.0)
    }
}

/// Gathers the items of a unit, and sends them when the unit is done.
pub(super) struct Window<'a, T>(&'a Channel<T>);

crate::iter::copies::copies!(impl[T] Window<'_, T>);

impl<T> fmt::Debug for Window<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Window").finish_non_exhaustive()
    }
}

impl<T: Send> Reduction<T> for Window<'_, T> {
    type Accumulator = Items<T>;
    type Output = Items<T>;

    const WINDOWED: bool = true;

    fn start(&self) -> Items<T> {
        Items::NONE
    }

    fn fold_item(&self, items: Items<T>, item: T) -> ControlFlow<Items<T>, Items<T>> {
        Continue(items.push(item))
    }

    fn finish(&self, items: Items<T>) -> Items<T> {
        items
    }

    fn reduce(&self, left: Items<T>, right: Items<T>) -> Items<T> {
        left.concat(right)
    }

    fn poll_begin(&self, context: &mut Context<'_>) -> Poll<Option<u64>> {
        self.0.poll_begin(context)
    }

    fn arrive(&self, number: u64, items: Items<T>) {
        self.0.arrive(number, items);
    }
}
