//! The contract of [`Policy`], for every policy. The integration tests check what each policy does.

use super::*;
use std::time::{Duration, Instant};

/// Runs a check on every policy of the module, alone and in a chain.
fn for_each_policy(check: impl Fn(&str, &mut dyn Probe)) {
    macro_rules! each {
        ($($policy:expr),+) => {
            $(
                check(stringify!($policy), &mut Subject($policy));
                let inside = Both::new($policy, Cap::new(5));
                check(concat!(stringify!($policy), " then a cap"), &mut Subject(inside));
                let outside = Both::new(ForceDepth::new(2), $policy);
                check(concat!("force_depth then ", stringify!($policy)), &mut Subject(outside));
            )+
        };
    }
    each!(
        Auto::new(),
        BoundDepth::new(3),
        Cap::new(1),
        Cap::new(2),
        Cap::new(4),
        Deadline::new(Instant::now() + Duration::from_secs(3600)),
        EvenLevels,
        ForceDepth::new(3),
        JoinContext::new(3),
        MaxLen::new(100),
        MinLen::new(100),
        SizeLimit::new(100),
        StopOn::new(&CancelToken::new()),
        ThiefSplitting::new(2)
    );
}

/// The methods of [`Policy`] that fit a trait object.
trait Probe {
    fn wants_split(&mut self, node: &Node) -> Verdict;
    fn permit_fork(&mut self, node: &Node) -> bool;
    fn return_permit(&mut self);
    fn split(&self, node: &Node) -> [Box<dyn Probe>; 2];
    fn fresh(&self) -> Box<dyn Probe>;
}

struct Subject<P>(P);

impl<P: Policy + 'static> Probe for Subject<P> {
    fn wants_split(&mut self, node: &Node) -> Verdict {
        self.0.wants_split(node)
    }
    fn permit_fork(&mut self, node: &Node) -> bool {
        self.0.permit_fork(node)
    }
    fn return_permit(&mut self) {
        self.0.return_permit();
    }
    fn split(&self, node: &Node) -> [Box<dyn Probe>; 2] {
        let (left, right) = self.0.clone().split(node);
        [Box::new(Subject(left)), Box::new(Subject(right))]
    }
    fn fresh(&self) -> Box<dyn Probe> {
        Box::new(Subject(self.0.clone()))
    }
}

/// Tasks of all kinds.
fn nodes() -> impl Iterator<Item = Node> {
    let lens = [0, 1, 2, 100, 101, 200, usize::MAX];
    let depths = [0, 1, 2, 3, 4, u32::MAX];
    lens.into_iter().flat_map(move |len| {
        depths.into_iter().flat_map(move |depth| {
            [false, true].into_iter().flat_map(move |migrated| {
                [1, 8, usize::MAX].map(|threads| Node { depth, migrated, threads, ..Node::new(len) })
            })
        })
    })
}

#[test]
fn asking_twice_is_asking_once() {
    for_each_policy(|name, policy| {
        for node in nodes() {
            let verdict = policy.wants_split(&node);
            assert_eq!(policy.wants_split(&node), verdict, "{name} on {node:?}");
            let permit = policy.permit_fork(&node);
            assert_eq!(policy.permit_fork(&node), permit, "{name} on {node:?}");
            assert_eq!(policy.wants_split(&node), verdict, "{name} on {node:?}, with a permit");
            policy.return_permit();
            policy.return_permit();
            assert_eq!(policy.permit_fork(&node), permit, "{name} on {node:?}, once more");
            policy.return_permit();
        }
    });
}

#[test]
fn clones_are_fresh() {
    for_each_policy(|name, policy| {
        for node in nodes() {
            // The original takes the permit, if it gets one. After the permit has come back, the clone gets the same.
            let before = (policy.fresh().wants_split(&node), policy.fresh().permit_fork(&node));
            policy.permit_fork(&node);
            let mut clone = policy.fresh();
            policy.return_permit();
            clone.return_permit(); // clone holds no permit of the original
            assert_eq!((clone.wants_split(&node), clone.permit_fork(&node)), before, "{name} on {node:?}");
        }
    });
}

/// Neither a cast nor an addition overflows at the limits of the types.
#[test]
fn extreme_tasks_are_no_problem_on_the_way_down() {
    for_each_policy(|_, policy| {
        for node in nodes() {
            let mut left = policy.fresh();
            for _ in 0..70 {
                left.wants_split(&node);
                left.permit_fork(&node);
                let [first, _] = left.split(&node);
                left = first;
            }
        }
    });
}

