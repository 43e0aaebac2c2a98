//! Any policy, chosen at run time.

use furcate_schedulers::policy::{
    AnyPolicy, Auto, BoundDepth, Cap, EvenLevels, ForceDepth, JoinContext, MaxLen, MinLen, SizeLimit,
    ThiefSplitting,
};
use proptest::prelude::*;

/// One of the policies, with small numbers. Number 0 is [`Cap`].
fn policy(which: u8, n: u32) -> AnyPolicy {
    let size = n as usize;
    match which {
        0 => Cap::new(size).into(),
        1 => Auto::new().into(),
        2 => BoundDepth::new(n).into(),
        3 => EvenLevels.into(),
        4 => ForceDepth::new(n).into(),
        5 => JoinContext::new(n).into(),
        6 => MaxLen::new(size * 3).into(),
        7 => MinLen::new(size * 3).into(),
        8 => SizeLimit::new(size).into(),
        _ => ThiefSplitting::new(n).into(),
    }
}

pub fn any_policy() -> impl Strategy<Value = AnyPolicy> {
    (0..10_u8, 1..10_u32).prop_map(|(which, n)| policy(which, n))
}

/// For chains behind `io_await`, where no cap can be kept.
pub fn any_policy_but_cap() -> impl Strategy<Value = AnyPolicy> {
    (1..10_u8, 1..10_u32).prop_map(|(which, n)| policy(which, n))
}
