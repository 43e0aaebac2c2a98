//! Computes the gravity on each of many bodies, by an octree (PBBS: nBody; Barnes and Hut).

use crate::geometry::{Point, distance_squared, dot, minus};
use crate::inputs;
use crate::program::{Program, close, equal, reads, sample};

pub(super) const PROGRAM: Program = Program {
    name: "n_body",
    suite: "PBBS",
    what: "the gravity on each of many bodies, by the algorithm of Barnes and Hut",
    unit: "bodies",
    size: 50_000,
    quick: 4000,
    schedule: "",
    why: "a tie: most of the time goes to one long loop over expensive items; the short loops over up to eight octants are few",
    source: include_str!("n_body.rs"),
    case: |size| {
        let bodies = inputs::points_in_clouds(size);
        reads(bodies, [sequential::run, rayon::run, furcate::run], |bodies, pulls| {
            equal(&pulls.len(), &bodies.len())?;
            close(pulls.as_flattened(), sequential::run(bodies).as_flattened(), 1e-9)?;
            // The octree is an approximation: an error of a twentieth is allowed.
            for (at, pull) in sample(bodies.iter().zip(pulls), 20) {
                let mut exact = [0.0; 3];
                bodies.iter().for_each(|body| add_pull(&mut exact, at, body, 1.0));
                let error = distance_squared(pull, &exact) / dot(&exact, &exact);
                close(&[error.sqrt()], &[0.0], 0.05)?;
            }
            Ok(())
        })
    },
};

/// At most this number of bodies is put into cells by one thread.
const SHORT: usize = 1000;

/// The greatest number of bodies in a cell that is not divided.
const LEAF: usize = 8;

/// A cell counts as one body if its side is less than this share of its distance.
const NEAR: f64 = 0.5;

/// The unit cube is halved at most this number of times along each axis.
const LEVELS: u32 = 20;

/// A body, and its place on a curve through all cells (Morton's order). Each octant is a section of the curve.
type OnCurve = (u64, Point<3>);

fn on_curve(body: &Point<3>) -> OnCurve {
    let digits = body.map(|x| ((x * f64::from(1 << LEVELS)) as u64).min((1 << LEVELS) - 1));
    let bits = (0..LEVELS).rev().flat_map(|level| digits.map(|digit| digit >> level & 1));
    (bits.fold(0, |key, bit| key << 1 | bit), *body)
}

/// Returns a function that says whether two bodies of a cell are in the same octant. `level` is the octants' level: 0 is the smallest one.
fn in_one_octant(level: u32) -> impl Fn(&OnCurve, &OnCurve) -> bool + Sync {
    move |(a, _), (b, _)| a >> (3 * level) == b >> (3 * level)
}

/// A cube with bodies. One of `bodies` and `octants` is empty.
struct Cell<'a> {
    side: f64,
    mass: f64,
    center: Point<3>,
    bodies: &'a [OnCurve],
    octants: Vec<Cell<'a>>,
}

impl<'a> Cell<'a> {
    fn leaf(bodies: &'a [OnCurve], level: u32) -> Self {
        let masses = bodies.iter().map(|(_, body)| (1.0, body));
        Cell { bodies, octants: Vec::new(), ..Cell::around(masses, level) }
    }

    fn of(octants: Vec<Cell<'a>>, level: u32) -> Self {
        let cell = Cell::around(octants.iter().map(|octant| (octant.mass, &octant.center)), level);
        Cell { octants, ..cell }
    }

    fn around<'b>(masses: impl Iterator<Item = (f64, &'b Point<3>)>, level: u32) -> Self {
        let (mut mass, mut center) = (0.0, [0.0; 3]);
        for (part, place) in masses {
            mass += part;
            center.iter_mut().zip(place).for_each(|(center, x)| *center += part * x);
        }
        let side = f64::from(1 << level) / f64::from(1 << LEVELS);
        Cell { side, mass, center: center.map(|x| x / mass), bodies: &[], octants: Vec::new() }
    }

    fn pull(&self, at: &Point<3>) -> Point<3> {
        let mut pull = [0.0; 3];
        self.add_to(&mut pull, at);
        pull
    }

    fn add_to(&self, pull: &mut Point<3>, at: &Point<3>) {
        if self.side * self.side < NEAR * NEAR * distance_squared(&self.center, at) {
            add_pull(pull, at, &self.center, self.mass);
        } else {
            self.bodies.iter().for_each(|(_, body)| add_pull(pull, at, body, 1.0));
            self.octants.iter().for_each(|octant| octant.add_to(pull, at));
        }
    }
}

/// Adds the pull of a mass. The small number keeps the pull finite, so that the pull of a body on itself is 0.
fn add_pull(pull: &mut Point<3>, at: &Point<3>, place: &Point<3>, mass: f64) {
    let way = minus(place, at);
    let square = dot(&way, &way) + 1e-4;
    let share = mass / (square * square.sqrt());
    pull.iter_mut().zip(way).for_each(|(pull, way)| *pull += share * way);
}

mod sequential {
    use super::{Cell, LEAF, LEVELS, OnCurve, Point, in_one_octant, on_curve};

    pub(super) fn run(bodies: &Vec<Point<3>>) -> Vec<Point<3>> {
        let mut curve: Vec<OnCurve> = bodies.iter().map(on_curve).collect();
        curve.sort_unstable_by_key(|(key, _)| *key);
        let cell = build(&curve, LEVELS);
        bodies.iter().map(|body| cell.pull(body)).collect()
    }

    pub(super) fn build(bodies: &[OnCurve], level: u32) -> Cell<'_> {
        if bodies.len() <= LEAF || level == 0 {
            return Cell::leaf(bodies, level);
        }
        let octants = bodies.chunk_by(in_one_octant(level - 1));
        Cell::of(octants.map(|octant| build(octant, level - 1)).collect(), level)
    }
}

mod rayon {
    use super::{Cell, LEVELS, OnCurve, Point, SHORT, in_one_octant, on_curve, sequential};
    use rayon::prelude::*;

    pub(super) fn run(bodies: &Vec<Point<3>>) -> Vec<Point<3>> {
        let mut curve: Vec<OnCurve> = bodies.par_iter().map(on_curve).collect();
        curve.par_sort_unstable_by_key(|(key, _)| *key);
        let cell = build(&curve, LEVELS);
        bodies.par_iter().map(|body| cell.pull(body)).collect()
    }

    fn build(bodies: &[OnCurve], level: u32) -> Cell<'_> {
        if bodies.len() <= SHORT || level == 0 {
            return sequential::build(bodies, level);
        }
        let octants = bodies.par_chunk_by(in_one_octant(level - 1));
        Cell::of(octants.map(|octant| build(octant, level - 1)).collect(), level)
    }
}

mod furcate {
    use super::{Cell, LEVELS, OnCurve, Point, SHORT, in_one_octant, on_curve, sequential};
    use furcate::prelude::*;

    pub(super) fn run(bodies: &Vec<Point<3>>) -> Vec<Point<3>> {
        let mut curve: Vec<OnCurve> = bodies.par_iter().map(on_curve).collect();
        curve.par_sort_unstable_by_key(|(key, _)| *key);
        let cell = build(&curve, LEVELS);
        bodies.par_iter().map(|body| cell.pull(body)).collect()
    }

    fn build(bodies: &[OnCurve], level: u32) -> Cell<'_> {
        if bodies.len() <= SHORT || level == 0 {
            return sequential::build(bodies, level);
        }
        let octants = bodies.par_chunk_by(in_one_octant(level - 1));
        Cell::of(octants.map(|octant| build(octant, level - 1)).collect(), level)
    }
}
