//! Makes pairs of Gaussian random numbers, adds them up, and counts them by their size (NAS: EP, embarrassingly parallel).

use crate::nas::Generator;
use crate::program::{Program, close, equal, reads};

pub(super) const PROGRAM: Program = Program {
    name: "nas_ep",
    suite: "NAS",
    what: "sums and counts of Gaussian pairs",
    unit: "class: 0 = S, 1 = W, 2 = A",
    size: 1,
    quick: 0,
    schedule: "",
    why: "a tie: the batches are large, equal and independent, so both libraries keep all threads busy",
    source: include_str!("nas_ep.rs"),
    case: |size| {
        let class = CLASSES.get(size).expect("give the class as 0 (S), 1 (W) or 2 (A)");
        reads(*class, [sequential::run, rayon::run, furcate::run], check)
    },
};

/// A class of the benchmark: the number of pairs of uniform numbers that are tried, and the published results.
#[derive(Clone, Copy)]
struct Class {
    tried: u64,
    /// The number of pairs in each ring. There are none in the others.
    counts: [u64; 6],
    x: f64,
    y: f64,
}

const CLASSES: [Class; 3] = [
    Class {
        tried: 1 << 24,
        counts: [6_140_517, 5_865_300, 1_100_361, 68_546, 1648, 17],
        x: -3.24783465203474e3,
        y: -6.958407078382297e3,
    },
    Class {
        tried: 1 << 25,
        counts: [12_281_576, 11_729_692, 2_202_726, 137_368, 3371, 36],
        x: -2.863319731645753e3,
        y: -6.320053679109499e3,
    },
    Class {
        tried: 1 << 28,
        counts: [98_257_395, 93_827_014, 17_611_549, 1_110_028, 26_536, 245],
        x: -4.295875165629892e3,
        y: -1.580732573678431e4,
    },
];

/// The number of pairs in a batch.
const BATCH: u64 = 1 << 16;

/// The sums of the pairs' parts, and the number of pairs in each of ten square rings around 0.
#[derive(Clone, Copy, Default)]
struct Sums {
    x: f64,
    y: f64,
    counts: [u64; 10],
}

impl Sums {
    fn add(mut self, other: Sums) -> Sums {
        self.x += other.x;
        self.y += other.y;
        self.counts.iter_mut().zip(other.counts).for_each(|(count, other)| *count += other);
        self
    }
}

/// Makes a batch of pairs, by Marsaglia's polar method.
fn batch(index: u64) -> Sums {
    let mut random = Generator::new(271_828_183).skip(2 * BATCH * index);
    let mut sums = Sums::default();
    for _ in 0..BATCH {
        let (x, y) = (2.0 * random.draw() - 1.0, 2.0 * random.draw() - 1.0);
        let square = x * x + y * y;
        if square <= 1.0 {
            let factor = (-2.0 * square.ln() / square).sqrt();
            let (x, y) = (x * factor, y * factor);
            sums.x += x;
            sums.y += y;
            sums.counts[x.abs().max(y.abs()) as usize] += 1;
        }
    }
    sums
}

fn check(class: &Class, sums: &Sums) -> Result<(), String> {
    equal(&sums.counts[..6], &class.counts)?;
    equal(&sums.counts[6..], &[0; 4])?;
    close(&[sums.x, sums.y], &[class.x, class.y], 1e-8)
}

mod sequential {
    use super::{BATCH, Class, Sums, batch};

    pub(super) fn run(class: &Class) -> Sums {
        (0..class.tried / BATCH).map(batch).fold(Sums::default(), Sums::add)
    }
}

mod rayon {
    use super::{BATCH, Class, Sums, batch};
    use rayon::prelude::*;

    pub(super) fn run(class: &Class) -> Sums {
        (0..class.tried / BATCH).into_par_iter().map(batch).reduce(Sums::default, Sums::add)
    }
}

mod furcate {
    use super::{BATCH, Class, Sums, batch};
    use furcate::prelude::*;

    pub(super) fn run(class: &Class) -> Sums {
        (0..class.tried / BATCH).into_par_iter().map(batch).reduce(Sums::default, Sums::add)
    }
}
