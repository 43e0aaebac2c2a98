//! The outputs of a call: where they meet, and who reduces them. See [`held`](crate::held) for the messages.

use super::Call;
use crate::encoding::{decode, encode, encoded_len};
use crate::held::{Far, Fetch, Part, Place, Refused};
use crate::joins::{Arrival, Link};
use crate::transport::Message;
use furcate_pool::sync::machine::atomic::Ordering::Relaxed;
use furcate_schedulers::Reduction;
use serde::Serialize;
use serde::de::DeserializeOwned;

impl<T, R> Call<'_, T, R>
where
    R: Reduction<T> + Sync,
    R::Output: Serialize + DeserializeOwned,
{
    // --------------------------------------------------------------------------------- messages that come

    pub(super) fn output_comes(&self, from: usize, gap: u64, bytes: &[u8]) {
        match decode::<(u8, u64, R::Output)>(bytes) {
            Ok((reason, units, output)) => {
                self.compare_units(from, units);
                self.mark(reason);
                self.fill(from, gap, Place::Here(output));
            }
            Err(error) => self.fail(format!("an output from rank {from} {error}")),
        }
    }

    pub(super) fn place_comes(&self, from: usize, gap: u64, bytes: &[u8]) {
        match decode::<(u8, Far)>(bytes) {
            Ok((reason, far)) if far.rank == from => {
                self.mark(reason);
                self.fill(from, gap, Place::At(far));
            }
            _ => self.fail(format!("rank {from} sent a place of an output that cannot be decoded")),
        }
    }

    /// Fills a gap of this rank.
    fn fill(&self, from: usize, gap: u64, place: Place<R::Output>) {
        let arrival = self.desk().joins.arrive(gap, place);
        if arrival.is_refused() {
            self.fail(format!("rank {from} sent an output for gap {gap}, which this rank does not have"));
        } else {
            self.reduce(arrival);
        }
    }

    /// Takes a node over.
    pub(super) fn node_comes(&self, from: usize, bytes: &[u8]) {
        let ranks = self.world().size();
        let (reason, up, parts) = match decode::<(u8, Link, Vec<Part>)>(bytes) {
            Ok((reason, up @ Link::Gap { rank, .. }, parts)) if rank < ranks && !parts.is_empty() => {
                (reason, up, parts)
            }
            _ => return self.fail(format!("rank {from} sent a join node that cannot be decoded")),
        };
        self.mark(reason);
        let mut places = Vec::with_capacity(parts.len());
        for part in parts {
            places.push(match part {
                Part::Inline(bytes) => match decode::<(u8, u64, R::Output)>(&bytes) {
                    Ok((reason, units, output)) => {
                        self.compare_units(from, units);
                        self.mark(reason);
                        Place::Here(output)
                    }
                    Err(error) => {
                        return self.fail(format!("an output in a node from rank {from} {error}"));
                    }
                },
                Part::At(far) if far.rank == self.world().rank() => {
                    let output = self.desk().held.take(far.id);
                    match output {
                        Ok(output) => Place::Here(output),
                        Err(Refused) => return self.fail(self.not_held(from, far.id)),
                    }
                }
                Part::At(far) if far.rank < ranks => Place::At(far),
                Part::At(far) => {
                    return self.fail(format!(
                        "rank {from} sent a join node with an output of rank {}, of {ranks}",
                        far.rank
                    ));
                }
            });
        }
        self.gather(places, up);
    }

    fn not_held(&self, from: usize, id: u64) -> String {
        format!("rank {from} wants output {id} of rank {}, which does not hold it", self.world().rank())
    }

    pub(super) fn fetch_comes(&self, from: usize, id: u64, ticket: u64) {
        let output = self.desk().held.take(id);
        match output.map(|output| self.encode(&output)) {
            Ok(Ok(bytes)) => self.session.send(from, Message::Fetched { ticket, bytes }),
            Ok(Err(error)) => self.fail(format!("an output cannot be encoded: {error}")),
            Err(Refused) => self.fail(self.not_held(from, id)),
        }
    }

    pub(super) fn fetched_comes(&self, from: usize, ticket: u64, bytes: &[u8]) {
        match decode::<(u8, u64, R::Output)>(bytes) {
            Ok((reason, units, output)) => {
                self.compare_units(from, units);
                self.mark(reason);
                self.world().counters().fetched.add(1);
                let arrival = self.desk().held.arrive(from, ticket, output);
                match arrival {
                    Ok(Some((outputs, up))) => {
                        self.reduce(Arrival::Full(outputs.into_iter().map(Place::Here).collect(), up));
                    }
                    Ok(None) => {}
                    Err(Refused) => {
                        self.fail(format!("rank {from} sent an output that this rank has not asked for"))
                    }
                }
            }
            Err(error) => self.fail(format!("an output from rank {from} {error}")),
        }
    }

    // ------------------------------------------------------------------------------------------- reducing

    /// Reduces the outputs of a node, and carries the result up as far as it is the last one to arrive.
    pub(super) fn reduce(&self, arrival: Arrival<Place<R::Output>>) {
        let mut arrival = arrival;
        while let Arrival::Full(places, up) = arrival {
            if self.session.failure().is_some() {
                return; // invariant 7 of the call
            }
            arrival = match self.all_here(places) {
                Ok(outputs) => self.up(self.reduced(outputs), up),
                Err(places) => return self.bring_together(places, up),
            };
        }
    }

    fn reduced(&self, outputs: Vec<R::Output>) -> R::Output {
        self.world().counters().reduced.add(outputs.len() as u64 - 1);
        let output = outputs.into_iter().reduce(|left, right| self.reduction.reduce(left, right));
        output.expect("a node has outputs")
    }

    /// Returns the outputs if none of them is on another rank.
    fn all_here(&self, places: Vec<Place<R::Output>>) -> Result<Vec<R::Output>, Vec<Place<R::Output>>> {
        if places.iter().any(|place| matches!(place, Place::At(_))) {
            return Err(places);
        }
        let here = |place| match place {
            Place::Here(output) => Some(output),
            Place::At(_) => None,
        };
        Ok(places.into_iter().filter_map(here).collect())
    }

    /// Carries an output up: to a gap of this rank, or in a message.
    fn up(&self, output: R::Output, up: Link) -> Arrival<Place<R::Output>> {
        if self.session.failure().is_some() {
            return Arrival::Waits; // invariant 7 of the call
        }
        let (rank, gap) = match up {
            Link::Top => {
                self.end(output);
                return Arrival::Waits;
            }
            Link::Gap { rank, gap } => (rank, gap),
        };
        if rank == self.world().rank() {
            let arrival = self.desk().joins.arrive(gap, Place::Here(output));
            if arrival.is_refused() {
                self.fail(format!("an output has come for gap {gap}, which rank {rank} does not have"));
            }
            return arrival;
        }
        match self.part(output) {
            Ok(Part::Inline(bytes)) => self.session.send(rank, Message::Output { gap, bytes }),
            Ok(Part::At(far)) => match encode(&(self.interrupted.load(Relaxed), far)) {
                Ok(bytes) => self.session.send(rank, Message::Held { gap, bytes }),
                Err(error) => self.fail(format!("a place cannot be encoded: {error}")),
            },
            Err(error) => self.fail(format!("an output cannot be encoded: {error}")),
        }
        Arrival::Waits
    }

    /// Encodes an output that is short, with the reason of an interruption, and holds a longer one.
    fn part(&self, output: R::Output) -> postcard::Result<Part> {
        let len = encoded_len(&output)?;
        if len <= self.world().inline() {
            return self.encode(&output).map(Part::Inline);
        }
        let id = self.desk().held.hold(output);
        Ok(Part::At(Far { rank: self.world().rank(), id, len }))
    }

    /// Reduces neighbors that are here. Then brings the outputs to the rank that has the most bytes of them. If the reduced output would go into
    /// the first node, that rank is 0: any other way sends at least as many bytes, if reduced outputs are as long as their inputs or longer.
    fn bring_together(&self, places: Vec<Place<R::Output>>, up: Link) {
        let places = self.neighbors_reduced(places);
        let here = self.world().rank();
        let target = match up {
            Link::Top => here,
            Link::Gap { rank: 0, gap } if gap < self.world().size() as u64 => 0,
            Link::Gap { .. } => match self.longest(&places) {
                Ok(rank) => rank,
                Err(error) => return self.fail(format!("an output cannot be encoded: {error}")),
            },
        };
        if target == here {
            return self.gather(places, up);
        }
        let part = |place| match place {
            Place::Here(output) => self.part(output),
            Place::At(far) => Ok(Part::At(far)),
        };
        let parts: postcard::Result<Vec<Part>> = places.into_iter().map(part).collect();
        match parts.and_then(|parts| encode(&(self.interrupted.load(Relaxed), up, parts))) {
            Ok(bytes) => {
                self.world().counters().moved.add(1);
                self.session.send(target, Message::Node(bytes));
            }
            Err(error) => self.fail(format!("an output cannot be encoded: {error}")),
        }
    }

    fn neighbors_reduced(&self, places: Vec<Place<R::Output>>) -> Vec<Place<R::Output>> {
        let mut fewer = Vec::with_capacity(places.len());
        for place in places {
            let joined = match (fewer.pop(), place) {
                (Some(Place::Here(left)), Place::Here(right)) => {
                    self.world().counters().reduced.add(1);
                    Place::Here(self.reduction.reduce(left, right))
                }
                (before, place) => {
                    fewer.extend(before);
                    place
                }
            };
            fewer.push(joined);
        }
        fewer
    }

    /// Returns the rank that has the most bytes of these outputs: this one, if several have as many.
    fn longest(&self, places: &[Place<R::Output>]) -> postcard::Result<usize> {
        let here = self.world().rank();
        let mut bytes = vec![0_u64; self.world().size()];
        for place in places {
            match place {
                Place::Here(output) => bytes[here] = bytes[here].saturating_add(encoded_len(output)?),
                Place::At(far) => bytes[far.rank] = bytes[far.rank].saturating_add(far.len),
            }
        }
        let longest = bytes.iter().copied().max().unwrap_or_default();
        Ok(if bytes[here] == longest {
            here
        } else {
            bytes.iter().position(|&len| len == longest).unwrap_or(here)
        })
    }

    /// Gets the outputs of a node here.
    fn gather(&self, places: Vec<Place<R::Output>>, up: Link) {
        if places.iter().all(|place| matches!(place, Place::Here(_))) {
            return self.reduce(Arrival::Full(places, up));
        }
        let fetches = self.desk().held.gather(places, up);
        for Fetch { from, id, ticket } in fetches {
            self.session.send(from, Message::Fetch { id, ticket });
        }
    }
}
