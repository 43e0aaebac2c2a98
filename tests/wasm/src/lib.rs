//! What a program on a target without threads calls: everything runs, on the caller's thread.
//!
//! `run.mjs` calls `run`, which returns the number of checks that have passed. A check that fails panics, and so ends the program.

use furcate::prelude::*;
use std::collections::HashMap;
use std::panic;

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    /// Prints UTF-8 text.
    fn print(text: *const u8, length: usize);
}

fn check<T: PartialEq + std::fmt::Debug>(checks: &mut u32, found: T, expected: T) {
    assert_eq!(found, expected);
    *checks += 1;
}

/// Returns the number of checks.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> u32 {
    panic::set_hook(Box::new(|info| {
        let text = info.to_string();
        // SAFETY: the pointer and the length are those of a string.
        unsafe { print(text.as_ptr(), text.len()) };
    }));
    let mut checks = 0;
    let n = &mut checks;

    // The first call makes the global pool, and is one of its calls already.
    check(n, furcate::join(|| 1, || 2), (1, 2));
    check(n, furcate::current_num_threads(), 1);
    check(n, furcate::join(|| furcate::join(|| 1, || 2), || furcate::join(|| 3, || 4)), ((1, 2), (3, 4)));

    check(n, (0..100_000_u64).into_par_iter().map(|x| 2 * x).sum(), 9_999_900_000_u64);
    check(n, (0..1000).into_par_iter().filter(|x| x % 2 == 0).collect::<Vec<_>>().len(), 500);
    check(n, (0..1000_u64).into_par_iter().adaptive().map(|x| x + 1).max(), Some(1000));
    check(n, (0..1000_u64).into_par_iter().depjoin().force_depth(4).sum(), 499_500_u64);
    check(n, (0..u64::MAX).into_par_iter().find_first(|x| x * x > 1_000_000), Some(1001));
    check(n, (0..u64::MAX).into_par_iter().by_blocks([100, 1000]).find_any(|&x| x == 777), Some(777));
    check(n, "a b a".split(' ').par_bridge().map(str::len).sum(), 3_usize);
    let squares: HashMap<u32, u32> = (0..100_u32).into_par_iter().map(|x| (x, x * x)).collect();
    check(n, squares[&9], 81);

    let mut shuffled: Vec<u64> = (0..100_003).map(|x| x * 7919 % 100_003).collect();
    shuffled.par_sort();
    check(n, shuffled.iter().copied().eq(0..100_003), true);
    shuffled.par_chunks_mut(1000).for_each(<[u64]>::reverse);
    shuffled.par_sort_unstable();
    check(n, shuffled.iter().copied().eq(0..100_003), true);

    let (mut a, mut b) = (0, 0);
    furcate::scope(|scope| {
        scope.spawn(|_| a = 1);
        scope.spawn(|_| b = 2);
    });
    check(n, (a, b), (1, 2));

    // Futures that are ready: nobody could wake the task.
    let ready = (0..100_u64).into_par_iter().map(|x| async move { x }).io_await().map(|x| 2 * x);
    check(n, ready.sum(), 9900_u64);

    // Two threads cannot be had, and the error says what to do.
    let error = furcate::ThreadPoolBuilder::new().num_threads(2).build().unwrap_err();
    check(n, format!("{error:?}").contains("this target has no threads"), true);
    patched::run(n);
    checks
}

/// Programs on rayon, whose rayon-core is furcate's.
mod patched {
    use super::check;
    use rayon::prelude::*;

    pub(super) fn run(n: &mut u32) {
        check(n, rayon::current_num_threads(), 1);
        check(n, rayon::join(|| 1, || rayon::join(|| 2, || 3)), (1, (2, 3)));
        check(n, (0..100_000_u64).into_par_iter().map(|x| 2 * x).sum(), 9_999_900_000_u64);
        check(n, (0..1000_u64).into_par_iter().find_first(|x| x * x > 10_000), Some(101));
        check(n, "a b a".split(' ').par_bridge().map(str::len).sum(), 3_usize);
        let mut shuffled: Vec<u64> = (0..10_007).map(|x| x * 7919 % 10_007).collect();
        shuffled.par_sort_unstable();
        check(n, shuffled.into_iter().eq(0..10_007), true);
        let (mut a, mut b) = (0, 0);
        rayon::scope(|scope| {
            scope.spawn(|_| a = 1);
            scope.spawn(|_| b = 2);
        });
        check(n, (a, b), (1, 2));
        check(n, rayon::ThreadPoolBuilder::new().num_threads(2).build().is_err(), true);
    }
}
