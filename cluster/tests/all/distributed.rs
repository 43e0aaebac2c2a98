//! `collect_into`: each rank keeps what it made, and all ranks together have every item once, at its position.

use crate::support::{LONG, Random, busy, text, within};
use furcate::policy::CancelToken;
use furcate::prelude::*;
use furcate_cluster::{Distributed, SpreadOver, Threads};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// An item that serde does not know.
#[derive(Clone, Debug, PartialEq)]
struct Item(String);

/// Checks the vectors of all ranks against the result of one machine.
#[track_caller]
fn together<T: PartialEq + std::fmt::Debug>(ranks: Vec<Distributed<T>>, expected: &[T]) {
    let total: usize = ranks.iter().map(Distributed::len).sum();
    assert!(ranks.iter().all(|vector| vector.total_len() == total), "every rank knows the sum");
    let mut all: Vec<_> = Vec::new();
    for vector in ranks {
        let mut end = None;
        for (first, items) in vector.segments() {
            assert!(!items.is_empty() && end.is_none_or(|end| end < first), "sorted, and no neighbors");
            end = Some(first + items.len());
        }
        assert!(vector.iter().all(|(position, item)| vector.get(position) == Some(item)));
        all.extend(vector.into_segments());
    }
    all.sort_by_key(|(first, _)| *first);
    let mut end = 0;
    for (first, items) in all {
        assert_eq!(first, end, "no hole, and nothing twice");
        end += items.len();
        assert_eq!(items, expected[first..end]);
    }
    assert_eq!(end, expected.len());
}

#[test]
fn all_ranks_together_have_the_sequence() {
    within(LONG, || {
        let mut random = Random(3);
        for round in 0..80 {
            let (len, ranks, workers) = (random.index(400), 1 + round % 4, 1 + random.index(2));
            let (seed, uneven) = (random.next(), round % 3);
            let load = move |x: usize| match uneven {
                0 => 0,
                // Rank 0 has all the work.
                1 => busy(if x < len / ranks { 20_000 } else { 0 }),
                _ => busy(Random(seed ^ (x as u64 / 20)).next() % 20_000),
            };
            let item = move |x: usize| {
                load(x);
                Item(format!("{x}"))
            };
            let here: Vec<Item> = (0..len).into_par_iter().map(item).collect();
            let vectors = Threads::new(ranks).workers(workers).run(|world| {
                let mut vector = Distributed::new();
                (0..len).into_par_iter().map(item).spread(world).collect_into(&mut vector);
                vector
            });
            together(vectors, &here);
        }
    });
}

/// Chains, also such that do not begin at the beginning of their source.
#[test]
fn positions_are_those_of_the_chain() {
    within(LONG, || {
        let source: Vec<u32> = (0..500).collect();
        for ranks in 1..5 {
            let vectors = |chain: &(dyn Fn(&furcate_cluster::World) -> Distributed<u32> + Sync)| {
                Threads::new(ranks).run(chain)
            };
            let expected: Vec<u32> = source.iter().rev().skip(7).step_by(3).copied().collect();
            together(
                vectors(&|world| {
                    let mut vector = Distributed::new();
                    let chain = source.par_iter().copied().rev().skip(7).step_by(3);
                    chain.spread(world).collect_into(&mut vector);
                    vector
                }),
                &expected,
            );
            let expected: Vec<u32> = source.chunks(7).map(|chunk| chunk.iter().sum()).collect();
            together(
                vectors(&|world| {
                    let mut vector = Distributed::new();
                    let chunks = source.clone().into_par_iter().chunks(7);
                    chunks.map(|chunk| chunk.iter().sum()).spread(world).collect_into(&mut vector);
                    vector
                }),
                &expected,
            );
        }
    });
}

