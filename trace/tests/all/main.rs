//! The pictures of traces.

mod compare;
mod read;
mod svg;
