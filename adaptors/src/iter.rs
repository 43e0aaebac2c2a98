//! Traits for parallel programs in the style of std's iterators, the adaptors, and their results.
//!
//! The entry points are [`IntoParallelIterator`] (`into_par_iter`, `par_iter`, `par_iter_mut`) and, for anything
//! [`Divisible`](furcate_schedulers::Divisible), [`WrapIter`]. The methods of chains are in
//! [`ParallelIterator`] and, where length and positions are known, [`IndexedParallelIterator`].

pub(crate) mod adaptor;
pub(crate) mod adaptors;
pub(crate) mod async_terminal;
mod async_terminals;
mod blocks_iter;
pub(crate) mod collect;
mod convert;
pub(crate) mod copies;
mod either;
mod extend;
mod flag;
#[cfg(feature = "rayon")]
mod from_rayon;
pub(crate) mod gate;
mod indexed;
mod indexed_iterator;
mod interruption;
#[cfg(feature = "rayon")]
mod into_rayon;
mod mapped;
mod misplaced;
pub(crate) mod missing;
mod newtype;
mod parallel;
mod peek;
mod quota;
mod schedule;
pub(crate) mod scoped;
mod sources;
pub(crate) mod stage;
mod sum_of;
mod task_state;
pub(crate) mod terminals;
mod try_trait;
mod work;
mod wrap;

/// Two kinds of items, by which `partition_map` sorts; one of two chains.
#[doc(no_inline)]
pub use ::either::Either;
pub use adaptors::*;
pub use async_terminal::AsyncTerminal;
pub use async_terminals::AsyncTerminals;
pub use blocks_iter::{Block, BlockItems, BlocksIter, LentBlocks};
pub use convert::{
    FromParallelIterator, IntoParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator,
    ParallelDrainFull, ParallelDrainRange, ParallelExtend,
};
pub use either::EitherProducer;
#[cfg(feature = "rayon")]
pub use from_rayon::{
    FromRayon, FromRayonUnindexed, LentItems, LentProducer, from_rayon, from_rayon_unindexed,
};
pub use indexed::IndexedParallelIterator;
pub use interruption::{AsyncInterruptible, Interrupted, Interruptible, Partial};
#[cfg(feature = "rayon")]
pub use into_rayon::{IntoRayon, IntoRayonUnindexed};
pub use parallel::ParallelIterator;
pub use peek::PeekParallelIterator;
pub use schedule::{
    ExecutorOf, On, PlanWith, PolicyOf, SchedulerOf, With, WithPolicy, WithPriority, WithScheduler,
};
pub use sources::*;
pub use stage::{Stage, StageFacts, Staged};
pub use sum_of::{ProductOf, SumOf};
pub use try_trait::Try;
pub use work::Work;
pub use wrap::{Wrap, WrapIter};

pub(crate) use indexed_iterator::indexed_iterator;
pub(crate) use newtype::{clone_base, newtype_iterator};
pub(crate) use peek::indexed_is_peek;
pub(crate) use schedule::{
    change_schedule, debug_base, default_schedule, inherit_schedule, pass_indexed, pass_items,
    producer_is_indexed,
};
pub(crate) use scoped::inherit_scopes;
