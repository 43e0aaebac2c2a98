//! Reductions: a terminal's work, as a scheduler sees it.

use std::ops::ControlFlow;
use std::task::{Context, Poll};

/// Says how a task folds its items, and how the outputs of two neighbors become one.
///
/// A scheduler keeps exactly one accumulator per task: [`start`](Self::start) makes the accumulator,
/// [`fold_item`](Self::fold_item) or [`fold`](Self::fold) feed it, and [`finish`](Self::finish) turns it into the task's output.
/// [`reduce`](Self::reduce) joins the outputs of two neighbors, the left one first, so a non-commutative operation
/// gives the same result as the sequential loop.
///
/// The reduction itself is a small value that is passed down the division tree. Most reductions are copied. Some (the
/// search for the *first* hit) give their children different positions: see [`divide`](Self::divide).
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
///     fn fold_item(&self, text: String, item: u32) -> ControlFlow<String, String> {
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
/// let text = Join.schedule((0..8, BoundDepth::new(2), Text), &Inline);
/// assert_eq!(text, "((01 23) (45 67))");
/// ```
pub trait Reduction<T>: Clone + Send {
    /// The state of one task. It never leaves its thread.
    type Accumulator;

    /// The result of a task.
    type Output: Send;

    /// How a call of this reduction can end before its last item. By default it cannot.
    const ENDS: Ends = Ends::NEVER;

    /// Whether an output gathers the items, as a list does: two outputs, and then both in one, take a copy and twice the memory that
    /// one output takes. So on one thread the [default policy](crate::policy::Auto) does not divide such a call, even if it comes from
    /// outside the engine: it counts as one from inside. (If an item blocks, no other part can be run meanwhile, then.)
    const GATHERS: bool = false;

    /// Returns the accumulator of a new task.
    fn start(&self) -> Self::Accumulator;

    /// Folds one item. `Break` ends the task.
    fn fold_item(
        &self,
        accumulator: Self::Accumulator,
        item: T,
    ) -> ControlFlow<Self::Accumulator, Self::Accumulator>;

    /// Folds all items of an iterator. Override this method if std has a better loop than one `fold_item` after the other.
    #[inline]
    fn fold<I: Iterator<Item = T>>(&self, accumulator: Self::Accumulator, mut items: I) -> Self::Accumulator {
        let folded = items.try_fold(accumulator, |accumulator, item| self.fold_item(accumulator, item));
        // Dropped before the return value is made: a panic in this drop would leak that value.
        drop(items);
        match folded {
            ControlFlow::Continue(accumulator) | ControlFlow::Break(accumulator) => accumulator,
        }
    }

    /// Folds the items of one step. `Break` ends the task. By default, calls `fold_item` for one item after the other
    /// if the reduction is [interruptible](Ends::interruptible), else [`fold`](Self::fold) once. Override this method
    /// if there is a better loop that may still end early.
    #[inline]
    fn fold_step<I: Iterator<Item = T>>(
        &self,
        accumulator: Self::Accumulator,
        mut items: I,
    ) -> ControlFlow<Self::Accumulator, Self::Accumulator> {
        if Self::ENDS.interruptible {
            let folded = items.try_fold(accumulator, |accumulator, item| self.fold_item(accumulator, item));
            drop(items); // as above
            folded
        } else {
            ControlFlow::Continue(self.fold(accumulator, items))
        }
    }

    /// Turns the accumulator of a finished task into its output.
    fn finish(&self, accumulator: Self::Accumulator) -> Self::Output;

    /// Joins the outputs of two neighbors.
    fn reduce(&self, left: Self::Output, right: Self::Output) -> Self::Output;

    /// Returns the reductions of the two halves of a task. By default, returns two copies.
    #[inline]
    fn divide(self) -> (Self, Self) {
        (self.clone(), self)
    }

    /// Returns the reductions of one item (or of a few), and of everything after it. Called where a task walks its
    /// items and has to wait for one of them, possibly many times in one task. By default, calls
    /// [`divide`](Self::divide), as for any two parts.
    #[inline]
    fn divide_item(self) -> (Self, Self) {
        self.divide()
    }

