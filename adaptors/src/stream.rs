//! Streams: asynchronous sequences, as sources and as results of parallel computations. (Feature `stream`, on by default.)
//!
//! * [`par_bridge_async`](ParallelStream::par_bridge_async) makes a parallel iterator of a [`Stream`].
//! * [`into_stream`](crate::iter::ParallelIterator::into_stream) and
//!   [`into_stream_unordered`](crate::iter::ParallelIterator::into_stream_unordered) make a stream of a parallel iterator, for
//!   tasks of any runtime.
//! * [`pipeline`](pipeline()) chains both ends: items that come from a stream, go through stages in parallel, and arrive in
//!   order.
//!
//! All are bounded: who is too fast waits for who is too slow, as a task that holds no worker.

mod bridge;
mod channel;
mod in_order;
mod into_stream;
mod permits;
mod pipeline;
mod turns;
mod waiting;
mod window;

pub use bridge::{ParallelStream, StreamBridge};
#[doc(no_inline)]
pub use futures_core::Stream;
pub use into_stream::IntoStream;
pub use pipeline::{Numbered, Pipeline, pipeline};
