//! Methods that a value does not have, with the reason: without them, the compiler would only say that there is no such method.
//!
//! The methods take `&mut self`. So a method of the same name that takes `self` goes before them: the real one, or one of another crate's. That
//! holds for a shared reference to a value that has the method, too. A bound that does not hold then prints its message.

use super::{IndexedParallelIterator, ParallelIterator, PeekParallelIterator};
use furcate_schedulers::Divisible;

/// The bound of a method that is not there; no type has it.
#[cfg(not(feature = "stream"))]
#[diagnostic::on_unimplemented(
    message = "streams need furcate's feature `stream`",
    label = "a method of the feature `stream`",
    note = "in Cargo.toml: `furcate = {{ .., features = [\"stream\"] }}`"
)]
pub trait NeedsStream {}

/// The bound of a method that is not there; no type has it.
#[diagnostic::on_unimplemented(
    message = "`spread` is a method of the crate furcate-cluster, for chains whose parts can be described to another rank",
    label = "a method of furcate-cluster",
    note = "with that crate: `use furcate_cluster::SpreadOver;`; see its trait `Portable` for the chains that can be spread"
)]
pub trait NeedsCluster {}

/// Declares methods of any arguments with a bound. (The bound and the names stand where the macro is called: so a message shows their lines,
/// and nothing of the macro.)
macro_rules! missing {
    ([$($bound:tt)*]) => {};
    ([$($bound:tt)*] $method:ident($($Arg:ident),*) $($more:tt)*) => {
        #[doc(hidden)]
        fn $method<$($Arg),*>(&mut self $(, _: $Arg)*) -> Self where $($bound)* {
            unreachable!("a type that meets the bound has a method that goes before this one")
        }
        missing!([$($bound)*] $($more)*);
    };
}

/// The methods of parallel iterators.
#[allow(clippy::wrong_self_convention, reason = "by reference on purpose: see above")]
pub trait Missing: ParallelIterator {
    #[cfg(not(feature = "stream"))]
    missing!(
        [Self: NeedsStream]
        into_stream(A) into_stream_unordered(A) into_iter_ordered(A) into_iter_unordered(A)
    );
    missing!([Self: NeedsCluster] spread(A));
    missing!([Self: PeekParallelIterator] merge(A));
    missing!(
        [Self: IndexedParallelIterator]
        enumerate() rev() zip(A) zip_eq(A) take(A) skip(A) step_by(A) chunks(A)
    );
}

impl<I: ParallelIterator> Missing for I {}

/// The method of streams.
#[cfg(not(feature = "stream"))]
pub trait MissingStream: Sized {
    missing!([Self: NeedsStream] par_bridge_async());
}

#[cfg(not(feature = "stream"))]
impl<S> MissingStream for S {}

/// The method of tuples with a part that cannot be cut; the message names the part.
pub trait MissingWrap: Sized {
    missing!([Self: Divisible] wrap_iter());
}

impl<A, B> MissingWrap for (A, B) {}
impl<A, B, C> MissingWrap for (A, B, C) {}
impl<A, B, C, D> MissingWrap for (A, B, C, D) {}
