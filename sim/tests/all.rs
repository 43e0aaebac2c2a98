//! Tests of the virtual threads and of the machine by themselves, without the pool.

use furcate_sim::atomic::{AtomicU32, AtomicUsize, Ordering::*, heavy_fence};
use furcate_sim::time::Instant;
use furcate_sim::{Check, Condvar, Machine, Mutex, OnceLock, check, replay, simulate, thread, work};
use std::cell::Cell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

const US: Duration = Duration::from_micros(1);

/// Returns the message of a panic.
fn panics(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it panics");
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap()
}

/// Runs `f` in two threads.
fn twice(f: impl Fn() + Sync) {
    thread::scope(|threads| {
        for _ in 0..2 {
            thread::Builder::new().spawn_scoped(threads, &f).unwrap();
        }
    });
}

#[test]
fn all_orders_of_two_accesses_are_tried() {
    let seen = std::cell::RefCell::new(HashSet::new());
    check(0..200, || {
        let word = AtomicU32::new(0);
        let order = std::sync::Mutex::new(Vec::new());
        thread::scope(|threads| {
            for name in 1..=3 {
                let (word, order) = (&word, &order);
                let run = move || {
                    word.store(name, Relaxed);
                    order.lock().unwrap().push(name);
                };
                thread::Builder::new().spawn_scoped(threads, run).unwrap();
            }
        });
        seen.borrow_mut().insert(order.into_inner().unwrap());
    });
    assert_eq!(seen.borrow().len(), 6, "{seen:?}");
}

#[test]
fn a_lost_update_is_found_and_replayed() {
    let program = || {
        let count = AtomicU32::new(0);
        twice(|| count.store(count.load(Relaxed) + 1, Relaxed));
        assert_eq!(count.load(Relaxed), 2);
    };
    let found = panics(|| check(0..1000, program));
    let seed =
        found.split(&[' ', ':'][..]).find_map(|word| word.parse().ok()).expect("the message has the seed");
    assert!(found.contains("left: 1"), "{found}");
    for _ in 0..3 {
        assert!(panics(|| replay(seed, program)).contains("left: 1"));
    }
}

/// A replay writes which thread goes on where.
#[test]
fn a_replay_shows_its_schedule() {
    let replays = ["a_lost_update_is_found_and_replayed", "--exact", "--nocapture"];
    let tests = std::env::current_exe().expect("the path of the tests");
    let output = std::process::Command::new(tests).args(replays).output().expect("the tests run");
    let shown = String::from_utf8_lossy(&output.stderr);
    let at = format!("goes on at {}:", file!());
    assert!(shown.contains("begins") && shown.contains(&at), "{shown}");
}

#[test]
fn atomic_updates_are_not_lost() {
    check(0..300, || {
        let count = AtomicUsize::new(0);
        twice(|| (0..5).for_each(|_| _ = count.fetch_add(1, Relaxed)));
        assert_eq!(count.load(Relaxed), 10);
    });
}

#[test]
fn a_lock_excludes() {
    check(0..300, || {
        let count = Mutex::new(0);
        let inside = AtomicU32::new(0);
        twice(|| {
            for _ in 0..3 {
                let mut count = count.lock().unwrap();
                assert_eq!(inside.fetch_add(1, Relaxed), 0);
                *count += 1;
                inside.fetch_sub(1, Relaxed);
            }
        });
        assert_eq!(*count.lock().unwrap(), 6);
    });
}

#[test]
fn two_locks_in_two_orders_are_a_deadlock() {
    let program = || {
        let (one, other) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let (one2, other2) = (Arc::clone(&one), Arc::clone(&other));
        let second = thread::Builder::new().name("second".into()).spawn(move || {
            let _other = other2.lock().unwrap();
            let _one = one2.lock().unwrap();
        });
        {
            let _one = one.lock().unwrap();
            let _other = other.lock().unwrap();
        }
        second.unwrap().join().unwrap();
    };
    let found = panics(|| check(0..1000, program));
    assert!(found.contains("no thread can run"), "{found}");
    assert!(found.contains("thread `main` waits for a lock that thread `second` holds, at "), "{found}");
    assert!(found.contains("thread `second` waits for a lock that thread `main` holds, at "), "{found}");
}

