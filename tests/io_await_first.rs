//! Searches for the first hit, or the last one: they end as soon as nothing that lies before the hit is waited for.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

mod support;

use furcate::prelude::*;
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::Duration;
use support::{a_minute, after, assert_settled, assert_settles, pool};

/// Counts the futures that were made and dropped.
#[derive(Default)]
struct Counts {
    made: AtomicUsize,
    dropped: AtomicUsize,
}

struct Counted<'a>(&'a Counts);

impl Counts {
    fn new(&self) -> Counted<'_> {
        self.made.fetch_add(1, Relaxed);
        Counted(self)
    }

    #[track_caller]
    fn assert_all_dropped(&self) {
        assert_eq!(self.made.load(Relaxed), self.dropped.load(Relaxed));
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Relaxed);
    }
}

/// Runs something that may hang, which fails.
#[track_caller]
fn soon<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let _ = sender.send(run());
    });
    match receiver.recv_timeout(Duration::from_secs(25)) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it waits for what it does not need"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(thread.join().expect_err("it has sent nothing"))
        }
    }
}

/// How an item comes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Comes {
    Ready,
    After(u64),
    Never,
}

impl Comes {
    async fn wait(self) {
        match self {
            Comes::Ready => {}
            Comes::After(millis) => after(millis).await,
            Comes::Never => std::future::pending().await,
        }
    }
}

/// Searches on pools of all sizes, from inside and from outside, undivided and divided, and checks what comes out, that it
/// comes soon, and that no future is left.
macro_rules! searches {
    ($($name:ident: $len:expr, |$x:ident| $comes:expr, |$it:ident| $result:expr, $expected:expr;)+) => {$(
        #[test]
        fn $name() {
            for threads in [1, 2, 5] {
                for (inside, depth) in [(false, 0), (true, 0), (false, 3), (true, 10)] {
                    soon(move || {
                        let (pool, counts) = (pool(threads), Counts::default());
                        let run = || {
                            let $it = (0..$len).into_par_iter().bound_depth(depth).map(|$x: u64| {
                                let (counted, comes): (_, Comes) = (counts.new(), $comes);
                                async move {
                                    let _counted = counted;
                                    comes.wait().await;
                                    $x
                                }
                            }).io_await().on(&pool);
                            $result
                        };
                        assert_eq!(if inside { pool.install(run) } else { run() }, $expected, "{threads} {depth}");
                        counts.assert_all_dropped();
                        assert_settled(&pool);
                    });
                }
            }
        }
    )+};
}

/// In any order, as it seems.
fn mixed(x: u64) -> u64 {
    x.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61
}

/// What lies before 100 comes some time, the hit sooner or later, and nothing behind it ever.
fn up_to(x: u64, hit: u64) -> Comes {
    match x.cmp(&hit) {
        std::cmp::Ordering::Less => [Comes::Ready, Comes::After(mixed(x))][x as usize % 2],
        std::cmp::Ordering::Equal => Comes::After(3),
        std::cmp::Ordering::Greater => Comes::Never,
    }
}