/// A task's tokens can be taken only once: a clone of a task that has a permit has none.
#[test]
fn a_clone_of_a_cap_holds_no_token() {
    let node = Node::new(100);
    let cap = Cap::new(2);
    let mut root = cap.clone();
    assert!(root.permit_fork(&node));
    let mut clone = root.clone();
    assert!(!clone.permit_fork(&node));
    drop(clone);
    assert_eq!(cap.available(), 0);
    drop(root);
    assert_eq!(cap.available(), 2);
}

/// A root counts from its first fork on: a root whose fork another policy refuses takes no token.
#[test]
fn a_refused_fork_leaves_no_token_with_the_root() {
    let node = Node::new(100);
    let (wide, narrow) = (Cap::new(2), Cap::new(1));
    let mut chains = (Both::new(wide.clone(), narrow.clone()), Both::new(narrow.clone(), wide.clone()));
    assert!(!chains.0.permit_fork(&node) && !chains.1.permit_fork(&node));
    assert_eq!((wide.available(), narrow.available()), (2, 1));
}

/// The parts of a division that is made without a fork share the task's token until both are done.
#[test]
fn parts_in_turn_share_a_token() {
    let node = Node::new(100);
    let cap = Cap::new(2);
    let mut root = cap.clone();
    assert!(root.permit_fork(&node));
    let (left, right) = root.split(&node); // both tokens are taken
    let (first, second) = left.split(&node); // in turn
    drop(first);
    assert_eq!(cap.available(), 0);
    drop(second);
    assert_eq!(cap.available(), 1);
    drop(right);
    assert_eq!(cap.available(), 2);
}

#[test]
#[should_panic(expected = "use at least 1")]
fn a_cap_of_no_tasks_is_refused() {
    let _ = Cap::new(0);
}

/// The ranking in the module's documentation, pair by pair.
#[test]
fn must_beats_may_not_beats_would_beats_the_defaults_word() {
    use Verdict::{MayNot, Must, Pass, Rather, RatherNot, Would};
    #[derive(Clone)]
    struct Says(Verdict);
    impl Policy for Says {
        fn wants_split(&mut self, _: &Node) -> Verdict {
            self.0
        }
    }
    let weakest_first = [Pass, RatherNot, Rather, Would, MayNot, Must];
    for (rank, &stronger) in weakest_first.iter().enumerate() {
        for &weaker in &weakest_first[..=rank] {
            for (first, second) in [(stronger, weaker), (weaker, stronger)] {
                let verdict = Both::new(Says(first), Says(second)).wants_split(&Node::new(9));
                assert_eq!(verdict, stronger, "{first:?} and {second:?}");
            }
        }
    }
    let divides = |len: usize| weakest_first.map(|verdict| verdict.divides(&Node::new(len)));
    assert_eq!(divides(2), [false, false, true, true, false, true]);
    assert_eq!(divides(1), [false, false, false, false, false, true]);
}

/// `thief_splitting` and `auto` begin anew in a stolen part, `join_context` divides one.
#[test]
fn a_steal_refreshes() {
    let mut node = Node { threads: 4, ..Node::new(1000) };
    let (mut thief, mut auto) = (ThiefSplitting::new(3), Auto::new());
    for _ in 0..10 {
        (thief, auto) = (thief.split(&node).1, auto.split(&node).1);
    }
    assert_eq!(thief.wants_split(&node), Verdict::MayNot);
    assert_eq!(auto.wants_split(&node), Verdict::RatherNot);
    node.migrated = true;
    assert_eq!(thief.wants_split(&node), Verdict::Would);
    assert_eq!(auto.wants_split(&node), Verdict::Rather);
    (thief, auto) = (thief.split(&node).0, auto.split(&node).0);
    node.migrated = false;
    let levels = |mut wants: Box<dyn FnMut() -> bool>| (0..100).take_while(|_| wants()).count();
    let on_thief = levels(Box::new(move || {
        let wants = thief.wants_split(&node) == Verdict::Would;
        thief = thief.split(&node).0;
        wants
    }));
    let on_auto = levels(Box::new(move || {
        let wants = auto.wants_split(&node) == Verdict::Rather;
        auto = auto.split(&node).0;
        wants
    }));
    assert_eq!((on_thief, on_auto), (2, 2)); // after the first: 3 levels; 4 -> 2 -> 1
}

