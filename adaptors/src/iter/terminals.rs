//! Terminals: what comes out of a parallel iterator, as [`Reduction`](furcate_schedulers::Reduction)s.

mod sum;

pub(crate) use sum::Sum;
