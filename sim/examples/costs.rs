//! Measures the costs of the machine that it runs on: the source of the constants in `sim/src/costs.rs`.
//!
//! Medians of many events, in nanoseconds. Run it on a quiet machine: `cargo run --release -p furcate-sim --example costs`.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::thread;
use std::time::{Duration, Instant};

/// Returns the nanoseconds of one of many calls.
fn each(count: u32, mut f: impl FnMut()) -> f64 {
    let rounds = (0..9).map(|_| {
        let begin = Instant::now();
        (0..count).for_each(|_| f());
        begin.elapsed().as_nanos() as f64 / f64::from(count)
    });
    median(rounds.collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn show(name: &str, nanos: f64) {
    println!("{name:<58} {nanos:>10.1} ns");
}

/// Calls `f` while another thread, on another core, runs `other` again and again.
#[cfg(target_os = "linux")]
fn beside(other: impl Fn() + Sync, f: impl FnOnce() -> f64) -> f64 {
    let stop = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            pin(1);
            while !stop.load(Ordering::Relaxed) {
                other();
            }
        });
        thread::sleep(Duration::from_millis(5));
        let value = f();
        stop.store(true, Ordering::Relaxed);
        value
    })
}

#[cfg(target_os = "linux")]
fn membarrier(command: libc::c_int) {
    // SAFETY: the call takes no pointers.
    let result = unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
    assert_eq!(result, 0, "this system has no membarrier");
}

#[cfg(target_os = "linux")]
fn pin(core: usize) {
    // SAFETY: zeros are a value, the empty set.
    let mut cores: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the number is less than the number of bits of the set.
    unsafe { libc::CPU_SET(core, &mut cores) };
    // SAFETY: the pointer is to a set of this size.
    assert_eq!(unsafe { libc::sched_setaffinity(0, size_of_val(&cores), &raw const cores) }, 0);
}

#[cfg(target_os = "linux")]
fn main() {
    pin(0);
    let word = AtomicU64::new(0);
    show(
        "hit: a load and a store of an own line",
        each(1_000_000, || word.store(black_box(&word).load(Ordering::Relaxed) + 1, Ordering::Relaxed)),
    );
    show(
        "swap: a read-modify-write of an own line",
        each(1_000_000, || _ = black_box(&word).fetch_add(1, Ordering::AcqRel)),
    );
    let store = || word.store(black_box(1), Ordering::Relaxed);
    let fenced = each(1_000_000, || {
        store();
        fence(Ordering::SeqCst);
    });
    show("fence, behind a store", fenced - each(1_000_000, store));
    show("clock: Instant::now", each(100_000, || _ = black_box(Instant::now())));
    show("pause: spin_loop", each(100_000, spin_loop));
    show("yields: yield_now, alone", each(10_000, thread::yield_now));
    // SAFETY: the call has no preconditions.
    show("call: a short system call", each(10_000, || _ = unsafe { libc::syscall(libc::SYS_getppid) }));
    // Each round moves the line there and back.
    let (there, back) = (AtomicU64::new(0), AtomicU64::new(0));
    let answer = || {
        let asked = there.load(Ordering::Acquire);
        if asked != back.load(Ordering::Relaxed) {
            back.store(asked, Ordering::Release);
        }
    };
    let mut turn = 0;
    let ask = || {
        turn += 1;
        there.store(turn, Ordering::Release);
        while back.load(Ordering::Acquire) != turn {
            spin_loop();
        }
    };
    show("miss: half a round between two cores", beside(answer, || each(20_000, ask)) / 2.0);
    wakeups();
    let sleeps = (0..500).map(|_| {
        let begin = Instant::now();
        thread::sleep(Duration::from_micros(200));
        begin.elapsed().as_nanos() as f64 - 200_000.0
    });
    show("slack: a sleep of 200 us, later than asked", median(sleeps.collect()));

    membarrier(1 << 4);
    show("barrier: membarrier, the other core idle", each(1_000, || membarrier(1 << 3)));
    show(
        "barrier: membarrier, the other core busy",
        beside(spin_loop, || each(1_000, || membarrier(1 << 3))),
    );
    let work = || (0..2_000).for_each(|_| spin_loop());
    let count = |interrupts: bool| {
        let done = AtomicU64::new(0);
        let rate = beside(
            || {
                work();
                done.fetch_add(1, Ordering::Relaxed);
            },
            || {
                let (begin, before) = (Instant::now(), done.load(Ordering::Relaxed));
                let mut barriers = 0_u32;
                while begin.elapsed() < Duration::from_millis(200) {
                    let round = Instant::now();
                    if interrupts {
                        membarrier(1 << 3);
                        barriers += 1;
                    }
                    while round.elapsed() < Duration::from_micros(20) {
                        spin_loop();
                    }
                }
                let each = begin.elapsed().as_nanos() as f64 / (done.load(Ordering::Relaxed) - before) as f64;
                if interrupts { each + f64::from(barriers) * 1e12 } else { each }
            },
        );
        (rate % 1e12, (rate / 1e12).floor())
    };
    let lost: Vec<_> = (0..5)
        .map(|_| {
            let ((free, _), (disturbed, barriers)) = (count(false), count(true));
            // Of 200 ms, this part was lost.
            200e6 * (1.0 - free / disturbed) / barriers
        })
        .collect();
    show("interruption: time that one takes from the other core", median(lost));
    on_one_core();
}

