//! Streams: asynchronous sequences, as sources and as results of parallel computations. (Feature `stream`.)
//!
//! * [`par_bridge_async`](ParallelStream::par_bridge_async) makes a parallel iterator of a [`Stream`].
//! * [`lines`] makes a stream of a reader, and [`from_poll`] of anything that is polled: tokio's receivers, say.
//! * [`into_stream`](crate::iter::ParallelIterator::into_stream) and
//!   [`into_stream_unordered`](crate::iter::ParallelIterator::into_stream_unordered) make a stream of a parallel iterator, for
//!   tasks of any runtime.
//! * [`into_iter_ordered`](crate::iter::ParallelIterator::into_iter_ordered) and
//!   [`into_iter_unordered`](crate::iter::ParallelIterator::into_iter_unordered) make a sequential iterator of a parallel one,
//!   for callers that may block.
//! * [`pipeline`](pipeline()) has both ends: items come from a stream, go through stages in parallel, and arrive in
//!   order.
//!
//! All of them are bounded: if one side is too fast, it waits for the other side, as a task that holds no worker.

mod blocking_iter;
mod bridge;
mod channel;
mod in_order;
mod into_stream;
mod items;
mod keeps_permit;
mod pipeline;
mod sources;
mod turns;
mod window;

pub use blocking_iter::BlockingIter;
pub use bridge::{ParallelStream, StreamBridge};
#[doc(no_inline)]
pub use futures_core::Stream;
pub use into_stream::IntoStream;
pub use pipeline::{Numbered, Pipeline, pipeline};
#[cfg(feature = "tokio")]
pub use sources::tokio_lines;
pub use sources::{FromPoll, Lines, from_poll, lines};