    /// Whether this output, of the first part, is the output of the whole, regardless of the later parts.
    ///
    /// Schedulers that run parts one after the other end with such an output. In a [search](Ends::search), the other
    /// schedulers do not wait for later parts either. By default no output is final.
    #[inline]
    fn is_final(&self, output: &Self::Output) -> bool {
        let _ = output;
        false
    }

    /// Whether each unit's output is wanted by itself, in order, and only while there is room for it: back-pressure.
    ///
    /// [`Suspending`](crate::Suspending) then begins one unit after the other, from the front. A unit begins when
    /// [`poll_begin`](Self::poll_begin) has given it a number, and its output is passed to [`arrive`](Self::arrive)
    /// with that number. The output of the whole call is the output of no items. While there is no room, no thread
    /// waits. Other schedulers ignore this constant.
    const WINDOWED: bool = false;

    /// Gives the next unit its number: 0, 1, 2 and so on. Pending while there is no room; `None` if no more units are
    /// wanted. At most one task of a computation calls this at any time. Called only if [`WINDOWED`](Self::WINDOWED).
    fn poll_begin(&self, context: &mut Context<'_>) -> Poll<Option<u64>> {
        let _ = context;
        Poll::Ready(None)
    }

    /// Takes the output of a unit, by the number that [`poll_begin`](Self::poll_begin) gave it. Called once for every
    /// number, in any order, unless a task panics. Called only if [`WINDOWED`](Self::WINDOWED).
    fn arrive(&self, number: u64, output: Self::Output) {
        let _ = (number, output);
    }

    /// Whether this task need not continue, because of an output of another task. Asked only if the
    /// reduction is [interruptible](Ends::interruptible).
    #[inline]
    fn stopped(&self) -> bool {
        false
    }
}

/// How a call can end before its last item: [`Reduction::ENDS`].
///
/// ```
/// use furcate::Ends;
/// let first_from_the_back = Ends { search: true, backward: true, ..Ends::EARLY };
/// assert!(first_from_the_back.interruptible && !first_from_the_back.stops_all);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Whether a task can end before its last item.
    ///
    /// If so, schedulers look at [`stopped`](Reduction::stopped) before they begin a task and, unless
    /// [`in_steps`](Self::in_steps) is false, between its steps. Otherwise they fold a leaf in one go.
    pub interruptible: bool,

    /// Whether a leaf of an [interruptible](Self::interruptible) reduction is folded in steps. False for a
    /// reduction whose result depends on how items are grouped (a sum of floats); its own [`fold`](Reduction::fold) then
    /// looks for the stop.
    pub in_steps: bool,

    /// Whether this is a search, expected to end long before its last item. If so, the [default
    /// scheduler](crate::ByTerminal) walks it in blocks, and a search that [waits for futures](crate::Suspending) waits
    /// for no item after a [final](Reduction::is_final) output.
    pub search: bool,

    /// Whether later items decide the result. If so, schedulers that run parts one after the other begin with the last
    /// part, and [`is_final`](Reduction::is_final) is asked about the output of the last part.
    pub backward: bool,

    /// Whether a task that [is stopped](Reduction::stopped) implies that all tasks of the call are. If so, the futures that
    /// they wait for are dropped. [`ALL`](Self::ALL) sets [`reduce_stops_all`](Self::reduce_stops_all), too.
    pub stops_all: bool,

    /// Whether [`reduce`](Reduction::reduce) can find the reason for such a stop. If so, outputs are reduced as soon as they
    /// have arrived.
    pub reduce_stops_all: bool,
}

impl Ends {
    /// No task ends before its last item.
    pub const NEVER: Ends = Ends {
        interruptible: false,
        in_steps: false,
        search: false,
        backward: false,
        stops_all: false,
        reduce_stops_all: false,
    };

    /// A task can end before its last item, between any two.
    pub const EARLY: Ends = Ends { interruptible: true, in_steps: true, ..Ends::NEVER };

    /// A task can end before its last item, and all tasks end with it.
    pub const ALL: Ends = Ends { stops_all: true, reduce_stops_all: true, ..Ends::EARLY };
}