/// Prints what it costs to wake a sleeping thread, and when that thread runs.
#[cfg(target_os = "linux")]
fn wakeups() {
    let begin = Instant::now();
    let now = || begin.elapsed().as_nanos() as u64;
    let (woken, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let (mut calls, mut latencies) = (Vec::new(), Vec::new());
    thread::scope(|threads| {
        let sleeper = threads.spawn(|| {
            pin(1);
            while !stop.load(Ordering::Relaxed) {
                thread::park();
                woken.store(now(), Ordering::Release);
            }
        });
        for round in 0..2_000 {
            // From short to long idleness.
            thread::sleep(Duration::from_micros(100 << (round % 8)));
            woken.store(0, Ordering::Relaxed);
            let before = now();
            sleeper.thread().unpark();
            calls.push((now() - before) as f64);
            let at = loop {
                match woken.load(Ordering::Acquire) {
                    0 => spin_loop(),
                    at => break at,
                }
            };
            latencies.push(at.saturating_sub(before) as f64);
        }
        stop.store(true, Ordering::Relaxed);
        sleeper.thread().unpark();
    });
    show("wakes: the caller's part of a wake-up", median(calls));
    latencies.sort_by(f64::total_cmp);
    for sixteenth in (1..16).step_by(2) {
        show(
            &format!("wakeup: {sixteenth}/16 of the threads run within"),
            latencies[latencies.len() * sixteenth / 16],
        );
    }
}

/// Prints what a change of the thread costs, and how long one runs before the other, on one core.
#[cfg(target_os = "linux")]
fn on_one_core() {
    let stop = &AtomicBool::new(false);
    let switches = thread::scope(|threads| {
        threads.spawn(move || {
            pin(0);
            while !stop.load(Ordering::Relaxed) {
                thread::yield_now();
            }
        });
        let switches = threads.spawn(move || {
            pin(0);
            let each = each(5_000, thread::yield_now);
            stop.store(true, Ordering::Relaxed);
            each
        });
        switches.join().expect("no panics")
    });
    show("switch: half of a yield to another thread and back", switches / 2.0);
    let runs = thread::scope(|threads| {
        let runs = [(); 2].map(|()| {
            threads.spawn(|| {
                pin(0);
                let (begin, mut before) = (Instant::now(), Instant::now());
                let (mut from, mut runs) = (before, Vec::new());
                while begin.elapsed() < Duration::from_millis(500) {
                    let now = Instant::now();
                    if now - before > Duration::from_micros(500) {
                        runs.push((before - from).as_nanos() as f64);
                        from = now;
                    }
                    before = now;
                }
                runs
            })
        });
        runs.into_iter().flat_map(|thread| thread.join().expect("no panics")).collect()
    });
    show("slice: how long one of two threads runs at a time", median(runs));
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("this program measures Linux's costs");
}
