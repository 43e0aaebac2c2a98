//! x
pub use furcate_adaptors::{iter, range, slice, vec};
#[cfg(feature = "derive")]
pub use furcate_derive::Divisible;
#[cfg(feature = "rayon")]
pub use furcate_pool::Rayon;
pub use furcate_pool::{Context, DefaultExecutor, Executor, Inline};
pub use furcate_schedulers::{
    Divisible, IndexedProducer, Join, Policy, Producer, Reduction, Scheduler, Sequential, Task, Verdict,
    policy,
};

pub mod prelude {
    //! The traits, to be imported together: `use furcate::prelude::*;`.
    pub use furcate_adaptors::prelude::*;
    #[cfg(feature = "derive")]
    pub use furcate_derive::Divisible;
}