searches! {
    a_hit_at_once: 300, |x| up_to(x, 0), |it| it.find_first(|_| true), Some(0);
    a_ready_hit: 300, |x| if x == 0 { Comes::Ready } else { Comes::Never }, |it| it.find_first(|_| true), Some(0);
    a_hit_in_the_middle: 300, |x| up_to(x, 100), |it| it.find_first(|x| *x >= 100), Some(100);
    a_ready_hit_in_the_middle: 300, |x| if x == 100 { Comes::Ready } else { up_to(x, 100) }, |it| it.find_first(|x| *x >= 100), Some(100);
    all_before_it_later: 300, |x| if x < 100 { Comes::After(20) } else { up_to(x, 100) }, |it| it.find_first(|x| *x >= 100), Some(100);
    one_before_it_later: 300, |x| if x == 77 { Comes::After(30) } else { up_to(x, 100) }, |it| it.find_first(|x| *x >= 100), Some(100);
    the_slower_one_comes_first: 300, |x| if x == 50 { Comes::After(30) } else { up_to(x, 100) }, |it| it.find_first(|x| *x == 50 || *x == 100), Some(50);
    the_slower_one_is_next: 300, |x| if x == 99 { Comes::After(30) } else { up_to(x, 100) }, |it| it.find_first(|x| *x >= 99), Some(99);
    mapped: 300, |x| up_to(x, 100), |it| it.find_map_first(|x| (x >= 100).then_some(x + 1)), Some(101);
    no_hit: 100, |x| up_to(x, 100), |it| it.find_first(|x| *x >= 100), None;
    the_last_one: 300, |x| up_to(299 - x, 0), |it| it.find_last(|_| true), Some(299);
    a_ready_last_one: 300, |x| if x == 299 { Comes::Ready } else { Comes::Never }, |it| it.find_last(|_| true), Some(299);
    the_last_one_in_the_middle: 300, |x| up_to(299 - x, 100), |it| it.find_last(|x| *x <= 199), Some(199);
    the_slower_one_comes_last: 300, |x| if x == 249 { Comes::After(30) } else { up_to(299 - x, 100) }, |it| it.find_last(|x| *x == 249 || *x == 199), Some(249);
    mapped_last: 300, |x| up_to(299 - x, 100), |it| it.find_map_last(|x| (x <= 199).then_some(x + 1)), Some(200);
    many: 20_000, |x| up_to(x, 10_000), |it| it.find_first(|x| *x >= 10_000), Some(10_000);
    // The chain goes on behind it.
    chained: 300, |x| up_to(x, 100), |it| it.map(|x| async move { up_to(x, 100).wait().await; x }).io_await().find_first(|x| *x >= 100), Some(100);
    another_wait: 300, |x| if x % 2 > 0 { Comes::Ready } else { Comes::After(mixed(x)) }, |it| it.map(|x| async move { up_to(x, 100).wait().await; x }).io_await().find_first(|x| *x >= 100), Some(100);
    another_wait_for_the_last: 300, |x| Comes::After(mixed(x)), |it| it.map(|x| async move { up_to(299 - x, 100).wait().await; x }).io_await().find_last(|x| *x <= 199), Some(199);
    filtered: 300, |x| up_to(x, 100), |it| it.filter(|x| x % 50 == 0).find_first(|x| *x >= 100), Some(100);
    several_of_one: 300, |x| up_to(x, 100), |it| it.flat_map_iter(|x| [x, x + 1, x + 2]).find_first(|x| *x >= 101), Some(101);
    before_a_chain: 300, |x| up_to(x, 100), |it| it.chain(0..3).find_first(|x| *x >= 100), Some(100);
    behind_a_chain: 300, |x| up_to(299 - x, 100), |it| it.chain(0..3).find_last(|x| *x == 2), Some(2);
    in_blocks: 300, |x| up_to(x, 100), |it| it.by_blocks([150]).find_first(|x| *x >= 100), Some(100);
    in_blocks_from_the_back: 300, |x| up_to(299 - x, 100), |it| it.by_blocks([150]).find_last(|x| *x <= 199), Some(199);
}

/// Futures in flight, as few as there may be: what comes before the hit is not kept out by what lies behind it.
#[test]
fn with_a_bound() {
    for threads in [1, 2, 5] {
        for (bound, depth, hit) in
            [(1, 0, 0), (1, 0, 100), (1, 3, 0), (2, 0, 100), (3, 0, 299), (7, 0, 100), (64, 0, 100)]
        {
            // With a single permit one of a part that is divided may be what never comes: there is no telling which.
            soon(move || {
                for _ in 0..10 {
                    let (pool, counts) = (pool(threads), Counts::default());
                    let first = (0..300).into_par_iter().bound_depth(depth).map(|x| {
                        let counted = counts.new();
                        async move {
                            let _counted = counted;
                            if depth > 0 && x > hit { Comes::After(1) } else { up_to(x, hit) }.wait().await;
                            x
                        }
                    });
                    let first = first.io_await().max_in_flight(bound).on(&pool).find_first(|x| *x >= hit);
                    assert_eq!(first, Some(hit));
                    counts.assert_all_dropped();
                    assert_settled(&pool);
                }
            });
        }
    }
}
