use super::{
    Auto, BoundDepth, Cap, EvenLevels, ForceDepth, JoinContext, MaxLen, MinLen, Node, Policy, SizeLimit,
    ThiefSplitting, Verdict,
};

/// One of furcate's policies, chosen at run time: by a command line, a configuration or the size of the input.
///
/// Made by `From` of any policy of this module that says when to divide. The default is [`Auto`], which gives way to
/// all other policies of a chain. Several choices are several calls of `with_policy`. Policies that end a computation
/// are named by `stop_on` and `deadline`, as always.
///
/// Beside `io_await`, a [`Cap`] that is chosen this way panics, because the cap could not be kept there: see
/// [`Policy::CAPS`].
///
/// A chain with such a policy always counts as one that says how to divide ([`DECIDES`](Policy::DECIDES)). The choice costs one
/// branch per question; nothing is allocated.
///
/// ```
/// use furcate::policy::{AnyPolicy, BoundDepth, Policy, SizeLimit, Node, Verdict};
///
/// let parts = 8_u32;
/// let mut policy: AnyPolicy = match parts {
///     0 => SizeLimit::new(1000).into(),
///     parts => BoundDepth::new(parts.ilog2()).into(),
/// };
/// assert_eq!(policy.wants_split(&Node::new(10)), Verdict::Would);
/// ```
#[derive(Clone, Debug)]
pub struct AnyPolicy(Kind);

macro_rules! any_policy {
    ($($Policy:ident),+ $(,)?) => {
        #[derive(Clone, Debug)]
        enum Kind {
            $($Policy($Policy)),+
        }

        $(impl From<$Policy> for AnyPolicy {
            fn from(policy: $Policy) -> Self {
                AnyPolicy(Kind::$Policy(policy))
            }
        })+

        impl Policy for AnyPolicy {
            // A constant cannot depend on the choice, so policies that stop a computation are left out.
            const STOPS: bool = { $(assert!(!$Policy::STOPS);)+ false };

            fn caps(&self) -> bool {
                match &self.0 {
                    $(Kind::$Policy(policy) => policy.caps()),+
                }
            }

            #[inline]
            fn wants_split(&mut self, node: &Node) -> Verdict {
                match &mut self.0 {
                    $(Kind::$Policy(policy) => policy.wants_split(node)),+
                }
            }

            #[inline]
            fn split(self, node: &Node) -> (Self, Self) {
                match self.0 {
                    $(Kind::$Policy(policy) => {
                        let (left, right) = policy.split(node);
                        (left.into(), right.into())
                    })+
                }
            }

            #[inline]
            fn permit_fork(&mut self, node: &Node) -> bool {
                match &mut self.0 {
                    $(Kind::$Policy(policy) => policy.permit_fork(node)),+
                }
            }

            #[inline]
            fn return_permit(&mut self) {
                match &mut self.0 {
                    $(Kind::$Policy(policy) => policy.return_permit()),+
                }
            }
        }
    };
}

any_policy!(
    Auto,
    BoundDepth,
    Cap,
    EvenLevels,
    ForceDepth,
    JoinContext,
    MaxLen,
    MinLen,
    SizeLimit,
    ThiefSplitting
);

impl Default for AnyPolicy {
    fn default() -> Self {
        Auto::new().into()
    }
}
