//! Ranks integer keys by counting, ten times with small changes (NAS: IS, integer sort).

use crate::nas::{Generator, SEED};
use crate::program::{Program, changes, equal};

pub(super) const PROGRAM: Program = Program {
    name: "nas_is",
    suite: "NAS",
    what: "ranks of integer keys by counting",
    unit: "class: 0 = S, 1 = W, 2 = A, 3 = B",
    size: 3,
    quick: 0,
    schedule: "",
    why: "a tie: both make a table of counts for each thread, all columns wait for memory, and one thread sums up the ranks",
    source: include_str!("nas_is.rs"),
    case: |size| {
        let class = CLASSES.get(size).expect("give the class as 0 (S), 1 (W), 2 (A) or 3 (B)");
        changes(Problem::new(*class), [sequential::run, rayon::run, furcate::run], check)
    },
};

/// A class of the benchmark. Each test is the place of a key, its published rank, and the rank's change with each round.
#[derive(Clone, Copy)]
struct Class {
    keys: usize,
    bound: u32,
    tests: [(usize, i64, i64); 5],
}

const CLASSES: [Class; 4] = [
    Class {
        keys: 1 << 16,
        bound: 1 << 11,
        tests: [(48427, 0, 1), (17148, 18, 1), (23627, 346, 1), (62548, 64917, -1), (4431, 65463, -1)],
    },
    Class {
        keys: 1 << 20,
        bound: 1 << 16,
        tests: [
            (357_773, 1247, 1),
            (934_767, 11696, 1),
            (875_723, 1_039_987, -1),
            (898_999, 1_043_896, -1),
            (404_505, 1_048_018, -1),
        ],
    },
    Class {
        keys: 1 << 23,
        bound: 1 << 19,
        tests: [
            (2_112_377, 103, 1),
            (662_041, 17522, 1),
            (5_336_171, 123_927, 1),
            (3_642_833, 8_288_933, -1),
            (4_250_760, 8_388_265, -1),
        ],
    },
    Class {
        keys: 1 << 25,
        bound: 1 << 21,
        tests: [
            (41869, 33_422_937, -1),
            (812_306, 10244, 1),
            (5_102_857, 59149, 1),
            (18_232_239, 33_135_281, -1),
            (26_860_214, 99, 1),
        ],
    },
];

const ROUNDS: usize = 10;

/// The keys, the ranks (for each number, the count of keys up to it), and the tested ranks of all rounds.
#[derive(Clone)]
struct Problem {
    class: Class,
    keys: Vec<u32>,
    ranks: Vec<u32>,
    tested: Vec<[i64; 5]>,
}

impl Problem {
    fn new(class: Class) -> Problem {
        let mut random = Generator::new(SEED);
        let mut sum = || random.draw() + random.draw() + random.draw() + random.draw();
        let keys = (0..class.keys).map(|_| (f64::from(class.bound / 4) * sum()) as u32).collect();
        Problem { class, keys, ranks: Vec::new(), tested: Vec::new() }
    }

    /// Changes two keys before a round, as the benchmark demands.
    fn change_keys(&mut self, round: usize) {
        self.keys[round] = round as u32;
        self.keys[round + ROUNDS] = self.class.bound - round as u32;
    }

    /// Turns the counts of keys into ranks, and stores the ranks that are tested.
    fn rank(&mut self, mut counts: Vec<u32>) {
        let mut sum = 0;
        for count in &mut counts {
            sum += *count;
            *count = sum;
        }
        self.tested.push(self.class.tests.map(|(place, _, _)| counts[self.keys[place] as usize - 1].into()));
        self.ranks = counts;
    }
}

/// Checks that the tested ranks are the published ones, and that the ranks sort the keys.
fn check(input: &Problem, output: &Problem) -> Result<(), String> {
    let expected = |round| input.class.tests.map(|(_, rank, change)| rank + change * round);
    equal(&output.tested, &(1..=ROUNDS as i64).map(expected).collect())?;
    let mut ranks = output.ranks.clone();
    let mut sorted = vec![u32::MAX; output.keys.len()];
    for &key in &output.keys {
        let rank = &mut ranks[key as usize];
        *rank = rank.checked_sub(1).ok_or("a rank is too small")?;
        *sorted.get_mut(*rank as usize).ok_or("a rank is too large")? = key;
    }
    let sorts = sorted.is_sorted() && !sorted.contains(&u32::MAX);
    if sorts { Ok(()) } else { Err("the ranks do not sort the keys".to_owned()) }
}

mod sequential {
    use super::{Problem, ROUNDS};
    use crate::counts::count;

    pub(super) fn run(problem: &mut Problem) {
        for round in 1..=ROUNDS {
            problem.change_keys(round);
            let counts = count(&problem.keys, problem.class.bound as usize);
            problem.rank(counts);
        }
    }
}

mod rayon {
    use super::{Problem, ROUNDS};
    use crate::counts::{add, count};
    use rayon::prelude::*;

    pub(super) fn run(problem: &mut Problem) {
        for round in 1..=ROUNDS {
            problem.change_keys(round);
            let parts = problem.keys.par_chunks(problem.keys.len().div_ceil(rayon::current_num_threads()));
            let counts = parts.map(|keys| count(keys, problem.class.bound as usize)).reduce_with(add);
            problem.rank(counts.unwrap_or_default());
        }
    }
}

mod furcate {
    use super::{Problem, ROUNDS};
    use crate::counts::{add, count};
    use furcate::prelude::*;

    pub(super) fn run(problem: &mut Problem) {
        for round in 1..=ROUNDS {
            problem.change_keys(round);
            let parts = problem.keys.par_chunks(problem.keys.len().div_ceil(furcate::current_num_threads()));
            let counts = parts.map(|keys| count(keys, problem.class.bound as usize)).reduce_with(add);
            problem.rank(counts.unwrap_or_default());
        }
    }
}
