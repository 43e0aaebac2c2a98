//! Furcate's parallel iterators: sources, adaptors and terminals.
//!
//! The modules are named as rayon's: [`iter`] holds the traits, the data adaptors and the policy adaptors;
//! [`slice`](mod@slice), [`vec`](mod@vec), [`range`] and the others the sources. A program that used rayon's
//! iterators changes its `use` line.
//!
//! # How it is built
//!
//! A [`ParallelIterator`](iter::ParallelIterator) is a description. A terminal borrows a
//! [`Producer`](furcate_schedulers::Producer) from it, which can be cut into parts, and hands it to the scheduler with
//! the policy and a [`Reduction`](furcate_schedulers::Reduction). Parts borrow the closures of the description, so
//! nothing is cloned, boxed or counted, and no callback traits are needed.
//!
//! # Unsafe code
//!
//! Eight concepts need `unsafe`: collecting in place (`iter::collect`), owning the elements of a slice (`vec::owned`),
//! lending those of an array (`array`), taking a range out of a vector (`vec::drain`), merging elements into a buffer
//! and back (`slice::sort`), fusing parts of a slice again (`slice::part`), polling a future that has a time limit
//! (`iter::Timeout`), and lending what rayon lends to a callback (`iter::from_rayon`). These modules number the invariants that they rely on. No other module of this crate may use
//! `unsafe`.
#![deny(unsafe_code)]

pub mod array;
mod boxed;
mod co_rank;
pub mod collections;
pub mod io;
pub mod iter;
pub mod option;
pub mod range;
pub mod range_inclusive;
pub mod result;
mod separated;
pub mod slice;
pub mod str;
#[cfg(feature = "stream")]
pub mod stream;
pub mod string;
pub mod vec;

pub mod prelude {
    //! The traits, to be imported together: `use furcate::prelude::*;`.
    pub use crate::io::ParallelBufRead;
    pub use crate::iter::{
        AsyncTerminals, AwaitedInOrder, FromParallelIterator, IndexedParallelIterator, IntoParallelIterator,
        IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelBridge, ParallelDrainFull,
        ParallelDrainRange, ParallelExtend, ParallelIterator, WrapIter,
    };
    pub use crate::slice::{ParallelSlice, ParallelSliceMut};
    pub use crate::str::ParallelString;
    #[cfg(feature = "stream")]
    pub use crate::stream::ParallelStream;
    pub use furcate_schedulers::{Divisible, Policy, Producer};
}
