use super::{
    Auto, Both, BoundDepth, Cap, EvenLevels, ForceDepth, JoinContext, MaxLen, MinLen, Node, Policy,
    SizeLimit, ThiefSplitting, Verdict,
};
use std::any::Any;
use std::fmt;

/// A policy that is chosen at run time: by a command line, a configuration or the size of the input.
///
/// Made by `From` of any policy of this module that says when to divide, and by [`AnyPolicy::of`] of any other policy. The default
/// is [`Auto`], which gives way to all other policies of a chain. Several choices are several calls of `with_policy`. Policies that
/// end a computation are named by `stop_on` and `deadline`, as always.
///
/// Beside `io_await`, a [`Cap`] that is chosen this way panics, because the cap could not be kept there: see
/// [`Policy::CAPS`].
///
/// A chain with such a policy always counts as one that says how to divide ([`DECIDES`](Policy::DECIDES)). The choice costs one
/// branch per question. Nothing is allocated for the policies of this module. A policy that is not one of them lies in a box, and
/// each division allocates another one.
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
pub struct AnyPolicy {
    kind: PolicyKind,
    /// The default policy beside it, as in a plan that names one policy.
    default: Option<Auto>,
}

impl AnyPolicy {
    fn alone(kind: PolicyKind) -> Self {
        AnyPolicy { kind, default: None }
    }
}

