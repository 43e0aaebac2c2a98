//! Rayon's iterators and furcate's chains in one program run on one pool.

use std::collections::HashSet;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread::{self, ThreadId};
use std::time::Duration;

const THREADS: usize = 3;

/// Builds the global pool by rayon's name, for all tests.
fn build_global() {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        rayon::ThreadPoolBuilder::new().num_threads(THREADS).build_global().expect("the first use")
    });
}

/// The calling closure's index, which rayon and furcate agree on.
fn index() -> usize {
    let [by_rayon, by_furcate] = [rayon::current_thread_index(), furcate::current_thread_index()];
    assert_eq!(by_rayon, by_furcate);
    let index = by_rayon.expect("every job has an index");
    assert!(index < rayon::current_num_threads());
    index
}

/// Counts how many run at once.
#[derive(Default)]
struct Running {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Running {
    fn begin(&self) {
        self.most.fetch_max(self.now.fetch_add(1, SeqCst) + 1, SeqCst);
    }

    fn end(&self) {
        self.now.fetch_sub(1, SeqCst);
    }
}

mod by_rayon {
    use rayon::prelude::*;

    pub(crate) fn sum(items: u64, f: impl Fn(u64) -> u64 + Sync + Send) -> u64 {
        // Rayon's ranges of 64 bits have no length.
        let items = 0..u32::try_from(items).expect("they are few");
        items.into_par_iter().with_max_len(1).map(|x| f(x.into())).sum()
    }
}

mod by_furcate {
    use furcate::prelude::*;

    pub(crate) fn sum(items: u64, f: impl Fn(u64) -> u64 + Sync + Send) -> u64 {
        (0..items).into_par_iter().with_max_len(1).map(f).sum()
    }

    pub(crate) fn sum_on_engine(items: u64, f: impl Fn(u64) -> u64 + Sync + Send) -> u64 {
        (0..items).into_par_iter().with_max_len(1).on(furcate::Rayon).map(f).sum()
    }

    pub(crate) fn sum_on(pool: &rayon::ThreadPool, items: u64, f: impl Fn(u64) -> u64 + Sync + Send) -> u64 {
        (0..items).into_par_iter().with_max_len(1).on(pool).map(f).sum()
    }

