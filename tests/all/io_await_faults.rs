//! P2, W9, W10 behind `io_await`: whatever panics, every item and every future is dropped once, at the place where it
//! was polled, before the call unwinds with the panic's own payload; and the pool works on.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::{a_minute, after, assert_settled, by_another_thread, pool, pools};
use furcate::ThreadPool;
use furcate::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// All user code: it counts the calls, and panics at one of them.
#[derive(Debug)]
struct User {
    /// Number of calls until one panics.
    left: AtomicUsize,
    burnt: AtomicBool,
    alive: Mutex<Vec<bool>>,
    wrong: Mutex<Vec<&'static str>>,
}

/// The payload.
struct Burnt(usize);

/// An item, or a future's token.
#[derive(Debug)]
struct Tracked<'u> {
    id: usize,
    number: usize,
    user: &'u User,
}

impl User {
    fn new(calls: usize) -> Self {
        let (alive, wrong) = Default::default();
        User { left: AtomicUsize::new(calls), burnt: AtomicBool::new(false), alive, wrong }
    }

    fn call(&self) {
        if self.left.fetch_sub(1, Relaxed) == 0 {
            self.burnt.store(true, Relaxed);
            resume_unwind(Box::new(Burnt(7)));
        }
    }

    fn item(&self, number: usize) -> Tracked<'_> {
        let mut alive = self.alive.lock().unwrap();
        alive.push(true);
        Tracked { id: alive.len() - 1, number, user: self }
    }

    /// Makes a future of an item, which is pending a number of times.
    fn wait<'u>(&'u self, item: Tracked<'u>, pending: usize) -> Wait<'u> {
        Wait { item: Some(item), token: self.item(0), pending, polled_at: 0, address: None }
    }

    fn assert_settled(&self) {
        let alive = self.alive.lock().unwrap().iter().filter(|alive| **alive).count();
        assert_eq!((alive, &self.wrong.lock().unwrap()[..]), (0, &[][..]));
    }

    fn complain(&self, about: &'static str) {
        self.wrong.lock().unwrap().push(about);
    }
}

impl Drop for Tracked<'_> {
    fn drop(&mut self) {
        if !std::mem::replace(&mut self.user.alive.lock().unwrap()[self.id], false) {
            self.user.complain("dropped twice");
        }
        self.user.call();
    }
}

/// A future that checks that it does not move after its first poll.
struct Wait<'u> {
    item: Option<Tracked<'u>>,
    token: Tracked<'u>,
    pending: usize,
    polled_at: usize,
    address: Option<usize>,
}

impl Wait<'_> {
    fn check_address(&self) {
        if self.address.is_some_and(|address| address != std::ptr::from_ref(self).addr()) {
            self.token.user.complain("moved after a poll");
        }
    }
}

impl<'u> Future for Wait<'u> {
    type Output = Tracked<'u>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Tracked<'u>> {
        self.token.user.call();
        self.check_address();
        self.address = Some(std::ptr::from_ref(&*self).addr());
        if self.polled_at < self.pending {
            self.polled_at += 1;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        match self.item.take() {
            Some(item) => Poll::Ready(item),
            None => {
                self.token.user.complain("polled after its end");
                Poll::Pending
            }
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.check_address();
    }
}

/// Runs a computation on every pool with a panic at its n-th user call, for every n, until there are no more calls.
fn at_every_call(run: impl for<'u> Fn(&ThreadPool, &'u User, Vec<Tracked<'u>>)) {
    for pool in [pool(1), pool(2), pool(3)] {
        for calls in 0.. {
            let user = User::new(usize::MAX);
            let items = (0..6).map(|number| user.item(number)).collect();
            user.left.store(calls, Relaxed);
            let begun = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| run(&pool, &user, items)));
            user.assert_settled();
            assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
            assert_settled(&pool);
            match outcome {
                Ok(()) => {
                    assert!(!user.burnt.load(Relaxed), "call {calls}'s panic was lost");
                    assert!(calls > 10, "there are user calls");
                    break;
                }
                Err(payload) => assert_burnt(payload),
            }
            let works = (0..9_u64).into_par_iter().map(|x| async move {
                futures_lite::future::yield_now().await;
                x
            });
            assert_eq!(works.io_await().on(&pool).sum::<u64>(), 36);
        }
    }
}

#[track_caller]
fn assert_burnt(payload: Box<dyn Any + Send>) {
    match payload.downcast::<Burnt>() {
        Ok(burnt) => assert_eq!(burnt.0, 7),
        Err(other) => resume_unwind(other),
    }
}

/// Declares a test per line.
macro_rules! faults {
    ($($name:ident: |$pool:ident, $user:ident, $items:ident| $run:expr;)+) => {$(
        #[test]
        fn $name() {
            at_every_call(|$pool, $user, $items| {
                let _ = $run;
            });
        }
    )+};
}

/// Makes the futures of items, pending 0 to 2 times.
macro_rules! awaited {
    ($pool:ident, $user:ident, $items:ident) => {
        $items
            .into_par_iter()
            .map(|item| {
                $user.call();
                let pending = item.number % 3;
                $user.wait(item, pending)
            })
            .io_await()
            .on($pool)
    };
}

