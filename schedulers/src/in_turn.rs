//! A part of the division tree that is run without a fork and without recursion.
//!
//! If no more forks may lie on a thread's stack, a branch is still divided as its policy says. But its parts are run
//! one after the other, in a loop that keeps them on the heap.

use crate::branch::{Branch, Decision, Joint, Parts};
use crate::{Policy, Producer, Reduction};

/// A step that [`run_in_turn`] has still to take.
enum Step<'c, P, L, R> {
    Run(Branch<'c, P, L, R>),
    Reduce(Joint<'c, R>),
}

/// Runs a branch without a fork and without recursion, with the divisions that `decide` wants (see
/// [`frames`](crate::frames)).
#[cold]
pub(crate) fn run_in_turn<'c, P, L, R>(
    branch: Branch<'c, P, L, R>,
    decide: impl Fn(&mut Branch<'c, P, L, R>) -> Decision,
) -> R::Output
where
    P: Producer,
    L: Policy,
    R: Reduction<P::Item>,
{
    let mut steps = vec![Step::Run(branch)];
    let mut outputs = Vec::new();
    while let Some(step) = steps.pop() {
        match step {
            Step::Run(mut branch) => match decide(&mut branch) {
                Decision::Leaf => outputs.push(branch.fold()),
                Decision::Divide { task, .. } => match branch.divide_in_turn(&task) {
                    Parts::One(rest) => steps.push(Step::Run(rest)),
                    Parts::Two(left, right, joint) => {
                        steps.extend([Step::Reduce(joint), Step::Run(right), Step::Run(left)]);
                    }
                },
            },
            Step::Reduce(joint) => {
                let right = outputs.pop().expect("a reduction follows its two branches");
                let left = outputs.pop().expect("a reduction follows its two branches");
                outputs.push(joint.reduce(left, right));
            }
        }
    }
    outputs.pop().expect("the root gives an output")
}
