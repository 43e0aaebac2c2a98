use super::Policy;

/// The reason why a computation ended before its last item.
///
/// ```
/// use furcate::policy::{CancelToken, Reason, Stop, StopOn};
/// let token = CancelToken::new();
/// let stop = StopOn::new(&token);
/// assert_eq!(stop.reason(), None);
/// token.cancel();
/// assert_eq!(stop.reason(), Some(Reason::Cancelled));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// A [`CancelToken`](super::CancelToken) was cancelled.
    Cancelled,
    /// A [`Deadline`](super::Deadline) has passed.
    DeadlineExceeded,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Reason::Cancelled => "cancelled",
            Reason::DeadlineExceeded => "the deadline is over",
        })
    }
}

/// A policy that ends computations, and gives the reason: [`StopOn`](super::StopOn), [`Deadline`](super::Deadline), or
/// [`Both`](super::Both) of two such policies.
///
/// If such a policy is named by [`stop_on` or `deadline`](crate::policy#ending), the result's type shows the early end.
/// If it is named by `with_policy`, the result does not tell whether all items were processed.
///
/// ```
/// use furcate::policy::{Both, CancelToken, Deadline, Reason, Stop, StopOn};
/// use std::time::{Duration, Instant};
///
/// let token = CancelToken::new();
/// let stop = Both::new(StopOn::new(&token), Deadline::new(Instant::now() + Duration::from_secs(3600)));
/// assert_eq!(stop.reason(), None);
/// ```
pub trait Stop: Policy + Sync {
    /// Returns the reason why the computation is to end, if there is one. Once there is a reason, there always is one.
    fn reason(&self) -> Option<Reason>;
}

/// Implements `Policy` for a [`Stop`] that passes on all divisions; `$signal` [watches](super::StopSignals) for the
/// stop.
macro_rules! stops {
    ($Name:ty: |$this:ident| $signal:ident($value:expr)) => {
        impl $crate::Policy for $Name {
            const STOPS: bool = true;
            const DECIDES: bool = false;

            #[inline]
            fn stopped(&self) -> bool {
                $crate::policy::Stop::reason(self).is_some()
            }

            fn watch(&self, signals: &mut $crate::policy::StopSignals) {
                let $this = self;
                signals.$signal($value);
            }

            #[inline]
            fn wants_split(&mut self, _node: &$crate::Node) -> $crate::Verdict {
                $crate::Verdict::Pass
            }
        }
    };
}
pub(super) use stops;
