use super::stop_on::{CancelToken, Cancelled};
use crate::timer::Timer;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

/// The signals by which a policy will stop, of the kinds that can wake a waiter. See
/// [`Policy::watch`](super::Policy::watch).
#[derive(Debug, Default)]
pub struct StopSignals {
    tokens: Vec<Cancelled>,
    deadline: Option<Instant>,
}

impl StopSignals {
    /// Adds a token: its cancellation is a signal.
    pub fn token(&mut self, token: &CancelToken) {
        self.tokens.push(token.cancelled());
    }

    /// Adds a deadline: its passing is a signal.
    pub fn deadline(&mut self, at: Instant) {
        self.deadline = Some(self.deadline.map_or(at, |other| other.min(at)));
    }

    /// Whether no signal was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.tokens.is_empty() && self.deadline.is_none()
    }

    /// Returns the earliest deadline.
    pub(crate) fn first_deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Waits for the first signal.
    pub(crate) fn wait(self) -> Stopped {
        Stopped { tokens: self.tokens, timer: self.deadline.map(Timer::at) }
    }
}

/// Future of the first signal.
#[derive(Debug)]
pub(crate) struct Stopped {
    tokens: Vec<Cancelled>,
    timer: Option<Timer>,
}

impl Future for Stopped {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut stopped = false;
        for token in &mut self.tokens {
            stopped |= Pin::new(token).poll(context).is_ready();
        }
        if let Some(timer) = &mut self.timer {
            stopped |= Pin::new(timer).poll(context).is_ready();
        }
        if stopped { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use testkit::wakes::WakeCount;

    #[test]
    fn tokens_wake_those_that_wait_and_nobody_else() {
        let (count, gone) = (WakeCount::new(), WakeCount::new());
        let tokens = [CancelToken::new(), CancelToken::new()];
        let mut signals = StopSignals::default();
        tokens.iter().for_each(|token| signals.token(token));
        let mut stopped = signals.wait();
        let mut poll = |count: &Arc<WakeCount>| count.poll(&mut stopped).is_ready();
        assert!(!poll(&gone) && !poll(&count), "the later waker takes the place of the one before");
        let mut dropped = tokens[1].cancelled();
        assert!(gone.poll(&mut dropped).is_pending());
        drop(dropped);
        tokens[1].cancel();
        assert_eq!((count.get(), gone.get()), (1, 0));
        assert!(poll(&count));
        tokens[1].cancel();
        assert_eq!(count.get(), 1);
        assert!(
            Pin::new(&mut tokens[1].cancelled()).poll(&mut Context::from_waker(&count.into())).is_ready()
        );
    }
}
