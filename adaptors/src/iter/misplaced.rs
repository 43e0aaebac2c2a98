//! Methods that a chain with a stop cannot have, with the reason: without them, the compiler would only say that there is no such method.
//!
//! If the compiler knows the receiver's type, an inherent method goes before the trait's method of the same name. Those here have a bound that
//! does not hold, so that the bound's message is printed. What is named at the wrong place of a chain is refused where the
//! [trait's methods](super::ParallelIterator) are built.

use super::Interruptible;

/// The bound of a method that a chain with a stop cannot have; no type has it.
#[diagnostic::on_unimplemented(
    message = "behind `stop_on` and `deadline` nobody knows how many items will have been done: this method needs all of them",
    label = "not behind a stop",
    note = "number the items first, and search for a pair: `.enumerate().stop_on(&token).find_first(..)`",
    note = "or collect the processed items, and continue with those: `.stop_on(&token).collect::<Vec<_>>()`"
)]
pub trait AllItems {}

/// The bound of a method that a chain with a stop cannot have; no type has it.
#[diagnostic::on_unimplemented(
    message = "a stream, or a loop over items or blocks, has no result that could say whether a stop has ended it",
    label = "not behind a stop",
    note = "drop the stream, or leave the loop, where the computation is to end; to end single futures, write `.io_await().timeout(..)`"
)]
pub trait HasResult {}

/// Declares methods of any arguments with a bound that does not hold. (The bound and the names stand where the macro is called: so a message
/// shows their lines, and nothing of the macro.)
macro_rules! refused {
    ([$($bound:tt)*]) => {};
    ([$($bound:tt)*] $method:ident($($Arg:ident),*) $($more:tt)*) => {
        impl<I, S> Interruptible<I, S> {
            #[doc(hidden)]
            #[allow(clippy::needless_pass_by_value, clippy::return_self_not_must_use, reason = "never called")]
            pub fn $method<$($Arg),*>(self $(, _: $Arg)*) -> Self where $($bound)* {
                self
            }
        }
        refused!([$($bound)*] $($more)*);
    };
}

refused!(
    [Self: AllItems]
    position_any(A) position_first(A) position_last(A) cmp(A) partial_cmp(A) eq(A) ne(A) lt(A) le(A) gt(A) ge(A)
    collect_into_vec(A) unzip_into_vecs(A, B)
);
refused!(
    [Self: HasResult]
    into_stream(A) into_stream_unordered(A) into_iter_ordered(A) into_iter_unordered(A) blocks_iter(A)
);
