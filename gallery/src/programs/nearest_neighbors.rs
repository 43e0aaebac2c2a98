//! Finds the nearest neighbor of each point in the plane, by a k-d tree (PBBS: nearestNeighbors).

use crate::geometry::{LEAF, Point, by_x_then_y, distance_squared, halves};
use crate::inputs;
use crate::program::{Program, equal, reads, sample};

pub(super) const PROGRAM: Program = Program {
    name: "nearest_neighbors",
    suite: "PBBS",
    what: "the nearest neighbor of each point in the plane",
    unit: "points",
    size: 1_200_000,
    quick: 40_000,
    schedule: "",
    why: "a tie: the searches take most of the time and are alike, so both libraries divide them well; the forks of the tree are few",
    source: include_str!("nearest_neighbors.rs"),
    case: |size| {
        let points = inputs::points_in_clouds(size.max(2));
        reads(points, [sequential::run, rayon::run, furcate::run], |points, pairs| {
            equal(&sorted(pairs.iter().map(|[point, _]| *point)), &sorted(points.iter().copied()))?;
            equal(pairs, &sequential::run(points))?;
            let nearest = |point: &Point<2>| {
                let others = points.iter().filter(|other| *other != point);
                others.map(|other| distance_squared(point, other)).fold(f64::INFINITY, f64::min)
            };
            let wrong = |[point, other]: &[Point<2>; 2]| distance_squared(point, other) != nearest(point);
            equal(&sample(pairs.iter(), 100).copied().find(wrong), &None)
        })
    },
};

/// At most this number of points is ordered by one thread.
const SHORT: usize = 1000;

/// Returns the nearest other point of a k-d tree.
fn nearest(tree: &[Point<2>], to: &Point<2>) -> Point<2> {
    let mut best = (f64::INFINITY, *to);
    search(tree, 0, to, &mut best);
    best.1
}

/// Searches a part of the tree for a nearer point than the best one so far.
fn search(tree: &[Point<2>], axis: usize, to: &Point<2>, best: &mut (f64, Point<2>)) {
    let mut consider = |point: &Point<2>| {
        let distance = distance_squared(point, to);
        if distance < best.0 && point != to {
            *best = (distance, *point);
        }
    };
    if tree.len() <= LEAF {
        return tree.iter().for_each(consider);
    }
    let middle = tree.len() / 2;
    consider(&tree[middle]);
    let (before, behind) = (&tree[..middle], &tree[middle + 1..]);
    let offset = to[axis] - tree[middle][axis];
    let (near, far) = if offset < 0.0 { (before, behind) } else { (behind, before) };
    search(near, 1 - axis, to, best);
    if offset * offset < best.0 {
        search(far, 1 - axis, to, best);
    }
}

/// Sorts points, for the check.
fn sorted(points: impl Iterator<Item = Point<2>>) -> Vec<Point<2>> {
    let mut points: Vec<_> = points.collect();
    points.sort_unstable_by(by_x_then_y);
    points
}

mod sequential {
    use super::{LEAF, Point, halves, nearest};

    pub(super) fn run(points: &Vec<Point<2>>) -> Vec<[Point<2>; 2]> {
        let mut tree = points.clone();
        build(&mut tree, 0);
        tree.iter().map(|point| [*point, nearest(&tree, point)]).collect()
    }

    pub(super) fn build(points: &mut [Point<2>], axis: usize) {
        if points.len() > LEAF {
            let (before, behind) = halves(points, axis);
            build(before, 1 - axis);
            build(behind, 1 - axis);
        }
    }
}

mod rayon {
    use super::{Point, SHORT, halves, nearest, sequential};
    use rayon::prelude::*;

    pub(super) fn run(points: &Vec<Point<2>>) -> Vec<[Point<2>; 2]> {
        let mut tree = points.clone();
        build(&mut tree, 0);
        tree.par_iter().map(|point| [*point, nearest(&tree, point)]).collect()
    }

    fn build(points: &mut [Point<2>], axis: usize) {
        if points.len() <= SHORT {
            return sequential::build(points, axis);
        }
        let (before, behind) = halves(points, axis);
        rayon::join(|| build(before, 1 - axis), || build(behind, 1 - axis));
    }
}

mod furcate {
    use super::{Point, SHORT, halves, nearest, sequential};
    use furcate::prelude::*;

    pub(super) fn run(points: &Vec<Point<2>>) -> Vec<[Point<2>; 2]> {
        let mut tree = points.clone();
        build(&mut tree, 0);
        tree.par_iter().map(|point| [*point, nearest(&tree, point)]).collect()
    }

    fn build(points: &mut [Point<2>], axis: usize) {
        if points.len() <= SHORT {
            return sequential::build(points, axis);
        }
        let (before, behind) = halves(points, axis);
        furcate::join(|| build(before, 1 - axis), || build(behind, 1 - axis));
    }
}
