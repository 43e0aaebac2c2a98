//! Tokens and deadlines of a call.
//!
//! Each rank has tokens of its own: a token that is cancelled on one rank ends the call on all. The rank that notices stops its tasks, and
//! tells the others ([`call`](crate::call), invariant 6).

use furcate_schedulers::policy::{Deadline, Reason, Stop, StopOn};
use std::fmt;

/// The stops of a call, on one rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stops {
    pub(crate) tokens: Vec<StopOn>,
    pub(crate) deadlines: Vec<Deadline>,
}

impl Stops {
    pub(crate) fn is_empty(&self) -> bool {
        self.tokens.is_empty() && self.deadlines.is_empty()
    }

    /// Returns the reason to stop, if there is one.
    pub(crate) fn reason(&self) -> Option<Reason> {
        let of_tokens = self.tokens.iter().find_map(Stop::reason);
        of_tokens.or_else(|| self.deadlines.iter().find_map(Stop::reason))
    }
}

/// A call on all ranks that a token or a deadline has ended before its last item: at least one item was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted<T> {
    pub(crate) done: T,
    pub(crate) reason: Reason,
}

impl<T> Interrupted<T> {
    /// Returns the reason.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// Returns the result of the items that were processed. It is the same on all ranks.
    pub fn into_done(self) -> T {
        self.done
    }
}

impl<T> fmt::Display for Interrupted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a call on all ranks ended before its last item: {}", self.reason)
    }
}

impl<T: fmt::Debug> std::error::Error for Interrupted<T> {}
