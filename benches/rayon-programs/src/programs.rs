//! The programs, by name.

mod bridge;
mod calls;
mod collects;
mod fib;
#[cfg(feature = "large")]
mod large;
#[cfg(feature = "libraries")]
mod libraries;
mod life;
mod loops;
mod matmul;
mod nbody;
#[cfg(feature = "registry")]
mod registry;
mod scopes;
mod searches;
mod sieve;
mod sorts;
mod strings;
mod tsp;

use crate::{Case, Size};

/// Makes a program's input, and its oracle's result.
type Prepare = fn(Size) -> Case;

pub(crate) const ALL: &[(&str, Prepare)] = &[
    ("fib", fib::fib),
    ("matmul", matmul::matmul),
    ("nbody", nbody::nbody),
    ("nbody-nested", nbody::nested),
    ("life", life::cells),
    ("life-rows", life::rows),
    ("life-bridge", life::bridge),
    ("sieve", sieve::sieve),
    ("tsp-scope", tsp::by_scope),
    ("tsp-join", tsp::by_join),
    ("split", strings::split),
    ("lines", strings::lines),
    ("chars", strings::chars),
    ("sort", sorts::stable),
    ("sort-unstable", sorts::unstable),
    ("quicksort", sorts::quicksort),
    ("mergesort", sorts::mergesort),
    ("map-collect", collects::map),
    ("filter-collect", collects::filter),
    ("flat-map-collect", collects::flat_map),
    ("hash-collect", collects::hash_map),
    ("fold-reduce", collects::histogram),
    ("sum", loops::sum),
    ("dot", loops::dot),
    ("uneven", loops::uneven),
    ("nested-loops", loops::nested),
    ("find-any-common", searches::any_common),
    ("find-any-none", searches::any_none),
    ("find-first-middle", searches::first_middle),
    ("par-bridge", bridge::coarse),
    ("par-bridge-fine", bridge::fine),
    ("scope-spawns", scopes::spawns),
    ("spawn-tree", scopes::tree),
    ("calls-1us", calls::tiny),
    ("calls-10us", calls::small),
    ("calls-100us", calls::medium),
    ("calls-apart", calls::apart),
    ("installs", calls::installs),
    #[cfg(feature = "libraries")]
    ("oxipng", libraries::oxipng),
    #[cfg(feature = "libraries")]
    ("blake3", libraries::blake3),
];

/// The programs of the features `registry` and `large`.
pub(crate) const REGISTRY: &[&[(&str, Prepare)]] = &[
    #[cfg(feature = "registry")]
    registry::ALL,
    #[cfg(feature = "large")]
    large::ALL,
];

/// A program whose results are compared with the result that it has on a pool of one thread.
#[cfg(any(feature = "libraries", feature = "registry", feature = "large"))]
fn against_one_thread<R>(run: impl Fn() -> R + Send + Sync + 'static) -> Case
where
    R: PartialEq + Send + 'static,
{
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be started");
    Case::of(alone.install(&run), run)
}