/// Rank 0 has all the work. Stolen items stay on the thieves, and only numbers travel.
#[test]
fn stolen_items_stay_where_they_were_made() {
    within(LONG, || {
        let results = Threads::new(3).run(|world| {
            // All ranks are there.
            assert_eq!((0..8_u64).into_par_iter().spread(world).count(), 8);
            let mut vector = Distributed::new();
            let items = (0..300_usize).into_par_iter().map(|x| {
                if x < 100 {
                    std::thread::sleep(Duration::from_millis(2));
                }
                vec![x as u8; 10_000]
            });
            items.spread(world).collect_into(&mut vector);
            (vector, world.counts())
        });
        let (vectors, counts): (Vec<_>, Vec<_>) = results.into_iter().unzip();
        assert!(vectors[0].len() < 100, "most of its share was stolen: {}", vectors[0].len());
        assert!(
            vectors[1].get(0).is_none() && vectors[2].get(0).is_none(),
            "nobody steals a task's first item"
        );
        let bytes: u64 = counts.iter().map(|counts| counts.bytes).sum();
        assert!(bytes < 1_000_000, "{bytes} bytes were sent, and the items have 3 000 000");
        let expected: Vec<_> = (0..300_usize).map(|x| vec![x as u8; 10_000]).collect();
        together(vectors, &expected);
    });
}

#[test]
fn items_are_gathered_in_order() {
    within(LONG, || {
        for ranks in 1..5 {
            for len in [0_u64, 1, 3, 200] {
                let expected: Vec<String> = (0..len).map(|x| x.to_string()).collect();
                let results = Threads::new(ranks).run(|world| {
                    let mut vector = Distributed::new();
                    let items = (0..len).into_par_iter().inspect(|&x| _ = busy((x % 17) * 1000));
                    items.map(|x| x.to_string()).spread(world).collect_into(&mut vector);
                    (vector.clone().gather(world), vector.all_gather(world))
                });
                for (rank, (root, all)) in results.into_iter().enumerate() {
                    assert_eq!(root, (rank == 0).then(|| expected.clone()));
                    assert_eq!(all, expected);
                }
            }
        }
    });
}

/// An interrupted call keeps what was made. All ranks agree about the number.
#[test]
fn an_interruption_leaves_holes() {
    within(LONG, || {
        let vectors = Threads::new(3).run(|world| {
            let token = CancelToken::new();
            let seen = AtomicU64::new(0);
            let mut vector = Distributed::new();
            let items = (0..30_000_usize).into_par_iter().inspect(|_| {
                busy(1000);
                if seen.fetch_add(1, Relaxed) == 100 && world.rank() == 1 {
                    token.cancel();
                }
            });
            let run = items.spread(world).stop_on(&token).run(|spread| spread.collect_into(&mut vector));
            assert!(run.is_err());
            vector
        });
        let total: usize = vectors.iter().map(Distributed::len).sum();
        assert!((101..30_000).contains(&total), "{total}");
        for vector in &vectors {
            assert_eq!(vector.total_len(), total);
            assert!(vector.iter().all(|(position, item)| position == *item));
        }
        assert!(vectors[1].len() > 100, "what the rank made before the token");
    });
}

#[test]
fn a_panic_leaves_nothing() {
    within(LONG, || {
        let results = Threads::new(2).run(|world| {
            let mut vector = Distributed::new();
            (0..10).into_par_iter().spread(world).collect_into(&mut vector);
            assert_eq!(vector.total_len(), 10);
            let items = (0..1000).into_par_iter().inspect(|&x| assert!(x != 700, "item {x} is bad"));
            let call = std::panic::AssertUnwindSafe(|| items.spread(world).collect_into(&mut vector));
            let payload = std::panic::catch_unwind(call).unwrap_err();
            assert!(text(&*payload).contains("item 700 is bad"));
            (vector.len(), vector.total_len())
        });
        assert_eq!(results, [(0, 0); 2]);
    });
}

#[test]
fn all_ranks_have_the_number_under_to_root() {
    within(LONG, || {
        let totals = Threads::new(3).run(|world| {
            let mut vector = Distributed::new();
            (0..100).into_par_iter().spread(world).to_root(|spread| spread.collect_into(&mut vector));
            vector.total_len()
        });
        assert_eq!(totals, [100; 3]);
    });
}
