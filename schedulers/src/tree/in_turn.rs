//! A part of the division tree that is run without a fork and without recursion.
//!
//! If no more forks may lie on a thread's stack, a branch is still divided as its policy says. But its parts are run
//! one after the other, in a loop that keeps them on the heap.

use crate::Workload;
use crate::tree::branch::{Branch, Decision, Divided, Joint};

/// A neighbor of the branch that [`run_in_turn`] runs, and the reduction of both.
enum Neighbor<'c, W: Workload> {
    /// The right neighbor, which is still to be run.
    Right(Branch<'c, W>, Joint<'c, W>),
    /// The left neighbor's output.
    Left(W::Output, Joint<'c, W>),
}

/// Runs a branch without a fork and without recursion, with the divisions that `decide` wants (see
/// [`frames`](crate::tree::frames)).
#[cold]
pub(crate) fn run_in_turn<'c, W: Workload>(
    mut branch: Branch<'c, W>,
    decide: impl Fn(&mut Branch<'c, W>) -> Decision,
) -> W::Output {
    let mut neighbors = Vec::new();
    loop {
        if let Decision::Divide { node, .. } = decide(&mut branch) {
            branch = match branch.divide_in_turn(&node) {
                Divided::One(rest) => rest,
                Divided::Two(left, right, joint) => {
                    neighbors.push(Neighbor::Right(right, joint));
                    left
                }
            };
            continue;
        }
        let mut output = branch.fold();
        branch = loop {
            match neighbors.pop() {
                None => return output,
                Some(Neighbor::Right(right, joint)) => {
                    neighbors.push(Neighbor::Left(output, joint));
                    break right;
                }
                Some(Neighbor::Left(left, joint)) => output = joint.reduce(left, output),
            }
        };
    }
}
