//! Futures of tokio outside of any runtime: the panic names the remedy.
#![cfg(not(furcate_rayon))]

use furcate::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use testkit::panics::text;
#[cfg(unix)]
use testkit::process::{break_stderr, good_child, plays};

async fn wait() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

fn is_explained(call: impl FnOnce()) {
    let payload = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
    let message = text(&*payload);
    assert!(message.starts_with("there is no reactor running"), "tokio's own words first: {message}");
    let expected: &[&str] = if cfg!(feature = "tokio") {
        &["outside of every tokio runtime", "runtime.enter()", "ThreadPoolBuilder::tokio"]
    } else {
        &["without its feature `tokio`", "features = [\"tokio\"]", "ThreadPoolBuilder::tokio"]
    };
    expected.iter().for_each(|words| assert_eq!(message.matches(words).count(), 1, "{words}: {message}"));
}

#[test]
fn a_chain() {
    is_explained(|| (0..10).into_par_iter().map(|_| wait()).io_await().for_each(drop));
    // The future is polled on a worker, not on the caller; also within another call, which panics in turn.
    is_explained(|| {
        let first = |_| async {
            futures_lite::future::yield_now().await;
            wait().await
        };
        (0..10)
            .into_par_iter()
            .map(|_| 0)
            .for_each(|_| (0..10).into_par_iter().map(first).io_await().for_each(drop));
    });
}

/// The remedy is printed as well. The call ends even if it cannot be printed.
#[cfg(unix)]
#[test]
fn a_chain_whose_stderr_nobody_reads() {
    if plays("broken stderr") {
        break_stderr();
        return is_explained(|| (0..10).into_par_iter().map(|_| wait()).io_await().for_each(drop));
    }
    good_child("a_chain_whose_stderr_nobody_reads", "broken stderr", &[]);
}

#[test]
fn an_awaited_terminal() {
    is_explained(|| {
        futures_lite::future::block_on((0..10).into_par_iter().map(|_| wait()).io_await().async_count());
    });
}

#[test]
fn a_spawned_future() {
    is_explained(|| furcate::block_on(furcate::spawn_future(wait())));
    is_explained(|| furcate::block_on(wait()));
    is_explained(|| furcate::scope(|s| drop(s.spawn_future(wait()))));
}

#[test]
fn other_panics_are_left_as_they_are() {
    let panics = || furcate::block_on(async { panic!("no reactor") });
    assert_eq!(text(&*catch_unwind(panics).unwrap_err()), "no reactor");
}
