//! Finds the greatest value of items that fit into a knapsack, by branch and bound with a shared best value (classic: 0/1 knapsack).

use crate::program::{Program, equal, reads};
use fastrand::Rng;

pub(super) const PROGRAM: Program = Program {
    name: "knapsack",
    suite: "classic",
    what: "the greatest value of items that fit into a knapsack",
    unit: "items",
    size: 56,
    quick: 54,
    schedule: "",
    why: "a tie: few calls fork, and the search visits more or fewer nodes in each run",
    source: include_str!("knapsack.rs"),
    case: |size| {
        reads(Knapsack::random(size), [sequential::run, rayon::run, furcate::run], |knapsack, value| {
            equal(value, &knapsack.value_by_table())
        })
    },
};

/// At most this number of items is searched without a fork.
const SHORT: usize = 16;

#[derive(Clone, Copy)]
struct Item {
    weight: u64,
    value: u64,
}

/// Items, and the weight that fits. The items are in the order of value per weight, the greatest one first.
struct Knapsack {
    items: Vec<Item>,
    room: u64,
}

impl Knapsack {
    /// Makes items whose value is their weight plus a constant. Such items are so much alike that the bound cuts off little.
    fn random(count: usize) -> Knapsack {
        let mut random = Rng::with_seed(1);
        let mut item = || {
            let weight = random.u64(500..1500);
            Item { weight, value: weight + 100 }
        };
        let mut items: Vec<Item> = (0..count).map(|_| item()).collect();
        items.sort_by(|a, b| (b.value * a.weight).cmp(&(a.value * b.weight)));
        let room = items.iter().map(|item| item.weight).sum::<u64>() / 2;
        Knapsack { items, room }
    }

    /// Returns the value by dynamic programming: a table of the best value for each weight.
    fn value_by_table(&self) -> u64 {
        let mut best = vec![0; self.room as usize + 1];
        for item in &self.items {
            for room in (item.weight as usize..best.len()).rev() {
                best[room] = best[room].max(best[room - item.weight as usize] + item.value);
            }
        }
        best[self.room as usize]
    }
}

/// Returns a value that no choice of the items exceeds: the first item that does not fit counts with the part that does.
#[inline(never)]
fn upper_bound(items: &[Item], mut room: u64) -> u64 {
    let mut value = 0;
    for item in items {
        if item.weight > room {
            return value + item.value * room / item.weight;
        }
        room -= item.weight;
        value += item.value;
    }
    value
}

mod sequential {
    use super::{Item, Knapsack, upper_bound};

    pub(super) fn run(knapsack: &Knapsack) -> u64 {
        let mut best = 0;
        search(&knapsack.items, knapsack.room, 0, &mut best);
        best
    }

    /// Takes or leaves each of the items. The items taken before are worth `value`.
    fn search(items: &[Item], room: u64, value: u64, best: &mut u64) {
        *best = value.max(*best);
        let Some((item, others)) = items.split_first() else { return };
        if value + upper_bound(items, room) <= *best {
            return;
        }
        if item.weight <= room {
            search(others, room - item.weight, value + item.value, best);
        }
        search(others, room, value, best);
    }
}

mod rayon {
    use super::{Item, Knapsack, SHORT, upper_bound};
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    pub(super) fn run(knapsack: &Knapsack) -> u64 {
        let best = AtomicU64::new(0);
        search(&knapsack.items, knapsack.room, 0, &best);
        best.into_inner()
    }

    /// Takes or leaves each of the items. The items taken before are worth `value`.
    fn search(items: &[Item], room: u64, value: u64, best: &AtomicU64) {
        if value > best.load(Relaxed) {
            best.fetch_max(value, Relaxed);
        }
        let Some((item, others)) = items.split_first() else { return };
        if value + upper_bound(items, room) <= best.load(Relaxed) {
            return;
        }
        if item.weight > room {
            return search(others, room, value, best);
        }
        let take = || search(others, room - item.weight, value + item.value, best);
        let leave = || search(others, room, value, best);
        if items.len() <= SHORT {
            take();
            leave();
        } else {
            rayon::join(take, leave);
        }
    }
}

mod furcate {
    use super::{Item, Knapsack, SHORT, upper_bound};
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    pub(super) fn run(knapsack: &Knapsack) -> u64 {
        let best = AtomicU64::new(0);
        search(&knapsack.items, knapsack.room, 0, &best);
        best.into_inner()
    }

    /// Takes or leaves each of the items. The items taken before are worth `value`.
    fn search(items: &[Item], room: u64, value: u64, best: &AtomicU64) {
        if value > best.load(Relaxed) {
            best.fetch_max(value, Relaxed);
        }
        let Some((item, others)) = items.split_first() else { return };
        if value + upper_bound(items, room) <= best.load(Relaxed) {
            return;
        }
        if item.weight > room {
            return search(others, room, value, best);
        }
        let take = || search(others, room - item.weight, value + item.value, best);
        let leave = || search(others, room, value, best);
        if items.len() <= SHORT {
            take();
            leave();
        } else {
            furcate::join(take, leave);
        }
    }
}
