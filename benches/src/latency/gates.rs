//! Futures that are woken by hand: what an engine's suspensions and resumptions cost, without timers.
//!
//! A gate is pending when it is polled first, and ready when it has been opened. One thread, the hand, waits until all
//! gates have been polled, then opens one after the other; or gates open themselves in their first poll.

use super::{Cpu, Engine, Load, cpu_time, spread};
use crate::fork::Serial;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Gates, to be used again and again.
#[derive(Debug)]
pub struct Gates {
    opened: Opened,
    cpu: Cpu,
    slots: Box<[Mutex<Slot>]>,
    begun: Instant,
    /// For gates that are opened at a pace: times from wake to poll, in nanoseconds. Before the poll: the time of the
    /// wake.
    delays: Box<[AtomicU64]>,
    n: usize,
}

/// The thread that opens the gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// The hand, as fast as it can.
    ByHand,
    /// The hand, one in every such time.
    AtAPace(Duration),
    /// Each gate opens itself in its first poll.
    ByThemselves,
}

#[derive(Debug)]
enum Slot {
    Closed,
    Waiting(Waker),
    Open,
}

/// Cost of a run with gates.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Until all gates were waiting; 0 if they open themselves.
    pub suspended: Duration,
    /// From then on, until all had been passed.
    pub resumed: Duration,
    /// Processor time of all threads, the hand's too.
    pub cpu: Duration,
}

impl Gates {
    /// Makes `n` gates, each followed by a computation. They are never freed, since tasks of most engines may not
    /// borrow.
    #[must_use]
    pub fn leaked(n: usize, opened: Opened, cpu: Cpu) -> &'static Gates {
        let slots = if opened == Opened::ByThemselves { 0 } else { n };
        let delays = if matches!(opened, Opened::AtAPace(_)) { n } else { 0 };
        Box::leak(Box::new(Gates {
            opened,
            cpu,
            slots: (0..slots).map(|_| Mutex::new(Slot::Closed)).collect(),
            begun: Instant::now(),
            delays: (0..delays).map(|_| AtomicU64::new(0)).collect(),
            n,
        }))
    }

    /// Returns the number of gates.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// Returns the gate of this number, as a future.
    pub(super) fn gate(&'static self, number: usize) -> Gate {
        Gate { gates: self, number, begun: false }
    }

    /// Computes the work that follows a gate.
    pub(super) fn pass(&self, number: u64) -> u64 {
        spread::count();
        let load = Load { n: 1, awaits: 1, latency: Duration::ZERO, cap: 1, cpu: self.cpu };
        load.compute(&Serial, number)
    }

    /// Makes an engine wait for all gates. Returns `None` if it cannot.
    ///
    /// # Panics
    ///
    /// If the engine's result is wrong.
    pub fn run(&'static self, engine: &dyn Engine) -> Option<Cost> {
        self.slots.iter().for_each(|slot| *lock(slot) = Slot::Closed);
        let cpu = cpu_time().unwrap_or_default();
        let start = Instant::now();
        let (sum, suspended) = thread::scope(|threads| {
            let hand = threads.spawn(|| self.hand(start));
            let sum = engine.gates(self);
            if sum.is_none() {
                self.slots.iter().for_each(|slot| *lock(slot) = Slot::Open);
            }
            (sum, hand.join().expect("the hand does not fail"))
        });
        let resumed = start.elapsed() - suspended;
        let expected: u64 = (0..self.n as u64).map(|number| self.pass(number)).sum();
        assert_eq!(sum?, expected, "{} has another result", engine.name());
        Some(Cost { suspended, resumed, cpu: cpu_time().unwrap_or_default() - cpu })
    }

    /// Returns a quantile of the last run's delays from wake to poll: that many thousandths of them were not longer.
    ///
    /// # Panics
    ///
    /// If the gates were not opened at a pace.
    #[must_use]
    pub fn delay(&self, thousandths: usize) -> Duration {
        let mut delays: Vec<u64> = self.delays.iter().map(|delay| delay.load(Relaxed)).collect();
        delays.sort_unstable();
        Duration::from_nanos(delays[(delays.len() - 1) * thousandths / 1000])
    }

    /// Opens all gates. Returns when the last one was waiting.
    fn hand(&self, start: Instant) -> Duration {
        if self.opened == Opened::ByThemselves {
            return Duration::ZERO;
        }
        for slot in &self.slots {
            while matches!(*lock(slot), Slot::Closed) {
                thread::sleep(Duration::from_micros(100));
            }
        }
        let (suspended, mut next) = (start.elapsed(), Instant::now());
        for (number, slot) in self.slots.iter().enumerate() {
            if let Opened::AtAPace(pace) = self.opened {
                next += pace;
                thread::sleep(next.saturating_duration_since(Instant::now()));
                self.delays[number].store(self.begun.elapsed().as_nanos() as u64, Relaxed);
            }
            let slot = std::mem::replace(&mut *lock(slot), Slot::Open);
            if let Slot::Waiting(waker) = slot {
                waker.wake();
            }
        }
        suspended
    }
}

/// A gate.
#[derive(Debug)]
pub(super) struct Gate {
    gates: &'static Gates,
    number: usize,
    begun: bool,
}

impl Future for Gate {
    type Output = u64;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u64> {
        let (gates, number) = (self.gates, self.number);
        if gates.opened == Opened::ByThemselves {
            if std::mem::replace(&mut self.begun, true) {
                return Poll::Ready(number as u64);
            }
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut slot = lock(&gates.slots[number]);
        if !matches!(*slot, Slot::Open) {
            *slot = Slot::Waiting(context.waker().clone());
            return Poll::Pending;
        }
        drop(slot);
        if let Some(delay) = gates.delays.get(number) {
            delay.store(gates.begun.elapsed().as_nanos() as u64 - delay.load(Relaxed), Relaxed);
        }
        Poll::Ready(number as u64)
    }
}

fn lock(slot: &Mutex<Slot>) -> MutexGuard<'_, Slot> {
    slot.lock().expect("nobody panics with this lock")
}
