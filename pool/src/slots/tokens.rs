//! Slots by the tokens of a jobserver, in a pool that shares the processors with other processes.
//!
//! Such a pool may use one slot, and one more for each token that it has. The other slots are *withheld*: no worker can occupy them.
//!
//! | slot | becomes | when |
//! |---|---|---|
//! | withheld | free, or the oldest claimant's | a token arrives |
//! | free | withheld, and a token is given back | the slot lock is released |
//! | held | as in any pool | the token stays with the slot when the slot changes hands |
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
//!    ([`needs_searcher`](crate::slots::searching::Searching::needs_searcher)). The worker that they want to wake finds no free slot, so a token is requested.
//!    While one is requested, they do nothing. The thread that brings the token makes up for it. It first publishes that there is no request,
//!    then passes a full fence, and then wakes a worker to search, unless one searches. (If no worker holds a slot, then a slot is free that needs no token,
//!    and the publishers see that one. The token is given back.)
//! 5. No token is requested or given back with the slot lock held: both are calls of foreign code.

use super::{FreeSlot, Locked, Occupant, Slots};
use std::any::Any;
use std::mem;

/// The right to use one more processor. Its drop gives it back.
pub(crate) type Token = Box<dyn Any + Send>;
/// Requests a token, and returns at once.
pub(crate) type TokenSource = Box<dyn Fn() + Send + Sync>;

/// The tokens of a pool. A pool without a source has none, and no slot is withheld.
#[derive(Debug, Default)]
pub(super) struct Tokens {
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
        !self.is_requested && !self.withheld.is_empty()
    }
}

impl<W> Slots<W> {
    /// Withholds all free slots but one from now on. Tokens that `source` brings make them free.
    pub(crate) fn withhold(&self, source: TokenSource)
    where
        W: Occupant,
    {
        let mut slots = self.lock();
        let (table, surplus) = (&mut *slots, self.len() - 1);
        table.tokens.withheld.extend(table.free.drain(..surplus));
        _ = self.source.set(source);
    }
}

impl<'a, W: Occupant> Locked<'a, W> {
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
    /// request a token then. Returns `None` in a pool without a source.
    pub(super) fn settle(&mut self) -> Option<(Vec<Token>, Option<&'a TokenSource>)> {
        let source = self.slots.source.get()?;
        let kept = usize::from(self.timed_searcher.is_some());
        let table = &mut **self;
        let surplus = table.free.len().saturating_sub(kept).min(table.tokens.held.len());
        table.tokens.withheld.extend(table.free.drain(..surplus));
        let unused = table.tokens.held.drain(..surplus).collect();
        let is_wanted = mem::take(&mut table.tokens.is_wanted) || !table.claims.is_empty();
        let requests = is_wanted && table.tokens.may_request();
        table.tokens.is_requested |= requests;
        self.publish_free();
        Some((unused, requests.then_some(source)))
    }
}
