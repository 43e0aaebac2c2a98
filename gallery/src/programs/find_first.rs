//! Finds the first item that satisfies an expensive predicate, in several searches (classic: find).

use crate::program::{Program, equal, reads};
use fastrand::Rng;

pub(super) const PROGRAM: Program = Program {
    name: "find_first",
    suite: "classic",
    what: "the first item with a given digest, for hits at eight places",
    unit: "items",
    size: 5_000_000,
    quick: 100_000,
    schedule: "",
    why: "faster: rayon searches far behind a hit unless its column names blocks; with the best length, found by trying, they exceed the hit by half a block, without blocks it takes 1.4 times as long, and `by_exponential_blocks` 1.05 times; furcate's default blocks exceed the hit by an eighth (or by 100 us)",
    source: include_str!("find_first.rs"),
    case: |size| {
        reads(Searches::random(size), [sequential::run, rayon::run, furcate::run], |searches, found| {
            equal(found, &searches.places)
        })
    },
};

/// Items, and the digests of some of them. The digests are searched for one after the other.
struct Searches {
    items: Vec<u64>,
    digests: Vec<u64>,
    places: Vec<Option<usize>>,
}

impl Searches {
    /// Makes items that are all different, with hits in the middle of each eighth.
    fn random(count: usize) -> Searches {
        let mut random = Rng::with_seed(1);
        let items: Vec<u64> =
            (0..count as u64).map(|item| (item << 32) + u64::from(random.u32(..))).collect();
        let places = [1, 3, 5, 7, 9, 11, 13, 15].map(|sixteenths| count * sixteenths / 16);
        let digests = places.iter().map(|&place| digest(items[place])).collect();
        Searches { items, digests, places: places.map(Some).to_vec() }
    }
}

/// Returns the digest of an item. Different items have different digests.
fn digest(item: u64) -> u64 {
    (0..20).fold(item, |x, _| {
        let x = (x ^ (x >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x ^ (x >> 29)
    })
}

mod sequential {
    use super::{Searches, digest};

    pub(super) fn run(searches: &Searches) -> Vec<Option<usize>> {
        let Searches { items, digests, .. } = searches;
        digests.iter().map(|&wanted| items.iter().position(|&item| digest(item) == wanted)).collect()
    }
}

mod rayon {
    use super::{Searches, digest};
    use rayon::prelude::*;

    /// The best length of a block, found by trying.
    const BLOCK: usize = 1 << 18;

    pub(super) fn run(searches: &Searches) -> Vec<Option<usize>> {
        let Searches { items, digests, .. } = searches;
        digests
            .iter()
            .map(|&wanted| {
                let blocks = items.par_iter().enumerate().by_uniform_blocks(BLOCK);
                blocks.find_first(|(_, item)| digest(**item) == wanted).map(|(place, _)| place)
            })
            .collect()
    }
}

mod furcate {
    use super::{Searches, digest};
    use furcate::prelude::*;

    pub(super) fn run(searches: &Searches) -> Vec<Option<usize>> {
        let Searches { items, digests, .. } = searches;
        digests
            .iter()
            .map(|&wanted| items.par_iter().position_first(|&item| digest(item) == wanted))
            .collect()
    }
}
