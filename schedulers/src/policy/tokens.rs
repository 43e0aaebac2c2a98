//! A counter of tokens, and the tokens. No task waits for a token: the bound that tasks wait for is `suspending::in_flight`.
//!
//! # Invariants
//!
//! 1. `free` + the number of live tokens = the total. A token is made only by taking it from `free`, and returns itself
//!    when dropped. So `free` neither exceeds the total nor wraps.
//! 2. Several tokens are taken in one step or not at all, so two takers of two tokens never hold one each for good.

use furcate_pool::sync::Arc;
use furcate_pool::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug)]
pub(super) struct Tokens {
    free: AtomicUsize,
}

/// One token. Its drop makes it free again.
#[derive(Debug)]
pub(super) struct Token {
    from: Arc<Tokens>,
}

impl Tokens {
    pub(super) fn new(total: usize) -> Arc<Self> {
        Arc::new(Tokens { free: AtomicUsize::new(total) })
    }

    pub(super) fn free(&self) -> usize {
        // Relaxed: the count is informative only and publishes nothing.
        self.free.load(Ordering::Relaxed)
    }

    /// Takes `N` tokens, or none.
    pub(super) fn take<const N: usize>(this: &Arc<Self>) -> Option<[Token; N]> {
        // Acquire: pairs with the Release in `Token::drop`. The writes of a token's former holder happen before the new
        // holder's, so "never more than n at once" also holds for counts in plain memory. On failure nothing is read,
        // so that load may be relaxed.
        this.free
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, |free| free.checked_sub(N))
            .ok()
            .map(|_| std::array::from_fn(|_| Token { from: Arc::clone(this) }))
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        // Release: see `Tokens::take`.
        self.from.free.fetch_add(1, Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;

    /// Two tasks compete for the last two tokens, one taking two at a time, the other one: no task gets a token that is
    /// not free, and all tokens come back.
    #[test]
    fn tokens_are_exact() {
        loom::model(|| {
            let tokens = Tokens::new(2);
            let live = Arc::new(AtomicUsize::new(0));
            let enter = |live: &AtomicUsize, n| {
                // Relaxed suffices only because the tokens order the tasks.
                assert!(live.fetch_add(n, Ordering::Relaxed) + n <= 2);
                live.fetch_sub(n, Ordering::Relaxed);
            };
            let other = {
                let (tokens, live) = (Arc::clone(&tokens), Arc::clone(&live));
                loom::thread::spawn(move || {
                    if let Some(both) = Tokens::take::<2>(&tokens) {
                        enter(&live, 2);
                        drop(both);
                    }
                })
            };
            if let Some(one) = Tokens::take::<1>(&tokens) {
                enter(&live, 1);
                drop(one);
            }
            other.join().unwrap();
            assert_eq!(tokens.free(), 2);
        });
    }

    /// The release of a token happens before the next holder's work: accesses to plain memory that a token guards do
    /// not race.
    #[test]
    fn a_token_hands_over_memory() {
        loom::model(|| {
            let tokens = Tokens::new(1);
            let count = Arc::new(AtomicUsize::new(0));
            // Deliberately not one read-modify-write: the count is right only if a holder sees the last holder's store.
            let work = |tokens: &Arc<Tokens>, count: &AtomicUsize| match Tokens::take::<1>(tokens) {
                Some(token) => {
                    count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                    drop(token);
                    1
                }
                None => 0,
            };
            let other = {
                let (tokens, count) = (Arc::clone(&tokens), Arc::clone(&count));
                loom::thread::spawn(move || work(&tokens, &count))
            };
            let entered = work(&tokens, &count) + other.join().unwrap();
            assert_eq!(count.load(Ordering::Relaxed), entered);
        });
    }
}
