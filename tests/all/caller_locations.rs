//! A panic about an argument names the line of the caller that passed it, not one of furcate's.

use furcate::policy::Cap;
use furcate::prelude::*;
use furcate::slice::SlicePart;
use furcate::{ByBlocks, Join, Suspending};
use std::future::ready;
use std::panic::{catch_unwind, set_hook, take_hook};
use std::sync::Mutex;
use testkit::process::{good_child, plays};

/// A name, and a call with an argument that the method refuses.
type Call = (&'static str, fn());

const CALLS: &[Call] = &[
    ("cap", || drop((0..9).into_par_iter().cap(0))),
    ("Cap::new", || drop(Cap::new(0))),
    ("max_in_flight", || drop((0..9).into_par_iter().map(ready).io_await().max_in_flight(0))),
    ("Suspending::max_in_flight", || {
        let _ = Suspending::new().max_in_flight(0);
    }),
    ("chunks", || drop((0..9).into_par_iter().chunks(0))),
    ("fold_chunks", || drop((0..9).into_par_iter().fold_chunks(0, || 0, |a, b| a + b))),
    ("fold_chunks_with", || drop((0..9).into_par_iter().fold_chunks_with(0, 0, |a, b| a + b))),
    ("step_by", || drop((0..9).into_par_iter().step_by(0))),
    ("zip_eq", || drop((0..9).into_par_iter().zip_eq(0..8))),
    ("chain, len", || {
        let items = || furcate::iter::repeat_n(1, usize::MAX);
        items().chain(items()).len();
    }),
    ("interleave, len", || {
        let items = || furcate::iter::repeat_n(1, usize::MAX);
        items().interleave(items()).len();
    }),
    ("par_windows", || drop([1].par_windows(0))),
    ("par_chunks", || drop([1].par_chunks(0))),
    ("par_chunks_exact", || drop([1].par_chunks_exact(0))),
    ("par_rchunks", || drop([1].par_rchunks(0))),
    ("par_rchunks_exact", || drop([1].par_rchunks_exact(0))),
    ("par_chunks_mut", || drop([1].par_chunks_mut(0))),
    ("par_chunks_exact_mut", || drop([1].par_chunks_exact_mut(0))),
    ("par_rchunks_mut", || drop([1].par_rchunks_mut(0))),
    ("par_rchunks_exact_mut", || drop([1].par_rchunks_exact_mut(0))),
    ("par_drain of a vector", || drop(vec![1].par_drain(2..))),
    ("par_drain of a string", || drop("ä".to_owned().par_drain(1..))),
    ("par_drain of a deque", || drop(std::collections::VecDeque::from([1]).par_drain(2..))),
    ("SlicePart::fuse", || {
        let (mut a, mut b) = ([1, 2], [3, 4]);
        drop(SlicePart::new(&mut a).fuse(SlicePart::new(&mut b)));
    }),
    #[cfg(not(furcate_rayon))]
    ("into_stream", || drop((0..9).into_par_iter().into_stream(0))),
    #[cfg(not(furcate_rayon))]
    ("into_stream_unordered", || drop((0..9).into_par_iter().into_stream_unordered(0))),
    #[cfg(not(furcate_rayon))]
    ("pipeline, max_in_flight", || {
        drop(furcate::stream::pipeline(futures_lite::stream::iter(0..9)).max_in_flight(0));
    }),
    #[cfg(not(furcate_rayon))]
    ("pipeline, stage_async_at_most", || {
        drop(furcate::stream::pipeline(futures_lite::stream::iter(0..9)).stage_async_at_most(0, ready));
    }),
];

#[test]
fn panics_about_arguments_name_the_caller() {
    static FILES: Mutex<Vec<String>> = Mutex::new(vec![]);
    // The hook is the whole process's.
    if !plays("caller") {
        const TEST: &str = "caller_locations::panics_about_arguments_name_the_caller";
        return good_child(TEST, "caller", &[]);
    }
    set_hook(Box::new(|info| {
        FILES.lock().unwrap().push(info.location().unwrap().file().to_owned());
    }));
    let ended: Vec<_> = CALLS.iter().map(|(name, call)| (name, catch_unwind(call).is_ok())).collect();
    drop(take_hook());
    let accepted: Vec<_> = ended.iter().filter(|(_, ended)| *ended).collect();
    assert!(accepted.is_empty(), "these take the argument: {accepted:?}");
    let files = FILES.lock().unwrap();
    let elsewhere: Vec<_> = ended.iter().zip(&*files).filter(|(_, file)| *file != file!()).collect();
    assert!(elsewhere.is_empty() && files.len() == CALLS.len(), "{elsewhere:#?}");
}

/// Sizes that decide about the schedule alone: a 0 counts as 1, wherever it is named.
#[test]
fn sizes_that_only_schedule_count_0_as_1() {
    let items = || (0..100).into_par_iter();
    let sum = (0..100).sum::<i32>();
    assert_eq!(items().by_uniform_blocks(0).sum::<i32>(), sum);
    assert_eq!(items().by_blocks([0, 0, 5, 0]).sum::<i32>(), sum);
    assert_eq!(items().with_scheduler(ByBlocks::new(Join, std::iter::repeat(0))).sum::<i32>(), sum);
    assert_eq!(items().adaptive().nano_blocks(0, 0).sum::<i32>(), sum);
    assert_eq!(items().with_max_len(0).sum::<i32>(), sum);
    assert_eq!(items().with_min_len(0).sum::<i32>(), sum);
    assert_eq!(items().size_limit(0).sum::<i32>(), sum);
}
