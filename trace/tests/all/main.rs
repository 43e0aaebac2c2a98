//! The pictures of traces.

mod compare;
mod svg;
