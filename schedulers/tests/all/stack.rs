//! I7: no producer, however lopsided, and no policy, however stubborn, overflows a stack or keeps a scheduler busy for
//! ever.

use crate::support::Collect;
use furcate_pool::Inline;
use furcate_schedulers::DefaultExecutor;
use furcate_schedulers::policy::{
    AnyPolicy, Auto, Both, BoundDepth, Cap, EvenLevels, ForceDepth, JoinContext, MaxLen, SizeLimit,
    ThiefSplitting,
};
use furcate_schedulers::{Divisible, Facts, Join, Node, Policy, Producer, Reduction, Scheduler, Verdict};
use std::ops::{ControlFlow, Range};

const SMALL_STACK: usize = 512 << 10;
const MILLION: usize = 1_000_000;

/// Runs on a thread with a small stack, and on pools whose threads have small stacks.
fn on_small_stacks<R: Send>(pools: &[usize], run: impl Fn(Place) -> R + Sync, check: impl Fn(R)) {
    std::thread::scope(|threads| {
        let thread = std::thread::Builder::new().stack_size(SMALL_STACK);
        check(thread.spawn_scoped(threads, || run(Place::Inline)).unwrap().join().unwrap());
    });
    for &threads in pools {
        let pool = testkit::engine::ThreadPoolBuilder::new()
            .num_threads(threads)
            .stack_size(SMALL_STACK)
            .build()
            .unwrap();
        check(pool.install(|| run(Place::Here)));
    }
}

#[derive(Clone, Copy)]
enum Place {
    Inline,
    /// The pool that the caller is in.
    Here,
}

impl Place {
    fn run<P: Producer, L: Policy, R: Reduction<P::Item>>(self, what: P, when: L, to: R) -> R::Output {
        match self {
            Place::Inline => Join.schedule((what, when, to), &Inline),
            Place::Here => Join.schedule((what, when, to), &DefaultExecutor::default()),
        }
    }
}

/// Counts items and checks that they come in order: (first, last, count).
#[derive(Clone, Copy, Debug)]
struct Span;

impl Reduction<usize> for Span {
    type Accumulator = Option<Range<usize>>;
    type Output = Option<Range<usize>>;
    fn start(&self) -> Self::Output {
        None
    }
    fn fold_item(&self, span: Self::Output, item: usize) -> ControlFlow<Self::Output, Self::Output> {
        ControlFlow::Continue(self.reduce(span, Some(item..item + 1)))
    }
    fn finish(&self, span: Self::Output) -> Self::Output {
        span
    }
    fn reduce(&self, left: Self::Output, right: Self::Output) -> Self::Output {
        match (left, right) {
            (Some(left), Some(right)) => {
                assert_eq!(left.end, right.start, "neighbours");
                Some(left.start..right.end)
            }
            (left, right) => left.or(right),
        }
    }
}