    /// Futures that wait for a timer each, and a job behind each of them.
    pub(crate) fn wait(items: u64, running: &super::Running, then: impl Fn(u64) -> u64 + Sync + Send) -> u64 {
        (0..items)
            .into_par_iter()
            .map(|x| async move {
                running.begin();
                async_io::Timer::after(std::time::Duration::from_millis(100)).await;
                running.end();
                x
            })
            .io_await()
            .max_in_flight(usize::try_from(items).expect("it is small"))
            .map(then)
            .sum()
    }
}

#[test]
fn there_is_one_global_pool() {
    build_global();
    assert_eq!([rayon::current_num_threads(), furcate::current_num_threads()], [THREADS; 2]);
    rayon::ThreadPoolBuilder::new().build_global().expect_err("it is built");
    furcate::ThreadPoolBuilder::new().build_global().expect_err("by either name");
    let threads = |ids: Vec<ThreadId>| ids.into_iter().collect::<HashSet<_>>();
    let by_rayon = threads(rayon::broadcast(|_| thread::current().id()));
    assert_eq!(by_rayon.len(), THREADS);
    assert_eq!(by_rayon, threads(furcate::broadcast(|_| thread::current().id())));
}

#[test]
fn chains_nest_in_iterators_and_iterators_in_chains() {
    build_global();
    let (items, running) = (AtomicUsize::new(0), Running::default());
    let leaf = |x| {
        index();
        running.begin();
        items.fetch_add(1, SeqCst);
        thread::sleep(Duration::from_micros(50));
        running.end();
        x
    };
    type Sum = fn(u64, &(dyn Fn(u64) -> u64 + Sync + Send)) -> u64;
    let ways: [Sum; 3] =
        [|n, f| by_rayon::sum(n, f), |n, f| by_furcate::sum(n, f), |n, f| by_furcate::sum_on_engine(n, f)];
    let expected = 10 * 10 * (0..10).sum::<u64>();
    for outer in ways {
        for middle in ways {
            for inner in ways {
                let sum = outer(10, &|_| {
                    index();
                    middle(10, &|_| {
                        index();
                        inner(10, &leaf)
                    })
                });
                assert_eq!(sum, expected);
            }
        }
    }
    assert_eq!(items.into_inner(), 27 * 1000);
    // One pool: never more leaves at once than it has threads. The leaves sleep for less than makes a thread count as blocked.
    let most = running.most.into_inner();
    assert!((1..=THREADS).contains(&most), "{most} leaves ran at once");
}

#[test]
fn io_await_inside_a_rayon_iterator_suspends() {
    build_global();
    const EACH: u64 = 200;
    let (running, behind) = (Running::default(), AtomicUsize::new(0));
    let sum = by_rayon::sum(6, |_| {
        index();
        by_furcate::wait(EACH, &running, |x| {
            index();
            behind.fetch_add(1, SeqCst);
            // The woken task forks by rayon again.
            x + by_rayon::sum(3, |x| x)
        })
    });
    assert_eq!(sum, 6 * ((0..EACH).sum::<u64>() + 3 * EACH));
    assert_eq!(behind.into_inner(), 6 * usize::try_from(EACH).expect("small"));
    // Threads that wait for their futures could have no more than one of them each in flight.
    let most = running.most.into_inner();
    assert!(most > 50 * THREADS, "{most} futures were in flight at once");
}

#[test]
fn a_pool_of_rayons_builder_takes_chains_of_both() {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .thread_name(|i| format!("mine-{i}"))
        .build()
        .expect("a pool");
    let here = |x| {
        let name = thread::current().name().map(str::to_owned);
        assert!(name.as_deref().is_some_and(|name| name.starts_with("mine-")), "{name:?}");
        assert_eq!([rayon::current_num_threads(), furcate::current_num_threads()], [2; 2]);
        assert_eq!(pool.current_thread_index(), Some(index()));
        x
    };
    assert_eq!(pool.install(|| by_rayon::sum(100, here)), 4950);
    assert_eq!(pool.install(|| by_furcate::sum(100, here)), 4950);
    assert_eq!(by_furcate::sum_on(&pool, 100, here), 4950);
    assert_eq!(pool.install(|| by_furcate::sum_on_engine(100, here)), 4950);
}

#[test]
fn every_job_of_rayons_functions_has_an_index() {
    build_global();
    rayon::join(index, index);
    rayon::join_context(|_| index(), |_| index());
    rayon::scope(|s| {
        index();
        (0..10).for_each(|_| s.spawn(|_| _ = index()));
    });
    rayon::scope_fifo(|s| {
        index();
        (0..10).for_each(|_| s.spawn_fifo(|_| _ = index()));
    });
    rayon::in_place_scope(|s| (0..10).for_each(|_| s.spawn(|_| _ = index())));
    rayon::in_place_scope_fifo(|s| (0..10).for_each(|_| s.spawn_fifo(|_| _ = index())));
    rayon::broadcast(|_| index());
    let (sender, receiver) = std::sync::mpsc::channel();
    let [by_spawn, by_spawn_fifo] = [sender.clone(), sender.clone()];
    rayon::spawn(move || by_spawn.send(index()).expect("received below"));
    rayon::spawn_fifo(move || by_spawn_fifo.send(index()).expect("received below"));
    rayon::spawn_broadcast(move |_| sender.send(index()).expect("received below"));
    assert_eq!(receiver.iter().count(), 2 + THREADS);
    // (An iterator that rayon does not divide runs in the calling thread, outside of the pool, on either rayon-core.)
    by_rayon::sum(2, |x| {
        index();
        x
    });
}

#[test]
fn migrated_is_true_in_another_thread_and_in_a_call_from_outside() {
    build_global();
    let call = |from_outside: bool| {
        let caller = thread::current().id();
        let moved = |context: rayon::FnContext| {
            assert_eq!(context.migrated(), from_outside || thread::current().id() != caller);
            context.migrated()
        };
        let begun = AtomicUsize::new(0);
        // The right half is stolen, because the left one waits for its beginning.
        let migrated = rayon::join_context(
            |context| {
                while begun.load(SeqCst) == 0 {
                    thread::yield_now();
                }
                moved(context)
            },
            |context| {
                begun.store(1, SeqCst);
                moved(context)
            },
        );
        assert_eq!(migrated, (from_outside, true));
    };
    call(true);
    rayon::scope(|_| call(false));
}

#[test]
fn what_the_builder_promises_of_threads_holds_for_calls_from_outside() {
    // In the global pool of a child process.
    const TEST: &str = "what_the_builder_promises_of_threads_holds_for_calls_from_outside";
    if std::env::var("ROLE").is_err() {
        let program = std::env::current_exe().expect("the test's program");
        let output =
            std::process::Command::new(program).args([TEST, "--exact"]).env("ROLE", "child").output();
        let output = output.expect("the child runs");
        assert!(output.status.success(), "{output:?}");
        return;
    }
    thread_local!(static STARTED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .thread_name(|i| format!("mine-{i}"))
        .stack_size(32 << 20)
        .start_handler(|_| STARTED.set(true))
        .build_global()
        .expect("the first use");
    #[inline(never)]
    fn deep(depth: u64) -> u64 {
        let mut frame = [depth; 1 << 17]; // 1 MiB
        std::hint::black_box(&mut frame);
        if depth == 0 { 0 } else { frame[1] - frame[2] + deep(depth - 1) }
    }
    let kept = || {
        assert!(thread::current().name().is_some_and(|name| name.starts_with("mine-")));
        assert!(STARTED.get());
        index();
        assert_eq!(deep(20), 0);
    };
    rayon::join(kept, kept);
    // Neither closure runs in the thread that it comes from.
    let migrated = |context: rayon::FnContext| {
        kept();
        context.migrated()
    };
    assert_eq!(rayon::join_context(migrated, migrated), (true, true));
    let (inside, _) = rayon::join(|| rayon::join_context(migrated, |_| ()).0, || ());
    assert!(!inside, "this call comes from the pool's thread that runs it");
    rayon::scope(|s| {
        kept();
        s.spawn(|_| kept());
    });
    by_rayon::sum(10, |x| {
        kept();
        x
    });
    by_furcate::sum(10, |x| {
        kept();
        x
    });
}
