//! Methods of features and crates that the program has not turned on: each is an error that says where it is.
//!
//! The methods take `&self`. So a method of the same name that takes `self` (the real one, or one of another crate's) goes before them.

use super::ParallelIterator;

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

/// The methods.
#[allow(clippy::wrong_self_convention, reason = "by reference on purpose: see above")]
pub trait Missing: ParallelIterator {
    #[cfg(not(feature = "stream"))]
    #[doc(hidden)]
    fn into_stream(&self, _capacity: usize) -> Self
    where
        Self: NeedsStream,
    {
        unreachable!("no type meets the bound")
    }

    #[cfg(not(feature = "stream"))]
    #[doc(hidden)]
    fn into_stream_unordered(&self, _capacity: usize) -> Self
    where
        Self: NeedsStream,
    {
        unreachable!("no type meets the bound")
    }

    #[doc(hidden)]
    fn spread<W>(&self, _world: W) -> Self
    where
        Self: NeedsCluster,
    {
        unreachable!("no type meets the bound")
    }
}

impl<I: ParallelIterator> Missing for I {}

/// The method of streams.
#[cfg(not(feature = "stream"))]
pub trait MissingStream: Sized {
    #[doc(hidden)]
    fn par_bridge_async(&self) -> Self
    where
        Self: NeedsStream,
    {
        unreachable!("no type meets the bound")
    }
}

#[cfg(not(feature = "stream"))]
impl<S> MissingStream for S {}