macro_rules! any_policy {
    ($($Policy:ident),+ $(,)?) => {
        #[derive(Clone, Debug)]
        enum PolicyKind {
            $($Policy($Policy),)+
            Boxed(Boxed),
        }

        $(impl From<$Policy> for AnyPolicy {
            fn from(policy: $Policy) -> Self {
                AnyPolicy::alone(PolicyKind::$Policy(policy))
            }
        })+

        impl AnyPolicy {
            /// Makes it of any policy: one of your own, or several policies together. If the policy is one of this module, or
            /// already an `AnyPolicy`, nothing is allocated.
            ///
            /// A policy that can stop a computation does not compile here.
            ///
            /// ```
            /// use furcate::policy::{AnyPolicy, Policy, Node, Verdict};
            ///
            /// #[derive(Clone)]
            /// struct Pages;
            /// impl Policy for Pages {
            ///     fn wants_split(&mut self, node: &Node) -> Verdict {
            ///         (node.len > 4096).into()
            ///     }
            /// }
            /// assert_eq!(AnyPolicy::of(Pages).wants_split(&Node::new(10)), Verdict::MayNot);
            /// ```
            #[must_use]
            pub fn of<P: Policy + Sync + 'static>(policy: P) -> Self {
                const {
                    assert!(
                        !P::STOPS,
                        "a policy that stops a computation cannot be chosen at run time: name it by `.stop_on(..)` or `.deadline(..)`"
                    );
                }
                let any: &dyn Any = &policy;
                if let Some(any) = any.downcast_ref::<AnyPolicy>() {
                    return any.clone();
                }
                $(if let Some(policy) = any.downcast_ref::<$Policy>() {
                    return policy.clone().into();
                }
                if let Some(both) = any.downcast_ref::<Both<Auto, $Policy>>() {
                    return AnyPolicy { kind: PolicyKind::$Policy(both.second.clone()), default: Some(both.first) };
                })+
                AnyPolicy::alone(PolicyKind::Boxed(Boxed(Box::new(Lone(Some(policy))))))
            }
        }

        impl Policy for AnyPolicy {
            // A constant cannot depend on the choice, so policies that stop a computation are left out.
            const STOPS: bool = { $(assert!(!$Policy::STOPS);)+ false };

            fn caps(&self) -> bool {
                match &self.kind {
                    $(PolicyKind::$Policy(policy) => policy.caps(),)+
                    PolicyKind::Boxed(policy) => policy.0.caps(),
                }
            }

            #[inline]
            fn wants_split(&mut self, node: &Node) -> Verdict {
                let verdict = match &mut self.kind {
                    $(PolicyKind::$Policy(policy) => policy.wants_split(node),)+
                    PolicyKind::Boxed(policy) => policy.0.wants_split(node),
                };
                match &mut self.default {
                    Some(default) => verdict.max(default.wants_split(node)),
                    None => verdict,
                }
            }

            #[inline]
            fn split(self, node: &Node) -> (Self, Self) {
                let (left, right) = match self.kind {
                    $(PolicyKind::$Policy(policy) => {
                        let (left, right) = policy.split(node);
                        (PolicyKind::$Policy(left), PolicyKind::$Policy(right))
                    })+
                    PolicyKind::Boxed(mut policy) => {
                        let right = policy.0.split_off(node);
                        (PolicyKind::Boxed(policy), PolicyKind::Boxed(right))
                    }
                };
                let (left_default, right_default) = self.default.map(|default| default.split(node)).unzip();
                let left = AnyPolicy { kind: left, default: left_default };
                (left, AnyPolicy { kind: right, default: right_default })
            }

            #[inline]
            fn permit_fork(&mut self, node: &Node) -> bool {
                match &mut self.kind {
                    $(PolicyKind::$Policy(policy) => policy.permit_fork(node),)+
                    PolicyKind::Boxed(policy) => policy.0.permit_fork(node),
                }
            }

            #[inline]
            fn return_permit(&mut self) {
                match &mut self.kind {
                    $(PolicyKind::$Policy(policy) => policy.return_permit(),)+
                    PolicyKind::Boxed(policy) => policy.0.return_permit(),
                }
            }

            fn in_batches(self, units: usize) -> Self {
                let kind = match self.kind {
                    $(PolicyKind::$Policy(policy) => PolicyKind::$Policy(policy.in_batches(units)),)+
                    PolicyKind::Boxed(mut policy) => {
                        policy.0.put_in_batches(units);
                        PolicyKind::Boxed(policy)
                    }
                };
                AnyPolicy { kind, ..self }
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

/// A policy of any type.
struct Boxed(Box<dyn DynPolicy>);

impl Clone for Boxed {
    fn clone(&self) -> Self {
        self.0.boxed()
    }
}

impl fmt::Debug for Boxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

/// [`Policy`] without its constants.
trait DynPolicy: Send + Sync {
    fn name(&self) -> &'static str;
    fn boxed(&self) -> Boxed;
    fn caps(&self) -> bool;
    fn wants_split(&mut self, node: &Node) -> Verdict;
    /// Keeps the policy of the left part, and returns that of the right one.
    fn split_off(&mut self, node: &Node) -> Boxed;
    fn permit_fork(&mut self, node: &Node) -> bool;
    fn return_permit(&mut self);
    fn put_in_batches(&mut self, units: usize);
}

/// A policy in a box; `None` only while it is split.
struct Lone<P>(Option<P>);

impl<P> Lone<P> {
    fn get(&self) -> &P {
        self.0.as_ref().expect("a policy whose split has panicked is not asked again")
    }

    fn get_mut(&mut self) -> &mut P {
        self.0.as_mut().expect("a policy whose split has panicked is not asked again")
    }

    fn take(&mut self) -> P {
        self.0.take().expect("a policy whose split has panicked is not asked again")
    }
}

impl<P: Policy + Sync + 'static> DynPolicy for Lone<P> {
    fn name(&self) -> &'static str {
        std::any::type_name::<P>()
    }

    fn boxed(&self) -> Boxed {
        Boxed(Box::new(Lone(Some(self.get().clone()))))
    }

    fn caps(&self) -> bool {
        self.get().caps()
    }

    fn wants_split(&mut self, node: &Node) -> Verdict {
        self.get_mut().wants_split(node)
    }

    fn split_off(&mut self, node: &Node) -> Boxed {
        let (left, right) = self.take().split(node);
        self.0 = Some(left);
        Boxed(Box::new(Lone(Some(right))))
    }

    fn permit_fork(&mut self, node: &Node) -> bool {
        self.get_mut().permit_fork(node)
    }

    fn return_permit(&mut self) {
        self.get_mut().return_permit();
    }

    fn put_in_batches(&mut self, units: usize) {
        self.0 = Some(self.take().in_batches(units));
    }
}
