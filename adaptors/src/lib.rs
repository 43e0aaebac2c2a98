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
//! Nine concepts need `unsafe`: collecting in place and appending in parallel (`iter::collect`), owning the elements of a slice (`vec::owned`),
//! lending those of an array (`array`), taking a range out of a vector (`vec::drain`), merging elements into a buffer
//! and back (`slice::sort`), fusing parts of a slice again (`slice::part`), polling a future that has a time limit
//! (`iter::Timeout`), and lending what rayon lends to a callback (`iter::from_rayon`). These modules number the invariants that they rely on. No other module of this crate may use
//! `unsafe`.
// Both panic if the stream is closed. Library code writes by functions that ignore errors.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(docsrs, feature(doc_cfg))]
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
    #[cfg(not(feature = "stream"))]
    #[doc(hidden)]
    pub use crate::iter::missing::MissingStream as _;
    #[doc(hidden)]
    pub use crate::iter::missing::{Missing as _, MissingWrap as _};
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

pub mod beside_rayon {
    //! The traits of the [`prelude`](crate::prelude) without their names, for a module that imports rayon's prelude, too.
    //!
    //! The two preludes have traits of the same names, so a module can import only one of them. This one has no names. A method then
    //! belongs to the library whose type it is called on. A method that both libraries have for a type (`par_iter()` of a vector) is an error,
    //! which lists the two paths to choose from.
    //!
    //! ```
    //! use furcate::beside_rayon::*;
    //! use rayon::prelude::*;
    //!
    //! let ours = furcate::iter::repeat_n(2, 10).map(|x| x + 1).size_limit(3).sum::<i32>();
    //! let theirs = rayon::iter::repeat_n(2, 10).map(|x| x + 1).sum::<i32>();
    //! assert_eq!(ours, theirs);
    //!
    //! // Both libraries have a `par_iter` for vectors: say which one.
    //! let v = vec![1, 2, 3];
    //! let sum: i32 = furcate::iter::IntoParallelRefIterator::par_iter(&v).map(|x| x + 1).sum();
    //! assert_eq!(sum, 9);
    //! ```
    //!
    //! ```compile_fail,E0034
    //! use furcate::beside_rayon::*;
    //! use rayon::prelude::*;
    //!
    //! let v = vec![1, 2, 3];
    //! v.par_iter(); // multiple applicable items in scope
    //! ```
    pub use crate::io::ParallelBufRead as _;
    #[cfg(not(feature = "stream"))]
    #[doc(hidden)]
    pub use crate::iter::missing::MissingStream as _;
    #[doc(hidden)]
    pub use crate::iter::missing::{Missing as _, MissingWrap as _};
    pub use crate::iter::{
        AsyncTerminals as _, AwaitedInOrder as _, FromParallelIterator as _, IndexedParallelIterator as _,
        IntoParallelIterator as _, IntoParallelRefIterator as _, IntoParallelRefMutIterator as _,
        ParallelBridge as _, ParallelDrainFull as _, ParallelDrainRange as _, ParallelExtend as _,
        ParallelIterator as _, WrapIter as _,
    };
    pub use crate::slice::{ParallelSlice as _, ParallelSliceMut as _};
    pub use crate::str::ParallelString as _;
    #[cfg(feature = "stream")]
    pub use crate::stream::ParallelStream as _;
    pub use furcate_schedulers::{Divisible as _, Policy as _, Producer as _};
}
