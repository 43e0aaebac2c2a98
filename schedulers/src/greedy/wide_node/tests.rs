//! Rows in every order of arrival, and wide nodes that are given up.

use super::{WIDTH, WideNode};
use crate::greedy::{Done, Link, Root};
use crate::policy::SizeLimit;
use crate::samples::Text;
use crate::tree::branch::Joint;
use crate::tree::call::Call;
use std::ops::Range;
use std::sync::Arc;

/// A workload with this reduction.
type Of<R> = (Range<usize>, SizeLimit, R);

/// Takes the output at a root.
fn output<O>(root: &Root<O>) -> Option<O> {
    root.output.lock().unwrap().take()
}

/// Calls `f` with every order of the numbers below `n`.
fn every_order(n: usize, f: &mut impl FnMut(&[usize])) {
    fn extend(n: usize, order: &mut Vec<usize>, f: &mut impl FnMut(&[usize])) {
        if order.len() == n {
            return f(order);
        }
        for next in (0..n).filter(|next| !order.contains(next)).collect::<Vec<_>>() {
            order.push(next);
            extend(n, order, f);
            order.pop();
        }
    }
    extend(n, &mut Vec::new(), f);
}

/// The outputs and the wide node's own link arrive in every order. The last arrival reduces, in the order of the places.
#[test]
fn the_last_one_reduces_in_order() {
    let call = Call::default();
    let expected = ["0", "(01)", "((01)2)", "(((01)2)3)", "((((01)2)3)4)"];
    for places in 1..=5_u8 {
        every_order(usize::from(places) + 1, &mut |order| {
            let (root, wide) = (Root::default(), Arc::<WideNode<'_, Of<Text>>>::default());
            for (at, &what) in order.iter().enumerate() {
                assert_eq!(output(&root), None, "{order:?}, {at}");
                if what < usize::from(places) {
                    Link::WideNode(Arc::clone(&wide), what as u8).deliver(what.to_string());
                } else {
                    let joint = Joint { reduction: Text, call: &call };
                    Done::AwayInWideNode { wide: Arc::clone(&wide), places, joint }
                        .deliver(Link::Root(&root));
                }
            }
            assert_eq!(output(&root).as_deref(), Some(expected[usize::from(places) - 1]), "{order:?}");
        });
    }
}

/// A long chain of wide nodes that never get any output, each with a link to the next one up. Only their recursive drop could
/// overflow the stack.
#[test]
fn rows_that_are_given_up_go_in_a_loop() {
    let (call, root) = (Call::default(), Root::default());
    let output = Arc::new(());
    let mut link = Link::Root(&root);
    for _ in 0..100_000 {
        let wide = Arc::<WideNode<'_, Of<Never>>>::default();
        Link::WideNode(Arc::clone(&wide), 0).deliver(Arc::clone(&output));
        let joint = Joint { reduction: Never, call: &call };
        Done::AwayInWideNode { wide: Arc::clone(&wide), places: WIDTH, joint }.deliver(link);
        link = Link::WideNode(wide, WIDTH - 1);
    }
    assert_eq!(Arc::strong_count(&output), 100_001);
    drop(link);
    assert_eq!(Arc::strong_count(&output), 1);
}

/// A reduction that must not be called.
#[derive(Clone)]
struct Never;

impl crate::Reduction<usize> for Never {
    type Accumulator = Arc<()>;
    type Output = Arc<()>;
    fn start(&self) -> Arc<()> {
        Arc::default()
    }
    fn fold_item(&self, unit: Arc<()>, _: usize) -> std::ops::ControlFlow<Arc<()>, Arc<()>> {
        std::ops::ControlFlow::Continue(unit)
    }
    fn finish(&self, unit: Arc<()>) -> Arc<()> {
        unit
    }
    fn reduce(&self, _: Arc<()>, _: Arc<()>) -> Arc<()> {
        unreachable!("nothing is complete")
    }
}
