//! `for_each` and similar terminals: a state for every task, to which the items are shown.

use furcate_schedulers::Reduction;
use std::ops::ControlFlow;

/// Makes one state per task, shows it every item, and turns it into the task's output.
///
/// The state stays where it is (`visit` gets `&mut`), however large it is.
#[derive(Clone, Copy)]
pub(crate) struct Visit<S, V, F, R> {
    pub(crate) start: S,
    pub(crate) visit: V,
    pub(crate) finish: F,
    pub(crate) reduce: R,
}

/// Makes a [`Visit`] that runs only for its effects.
pub(crate) fn effects<A, S, V>(
    start: S,
    visit: V,
) -> Visit<S, V, impl Fn(A) + Clone + Send, impl Fn((), ()) + Clone + Send> {
    Visit { start, visit, finish: drop, reduce: |(), ()| () }
}

impl<T, A, O, S, V, F, R> Reduction<T> for Visit<S, V, F, R>
where
    O: Send,
    S: Fn() -> A + Clone + Send,
    V: Fn(&mut A, T) + Clone + Send,
    F: Fn(A) -> O + Clone + Send,
    R: Fn(O, O) -> O + Clone + Send,
{
    type Accumulator = A;
    type Output = O;

    #[inline]
    fn start(&self) -> A {
        (self.start)()
    }

    #[inline]
    fn fold_item(&self, mut state: A, item: T) -> ControlFlow<A, A> {
        (self.visit)(&mut state, item);
        ControlFlow::Continue(state)
    }

    #[inline]
    fn fold<I: Iterator<Item = T>>(&self, mut state: A, items: I) -> A {
        items.for_each(|item| (self.visit)(&mut state, item));
        state
    }

    #[inline]
    fn finish(&self, state: A) -> O {
        (self.finish)(state)
    }

    #[inline]
    fn reduce(&self, left: O, right: O) -> O {
        (self.reduce)(left, right)
    }
}