#[test]
fn a_loop_without_an_end_is_found() {
    let found = panics(|| {
        Check::new().max_steps(10_000).run([0], || {
            while AtomicU32::new(0).load(Relaxed) == 0 {
                furcate_sim::hint::spin_loop();
            }
        });
    });
    assert!(found.contains("has not ended after 10000 steps"), "{found}");
}

#[test]
fn a_notification_is_not_lost() {
    check(0..500, || {
        let (ready, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|threads| {
            let wait = || {
                let mut ready = ready.lock().unwrap();
                while !*ready {
                    ready = changed.wait(ready).unwrap();
                }
            };
            thread::Builder::new().spawn_scoped(threads, wait).unwrap();
            *ready.lock().unwrap() = true;
            changed.notify_one();
        });
    });
}

/// The second thread may notify before the first one waits.
#[test]
fn a_notification_without_a_flag_is_lost_in_some_order() {
    let found = panics(|| {
        check(0..500, || {
            let (lock, changed) = (Mutex::new(()), Condvar::new());
            thread::scope(|threads| {
                let wait = || drop(changed.wait(lock.lock().unwrap()).unwrap());
                thread::Builder::new().spawn_scoped(threads, wait).unwrap();
                changed.notify_one();
            });
        });
    });
    assert!(found.contains("waits for a notification"), "{found}");
}

#[test]
fn waits_with_a_time_end() {
    check(0..100, || {
        let (lock, changed) = (Mutex::new(()), Condvar::new());
        let begin = Instant::now();
        let (_, result) = changed.wait_timeout(lock.lock().unwrap(), 10 * US).unwrap();
        assert!(result.timed_out() && begin.elapsed() >= 10 * US);
        thread::sleep(Duration::from_secs(3600));
        assert!(begin.elapsed() >= Duration::from_secs(3600));
        thread::park_timeout(US);
        let me = thread::current();
        thread::spawn(move || me.unpark()).join().unwrap();
        thread::park_timeout(Duration::from_secs(1 << 40));
    });
}

#[test]
fn threads_have_values_of_their_own_and_drop_them() {
    struct Counted<'a>(&'a std::sync::atomic::AtomicUsize);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    static DROPS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    furcate_sim::thread_local! {
        static VALUE: Cell<u32> = const { Cell::new(7) };
        static COUNTED: Counted<'static> = Counted(&DROPS);
    }
    VALUE.set(1);
    DROPS.store(0, SeqCst);
    check(0..10, || {
        assert_eq!(VALUE.replace(8), 7);
        twice(|| {
            assert_eq!(VALUE.replace(9), 7);
            COUNTED.with(|_| ());
        });
        assert_eq!(VALUE.get(), 8);
    });
    assert_eq!((VALUE.get(), DROPS.load(SeqCst)), (1, 20));
}

#[test]
fn a_cell_is_written_once() {
    check(0..200, || {
        let (cell, made) = (OnceLock::new(), AtomicU32::new(0));
        twice(|| {
            let value = cell.get_or_init(|| {
                thread::yield_now();
                made.fetch_add(1, Relaxed)
            });
            assert_eq!(*value, 0);
        });
        assert_eq!(made.load(Relaxed), 1);
        assert_eq!(cell.set(5), Err(5));
    });
}

#[test]
fn panics_of_threads_are_results() {
    check(0..10, || {
        let thread = thread::spawn(|| panic!("as planned"));
        assert_eq!(*thread.join().unwrap_err().downcast_ref::<&str>().unwrap(), "as planned");
    });
}

/// All threads of a world are one thread of the system. The types are std's in the others.
#[test]
fn worlds_beside_each_other_and_none_at_all() {
    std::thread::scope(|threads| {
        for seed in 0..4 {
            threads.spawn(move || check([seed], || twice(|| thread::sleep(US))));
        }
    });
    let count = Mutex::new(0);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| (0..1000).for_each(|_| *count.lock().unwrap() += 1));
        }
    });
    assert_eq!(*count.lock().unwrap(), 4000);
    assert_eq!(thread::spawn(|| 5).join().unwrap(), 5);
}

