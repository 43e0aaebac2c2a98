//! Outputs that stay where they were made.
//!
//! A long output is *held* by the rank that made it. Its gap gets the [`Far`] of it: the rank, a number, and the length. When a node is complete, all
//! its outputs are on one of several ranks:
//!
//! ```text
//!   home of the node             rank 2                      rank 3
//!     │◄───── Held (gap 5) ────────┤                           │     long outputs; short ones come as Output
//!     │◄───── Held (gap 7) ────────┼───────────────────────────┤
//!     ├─ complete; rank 3 has the most bytes                   │
//!     ├────── Node ────────────────┼──────────────────────────►│     short outputs, and the others' places
//!     │                            │◄──────── Fetch ───────────┤
//!     │                            ├───────── Fetched ────────►│
//!     │                            │                           ├─ reduces, and goes up: Output or Held
//! ```
//!
//! Rank 0 needs the result. So the node of the first shares never moves, and a node whose output goes there is reduced at rank 0.
//!
//! # Invariants
//!
//! 1. *Once.* An output is held from the moment before its place is told until it is fetched, or reduced on its rank. Each place is told to
//!    one rank, which passes it on at most once, in a `Node`. So a second fetch, or one with an unknown number, comes from a faulty rank: it is
//!    refused.
//! 2. *Nobody waits.* A node waits here for the outputs that are under way. The last output to arrive completes it.
//! 3. *Nothing is left.* When the call ends, by its result or by a failure, its held outputs are dropped with it.

use crate::joins::Link;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Length of an encoded output up to which it is sent at once. A longer one is held: two messages more cost less than its copies.
pub(crate) const INLINE: usize = 4096;

/// Place of an output that a rank holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Far {
    pub(crate) rank: usize,
    pub(crate) id: u64,
    pub(crate) len: u64,
}

/// An output of a node.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place<O> {
    Here(O),
    At(Far),
}

/// An output of a node that moves.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Part {
    /// An encoded output.
    Inline(Vec<u8>),
    At(Far),
}

/// The outputs that a rank holds, and the nodes that wait for outputs of other ranks.
#[derive(Debug)]
pub(crate) struct Held<O> {
    /// The next number of an output, a node or a fetch.
    next: u64,
    outputs: HashMap<u64, O>,
    nodes: HashMap<u64, Waiting<O>>,
    /// The fetches under way, by their tickets.
    fetches: HashMap<u64, Fetching>,
}

/// A node that waits for outputs (invariant 2).
#[derive(Debug)]
struct Waiting<O> {
    outputs: Vec<Option<O>>,
    missing: usize,
    up: Link,
}

#[derive(Debug)]
struct Fetching {
    from: usize,
    node: u64,
    place: usize,
}

/// A fetch to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fetch {
    pub(crate) from: usize,
    pub(crate) id: u64,
    pub(crate) ticket: u64,
}

/// A message says something that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused;

impl<O> Held<O> {
    pub(crate) fn new() -> Self {
        Held { next: 0, outputs: HashMap::new(), nodes: HashMap::new(), fetches: HashMap::new() }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Holds an output. Returns its number.
    pub(crate) fn hold(&mut self, output: O) -> u64 {
        let id = self.number();
        self.outputs.insert(id, output);
        id
    }

    /// Takes an output out, for a fetch or a reduction here.
    pub(crate) fn take(&mut self, id: u64) -> Result<O, Refused> {
        self.outputs.remove(&id).ok_or(Refused)
    }

    /// Keeps a node until its outputs are here. Returns the fetches to be sent: at least one, unless every output is here.
    pub(crate) fn gather(&mut self, places: Vec<Place<O>>, up: Link) -> Vec<Fetch> {
        let node = self.number();
        let mut fetches = Vec::new();
        let mut outputs = Vec::with_capacity(places.len());
        for (index, place) in places.into_iter().enumerate() {
            outputs.push(match place {
                Place::Here(output) => Some(output),
                Place::At(Far { rank, id, .. }) => {
                    let ticket = self.number();
                    self.fetches.insert(ticket, Fetching { from: rank, node, place: index });
                    fetches.push(Fetch { from: rank, id, ticket });
                    None
                }
            });
        }
        self.nodes.insert(node, Waiting { outputs, missing: fetches.len(), up });
        fetches
    }

    /// Takes an output that was fetched. If it is the last one of its node, returns the outputs in order.
    pub(crate) fn arrive(
        &mut self,
        from: usize,
        ticket: u64,
        output: O,
    ) -> Result<Option<(Vec<O>, Link)>, Refused> {
        let fetch = self.fetches.remove(&ticket).filter(|fetch| fetch.from == from).ok_or(Refused)?;
        let node = self.nodes.get_mut(&fetch.node).ok_or(Refused)?;
        node.outputs[fetch.place] = Some(output);
        node.missing -= 1;
        if node.missing > 0 {
            return Ok(None);
        }
        let Waiting { outputs, up, .. } = self.nodes.remove(&fetch.node).ok_or(Refused)?;
        Ok(Some((outputs.into_iter().flatten().collect(), up)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_taken_once() {
        let mut held = Held::new();
        let (a, b) = (held.hold('a'), held.hold('b'));
        assert_eq!(held.take(b), Ok('b'));
        assert_eq!(held.take(b), Err(Refused));
        assert_eq!(held.take(a + 100), Err(Refused));
        assert_eq!(held.take(a), Ok('a'));
    }

    #[test]
    fn the_last_output_completes_a_node() {
        let mut held = Held::new();
        let far = |rank| Place::At(Far { rank, id: 7, len: 1 << 20 });
        let up = Link::Gap { rank: 2, gap: 3 };
        let fetches = held.gather(vec![far(1), Place::Here("b"), far(2)], up);
        let [first, last] = fetches[..] else { panic!("two are missing") };
        assert_eq!((first.from, first.id, last.from), (1, 7, 2));
        assert_eq!(held.arrive(2, last.ticket, "c"), Ok(None));
        assert_eq!(held.arrive(2, last.ticket, "c"), Err(Refused), "it has arrived");
        assert_eq!(held.arrive(1, 1000, "a"), Err(Refused), "nobody asked");
        assert_eq!(held.arrive(1, first.ticket, "a"), Ok(Some((vec!["a", "b", "c"], up))));
        assert!(held.nodes.is_empty() && held.fetches.is_empty());
    }

    #[test]
    fn another_rank_cannot_reply() {
        let mut held = Held::new();
        let fetches = held.gather(vec![Place::At(Far { rank: 1, id: 7, len: 9 })], Link::Top);
        assert_eq!(held.arrive(2, fetches[0].ticket, "a"), Err(Refused));
    }
}
