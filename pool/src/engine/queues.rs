//! Where jobs and tasks wait until a worker takes them, besides the workers' own deques.

pub(crate) mod deques;
pub(crate) mod random;
pub(crate) mod ranked;
pub(crate) mod stealable;