#[test]
fn a_simulation_is_the_same_with_the_same_seed() {
    let run = |seed| {
        simulate(Machine::SOCKET_64, seed, || {
            let count = Mutex::new(0);
            thread::scope(|threads| {
                for _ in 0..8 {
                    let add = || {
                        (0..50).for_each(|_| {
                            *count.lock().unwrap() += 1;
                            work(US);
                        })
                    };
                    thread::Builder::new().spawn_scoped(threads, add).unwrap();
                }
            });
            count.into_inner().unwrap()
        })
    };
    let (one, other) = (run(1), run(1));
    assert_eq!(one.result, 400);
    assert_eq!((one.time, format!("{:?}", one.counts)), (other.time, format!("{:?}", other.counts)));
    assert_ne!(one.time, run(2).time);
}

#[test]
fn cores_compute_at_the_same_time() {
    let time = |machine, threads: usize| {
        simulate(machine, 0, move || {
            let all: Vec<_> = (0..threads).map(|_| thread::spawn(|| work(10_000 * US))).collect();
            all.into_iter().for_each(|thread| thread.join().unwrap());
        })
        .time
        .as_secs_f64()
            * 1e3
    };
    // Milliseconds. Threads beyond the cores take turns.
    assert!((10.0..11.0).contains(&time(Machine::SOCKET_64, 60)), "{}", time(Machine::SOCKET_64, 60));
    assert!((40.0..41.0).contains(&time(Machine::HERE, 8)), "{}", time(Machine::HERE, 8));
    assert!((50.0..61.0).contains(&time(Machine::HERE, 11)), "{}", time(Machine::HERE, 11));
}

#[test]
fn a_line_that_all_write_is_dear_and_one_of_their_own_is_not() {
    let time = |shared: bool| {
        simulate(Machine::SOCKET_64, 0, move || {
            let words: Vec<_> = (0..64 * 16).map(|_| AtomicUsize::new(0)).collect();
            thread::scope(|threads| {
                for number in 0..32 {
                    let word = &words[if shared { 0 } else { number * 32 }];
                    let add = move || (0..1000).for_each(|_| _ = word.fetch_add(1, Relaxed));
                    thread::Builder::new().spawn_scoped(threads, add).unwrap();
                }
            });
        })
        .time
    };
    let (own, shared) = (time(false), time(true));
    assert!(shared > 10 * own, "{own:?} and {shared:?}");
}

#[test]
fn heavy_fences_interrupt_the_cores_that_compute() {
    let run = |fences: u64| {
        simulate(Machine::SOCKET_64, 0, move || {
            let busy: Vec<_> =
                (0..10).map(|_| thread::spawn(|| (0..100).for_each(|_| work(10 * US)))).collect();
            work(200 * US);
            (0..fences).for_each(|_| heavy_fence());
            busy.into_iter().for_each(|thread| thread.join().unwrap());
        })
    };
    let (none, many) = (run(0), run(50));
    assert_eq!((none.counts.interruptions, many.counts.interruptions), (0, 500));
    assert!(many.time > none.time);
}

/// Runs 17,000 threads that are alive at the same time: the last ones have packed stacks. Each computes `f` of its number.
fn many_threads(f: fn(usize) -> usize) -> Vec<usize> {
    let run = simulate(Machine::HERE, 1, move || {
        let start = |number| {
            thread::spawn(move || {
                thread::sleep(1_000_000 * US);
                f(number)
            })
        };
        let threads: Vec<_> = (0..17_000).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    run.result
}

/// Uses some KB of the stack for each level.
fn deep(levels: usize) -> usize {
    let values = std::hint::black_box([levels; 128]);
    if levels == 0 { 0 } else { deep(levels - 1) + values[levels % 128] / levels }
}

#[test]
fn threads_without_guard_pages_keep_apart() {
    for _ in 0..2 {
        assert_eq!(many_threads(|number| deep(20) + number), (20..17_020).collect::<Vec<_>>());
    }
}

#[test]
fn a_stack_without_a_guard_page_that_overflows_ends_the_process() {
    if std::env::var_os("OVERFLOW").is_some() {
        many_threads(|number| deep(if number == 16_900 { 70 } else { 1 }));
        return;
    }
    let name = "a_stack_without_a_guard_page_that_overflows_ends_the_process";
    let mut test = std::process::Command::new(std::env::current_exe().unwrap());
    let run = test.args(["--exact", name, "--nocapture"]).env("OVERFLOW", "1").output().unwrap();
    let text = String::from_utf8_lossy(&run.stderr);
    assert!(text.contains("has used more than its stack of 64 KB"), "{text}");
}
