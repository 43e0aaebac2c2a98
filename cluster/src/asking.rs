//! The thief's side of a steal: an idle rank asks random ranks for work, one at a time.
//!
//! # Invariants
//!
//! 1. At most one request is without a reply or a withdrawal. The victim replies to every request once, with a share or a refusal. A
//!    withdrawal only asks it not to wait any longer. Until the reply comes, the rank is not asked again. So a late refusal is never
//!    taken for the reply to a later request, and a rank whose workers are all inside long items gets two messages from each thief,
//!    however long the items take.
//! 2. After a refusal the rank pauses, twice as long each time up to the transport's [longest pause](crate::Transport::longest_pause), until a share
//!    comes. If the victim has said how soon it will be out of work, the pause is at least that long.

use furcate_pool::sync::clock::Instant;
use std::collections::BTreeSet;
use std::time::Duration;

/// The first pause after a refusal.
const FIRST_PAUSE: Duration = Duration::from_micros(5);

/// The longest pause after a refusal, unless the [transport](crate::Transport::longest_pause) says otherwise.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_millis(1);

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
    /// Ranks that have not replied to a request that was withdrawn (invariant 1).
    silent: BTreeSet<usize>,
    /// Time for which the thief waits for a reply.
    patience: Duration,
    /// Time before which no request is sent, and the pause after the next refusal (invariant 2).
    retry: Instant,
    pause: Duration,
    longest_pause: Duration,
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
            silent: BTreeSet::new(),
            patience: FIRST_PATIENCE,
            retry: Instant::now(),
            pause: FIRST_PAUSE,
            longest_pause: LONGEST_PAUSE,
            preferred: None,
            random: scrambled(rank as u64, call),
        }
    }

    /// Sets the longest pause, at most [`LONGEST_PAUSE`].
    pub(crate) fn pausing(self, longest: Duration) -> Self {
        Asking { longest_pause: longest.clamp(FIRST_PAUSE, LONGEST_PAUSE), ..self }
    }

    /// Whether a request is without a reply and a withdrawal.
    pub(crate) fn waits_for_reply(&self) -> bool {
        self.request.is_some()
    }

    /// Returns the next action of a rank that is out of work. `may_ask`: whether work may be left on other ranks.
    pub(crate) fn next(&mut self, now: Instant, may_ask: bool) -> Ask {
        let patience = self.patience;
        let withdrawn = self.request.take_if(|(_, since)| now.saturating_duration_since(*since) > patience);
        if let Some((victim, _)) = withdrawn {
            self.patience = (patience * 2).min(LONGEST_PATIENCE);
            self.silent.insert(victim);
            return Ask::Withdraw(victim);
        }
        if self.request.is_some() || !may_ask || self.silent.len() + 1 >= self.ranks {
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

    /// Takes a refusal of a rank that will be out of work in the time `rest`; zero if that is unknown.
    pub(crate) fn refused(&mut self, from: usize, rest: Duration) {
        if self.request.take_if(|(victim, _)| *victim == from).is_some() {
            self.retry = Instant::now() + self.pause.max(rest.min(LONGEST_PAUSE));
            self.pause = (self.pause * 2).min(self.longest_pause);
        }
        self.silent.remove(&from);
    }

    /// Takes a share. Returns the latency, if it is the reply to the request.
    pub(crate) fn got_share(&mut self, from: usize) -> Option<Duration> {
        (self.pause, self.patience) = (FIRST_PAUSE, FIRST_PATIENCE);
        self.silent.remove(&from);
        self.request.take_if(|(victim, _)| *victim == from).map(|(_, since)| since.elapsed())
    }

    /// Returns the preferred victim, or a random rank other than this one, by Marsaglia's xorshift: one that replies. There has to be one.
    fn victim(&mut self) -> usize {
        if let Some(victim) = self.preferred.take().filter(|victim| !self.silent.contains(victim)) {
            return victim;
        }
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let other = (self.random >> 16) as usize % (self.ranks - 1);
        let first = if other < self.rank { other } else { other + 1 };
        let mut victims = (0..self.ranks).map(|step| (first + step) % self.ranks);
        let replies = |victim: &usize| *victim != self.rank && !self.silent.contains(victim);
        victims.find(replies).expect("a rank replies")
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
        assert_eq!(asking.next(late, true), Ask::Request(2 - victim), "the other one");
    }

    #[test]
    fn a_refusal_is_followed_by_a_pause() {
        let mut asking = Asking::new(0, 2, 1);
        let now = Instant::now();
        assert_eq!(asking.next(now, true), Ask::Request(1));
        asking.refused(1, Duration::ZERO);
        assert!(matches!(asking.next(now, true), Ask::Wait(_)));
        let later = Instant::now() + FIRST_PAUSE;
        assert_eq!(asking.next(later, true), Ask::Request(1));
        assert!(asking.got_share(1).is_some());
        assert!(asking.got_share(1).is_none(), "there was no second request");
    }

    #[test]
    fn the_transport_bounds_the_pause() {
        let longest = FIRST_PAUSE * 4;
        let mut asking = Asking::new(0, 2, 1).pausing(longest);
        for _ in 0..10 {
            assert_eq!(asking.next(Instant::now() + longest, true), Ask::Request(1));
            asking.refused(1, Duration::ZERO);
        }
    }

    /// A rank that does not look at its mail for minutes finds two messages of a thief, and not thousands.
    #[test]
    fn a_silent_rank_is_asked_once() {
        let mut asking = Asking::new(0, 2, 1);
        let mut now = Instant::now();
        let mut sent = Vec::new();
        for _ in 0..100_000 {
            now += LOOK;
            match asking.next(now, true) {
                Ask::Wait(_) => {}
                message => sent.push(message),
            }
        }
        assert_eq!(sent, [Ask::Request(1), Ask::Withdraw(1)]);
        asking.refused(1, Duration::ZERO);
        assert_eq!(asking.next(now, true), Ask::Request(1), "it replies again");
    }

    /// The refusal of a withdrawn request is not taken for a reply to a request to another rank.
    #[test]
    fn a_late_refusal_ends_no_other_request() {
        let mut asking = Asking::new(0, 3, 1);
        let now = Instant::now();
        let Ask::Request(first) = asking.next(now, true) else { panic!("a request is due") };
        let late = now + FIRST_PATIENCE * 2;
        assert_eq!(asking.next(late, true), Ask::Withdraw(first));
        let second = 3 - first;
        assert_eq!(asking.next(late, true), Ask::Request(second));
        asking.refused(first, Duration::ZERO);
        assert!(matches!(asking.next(late, true), Ask::Wait(_)), "the second request has no reply");
        assert!(asking.got_share(second).is_some());
    }

    #[test]
    fn a_refusal_may_say_how_long_to_pause() {
        let mut asking = Asking::new(0, 2, 1);
        let now = Instant::now();
        assert_eq!(asking.next(now, true), Ask::Request(1));
        asking.refused(1, FIRST_PAUSE * 10);
        assert!(matches!(asking.next(now + FIRST_PAUSE * 9, true), Ask::Wait(_)));
        let later = Instant::now() + FIRST_PAUSE * 10;
        assert_eq!(asking.next(later, true), Ask::Request(1));
        asking.refused(1, Duration::from_secs(3600));
        let later = Instant::now() + LONGEST_PAUSE;
        assert_eq!(
            asking.next(later, true),
            Ask::Request(1),
            "no rank is believed that wants to be left alone for long"
        );
    }

    #[test]
    fn nobody_is_asked_where_nothing_can_be_left() {
        assert!(matches!(Asking::new(0, 1, 1).next(Instant::now(), true), Ask::Wait(_)));
        assert!(matches!(Asking::new(0, 2, 1).next(Instant::now(), false), Ask::Wait(_)));
    }
}
