//! What a terminal is to a scheduler.

use std::ops::ControlFlow;
use std::task::{Context, Poll};

/// How a task folds its items, and how two neighbours' results become one.
///
/// A scheduler keeps exactly one accumulator per task: [`start`](Self::start) makes it, [`step`](Self::step) or
/// [`fold`](Self::fold) feed it, [`finish`](Self::finish) turns it into the task's output, and
/// [`reduce`](Self::reduce) joins the outputs of two neighbours, the left one first, so that a non-commutative
/// operation gives what the sequential loop gives.
///
/// The reduction itself is a small value that rides down the division tree; most are copied, and some (the search for
/// the *first* hit) give their children different places: [`divide`](Self::divide).
///
/// ```
/// use furcate::Inline;
/// use furcate::{Join, Reduction, Scheduler, policy::BoundDepth};
/// use std::ops::ControlFlow;
///
/// /// Joins items to text.
/// #[derive(Clone)]
/// struct Text;
///
/// impl Reduction<u32> for Text {
///     type Accumulator = String;
///     type Output = String;
///     fn start(&self) -> String {
///         String::new()
///     }
///     fn step(&self, text: String, item: u32) -> ControlFlow<String, String> {
///         ControlFlow::Continue(text + &item.to_string())
///     }
///     fn finish(&self, text: String) -> String {
///         text
///     }
///     fn reduce(&self, left: String, right: String) -> String {
///         format!("({left} {right})")
///     }
/// }
///
/// let text = Join.schedule(0..8, BoundDepth::new(2), Text, &Inline);
/// assert_eq!(text, "((01 23) (45 67))");
/// ```
pub trait Reduction<T>: Clone + Send {
    /// The state of one task; it never leaves its thread.
    type Accumulator;

    /// What a task delivers.
    type Output: Send;

    /// Can a task of this reduction end before its items do?
    ///
    /// If so, schedulers look at [`stopped`](Self::stopped) before they begin a task and, unless [`IN_LOOPS`](Self::IN_LOOPS)
    /// says no, between its nano-loops; else they fold a leaf in one go.
    const INTERRUPTIBLE: bool = false;

    /// Whether a leaf of an [interruptible](Self::INTERRUPTIBLE) reduction is folded in nano-loops. False for a reduction whose
    /// result depends on how items are grouped (a sum of floats); its own [`fold`](Self::fold) then looks for the stop.
    const IN_LOOPS: bool = Self::INTERRUPTIBLE;

    /// Is it a search, made to end long before all is done? Then the [default scheduler](crate::ByTerminal) walks it in
    /// blocks; and one that [waits for futures](crate::Suspending) waits for nothing behind a [final](Self::is_final) output.
    const SEARCH: bool = false;

    /// If a task [is stopped](Self::stopped), are all, wherever they are? Then what they wait for is dropped.
    const STOPS_ALL: bool = false;

    /// Whether [`reduce`](Self::reduce) can find the reason for such a stop. If so, outputs are reduced as soon as they are there.
    const REDUCE_STOPS_ALL: bool = Self::STOPS_ALL;

    /// The accumulator of a new task.
    fn start(&self) -> Self::Accumulator;

    /// Folds one item; `Break` ends the task.
    fn step(
        &self,
        accumulator: Self::Accumulator,
        item: T,
    ) -> ControlFlow<Self::Accumulator, Self::Accumulator>;

    /// Folds all items of an iterator. Override it where std has a better loop than one step after the other.
    #[inline]
    fn fold<I: Iterator<Item = T>>(&self, accumulator: Self::Accumulator, mut items: I) -> Self::Accumulator {
        let folded = items.try_fold(accumulator, |accumulator, item| self.step(accumulator, item));
        // Not behind what is returned: a panic in their drop would leak that.
        drop(items);
        match folded {
            ControlFlow::Continue(accumulator) | ControlFlow::Break(accumulator) => accumulator,
        }
    }

    /// Folds the items of one nano-loop; `Break` ends the task. By default one step after the other if the reduction
    /// is [interruptible](Self::INTERRUPTIBLE), else in one [`fold`](Self::fold). Override it where there is a better
    /// loop that may still end early.
    #[inline]
    fn fold_loop<I: Iterator<Item = T>>(
        &self,
        accumulator: Self::Accumulator,
        mut items: I,
    ) -> ControlFlow<Self::Accumulator, Self::Accumulator> {
        if Self::INTERRUPTIBLE {
            let folded = items.try_fold(accumulator, |accumulator, item| self.step(accumulator, item));
            drop(items); // as above
            folded
        } else {
            ControlFlow::Continue(self.fold(accumulator, items))
        }
    }

    /// Ends a task.
    fn finish(&self, accumulator: Self::Accumulator) -> Self::Output;

    /// Joins the outputs of two neighbours.
    fn reduce(&self, left: Self::Output, right: Self::Output) -> Self::Output;

    /// The reductions of the two halves of a task. By default two copies.
    #[inline]
    fn divide(self) -> (Self, Self) {
        (self.clone(), self)
    }

    /// The reductions of one item, or of a few, and of all that comes behind: where a task walks its items and one of them
    /// has to be waited for. There may be many, in one task. By default as any two parts: [`divide`](Self::divide).
    #[inline]
    fn divide_item(self) -> (Self, Self) {
        self.divide()
    }

    /// Is this output, of what comes first, the output of the whole, whatever comes behind it?
    ///
    /// Schedulers that run parts one after the other end with such an output; of a [search](Self::SEARCH), others do not wait
    /// for what is behind it, either. By default nothing is final.
    #[inline]
    fn is_final(&self, output: &Self::Output) -> bool {
        let _ = output;
        false
    }

    /// Do later items decide? Then schedulers that run parts one after the other begin with the last one, and
    /// [`is_final`](Self::is_final) speaks of what comes last.
    const BACKWARD: bool = false;

    /// Whether the output of every unit is wanted by itself, in order, and only while there is room for it: back-pressure.
    ///
    /// [`Suspending`](crate::Suspending) then begins unit after unit, from the front, each when
    /// [`poll_begin`](Self::poll_begin) has given it a number, and tells the unit's output by that number to
    /// [`arrive`](Self::arrive). The output of the whole is that of no items. While there is no room, no thread waits. Other
    /// schedulers pay no attention to this.
    const WINDOWED: bool = false;

    /// Gives a number to the unit that comes next: 0, 1, 2 and so on. Pending while there is no room; `None` if no more units
    /// are wanted. At most one task of a computation asks at any time. Asked only if [`WINDOWED`](Self::WINDOWED).
    fn poll_begin(&self, context: &mut Context<'_>) -> Poll<Option<u64>> {
        let _ = context;
        Poll::Ready(None)
    }

    /// Takes the output of a unit, by the number that [`poll_begin`](Self::poll_begin) gave it. Called once for every number,
    /// in any order, unless something panics. Called only if [`WINDOWED`](Self::WINDOWED).
    fn arrive(&self, number: u64, output: Self::Output) {
        let _ = (number, output);
    }

    /// Need this task not go on, because of what another one has found? Asked only if
    /// [`INTERRUPTIBLE`](Self::INTERRUPTIBLE).
    #[inline]
    fn stopped(&self) -> bool {
        false
    }
}
