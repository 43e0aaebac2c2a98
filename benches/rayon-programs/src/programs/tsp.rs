//! The shortest tour through some cities, by branch and bound.
//!
//! How much of the tree is searched depends on when the best tours are found: compare the units of work, too.

use crate::random::Random;
use crate::{Case, Check, Size};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

const MOST: usize = 24;

struct Map {
    cities: usize,
    distances: [[u32; MOST]; MOST],
    /// From each city to the nearest one: a tour takes no less to leave it.
    nearest: [u32; MOST],
    /// All cities by their distance from each.
    by_distance: [[u8; MOST]; MOST],
}

#[derive(Clone, Copy)]
struct Tour {
    visited: u32,
    last: usize,
    length: u32,
    /// Length that it takes to leave the last city and those not visited.
    rest: u32,
    count: usize,
}

struct Search {
    map: Arc<Map>,
    best: AtomicU32,
    visits: AtomicU64,
}

impl Map {
    fn random(cities: usize) -> Self {
        let mut random = Random(4);
        let places: Vec<_> = (0..cities).map(|_| (random.unit() * 1e4, random.unit() * 1e4)).collect();
        let mut map = Map {
            cities,
            distances: [[0; MOST]; MOST],
            nearest: [u32::MAX; MOST],
            by_distance: [[0; MOST]; MOST],
        };
        for (i, a) in places.iter().enumerate() {
            for (k, b) in places.iter().enumerate() {
                map.distances[i][k] = (a.0 - b.0).hypot(a.1 - b.1) as u32;
                if i != k {
                    map.nearest[i] = map.nearest[i].min(map.distances[i][k]);
                }
            }
            let mut order: Vec<_> = (0..cities as u8).collect();
            order.sort_by_key(|k| map.distances[i][*k as usize]);
            map.by_distance[i][..cities].copy_from_slice(&order);
        }
        map
    }

    fn start(&self) -> Tour {
        Tour { visited: 1, last: 0, length: 0, rest: self.nearest[..self.cities].iter().sum(), count: 1 }
    }

    fn next(&self, tour: Tour, city: usize) -> Tour {
        Tour {
            visited: tour.visited | 1 << city,
            last: city,
            length: tour.length + self.distances[tour.last][city],
            rest: tour.rest - self.nearest[tour.last],
            count: tour.count + 1,
        }
    }
}

impl Search {
    fn new(map: &Arc<Map>) -> Self {
        Search { map: Arc::clone(map), best: AtomicU32::new(u32::MAX), visits: AtomicU64::new(0) }
    }

    fn children(&self, tour: Tour) -> impl Iterator<Item = Tour> + '_ {
        self.map.by_distance[tour.last][..self.map.cities]
            .iter()
            .map(|city| *city as usize)
            .filter(move |city| tour.visited & 1 << city == 0)
            .map(move |city| self.map.next(tour, city))
    }

    fn is_hopeless(&self, tour: Tour) -> bool {
        tour.length + tour.rest >= self.best.load(Relaxed)
    }

    /// Returns how many tours it has looked at.
    fn in_turn(&self, tour: Tour) -> u64 {
        if self.is_hopeless(tour) {
            return 1;
        }
        if tour.count == self.map.cities {
            self.best.fetch_min(tour.length + self.map.distances[tour.last][0], Relaxed);
            return 1;
        }
        1 + self.children(tour).map(|tour| self.in_turn(tour)).sum::<u64>()
    }

    fn spawn<'scope>(&'scope self, scope: &rayon::Scope<'scope>, tour: Tour, levels: usize) {
        if levels == 0 || self.is_hopeless(tour) {
            self.visits.fetch_add(self.in_turn(tour), Relaxed);
            return;
        }
        // The newest job is run first: the nearest city's.
        let children: Vec<_> = self.children(tour).collect();
        for child in children.into_iter().rev() {
            scope.spawn(move |scope| self.spawn(scope, child, levels - 1));
        }
    }

    fn fork(&self, tour: Tour, levels: usize) -> u64 {
        if levels == 0 || self.is_hopeless(tour) {
            return self.in_turn(tour);
        }
        let children: Vec<_> = self.children(tour).collect();
        self.fork_all(&children, levels - 1)
    }

    fn fork_all(&self, tours: &[Tour], levels: usize) -> u64 {
        match tours {
            [] => 0,
            [tour] => self.fork(*tour, levels),
            _ => {
                let (left, right) = tours.split_at(tours.len() / 2);
                let (left, right) =
                    rayon::join(|| self.fork_all(left, levels), || self.fork_all(right, levels));
                left + right
            }
        }
    }
}

fn case(size: Size, run: impl Fn(&Search) + 'static) -> Case {
    let map = Arc::new(Map::random(size.pick(17, 9)));
    let search = Search::new(&map);
    search.in_turn(map.start());
    let expected = Rc::new(search.best);
    Case::new(move || {
        let search = Search::new(&map);
        run(&search);
        let (visits, expected) = (search.visits.load(Relaxed), Rc::clone(&expected));
        Check {
            is_right: Box::new(move || search.best.load(Relaxed) == expected.load(Relaxed)),
            work: visits,
        }
    })
}

pub(super) fn by_scope(size: Size) -> Case {
    case(size, |search| rayon::scope(|scope| search.spawn(scope, search.map.start(), 5)))
}

pub(super) fn by_join(size: Size) -> Case {
    case(size, |search| {
        let visits = search.fork(search.map.start(), 6);
        search.visits.fetch_add(visits, Relaxed);
    })
}
