//! Slots by the tokens of a jobserver, in a pool that shares the processors with other processes.
//!
//! The pool may use one slot, and one more for each token that it has. The other slots are *withheld*: no worker can occupy them.
//!
//! | slot | becomes | when |
//! |---|---|---|
//! | withheld | free, or the first claimant's | a token arrives |
//! | free | withheld, and a token is given back | the slot lock is released |
//! | held | another worker's | as in any pool, if that worker gets it under the same lock: the token stays with the slot |
//!
//! # Invariants
//!
//! 1. *As many as tokens.* The slots that are not withheld are one more than the tokens that the pool has. So one slot is never withheld, and
//!    the pool's jobs end even if no token ever comes. Tokens belong to no slot in particular.
//! 2. *No idle token.* When the slot lock is released and the pool has a token, no slot is free. Exception: one slot for the timed searcher,
//!    which parks after 20 ms.
//! 3. *One request.* A token is requested when a worker finds no free slot, or claims one. There is at most one request at a time.
//!    If the source fails, it never answers: the pool goes on with the slots that it has.
//! 4. *No lost wake-up.* While a slot is withheld and no token is requested, publishers and final checks treat the slot as a free one
//!    ([`needs_searcher`](crate::slots::searching::Searching::needs_searcher)): the worker that they want to wake finds no free slot, and a token is
//!    requested. While one is requested, they do nothing. The thread that brings the token makes up for that:
//!    1. The thread publishes that there is no request, and passes a full fence.
//!    2. If a worker holds a slot, it wakes a worker to search, unless one searches. If none does, the slot that needs no token is free, publishers see
//!       that one, and the token is given back.
//! 5. No token is requested or given back with the slot lock held: both are calls of foreign code.
//! 6. *One process.* A forked child has copies of its parent's tokens and of the source, whose thread is not there. It uses and drops none of them.

use super::{FreeSlot, Locked, Occupant, Slots};
use crate::process::known_generation;
use std::any::Any;
use std::mem;
use std::sync::Arc;

/// The right to use one more processor. Its drop gives it back.
pub(crate) type Token = Box<dyn Any + Send>;
/// Requests a token, and returns at once.
pub(crate) type TokenSource = Arc<dyn Fn() + Send + Sync>;

/// The tokens of a pool. A pool without a source has none, and no slot is withheld.
#[derive(Default)]
pub(super) struct Tokens {
    source: Option<TokenSource>,
    /// The process that the source and the tokens belong to.
    generation: usize,
    /// Indices of the withheld slots.
    pub(super) withheld: Vec<usize>,
    held: Vec<Token>,
    /// Whether a worker has found no free slot since the slot lock was taken.
    pub(super) is_wanted: bool,
    is_requested: bool,
}

impl Tokens {
    /// Whether a slot is withheld, and no token is requested.
    pub(super) fn may_request(&self) -> bool {
        self.source.is_some() && !self.is_requested && !self.withheld.is_empty()
    }
}

impl Drop for Tokens {
    fn drop(&mut self) {
        if self.generation != known_generation() {
            // Invariant 6.
            mem::forget((mem::take(&mut self.held), self.source.take()));
        }
    }
}

impl<W: Occupant> Slots<W> {
    /// Withholds all free slots but one from now on. Tokens that `source` brings make them free.
    pub(crate) fn withhold(&self, source: TokenSource) {
        let mut slots = self.lock();
        let (table, surplus) = (&mut *slots, self.len() - 1);
        table.tokens.withheld.extend(table.free.drain(..surplus));
        (table.tokens.source, table.tokens.generation) = (Some(source), known_generation());
    }

    /// Ends the source: no token is requested any more. Those that the pool has are given back as before.
    pub(crate) fn end_tokens(&self) {
        let mut slots = self.lock();
        let source = slots.tokens.source.take();
        slots.publish_free();
        drop(slots);
        // Foreign code, without the lock.
        drop(source);
    }
}

impl<W: Occupant> Locked<'_, W> {
    /// Makes a withheld slot available, by a token that has arrived.
    pub(crate) fn receive(&mut self, token: Token) {
        self.tokens.is_requested = false;
        self.tokens.held.push(token);
        let slot = self.tokens.withheld.pop().expect("a token is requested if a slot is withheld");
        self.make_available(FreeSlot(slot));
        // Also if a claimant has got the slot.
        self.publish_free();
    }

    /// Withholds free slots (invariant 2). Returns their tokens, which the caller drops when it has released the lock, and the source if the caller has to
    /// request a token then.
    pub(super) fn settle(&mut self) -> (Vec<Token>, Option<TokenSource>) {
        let has_none = self.tokens.source.is_none() && self.tokens.held.is_empty();
        if has_none || self.tokens.generation != known_generation() {
            return Default::default();
        }
        let kept = usize::from(self.timed_searcher.is_some());
        let table = &mut **self;
        let surplus = table.free.len().saturating_sub(kept).min(table.tokens.held.len());
        table.tokens.withheld.extend(table.free.drain(..surplus));
        let unused = table.tokens.held.drain(..surplus).collect();
        let is_wanted = mem::take(&mut table.tokens.is_wanted) || !table.claims.is_empty();
        let requests = is_wanted && table.tokens.may_request();
        table.tokens.is_requested |= requests;
        self.publish_free();
        (unused, if requests { self.tokens.source.clone() } else { None })
    }
}
