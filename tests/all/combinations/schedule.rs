//! Policies and schedulers of one type: schedules that are put together at run time, by the methods that users chain.

use furcate::policy::{
    Auto, Both, BoundDepth, Cap, EvenLevels, ForceDepth, JoinContext, MaxLen, MinLen, SizeLimit,
    ThiefSplitting,
};
use furcate::prelude::*;
use furcate::{
    Adaptive, ByBlocks, ByTerminal, DepJoin, Executor, Join, Node, Scheduler, Sequential, Verdict, Workload,
};
use std::iter::Repeat;

/// Declares an enum of policies: the default one, and all that can be chained to it. Every method is forwarded.
macro_rules! any_policy {
    ($($Name:ident),+) => {
        #[derive(Clone, Debug)]
        pub(crate) enum AnyPolicy {
            Default(Auto),
            $($Name(Box<Both<AnyPolicy, $Name>>)),+
        }

        impl Policy for AnyPolicy {
            fn wants_split(&mut self, node: &Node) -> Verdict {
                match self {
                    Self::Default(policy) => policy.wants_split(node),
                    $(Self::$Name(policy) => policy.wants_split(node)),+
                }
            }
            fn split(self, node: &Node) -> (Self, Self) {
                match self {
                    Self::Default(policy) => {
                        let (left, right) = policy.split(node);
                        (Self::Default(left), Self::Default(right))
                    }
                    $(Self::$Name(policy) => {
                        let (left, right) = policy.split(node);
                        (left.into(), right.into())
                    })+
                }
            }
            fn permit_fork(&mut self, node: &Node) -> bool {
                match self {
                    Self::Default(policy) => policy.permit_fork(node),
                    $(Self::$Name(policy) => policy.permit_fork(node)),+
                }
            }
            fn return_permit(&mut self) {
                match self {
                    Self::Default(policy) => policy.return_permit(),
                    $(Self::$Name(policy) => policy.return_permit()),+
                }
            }
        }

        $(
            impl From<Both<AnyPolicy, $Name>> for AnyPolicy {
                fn from(chained: Both<AnyPolicy, $Name>) -> Self {
                    Self::$Name(Box::new(chained))
                }
            }
        )+
    };
}

any_policy!(BoundDepth, Cap, EvenLevels, ForceDepth, JoinContext, MaxLen, MinLen, SizeLimit, ThiefSplitting);

impl From<Auto> for AnyPolicy {
    fn from(default: Auto) -> Self {
        Self::Default(default)
    }
}

/// Declares an enum of schedulers. Every method is forwarded.
macro_rules! any_scheduler {
    ($($Name:ident($Scheduler:ty)),+ $(,)?) => {
        #[derive(Clone, Debug)]
        pub(crate) enum AnyScheduler {
            $($Name($Scheduler)),+
        }

        impl Scheduler for AnyScheduler {
            fn schedule<W: Workload, E: Executor>(&self, work: W, executor: &E) -> W::Output {
                match self {
                    $(Self::$Name(scheduler) => scheduler.schedule(work, executor)),+
                }
            }
            fn schedule_block<W: Workload, E: Executor>(&self, block: W, executor: &E) -> W::Output {
                match self {
                    $(Self::$Name(scheduler) => scheduler.schedule_block(block, executor)),+
                }
            }
        }
    };
}

any_scheduler!(
    ByTerminal(ByTerminal),
    Join(Join),
    DepJoin(DepJoin),
    Adaptive(Adaptive),
    Sequential(Sequential),
    Finite(Blocks<Vec<usize>>),
    Exponential(Blocks<furcate::Doubling>),
    Uniform(Blocks<Repeat<usize>>),
);

type Blocks<Z> = Box<ByBlocks<AnyScheduler, Z>>;

macro_rules! into_any_scheduler {
    ($($scheduler:ident: $Scheduler:ty => $any:expr;)+) => {$(
        impl From<$Scheduler> for AnyScheduler {
            fn from($scheduler: $Scheduler) -> Self {
                $any
            }
        }
    )+};
}

into_any_scheduler! {
    by_terminal: ByTerminal => Self::ByTerminal(by_terminal);
    join: Join => Self::Join(join);
    depjoin: DepJoin => Self::DepJoin(depjoin);
    adaptive: Adaptive => Self::Adaptive(adaptive);
    sequential: Sequential => Self::Sequential(sequential);
    blocks: ByBlocks<AnyScheduler, Vec<usize>> => Self::Finite(Box::new(blocks));
    blocks: ByBlocks<AnyScheduler> => Self::Exponential(Box::new(blocks));
    blocks: ByBlocks<AnyScheduler, Repeat<usize>> => Self::Uniform(Box::new(blocks));
}
