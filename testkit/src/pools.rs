//! Pools of the default engine: furcate's own, or rayon's with `--cfg furcate_rayon`.

#[cfg(not(furcate_rayon))]
pub use furcate_pool as engine;
#[cfg(furcate_rayon)]
pub use rayon_core as engine;
use std::sync::OnceLock;

/// A pool for one test alone.
pub fn pool(threads: usize) -> engine::ThreadPool {
    engine::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
}

/// Pools of 1, 2, 3 and 8 threads, which all tests share.
pub fn pools() -> &'static [engine::ThreadPool] {
    static POOLS: OnceLock<Vec<engine::ThreadPool>> = OnceLock::new();
    POOLS.get_or_init(|| [1, 2, 3, 8].into_iter().map(pool).collect())
}

/// Returns the one of [`pools`] that has so many threads.
pub fn shared_pool(threads: usize) -> &'static engine::ThreadPool {
    pools().iter().find(|pool| pool.current_num_threads() == threads).expect("1, 2, 3 or 8 threads")
}

/// Runs a check from outside of all pools, and inside each of [`pools`].
pub fn on_pools(check: impl Fn() + Sync) {
    check();
    for pool in pools() {
        pool.install(&check);
    }
}
