//! Streams: asynchronous sequences, as sources of parallel computations.
//!
//! [`par_bridge_async`](ParallelStream::par_bridge_async) makes a parallel iterator of a [`Stream`]. It is bounded: who is too
//! fast waits for who is too slow, as a task that holds no worker.

mod bridge;
mod turns;

pub use bridge::{ParallelStream, StreamBridge};
#[doc(no_inline)]
pub use futures_core::Stream;
