//! Random operations of one thread against a `VecDeque`.

use super::*;
use std::collections::VecDeque;
use testkit::Random;

const SEEDS: u64 = 40;
const STEPS: usize = 400;

/// The deque and its expected contents; the jobs pushed last are at the back.
struct Run {
    owner: Owner,
    oracle: VecDeque<usize>,
    /// Whether the owner pops by index; otherwise it pops the newest job.
    indexed: bool,
    always_shared: bool,
}

impl Run {
    fn step(&mut self, random: &mut Random, job: usize) {
        let (owner, oracle) = (&mut self.owner, &mut self.oracle);
        match random.below(10) {
            0..4 => {
                let split_requested = owner.deque.split_requested();
                let look_up = owner.push(job);
                assert!(
                    look_up || !(split_requested || self.always_shared),
                    "questions are answered at the next push"
                );
                oracle.push_back(job);
                if split_requested {
                    assert_eq!(number(owner.steal()), oracle.pop_front(), "an answer shares");
                }
            }
            4..7 if self.indexed => {
                if let Some(&(_, job)) = owner.open.last() {
                    let expected = oracle.pop_back();
                    assert!(expected.is_none_or(|newest| newest == job));
                    assert_eq!(owner.pop(), expected);
                }
            }
            4..7 => assert_eq!(owner.pop_newest(), oracle.pop_back()),
            7 => match owner.steal() {
                Steal::Empty => assert!(oracle.is_empty()),
                Steal::Private => {
                    assert!(!self.always_shared && !oracle.is_empty() && owner.deque.split_requested())
                }
                stolen => assert_eq!(number(stolen), Some(oracle.pop_front().unwrap())),
            },
            8 => match owner.steal_private() {
                Steal::Empty => assert!(oracle.is_empty()),
                Steal::Lost => assert!(matches!(owner.deque.word().state(), WordState::Shared { .. })),
                reached => assert_eq!(number(reached), Some(oracle.pop_front().unwrap())),
            },
            _ => {
                owner.share_all();
                if random.below(2) == 0 {
                    assert_eq!(number(owner.steal()), oracle.pop_front());
                }
            }
        }
        assert_eq!(self.owner.deque.is_empty(), self.oracle.is_empty());
    }
}

#[test]
fn does_what_the_oracle_does() {
    let mut runs = 0;
    for always_shared in [true, false] {
        for seed in 1..=SEEDS {
            for (start, indexed) in STARTS.into_iter().flat_map(|start| [(start, true), (start, false)]) {
                let deque = Deque::starting_at(start, 1 << (seed % 3), always_shared);
                let owner = Owner::new(STEPS, deque);
                let mut run = Run { owner, oracle: VecDeque::new(), indexed, always_shared };
                let mut random = Random(seed);
                // Shown if the test fails.
                println!(
                    "seed {seed}, from index {start}, indexed: {indexed}, always shared: {always_shared}"
                );
                (0..STEPS).for_each(|job| run.step(&mut random, job));
                runs += 1;
            }
        }
    }
    println!("{runs} runs of {STEPS} operations, seeds 1 to {SEEDS}");
}
