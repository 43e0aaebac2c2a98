use super::Policy;

/// Why a computation ended before all was done.
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
    /// A [`Deadline`](super::Deadline) was over.
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

/// A policy that ends computations, and says why: [`StopOn`](super::StopOn), [`Deadline`](super::Deadline), and
/// [`Both`](super::Both) of two such.
///
/// With [`stop_on` and `deadline`](crate::policy#ending) such a policy is named so that the early end shows in the
/// result's type. Where it is named as any other policy, the result does not tell whether all was done.
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
    /// Why the computation is to end, if it is. Once there is a reason there always is one.
    fn reason(&self) -> Option<Reason>;
}

/// `Policy` for a [`Stop`], which has no word on divisions; and what of it [signals](super::StopSignals) the stop.
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
            fn wants_split(&mut self, _task: &$crate::Task) -> $crate::Verdict {
                $crate::Verdict::Pass
            }
        }
    };
}
pub(super) use stops;
