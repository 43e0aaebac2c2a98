//! Furcate's own pool. Models check the modules below it: `deque`, `slots` and `sync`.

pub(crate) mod builder;
pub(crate) mod external;
pub(crate) mod global;
pub(crate) mod job;
mod queues;
pub(crate) mod registry;
pub(crate) mod scope;
pub(crate) mod settings;
pub(crate) mod spawn;
pub(crate) mod stats;
pub(crate) mod task;
pub(crate) mod worker;
