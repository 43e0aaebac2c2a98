//! The joins of a rank: where the outputs of shares meet.
//!
//! A share whose rank gave parts away has an output with [gaps](crate::segments). When the rank has folded the rest of the share, the
//! segments and the gaps become a join node on the heap of this rank. The outputs of the parts arrive later, or have arrived before.
//! The last finisher reduces: the arrival of the last output takes all of them out, in order. The reduced output goes up to the gap
//! from which the share came, on this rank or on another one. So no rank waits for another one. A node whose outputs are long may be reduced on another
//! rank: see [`held`](crate::held).
//!
//! # Invariants
//!
//! 1. A gap is open from the moment before its part is sent to the moment at which its output arrives. It is filled once: a second
//!    output for it is [refused](Arrival::Refused).
//! 2. The outputs of a node are reduced once, in the order of the segments and gaps, without a lock.
//! 3. Rank 0 begins with a node that has a gap for each rank's first share, with the numbers from 0. The output of this node is the
//!    result. Every share has one output, and a part that is given away is a share whose gap lies in the output of another one. So
//!    when the first node is complete, no share is under way on any rank, and the call has ended. No rank counts anything.

use crate::segments::Segments;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Destination of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Link {
    /// The result of the call (invariant 3).
    Top,
    Gap {
        rank: usize,
        gap: u64,
    },
}

/// The joins of a rank in a call.
#[derive(Debug)]
pub(crate) struct Joins<O> {
    /// Number of the next gap.
    next_gap: u64,
    gaps: HashMap<u64, Gap<O>>,
    next_node: u64,
    nodes: HashMap<u64, Node<O>>,
    /// The greatest number of nodes that there were at once.
    most: usize,
}

/// A gap whose output has not been reduced.
#[derive(Debug)]
enum Gap<O> {
    /// Neither the output nor the node is there.
    Open,
    /// The output came before the node.
    Early(O),
    /// The node waits for the output.
    In { node: u64, place: usize },
}

#[derive(Debug)]
struct Node<O> {
    outputs: Vec<Option<O>>,
    missing: usize,
    up: Link,
}

/// The effect of an output.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Arrival<O> {
    /// Other outputs are still missing.
    Waits,
    /// The outputs of a node, to be reduced in this order, and the destination of the reduced output.
    Full(Vec<O>, Link),
    /// There is no such gap.
    Refused,
}

impl<O> Arrival<O> {
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self, Arrival::Refused)
    }
}

impl<O> Joins<O> {
    /// Makes the joins of a rank. Rank 0 begins with the node of the first shares.
    pub(crate) fn new(rank: usize, ranks: usize) -> Self {
        let mut joins = Joins {
            next_gap: ranks as u64,
            gaps: HashMap::new(),
            next_node: 1,
            nodes: HashMap::new(),
            most: 0,
        };
        if rank == 0 {
            let gap = |rank| (rank as u64, Gap::In { node: 0, place: rank });
            joins.gaps = (0..ranks).map(gap).collect();
            let outputs = (0..ranks).map(|_| None).collect();
            joins.nodes.insert(0, Node { outputs, missing: ranks, up: Link::Top });
        }
        joins
    }

    /// Opens a gap.
    pub(crate) fn open(&mut self) -> u64 {
        let gap = self.next_gap;
        self.next_gap += 1;
        self.gaps.insert(gap, Gap::Open);
        gap
    }

    /// Takes the output of a share. If there are gaps, makes a node.
    pub(crate) fn join(&mut self, segments: Segments<O>, up: Link) -> Arrival<O> {
        let Segments { before, last } = segments;
        let number = self.next_node;
        let mut outputs = Vec::with_capacity(2 * before.len() + 1);
        let mut missing = 0;
        for (output, gap) in before {
            outputs.push(Some(output));
            let early = match self.gaps.remove(&gap) {
                Some(Gap::Early(output)) => Some(output),
                _ => {
                    self.gaps.insert(gap, Gap::In { node: number, place: outputs.len() });
                    missing += 1;
                    None
                }
            };
            outputs.push(early);
        }
        outputs.push(Some(last));
        if missing == 0 {
            return Arrival::Full(outputs.into_iter().flatten().collect(), up);
        }
        self.next_node += 1;
        self.nodes.insert(number, Node { outputs, missing, up });
        self.most = self.most.max(self.nodes.len());
        Arrival::Waits
    }

    /// Fills a gap.
    pub(crate) fn arrive(&mut self, gap: u64, output: O) -> Arrival<O> {
        match self.gaps.remove(&gap) {
            Some(Gap::In { node: number, place }) => {
                let node = self.nodes.get_mut(&number).expect("a gap's node waits for it");
                node.outputs[place] = Some(output);
                node.missing -= 1;
                if node.missing > 0 {
                    return Arrival::Waits;
                }
                let node = self.nodes.remove(&number).expect("it was there");
                Arrival::Full(node.outputs.into_iter().flatten().collect(), node.up)
            }
            Some(Gap::Open) => {
                self.gaps.insert(gap, Gap::Early(output));
                Arrival::Waits
            }
            Some(early @ Gap::Early(_)) => {
                self.gaps.insert(gap, early);
                Arrival::Refused
            }
            None => Arrival::Refused,
        }
    }

    /// Returns the greatest number of nodes that there were at once, without the node of the first shares.
    pub(crate) fn most(&self) -> usize {
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_output_takes_all_out_in_order() {
        for early in [false, true] {
            let mut joins = Joins::new(1, 4);
            let (a, b) = (joins.open(), joins.open());
            assert!(a >= 4 && a != b);
            if early {
                assert_eq!(joins.arrive(a, "a"), Arrival::Waits);
            }
            let up = Link::Gap { rank: 3, gap: 9 };
            let segments = Segments { before: vec![("0", b), ("1", a)], last: "2" };
            assert_eq!(joins.join(segments, up), Arrival::Waits);
            if !early {
                assert_eq!(joins.arrive(a, "a"), Arrival::Waits);
            }
            assert_eq!(joins.arrive(b, "b"), Arrival::Full(vec!["0", "b", "1", "a", "2"], up));
            assert_eq!((joins.gaps.len(), joins.nodes.len(), joins.most()), (0, 0, 1));
        }
    }

    #[test]
    fn outputs_without_a_gap_are_refused() {
        let mut joins = Joins::new(1, 2);
        assert_eq!(joins.arrive(0, 'x'), Arrival::Refused, "only rank 0 has these");
        let gap = joins.open();
        assert_eq!(joins.arrive(gap, 'x'), Arrival::Waits);
        assert_eq!(joins.arrive(gap, 'y'), Arrival::Refused, "it is filled");
    }

    #[test]
    fn the_first_shares_have_gaps_at_rank_0() {
        let mut joins = Joins::new(0, 2);
        assert_eq!(joins.arrive(1, 'b'), Arrival::Waits);
        assert_eq!(joins.join(Segments::whole('a'), Link::Gap { rank: 0, gap: 0 }), {
            Arrival::Full(vec!['a'], Link::Gap { rank: 0, gap: 0 })
        });
        assert_eq!(joins.arrive(0, 'a'), Arrival::Full(vec!['a', 'b'], Link::Top));
    }
}
