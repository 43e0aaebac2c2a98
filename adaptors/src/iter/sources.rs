//! Sources without a collection behind them: a file for each.

mod empty;
mod from_producer;
mod in_place;
mod once;
mod par_bridge;
mod repeat;
mod repeat_n;
mod split;
mod walk_tree;

pub use empty::{Empty, empty};
pub use from_producer::{FromProducer, from_producer};
pub use once::{Once, once};
pub use par_bridge::{BridgePart, IterBridge, ParallelBridge};
pub use repeat::{Repeat, RepeatProducer, repeat};
#[allow(deprecated, reason = "rayon has it, too")]
pub use repeat_n::repeatn;
pub use repeat_n::{Copies, RepeatN, repeat_n};
pub use split::{Split, SplitPiece, split};
pub use walk_tree::{
    TreeWalk, WalkTree, WalkTreePostfix, WalkTreePrefix, walk_tree, walk_tree_postfix, walk_tree_prefix,
};
