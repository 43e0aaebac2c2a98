//! The programs: each one by rayon and by furcate.
//!
//! The two libraries' traits have the same names, so a function imports the one that it uses.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

/// Time until an answer comes. A timer stands for a server.
const LATENCY: Duration = Duration::from_millis(20);

/// Time of the work on an answer, approximately.
const WORK: Duration = Duration::from_micros(100);

/// The work on an answer. Its result does not depend on the time that it takes.
fn digest(page: u64) -> u64 {
    let begun = Instant::now();
    while begun.elapsed() < WORK {
        black_box(mixed(page));
    }
    mixed(page)
}

/// The answers are waited for by rayon's threads.
pub(crate) fn fetch_by_rayon(pages: u64) -> u64 {
    use rayon::prelude::*;
    let fetch = |page| {
        thread::sleep(LATENCY);
        page
    };
    (0..pages).into_par_iter().map(fetch).map(digest).reduce(|| 0, u64::wrapping_add)
}

/// No thread waits: while answers are under way, the threads work on those that have come.
pub(crate) fn fetch_by_furcate(pages: u64) -> u64 {
    use furcate::prelude::*;
    let fetch = async |page| {
        async_io::Timer::after(LATENCY).await;
        page
    };
    (0..pages).into_par_iter().map(fetch).io_await().map(digest).reduce(|| 0, u64::wrapping_add)
}

pub(crate) fn find_by_rayon(hay: &[u32], needle: u32) -> Option<usize> {
    use rayon::prelude::*;
    hay.par_iter().position_first(|x| *x == needle)
}

pub(crate) fn find_by_furcate(hay: &[u32], needle: u32) -> Option<usize> {
    use furcate::prelude::*;
    hay.par_iter().position_first(|x| *x == needle)
}

/// The costs of items, in steps of [`mixed`]. The ten dear ones lie side by side.
pub(crate) fn uneven_costs(items: usize) -> Vec<u32> {
    const DEAR: usize = 10;
    let dear = items / 3..items / 3 + DEAR;
    let cheap = 1000;
    (0..items).map(|i| if dear.contains(&i) { cheap * (items / DEAR) as u32 } else { cheap }).collect()
}

/// An item of that cost.
pub(crate) fn burn(cost: u32) -> u64 {
    (0..cost).fold(u64::from(cost), |x, _| mixed(x))
}

pub(crate) fn uneven_by_rayon(costs: &[u32]) -> u64 {
    use rayon::prelude::*;
    costs.par_iter().map(|&cost| burn(cost)).reduce(|| 0, u64::wrapping_add)
}

pub(crate) fn uneven_by_furcate(costs: &[u32]) -> u64 {
    use furcate::prelude::*;
    costs.par_iter().map(|&cost| burn(cost)).adaptive().reduce(|| 0, u64::wrapping_add)
}

pub(crate) fn fib(n: u32) -> u64 {
    if n < 2 { n.into() } else { fib(n - 1) + fib(n - 2) }
}

pub(crate) fn fib_by_rayon(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = rayon::join(|| fib_by_rayon(n - 1), || fib_by_rayon(n - 2));
    a + b
}

pub(crate) fn fib_by_furcate(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = furcate::join(|| fib_by_furcate(n - 1), || fib_by_furcate(n - 2));
    a + b
}

/// A tree with up to four children at each node.
pub(crate) struct Node {
    value: u64,
    children: Vec<Node>,
}

impl Node {
    pub(crate) fn tree(height: u64) -> Node {
        let children = if height == 0 { 0 } else { 1 + height % 4 };
        Node { value: height, children: (0..children).map(|_| Node::tree(height - 1)).collect() }
    }

    pub(crate) fn sum(&self) -> u64 {
        mixed(self.value).wrapping_add(self.children.iter().map(Node::sum).fold(0, u64::wrapping_add))
    }

    pub(crate) fn sum_by_rayon(&self) -> u64 {
        use rayon::prelude::*;
        let below = self.children.par_iter().map(Node::sum_by_rayon).reduce(|| 0, u64::wrapping_add);
        mixed(self.value).wrapping_add(below)
    }

    pub(crate) fn sum_by_furcate(&self) -> u64 {
        use furcate::prelude::*;
        let below = self.children.par_iter().map(Node::sum_by_furcate).reduce(|| 0, u64::wrapping_add);
        mixed(self.value).wrapping_add(below)
    }
}

/// Another number for every number.
pub(crate) fn mixed(x: u64) -> u64 {
    let x = (x ^ (x >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^ (x >> 29)
}

pub(crate) fn sum_by_rayon(numbers: &[u64]) -> u64 {
    use rayon::prelude::*;
    numbers.par_iter().map(|x| mixed(*x)).reduce(|| 0, u64::wrapping_add)
}

pub(crate) fn sum_by_furcate(numbers: &[u64]) -> u64 {
    use furcate::prelude::*;
    numbers.par_iter().map(|x| mixed(*x)).reduce(|| 0, u64::wrapping_add)
}
