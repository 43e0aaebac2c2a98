//! The thief's side of a steal: an idle rank asks random ranks for work, one at a time.
//!
//! # Invariants
//!
//! 1. At most one request is without a reply or a withdrawal.
//! 2. After a refusal the rank pauses, twice as long each time, until a share comes.

use std::time::{Duration, Instant};

/// The first and the longest pause after a refusal.
const FIRST_PAUSE: Duration = Duration::from_micros(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// The first and the longest time for which a thief waits for a reply.
const FIRST_PATIENCE: Duration = Duration::from_millis(1);
const LONGEST_PATIENCE: Duration = Duration::from_millis(10);

/// The longest time that an idle rank waits between two looks.
const LOOK: Duration = Duration::from_millis(1);

/// State of a thief.
#[derive(Debug)]
pub(crate) struct Asking {
    rank: usize,
    ranks: usize,
    /// The victim of the request without a reply, and the time of the request (invariant 1).
    request: Option<(usize, Instant)>,
    /// Time for which the thief waits for a reply.
    patience: Duration,
    /// Time before which no request is sent, and the pause after the next refusal (invariant 2).
    retry: Instant,
    pause: Duration,
    /// The next victim, if one is better than a random one.
    preferred: Option<usize>,
    /// State of the generator of random victims.
    random: u64,
}

/// The next action of a thief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Withdraw(usize),
    Request(usize),
    Wait(Duration),
}

impl Asking {
    /// Makes the thief of a rank in the call with this number.
    pub(crate) fn new(rank: usize, ranks: usize, call: u64) -> Self {
        Asking {
            rank,
            ranks,
            request: None,
            patience: FIRST_PATIENCE,
            retry: Instant::now(),
            pause: FIRST_PAUSE,
            preferred: None,
            random: scrambled(rank as u64, call),
        }
    }

    /// Returns the next action of a rank that is out of work. `may_ask`: whether work may be left on other ranks.
    pub(crate) fn next(&mut self, now: Instant, may_ask: bool) -> Ask {
        let patience = self.patience;
        let withdrawn = self.request.take_if(|(_, since)| now.saturating_duration_since(*since) > patience);
        if let Some((victim, _)) = withdrawn {
            self.patience = (patience * 2).min(LONGEST_PATIENCE);
            return Ask::Withdraw(victim);
        }
        if self.request.is_some() || !may_ask || self.ranks < 2 {
            return Ask::Wait(LOOK);
        }
        if now < self.retry {
            return Ask::Wait(LOOK.min(self.retry - now));
        }
        let victim = self.victim();
        self.request = Some((victim, now));
        Ask::Request(victim)
    }

    /// Chooses the next victim, where work may have come up just now.
    pub(crate) fn prefer(&mut self, victim: usize) {
        self.preferred = Some(victim);
    }

    /// Takes a refusal.
    pub(crate) fn refused(&mut self, from: usize) {
        if self.request.take_if(|(victim, _)| *victim == from).is_some() {
            self.retry = Instant::now() + self.pause;
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Takes a share. Returns the latency, if it is the reply to the request.
    pub(crate) fn got_share(&mut self, from: usize) -> Option<Duration> {
        (self.pause, self.patience) = (FIRST_PAUSE, FIRST_PATIENCE);
        self.request.take_if(|(victim, _)| *victim == from).map(|(_, since)| since.elapsed())
    }

    /// Returns the preferred victim, or a random rank other than this one, by Marsaglia's xorshift.
    fn victim(&mut self) -> usize {
        if let Some(victim) = self.preferred.take() {
            return victim;
        }
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let other = (self.random >> 16) as usize % (self.ranks - 1);
        if other < self.rank { other } else { other + 1 }
    }
}

/// Returns a random number other than 0, the seed of a rank in a call (the last step of splitmix64).
fn scrambled(rank: u64, call: u64) -> u64 {
    let x = call.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(rank << 32 | rank);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (x ^ (x >> 31)) | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_request_at_a_time_is_sent_to_another_rank() {
        let mut asking = Asking::new(1, 3, 7);
        let now = Instant::now();
        let Ask::Request(victim) = asking.next(now, true) else { panic!("a request is due") };
        assert!(victim == 0 || victim == 2);
        assert!(matches!(asking.next(now, true), Ask::Wait(_)), "one at a time");
        let late = now + FIRST_PATIENCE * 2;
        assert_eq!(asking.next(late, true), Ask::Withdraw(victim));
        assert!(matches!(asking.next(late, true), Ask::Request(_)));
    }

    #[test]
    fn a_refusal_is_followed_by_a_pause() {
        let mut asking = Asking::new(0, 2, 1);
        let now = Instant::now();
        assert_eq!(asking.next(now, true), Ask::Request(1));
        asking.refused(1);
        assert!(matches!(asking.next(now, true), Ask::Wait(_)));
        let later = Instant::now() + FIRST_PAUSE;
        assert_eq!(asking.next(later, true), Ask::Request(1));
        assert!(asking.got_share(1).is_some());
        assert!(asking.got_share(1).is_none(), "there was no second request");
    }

    #[test]
    fn nobody_is_asked_where_nothing_can_be_left() {
        assert!(matches!(Asking::new(0, 1, 1).next(Instant::now(), true), Ask::Wait(_)));
        assert!(matches!(Asking::new(0, 2, 1).next(Instant::now(), false), Ask::Wait(_)));
    }
}
