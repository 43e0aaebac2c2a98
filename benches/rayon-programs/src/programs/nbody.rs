//! Gravity among bodies: each one is attracted by all others.

use crate::random::Random;
use crate::{Case, Check, Size};
use rayon::prelude::*;

type Vector = [f64; 3];

#[derive(Clone, Copy)]
struct Body {
    place: Vector,
    speed: Vector,
    mass: f64,
}

const STEP: f64 = 0.01;

fn bodies(count: usize) -> Vec<Body> {
    let mut random = Random(2);
    let mut vector = || [(); 3].map(|()| random.unit() - 0.5);
    let mut bodies: Vec<_> =
        (0..count).map(|_| Body { place: vector(), speed: vector(), mass: 0.0 }).collect();
    bodies.iter_mut().for_each(|body| body.mass = random.unit() / count as f64);
    bodies
}

/// The pull of `other` at a place.
#[inline]
fn pull(place: Vector, other: &Body) -> Vector {
    let way = [0, 1, 2].map(|i| other.place[i] - place[i]);
    let square = way.iter().map(|x| x * x).sum::<f64>() + 1e-4;
    let strength = other.mass / (square * square.sqrt());
    way.map(|x| x * strength)
}

fn add(a: Vector, b: Vector) -> Vector {
    [0, 1, 2].map(|i| a[i] + b[i])
}

fn moved(body: &Body, pull: Vector) -> Body {
    let speed = add(body.speed, pull.map(|x| x * STEP));
    Body { place: add(body.place, speed.map(|x| x * STEP)), speed, mass: body.mass }
}

fn in_turn(bodies: &[Body]) -> Vec<Body> {
    let pull_at = |place| bodies.iter().fold([0.0; 3], |sum, other| add(sum, pull(place, other)));
    bodies.iter().map(|body| moved(body, pull_at(body.place))).collect()
}

fn is_close(a: &[Body], b: &[Body]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (0..3).all(|i| (a.place[i] - b.place[i]).abs() < 1e-9))
}

fn case(count: usize, steps: usize, step: impl Fn(&[Body]) -> Vec<Body> + 'static) -> Case {
    let start = bodies(count);
    let expected = std::rc::Rc::new((0..steps).fold(start.clone(), |bodies, _| in_turn(&bodies)));
    Case::new(move || {
        let end = (0..steps).fold(start.clone(), |bodies, _| step(&bodies));
        let expected = std::rc::Rc::clone(&expected);
        Check::new(move || is_close(&end, &expected))
    })
}

/// A parallel loop over the bodies, a sequential one over those that attract it.
pub(super) fn nbody(size: Size) -> Case {
    case(size.pick(1000, 100), size.pick(60, 2), |bodies| {
        let pull_at = |place| bodies.iter().fold([0.0; 3], |sum, other| add(sum, pull(place, other)));
        bodies.par_iter().map(|body| moved(body, pull_at(body.place))).collect()
    })
}

/// Both loops parallel.
pub(super) fn nested(size: Size) -> Case {
    case(size.pick(1000, 100), size.pick(60, 2), |bodies| {
        let pull_at = |place| {
            bodies
                .par_iter()
                .fold(|| [0.0; 3], |sum, other| add(sum, pull(place, other)))
                .reduce(|| [0.0; 3], add)
        };
        bodies.par_iter().map(|body| moved(body, pull_at(body.place))).collect()
    })
}
