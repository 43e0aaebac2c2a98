//! Computes the convex hull of points in the plane, by quickhull (PBBS: convexHull).

use crate::geometry::{Point, by_x_then_y};
use crate::inputs;
use crate::program::{Program, equal, reads};
use std::collections::HashSet;

pub(super) const PROGRAM: Program = Program {
    name: "quickhull",
    suite: "PBBS",
    what: "the convex hull of points in a disk",
    unit: "points",
    size: 8_000_000,
    quick: 200_000,
    schedule: "",
    why: "a tie: most of the time goes to filters that collect; without link-time optimization, rayon's column takes 1.6 times as long",
    source: include_str!("quickhull.rs"),
    case: |size| {
        reads(inputs::points_in_disk(size), [sequential::run, rayon::run, furcate::run], |points, hull| {
            equal(hull, &sequential::run(points))?;
            let bits = |point: &Point<2>| point.map(f64::to_bits);
            let corners: HashSet<_> = hull.iter().map(bits).collect();
            let met: HashSet<_> = points.iter().map(bits).filter(|point| corners.contains(point)).collect();
            equal(&met.len(), &hull.len())?;
            equal(&hull.is_empty(), &points.is_empty())?;
            let sides = || hull.iter().zip(hull.iter().cycle().skip(1));
            let outside = |point: &Point<2>| sides().any(|(&a, &b)| area(a, b, *point) > 0.0);
            equal(&points.iter().step_by(1000).copied().find(outside), &None)
        })
    },
};

/// At most this number of points is searched by one thread.
const SHORT: usize = 10_000;

/// Returns twice the area of a triangle: positive if `c` is on the left of the line from `a` to `b`.
fn area(a: Point<2>, b: Point<2>, c: Point<2>) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

mod sequential {
    use super::{Point, area, by_x_then_y};

    pub(super) fn run(points: &Vec<Point<2>>) -> Vec<Point<2>> {
        let west = points.iter().copied().min_by(by_x_then_y);
        let east = points.iter().copied().max_by(by_x_then_y);
        let Some((west, east)) = west.zip(east) else { return Vec::new() };
        let mut hull = hull_beyond(points, west, east);
        hull.extend(hull_beyond(points, east, west));
        hull
    }

    /// Returns the part of the hull on the left of the line from `a` to `b`: with `a`, without `b`.
    pub(super) fn hull_beyond(points: &[Point<2>], a: Point<2>, b: Point<2>) -> Vec<Point<2>> {
        let outside: Vec<_> = points.iter().copied().filter(|&p| area(a, b, p) > 0.0).collect();
        let farthest = outside.iter().copied().max_by(|&p, &q| area(a, b, p).total_cmp(&area(a, b, q)));
        let Some(farthest) = farthest else { return vec![a] };
        let mut hull = hull_beyond(&outside, a, farthest);
        hull.extend(hull_beyond(&outside, farthest, b));
        hull
    }
}

mod rayon {
    use super::{Point, SHORT, area, by_x_then_y, sequential};
    use rayon::prelude::*;

    pub(super) fn run(points: &Vec<Point<2>>) -> Vec<Point<2>> {
        let west = points.par_iter().copied().min_by(by_x_then_y);
        let east = points.par_iter().copied().max_by(by_x_then_y);
        let Some((west, east)) = west.zip(east) else { return Vec::new() };
        let (mut hull, below) =
            rayon::join(|| hull_beyond(points, west, east), || hull_beyond(points, east, west));
        hull.extend(below);
        hull
    }

    fn hull_beyond(points: &[Point<2>], a: Point<2>, b: Point<2>) -> Vec<Point<2>> {
        if points.len() <= SHORT {
            return sequential::hull_beyond(points, a, b);
        }
        let outside: Vec<_> = points.par_iter().copied().filter(|&p| area(a, b, p) > 0.0).collect();
        let farthest = outside.par_iter().copied().max_by(|&p, &q| area(a, b, p).total_cmp(&area(a, b, q)));
        let Some(farthest) = farthest else { return vec![a] };
        let (mut hull, rest) =
            rayon::join(|| hull_beyond(&outside, a, farthest), || hull_beyond(&outside, farthest, b));
        hull.extend(rest);
        hull
    }
}

mod furcate {
    use super::{Point, SHORT, area, by_x_then_y, sequential};
    use furcate::prelude::*;

    pub(super) fn run(points: &Vec<Point<2>>) -> Vec<Point<2>> {
        let west = points.par_iter().copied().min_by(by_x_then_y);
        let east = points.par_iter().copied().max_by(by_x_then_y);
        let Some((west, east)) = west.zip(east) else { return Vec::new() };
        let (mut hull, below) =
            furcate::join(|| hull_beyond(points, west, east), || hull_beyond(points, east, west));
        hull.extend(below);
        hull
    }

    fn hull_beyond(points: &[Point<2>], a: Point<2>, b: Point<2>) -> Vec<Point<2>> {
        if points.len() <= SHORT {
            return sequential::hull_beyond(points, a, b);
        }
        let outside: Vec<_> = points.par_iter().copied().filter(|&p| area(a, b, p) > 0.0).collect();
        let farthest = outside.par_iter().copied().max_by(|&p, &q| area(a, b, p).total_cmp(&area(a, b, q)));
        let Some(farthest) = farthest else { return vec![a] };
        let (mut hull, rest) =
            furcate::join(|| hull_beyond(&outside, a, farthest), || hull_beyond(&outside, farthest, b));
        hull.extend(rest);
        hull
    }
}
