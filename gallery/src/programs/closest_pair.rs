//! Finds the distance between the closest two points in the plane, by divide and conquer (classic).

use crate::geometry::{self, distance_squared};
use crate::inputs;
use crate::program::{Program, equal, reads};

pub(super) const PROGRAM: Program = Program {
    name: "closest_pair",
    suite: "classic",
    what: "the distance between the two closest points in the plane",
    unit: "points",
    size: 1 << 21,
    quick: 1 << 16,
    schedule: "",
    why: "somewhat faster: furcate's sort takes less time; the recursion's forks are few, because they stop at a thousand points",
    source: include_str!("closest_pair.rs"),
    case: |size| {
        reads(
            inputs::points_in_cube(size),
            [sequential::run, rayon::run, furcate::run],
            |points, distance| equal(distance, &by_sweep(points)),
        )
    },
};

type Point = geometry::Point<2>;

/// For at most this number of points, all pairs are compared.
const FEW: usize = 16;

/// At most this number of points is searched by one thread.
const SHORT: usize = 1000;

fn by_x(a: &Point, b: &Point) -> std::cmp::Ordering {
    a[0].total_cmp(&b[0])
}

/// Returns the least square of the distance between any two of the points.
fn least_of_few(points: &[Point]) -> f64 {
    let pairs = points
        .iter()
        .enumerate()
        .flat_map(|(index, a)| points[..index].iter().map(move |b| distance_squared(a, b)));
    pairs.fold(f64::INFINITY, f64::min)
}

/// Returns the least square of a distance, given the least one within either half. Only two points close to the border between the halves can
/// be closer. The points are sorted by x.
fn least_across(points: &[Point], least: f64) -> f64 {
    let (left, right) = points.split_at(points.len() / 2);
    let is_close = |point: &&Point| (point[0] - right[0][0]).powi(2) < least;
    let close = left.iter().rev().take_while(is_close).chain(right.iter().take_while(is_close));
    let mut strip: Vec<&Point> = close.collect();
    strip.sort_unstable_by(|a, b| a[1].total_cmp(&b[1]));
    let is_near = |a: &Point, b: &Point| (b[1] - a[1]).powi(2) < least;
    let nearest = strip.iter().enumerate().flat_map(|(index, a)| {
        strip[index + 1..].iter().take_while(|b| is_near(a, b)).map(|b| distance_squared(a, b))
    });
    nearest.fold(least, f64::min)
}

/// Returns the distance by a sweep from left to right, for the check.
fn by_sweep(points: &[Point]) -> f64 {
    let mut points = points.to_vec();
    points.sort_unstable_by(by_x);
    let mut least = f64::INFINITY;
    for (index, a) in points.iter().enumerate() {
        let bound = least;
        let near = points[index + 1..].iter().take_while(|b| (b[0] - a[0]).powi(2) < bound);
        least = near.map(|b| distance_squared(a, b)).fold(least, f64::min);
    }
    least.sqrt()
}

mod sequential {
    use super::{FEW, Point, by_x, least_across, least_of_few};

    pub(super) fn run(points: &Vec<Point>) -> f64 {
        let mut points = points.clone();
        points.sort_unstable_by(by_x);
        least_square(&points).sqrt()
    }

    pub(super) fn least_square(points: &[Point]) -> f64 {
        if points.len() <= FEW {
            return least_of_few(points);
        }
        let (left, right) = points.split_at(points.len() / 2);
        let (left, right) = (least_square(left), least_square(right));
        least_across(points, left.min(right))
    }
}

mod rayon {
    use super::{Point, SHORT, by_x, least_across, sequential};
    use rayon::prelude::*;

    pub(super) fn run(points: &Vec<Point>) -> f64 {
        let mut points = points.clone();
        points.par_sort_unstable_by(by_x);
        least_square(&points).sqrt()
    }

    fn least_square(points: &[Point]) -> f64 {
        if points.len() <= SHORT {
            return sequential::least_square(points);
        }
        let (left, right) = points.split_at(points.len() / 2);
        let (left, right) = rayon::join(|| least_square(left), || least_square(right));
        least_across(points, left.min(right))
    }
}

mod furcate {
    use super::{Point, SHORT, by_x, least_across, sequential};
    use furcate::prelude::*;

    pub(super) fn run(points: &Vec<Point>) -> f64 {
        let mut points = points.clone();
        points.par_sort_unstable_by(by_x);
        least_square(&points).sqrt()
    }

    fn least_square(points: &[Point]) -> f64 {
        if points.len() <= SHORT {
            return sequential::least_square(points);
        }
        let (left, right) = points.split_at(points.len() / 2);
        let (left, right) = furcate::join(|| least_square(left), || least_square(right));
        least_across(points, left.min(right))
    }
}
