//! The pictures of traces.

mod compare;
mod folded;
mod read;
mod svg;
