//! Pools made in the manner of early versions of rayon.
#![allow(deprecated, reason = "the whole module is")]

use crate::builder::ThreadPoolBuilder;
use furcate_pool::ThreadPool;
use std::any::Any;
use std::error::Error;
use std::fmt;

/// The settings of a pool, as in early versions of rayon: a [`ThreadPoolBuilder`] with fewer methods.
///
/// ```
/// # #![allow(deprecated)]
/// let pool = rayon_core::Configuration::new().num_threads(2).build().unwrap();
/// assert_eq!(pool.current_num_threads(), 2);
/// ```
#[deprecated(note = "Use `ThreadPoolBuilder`")]
pub struct Configuration {
    builder: ThreadPoolBuilder,
}

impl From<Configuration> for furcate_pool::ThreadPoolBuilder {
    fn from(configuration: Configuration) -> Self {
        configuration.builder.0
    }
}

impl Default for Configuration {
    fn default() -> Self {
        Configuration { builder: ThreadPoolBuilder::new() }
    }
}

impl Configuration {
    /// Returns the default settings.
    #[must_use]
    pub fn new() -> Configuration {
        Self::default()
    }

    /// Makes a pool.
    ///
    /// # Errors
    ///
    /// As [`ThreadPoolBuilder::build`].
    pub fn build(self) -> Result<ThreadPool, Box<dyn Error + 'static>> {
        self.builder.build().map_err(Box::from)
    }

    /// Does the same as [`ThreadPoolBuilder::thread_name`].
    #[must_use]
    pub fn thread_name<F>(self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        Configuration { builder: self.builder.thread_name(closure) }
    }

    /// Does the same as [`ThreadPoolBuilder::num_threads`].
    #[must_use]
    pub fn num_threads(self, num_threads: usize) -> Configuration {
        Configuration { builder: self.builder.num_threads(num_threads) }
    }

    /// Does the same as [`ThreadPoolBuilder::panic_handler`].
    #[must_use]
    pub fn panic_handler<H>(self, panic_handler: H) -> Configuration
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        Configuration { builder: self.builder.panic_handler(panic_handler) }
    }

    /// Does the same as [`ThreadPoolBuilder::stack_size`].
    #[must_use]
    pub fn stack_size(self, stack_size: usize) -> Self {
        Configuration { builder: self.builder.stack_size(stack_size) }
    }

    /// Does nothing, as [`ThreadPoolBuilder::breadth_first`].
    #[must_use]
    pub fn breadth_first(self) -> Self {
        Configuration { builder: self.builder.breadth_first() }
    }

    /// Does the same as [`ThreadPoolBuilder::start_handler`].
    #[must_use]
    pub fn start_handler<H>(self, start_handler: H) -> Configuration
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Configuration { builder: self.builder.start_handler(start_handler) }
    }

    /// Does the same as [`ThreadPoolBuilder::exit_handler`].
    #[must_use]
    pub fn exit_handler<H>(self, exit_handler: H) -> Configuration
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Configuration { builder: self.builder.exit_handler(exit_handler) }
    }
}

impl fmt::Debug for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.builder.fmt(f)
    }
}

/// Makes the global pool, as in early versions of rayon.
///
/// # Errors
///
/// As [`ThreadPoolBuilder::build_global`].
///
/// ```
/// # #![allow(deprecated)]
/// rayon_core::initialize(rayon_core::Configuration::new().num_threads(2)).unwrap();
/// assert_eq!(furcate::current_num_threads(), 2);
/// ```
#[deprecated(note = "use `ThreadPoolBuilder::build_global`")]
pub fn initialize(config: Configuration) -> Result<(), Box<dyn Error>> {
    config.builder.build_global().map_err(Box::from)
}