macro_rules! lopsided {
    ($(#[$doc:meta])* $Name:ident, |$range:ident| $divide:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        struct $Name(Range<usize>);

        impl Divisible for $Name {
            fn size(&self) -> usize {
                self.0.len()
            }
            fn divide_at(self, index: usize) -> (Self, Self) {
                let (left, right) = self.0.divide_at(index);
                ($Name(left), $Name(right))
            }
            fn divide(self) -> (Self, Self) {
                let $range = self.0;
                let (left, right) = $divide;
                ($Name(left), $Name(right))
            }
        }

        impl IntoIterator for $Name {
            type Item = usize;
            type IntoIter = Range<usize>;
            fn into_iter(self) -> Range<usize> {
                self.0
            }
        }

        impl Producer for $Name { const FACTS: Facts = Facts::ITEMS; }
    };
}

lopsided!(
    /// Gives one element to the left, as a list does.
    List,
    |all| all.divide_at(1)
);
lopsided!(
    /// Gives one element to the right.
    Stack,
    |all| {
        let index = all.len().saturating_sub(1);
        all.divide_at(index)
    }
);
lopsided!(
    /// Loses its first element, as progress, and leaves the left side empty.
    EmptyLeft,
    |all| (all.start..all.start, (all.start + 1).min(all.end)..all.end)
);
lopsided!(
    /// Loses its first element, and leaves the right side empty.
    EmptyRight,
    |all| ((all.start + 1).min(all.end)..all.end, all.end..all.end)
);
lopsided!(
    /// Always reports that it should be divided, and never is.
    Liar,
    |all| (all.start..all.start, all)
);
lopsided!(
    /// Doubles: both sides hold everything.
    Doubling,
    |all| (all.clone(), all)
);

/// Every policy that can be stubborn enough to divide all the way down.
fn stubborn() -> Vec<(&'static str, AnyPolicy)> {
    vec![
        ("bound_depth", BoundDepth::new(u32::MAX).into()),
        ("size_limit", SizeLimit::new(1).into()),
        ("force_depth", ForceDepth::new(u32::MAX).into()),
        ("max_len", MaxLen::new(0).into()),
        ("thief_splitting", ThiefSplitting::new(u32::MAX).into()),
        ("join_context", JoinContext::new(u32::MAX).into()),
    ]
}

/// Number of elements of all tests except the largest ones.
const SOME: usize = 10_000;

#[test]
fn a_list_of_a_million() {
    let place = |place: Place| place.run(List(0..MILLION), SizeLimit::new(1), Span);
    on_small_stacks(&[2], place, |span| assert_eq!(span, Some(0..MILLION)));
}

#[test]
fn a_list_of_a_million_the_other_way_round() {
    let place = |place: Place| place.run(Stack(0..MILLION), SizeLimit::new(1), Span);
    on_small_stacks(&[2], place, |span| assert_eq!(span, Some(0..MILLION)));
}

#[test]
fn lists_under_every_stubborn_policy() {
    for (name, policy) in stubborn() {
        let run = |place: Place| {
            let capped = Both::new(Cap::new(3), Both::new(EvenLevels, policy.clone()));
            [
                place.run(List(0..SOME), policy.clone(), Span),
                place.run(Stack(0..SOME), policy.clone(), Span),
                place.run(List(0..SOME), capped.clone(), Span),
                place.run(Stack(0..SOME), capped, Span),
            ]
        };
        on_small_stacks(&[1, 2, 3, 8], run, |spans| {
            assert_eq!(spans, [const { Some(0..SOME) }; 4], "{name}");
        });
    }
}

#[test]
fn one_side_is_empty_a_million_times() {
    let run = |place: Place| {
        let left = place.run(EmptyLeft(0..MILLION), SizeLimit::new(1), Collect);
        let right = place.run(EmptyRight(0..MILLION), SizeLimit::new(1), Collect);
        [left, right]
    };
    on_small_stacks(&[2], run, |items| assert_eq!(items, [[MILLION - 1], [MILLION - 1]]));
}

/// After a division with an empty side, the other side goes on with the left part's policy. So `join_context` goes on
/// dividing, whichever side it was.
#[test]
fn one_side_is_empty_under_every_stubborn_policy() {
    for (name, policy) in stubborn() {
        let run = |place: Place| {
            let left = place.run(EmptyLeft(0..SOME), policy.clone(), Collect);
            let right = place.run(EmptyRight(0..SOME), policy.clone(), Collect);
            [left, right]
        };
        on_small_stacks(&[1, 2, 3, 8], run, |items| {
            assert_eq!(items, [[SOME - 1], [SOME - 1]], "{name}");
        });
    }
}

/// A policy that says *must* of indivisible parts, but not for ever.
#[derive(Clone)]
struct Always;

impl Policy for Always {
    fn wants_split(&mut self, _: &Node) -> Verdict {
        Verdict::Must
    }
}

#[test]
fn what_never_gets_smaller_ends() {
    let run = |place: Place| {
        [
            place.run(Liar(0..9), Always, Collect),
            place.run(0..9, Always, Collect),
            place.run(List(0..9), Always, Collect),
        ]
    };
    on_small_stacks(&[1, 3], run, |items| assert_eq!(items, [const { [0, 1, 2, 3, 4, 5, 6, 7, 8] }; 3]));
    on_small_stacks(&[1, 3], |place| place.run(0..0, Always, Collect), |items| assert_eq!(items, []));
    for (name, policy) in stubborn() {
        let run = |place: Place| {
            let even = Both::new(policy.clone(), EvenLevels);
            [place.run(Liar(0..3), policy.clone(), Collect), place.run(Liar(0..3), even, Collect)]
        };
        on_small_stacks(&[1, 3], run, |items| assert_eq!(items, [[0, 1, 2], [0, 1, 2]], "{name}"));
    }
}

/// Parts that are as large as the whole lead to a wrong result, but to no endless tree.
#[test]
fn what_doubles_ends() {
    let check = |items: Vec<usize>, name| {
        assert!(items.len() <= 2 << 14, "{} leaves under {name}", items.len() / 2);
        assert!(items.chunks(2).all(|leaf| *leaf == [0, 1]), "torn leaves under {name}");
    };
    on_small_stacks(
        &[1, 3],
        |place| place.run(Doubling(0..2), Always, Collect),
        |items| check(items, "always"),
    );
    for (name, policy) in stubborn() {
        let run = |place: Place| place.run(Doubling(0..2), policy.clone(), Collect);
        on_small_stacks(&[1, 3], run, |items| check(items, name));
    }
}

/// Sizes that shrink and grow again: there is progress only below the least size so far.
struct Swinging(usize);

impl Divisible for Swinging {
    fn size(&self) -> usize {
        self.0
    }
    fn divide_at(self, _: usize) -> (Self, Self) {
        (Swinging(21 - self.0), Swinging(0))
    }
}

impl IntoIterator for Swinging {
    type Item = usize;
    type IntoIter = std::iter::Once<usize>;
    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self.0)
    }
}

