//! The adaptors with a state for every task, when user code panics.

use crate::support::states::push;
use furcate::Inline;
use furcate::prelude::*;
use std::sync::Mutex;
use testkit::collect::CollectInSteps;
use testkit::drops::{DropCounter, Fuse, assert_dropped_once};

/// A panic at the n-th call of any closure (identity, clone, fold, map), for every n (P2).
#[test]
fn panics_drop_once() {
    type Pair = (DropCounter, DropCounter);
    /// A seed whose clone burns a fuse.
    struct Burning<'a>(&'a Fuse, Vec<DropCounter>);
    impl Clone for Burning<'_> {
        fn clone(&self) -> Self {
            self.0.burn();
            Burning(self.0, self.1.clone())
        }
    }
    fn total(lists: &[Vec<DropCounter>]) -> usize {
        lists.iter().map(Vec::len).sum()
    }

    let burning_push = |fuse: &Fuse, list: Vec<DropCounter>, value| {
        let list = push(list, value);
        fuse.burn();
        list
    };
    let identity = |fuse: &Fuse| {
        fuse.burn();
        Vec::new()
    };
    assert_dropped_once(40, |values, fuse| {
        let lists =
            values.into_par_iter().size_limit(9).fold(|| identity(fuse), |l, v| burning_push(fuse, l, v));
        assert_eq!(total(&lists.collect::<Vec<_>>()), 40);
    });
    // 40 items in one task: several steps.
    assert_dropped_once(40, |values, fuse| {
        let lists =
            values.into_par_iter().sequential().fold(|| identity(fuse), |l, v| burning_push(fuse, l, v));
        assert_eq!(total(&lists.inspect(|_| fuse.burn()).drive(CollectInSteps)), 40);
    });
    assert_dropped_once(40, |values, fuse| {
        let seed = Burning(fuse, vec![values[0].clone()]);
        let lists = values.into_par_iter().bound_depth(1).fold_with(seed, |mut state, value| {
            state.1 = burning_push(fuse, state.1, value);
            state
        });
        assert_eq!(total(&lists.map(|state| state.1).drive(CollectInSteps)), 42);
    });
    assert_dropped_once(40, |values, fuse| {
        let seed = Burning(fuse, vec![values[0].clone()]);
        let pairs = values.into_par_iter().bound_depth(2).map_with(seed, |state, value| -> Pair {
            fuse.burn();
            state.1.push(value.clone());
            (value, state.1.swap_remove(0))
        });
        assert_eq!(pairs.collect::<Vec<_>>().len(), 40);
    });
    assert_dropped_once(40, |values, fuse| {
        let first = Mutex::new(values[0].clone());
        let init = || {
            fuse.burn();
            first.lock().unwrap().clone()
        };
        let pairs = values.into_par_iter().bound_depth(1).map_init(init, |state, value| -> Pair {
            fuse.burn();
            let clone = state.clone();
            (value, std::mem::replace(state, clone))
        });
        assert_eq!(pairs.on(Inline).drive(CollectInSteps).len(), 40);
    });
}
