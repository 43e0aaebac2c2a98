//! Any policy, chosen at run time.

use furcate::policy::{
    Auto, BoundDepth, Cap, EvenLevels, ForceDepth, JoinContext, MaxLen, MinLen, SizeLimit, ThiefSplitting,
};
use furcate::{Node, Policy, Verdict};
use proptest::prelude::*;

macro_rules! any_policy {
    ($($Name:ident),+) => {
        #[derive(Clone, Debug)]
        pub(crate) enum AnyPolicy {
            $($Name($Name)),+
        }

        impl Policy for AnyPolicy {
            fn wants_split(&mut self, node: &Node) -> Verdict {
                match self {
                    $(Self::$Name(policy) => policy.wants_split(node)),+
                }
            }
            fn split(self, node: &Node) -> (Self, Self) {
                match self {
                    $(Self::$Name(policy) => {
                        let (left, right) = policy.split(node);
                        (Self::$Name(left), Self::$Name(right))
                    })+
                }
            }
            fn permit_fork(&mut self, node: &Node) -> bool {
                match self {
                    $(Self::$Name(policy) => policy.permit_fork(node)),+
                }
            }
            fn return_permit(&mut self) {
                match self {
                    $(Self::$Name(policy) => policy.return_permit()),+
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

pub(crate) fn any_policy() -> impl Strategy<Value = AnyPolicy> {
    (0..10_u8, 1..10_u32).prop_map(|(which, n)| match which {
        0 => AnyPolicy::Auto(Auto::new()),
        1 => AnyPolicy::BoundDepth(BoundDepth::new(n)),
        2 => AnyPolicy::Cap(Cap::new(n as usize)),
        3 => AnyPolicy::EvenLevels(EvenLevels),
        4 => AnyPolicy::ForceDepth(ForceDepth::new(n)),
        5 => AnyPolicy::JoinContext(JoinContext::new(n)),
        6 => AnyPolicy::MaxLen(MaxLen::new(n as usize * 3)),
        7 => AnyPolicy::MinLen(MinLen::new(n as usize * 3)),
        8 => AnyPolicy::SizeLimit(SizeLimit::new(n as usize)),
        _ => AnyPolicy::ThiefSplitting(ThiefSplitting::new(n)),
    })
}