impl Producer for Swinging {
    const FACTS: Facts = Facts::ITEMS;
}

#[test]
fn what_swings_ends() {
    for (name, policy) in stubborn() {
        let run = |place: Place| place.run(Swinging(10), Both::new(policy.clone(), EvenLevels), Collect);
        on_small_stacks(&[1, 3], run, |items| assert_eq!(items.len(), 1, "{name}"));
    }
}

/// A part can be smaller although its size is the same. Enough such divisions are believed to use any machine.
#[test]
fn what_is_larger_than_a_size_can_say_is_divided_all_the_same() {
    #[derive(Clone)]
    struct Count;
    impl<T> Reduction<T> for Count {
        type Accumulator = usize;
        type Output = usize;
        fn start(&self) -> usize {
            1 // leaves
        }
        fn fold_item(&self, leaves: usize, _: T) -> ControlFlow<usize, usize> {
            ControlFlow::Break(leaves)
        }
        fn finish(&self, leaves: usize) -> usize {
            leaves
        }
        fn reduce(&self, left: usize, right: usize) -> usize {
            left + right
        }
    }
    assert_eq!(Place::Inline.run(0..u128::MAX, BoundDepth::new(10), Count), 1 << 10);
}

#[test]
fn forcing_beyond_all_depths_is_harmless_on_small_inputs() {
    for len in [0, 1, 2, 3, 100] {
        let run = |place: Place| {
            let forced = Both::new(ForceDepth::new(u32::MAX), EvenLevels);
            place.run(0..len, Both::new(forced, Both::new(BoundDepth::new(0), Auto::new())), Collect)
        };
        on_small_stacks(&[1, 2, 3, 8], run, |items| assert_eq!(items, (0..len).collect::<Vec<_>>()));
    }
}