#[test]
fn a_chain_stops_for_the_first_reason_that_it_has() {
    let (one, other) = (CancelToken::new(), CancelToken::new());
    let (now, later) = (Instant::now(), Instant::now() + Duration::from_secs(3600));
    let mut chain = Both::new(Both::new(Auto::new(), StopOn::new(&one)), Deadline::new(later));
    assert!(!chain.stopped() && !chain.clone().stopped());
    other.cancel();
    assert!(!chain.stopped(), "another token");
    one.clone().cancel();
    assert!(chain.stopped() && chain.clone().stopped());
    // The stop is passed down the tree, also to parts that were divided before.
    let (left, right) = chain.clone().split(&Node::new(100));
    assert!(left.stopped() && right.stopped());
    assert_eq!(chain.wants_split(&Node::new(100)), Auto::new().wants_split(&Node::new(100)));

    assert_eq!(Deadline::new(now).reason(), Some(Reason::DeadlineExceeded));
    assert_eq!(Deadline::new(later).reason(), None);
    let both = |at| Both::new(Deadline::new(at), StopOn::new(&one)).reason();
    assert_eq!((both(now), both(later)), (Some(Reason::DeadlineExceeded), Some(Reason::Cancelled)));
    const { assert!(<Both<StopOn, Auto> as Policy>::STOPS && !<Both<Auto, Auto> as Policy>::STOPS) };
}

/// The first four policies of the module's table say how to divide; the others only constrain.
#[test]
fn who_decides() {
    fn decides<L: Policy>() -> bool {
        L::DECIDES
    }
    assert!(decides::<BoundDepth>() && decides::<SizeLimit>());
    assert!(decides::<ThiefSplitting>() && decides::<JoinContext>());
    assert!(!decides::<Auto>() && !decides::<ForceDepth>() && !decides::<EvenLevels>() && !decides::<Cap>());
    assert!(!decides::<MinLen>() && !decides::<MaxLen>() && !decides::<StopOn>() && !decides::<Deadline>());
    assert!(decides::<Both<Auto, Both<Cap, SizeLimit>>>() && !decides::<Both<Auto, Both<Cap, MinLen>>>());
}

/// A chain with a plan has the default policy twice. Both together divide as one of them alone.
#[test]
fn the_default_policy_twice_is_the_default_policy() {
    fn leaves<P: Policy>(mut policy: P, mut node: Node, from: usize) -> Vec<(usize, usize)> {
        if !policy.wants_split(&node).divides(&node) {
            return vec![(from, node.len)];
        }
        let (left, right) = policy.split(&node);
        let half = node.len / 2;
        let rest = node.len - half;
        node.depth += 1;
        node.divisible = half > 1;
        let mut both = leaves(left, Node { len: half, ..node }, from);
        node.divisible = rest > 1;
        node.migrated = from.is_multiple_of(3); // some right parts are stolen
        both.extend(leaves(right, Node { len: rest, ..node }, from + half));
        both
    }
    let mut node = Node::new(10_000);
    node.threads = 4;
    let twice = |policy| Both::new(Auto::new(), Both::new(Auto::new(), policy));
    for min in [1, 100, 5000, 20_000] {
        let once = Both::new(Auto::new(), MinLen::new(min));
        assert_eq!(leaves(twice(MinLen::new(min)), node, 0), leaves(once, node, 0), "{min}");
    }
    assert!(leaves(twice(MinLen::new(1)), node, 0).len() > 8);
}

/// Lengths that contradict each other: the minimum counts, as in rayon. Both are stronger than other bounds, and weaker than a forced shape.
#[test]
fn the_least_length_beats_the_greatest() {
    let node = Node::new(150);
    let (min, max) = (MinLen::new(100), MaxLen::new(100));
    assert_eq!(Both::new(min, max).wants_split(&node), Verdict::TooShort);
    assert_eq!(Both::new(max, BoundDepth::new(0)).wants_split(&node), Verdict::TooLong);
    assert_eq!(Both::new(min, ForceDepth::new(1)).wants_split(&node), Verdict::Must);
    assert!(Verdict::TooLong.divides(&node) && !Verdict::TooShort.divides(&node));
}