faults! {
    collected: |pool, user, items| awaited!(pool, user, items).collect::<Vec<_>>();
    reduced: |pool, user, items| awaited!(pool, user, items).map(|item| {
        user.call();
        vec![item]
    }).reduce_with(|mut a, b| {
        user.call();
        a.extend(b);
        a
    });
    leaves_of_one: |pool, user, items| awaited!(pool, user, items).size_limit(1).map(|item| {
        user.call();
        vec![item]
    }).reduce(Vec::new, |mut a, b| {
        user.call();
        a.extend(b);
        a
    });
    one_task: |pool, user, items| awaited!(pool, user, items).bound_depth(0).for_each(|item| {
        user.call();
        drop(item);
    });
    awaited_twice: |pool, user, items| awaited!(pool, user, items).map(|item| {
        user.call();
        let pending = item.number % 2;
        user.wait(item, pending)
    }).io_await().collect::<Vec<_>>();
    bounded: |pool, user, items| awaited!(pool, user, items).map(|item| user.wait(item, 1)).io_await().max_in_flight(2).count();
    one_by_one: |pool, user, items| items.into_par_iter().map(|item| user.wait(item, 1)).io_await().max_in_flight(1).on(pool).for_each(drop);
    many_each: |pool, user, items| awaited!(pool, user, items).flat_map_iter(|item| {
        user.call();
        [user.item(1), item, user.item(2)]
    }).map(|item| user.wait(item, 1)).io_await().max_in_flight(3).filter(|_| {
        user.call();
        true
    }).collect::<Vec<_>>();
    folded: |pool, user, items| awaited!(pool, user, items).fold(Vec::new, |mut v, item| {
        user.call();
        v.push(item);
        v
    }).flatten_iter().collect::<Vec<_>>();
    chained: |pool, user, items| {
        let more: Vec<_> = (0..3).map(|number| user.item(number)).collect();
        awaited!(pool, user, items).chain(more.into_par_iter().map(|item| user.wait(item, 1)).io_await()).collect::<Vec<_>>()
    };
    blocks: |pool, user, items| awaited!(pool, user, items).by_blocks([2]).collect::<Vec<_>>();
    searched: |pool, user, items| awaited!(pool, user, items).find_first(|item| {
        user.call();
        item.number == 4
    });
    found: |pool, user, items| awaited!(pool, user, items).find_any(|item| {
        user.call();
        item.number == 5
    });
    tried: |pool, user, items| awaited!(pool, user, items).try_for_each(|item| {
        user.call();
        if item.number == 5 { Err(item) } else { Ok(()) }
    });
    taken: |pool, user, items| awaited!(pool, user, items).take_any(3).map(|item| {
        user.call();
        item
    }).collect::<Vec<_>>();
    results: |pool, user, items| awaited!(pool, user, items).map(|item| {
        user.call();
        if item.number == 5 { Err(item) } else { Ok(item) }
    }).collect::<Result<Vec<_>, _>>();
    states: |pool, user, items| awaited!(pool, user, items).map_init(|| user.call(), |(), item| {
        user.call();
        item
    }).collect::<Vec<_>>();
    not_suspending: |_pool, user, items| {
        let awaited = items.into_par_iter().map(|item| async move {
            futures_lite::future::yield_now().await;
            user.call();
            item
        }).io_await();
        awaited.on(furcate::Inline).map(|item| {
            user.call();
            item
        }).collect::<Vec<_>>()
    };
}

/// The first panic ends the call, whatever other items wait for.
#[test]
fn a_panic_beside_a_thousand_that_wait() {
    for pool in pools() {
        for (place, bound) in [(0, 100_000), (1, 100_000), (2, 100_000), (3, 100_000), (0, 900), (2, 700)] {
            let (begun, user) = (Instant::now(), User::new(usize::MAX));
            let panic = |which, x: u64| {
                if which == place && x == 333 {
                    resume_unwind(Box::new(Burnt(7)));
                }
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                (0..1000_u64)
                    .into_par_iter()
                    .bound_depth(if bound < 1000 { 0 } else { 3 })
                    .map(|x| {
                        panic(0, x);
                        let item = user.item(0);
                        async move {
                            let _item = item;
                            panic(1, x);
                            if x != 333 {
                                a_minute().await;
                            } else if x % 2 == 0 {
                                after(3).await;
                            } else {
                                by_another_thread().await;
                            }
                            panic(2, x);
                            x
                        }
                    })
                    .io_await()
                    .max_in_flight(bound)
                    .on(pool)
                    .map(|x| panic(3, x))
                    .count()
            }));
            user.assert_settled();
            assert_burnt(outcome.unwrap_err());
            assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        }
    }
}

/// Of several panics one is raised, and everything else is dropped.
#[test]
fn many_panics() {
    for pool in pools() {
        let user = User::new(usize::MAX);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            (0..200_u64)
                .into_par_iter()
                .map(|x| {
                    let item = user.item(0);
                    async move {
                        let _item = item;
                        after(x % 3).await;
                        if x % 10 == 9 {
                            resume_unwind(Box::new(Burnt(7)));
                        }
                    }
                })
                .io_await()
                .on(pool)
                .for_each(drop);
        }));
        user.assert_settled();
        assert_burnt(outcome.unwrap_err());
    }
}

/// Values borrowed from the caller: by futures, by closures, and as items that are lent mutably.
#[test]
fn borrows_of_the_caller() {
    for pool in pools() {
        let (names, factor) = (["a", "bb", "ccc"].map(String::from), 2);
        let mut numbers: Vec<usize> = (0..100).collect();
        let sum = numbers
            .par_iter_mut()
            .map(|x| {
                let name = &names[*x % 3];
                async move {
                    after(1).await;
                    *x = name.len() * factor;
                    x
                }
            })
            .io_await()
            .on(pool)
            .map(|x| {
                *x += 1;
                &*x
            })
            .sum::<usize>();
        let expected: Vec<usize> = (0..100).map(|x| (x % 3 + 1) * 2 + 1).collect();
        assert_eq!((sum, numbers), (expected.iter().sum(), expected));
    }
}
