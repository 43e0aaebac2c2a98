//! Schedules, and inputs of interesting lengths.

pub(crate) mod cuts;
pub(crate) mod states;
pub(crate) mod steps;

use furcate::policy::{AnyPolicy, Auto, BoundDepth, ForceDepth, JoinContext, SizeLimit, ThiefSplitting};

/// Lengths at which off-by-one errors show (I2).
pub(crate) const LENGTHS: [usize; 12] = [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 4097];

/// Policies that divide in all kinds of ways.
pub(crate) fn policies() -> [AnyPolicy; 6] {
    [
        Auto::new().into(),
        SizeLimit::new(1).into(),
        BoundDepth::new(3).into(),
        ForceDepth::new(3).into(),
        ThiefSplitting::new(4).into(),
        JoinContext::new(6).into(),
    ]
}

/// Evaluates an expression with the same parallel iterator under the default schedule, and on an engine whose thieves
/// follow a script: with every kind of policy, a division on demand of any part at any of its steps, stolen parts that run
/// before or after the others, and parts that are taken back. Compares every result with the expected one:
/// `assert_schedules!(expected, source, |it| it.map(f).collect::<Vec<_>>())`. An engine may be named in front: for results that
/// depend on thieves, it is `Inline`, and the source is `.on(Inline)`.
///
/// (The product of all schedulers, policies and pools is the facade's `combinations`; `ci/rayon.sh` runs it on rayon's engine.)
macro_rules! assert_schedules {
    ($expected:expr, $source:expr, |$it:ident| $result:expr) => {
        $crate::support::assert_schedules!(
            testkit::scripted::Scripted::another(),
            $expected,
            $source,
            |$it| $result
        )
    };
    ($engine:expr, $expected:expr, $source:expr, |$it:ident| $result:expr) => {{
        let expected = &$expected;
        let result = {
            let $it = $source;
            $result
        };
        assert_eq!(&result, expected, "under the default schedule");
        // Engines in one thread are the same wherever they are called: `on_pools` calls from outside, too.
        let policies =
            if furcate::current_thread_index().is_none() { &$crate::support::policies()[..] } else { &[] };
        for policy in policies {
            let result = {
                let $it = $source.with_policy(policy.clone()).adaptive().nano_blocks(1, 2).on($engine);
                $result
            };
            assert_eq!(&result, expected, "under {policy:?}, and on demand");
        }
    }};
}
pub(crate) use assert_schedules;
