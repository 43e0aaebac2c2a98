//! Orders points in space as a k-d tree: the median is in the middle, and each side is a tree along the next axis (classic: k-d tree).

use crate::geometry::{LEAF, Point, halves};
use crate::inputs;
use crate::program::{Program, changes, equal};

pub(super) const PROGRAM: Program = Program {
    name: "k_d_tree",
    suite: "classic",
    what: "points in space ordered as a k-d tree",
    unit: "points",
    size: 1 << 22,
    quick: 1 << 17,
    schedule: "",
    why: "a tie: forks stop at a thousand points, so they are few, and one thread finds the first and longest median",
    source: include_str!("k_d_tree.rs"),
    case: |size| {
        let points = inputs::points_in_cube(size);
        changes(points, [sequential::run, rayon::run, furcate::run], |points, tree| {
            let sorted = |points: &Vec<Point<3>>| {
                let mut points = points.clone();
                points.sort_unstable_by(|a, b| a.partial_cmp(b).expect("coordinates are numbers"));
                points
            };
            equal(&sorted(tree), &sorted(points))?;
            equal(&is_tree(tree, 0), &true)
        })
    },
};

/// At most this number of points is ordered by one thread.
const SHORT: usize = 1000;

/// Whether no point before a median has a greater coordinate, and no point behind the median a smaller one.
fn is_tree(points: &[Point<3>], axis: usize) -> bool {
    if points.len() <= LEAF {
        return true;
    }
    let (before, behind) = points.split_at(points.len() / 2);
    let median = behind[0][axis];
    let next = (axis + 1) % 3;
    before.iter().all(|point| point[axis] <= median)
        && behind.iter().all(|point| point[axis] >= median)
        && is_tree(before, next)
        && is_tree(&behind[1..], next)
}

mod sequential {
    use super::{LEAF, Point, halves};

    pub(super) fn run(points: &mut Vec<Point<3>>) {
        build(points, 0);
    }

    pub(super) fn build(points: &mut [Point<3>], axis: usize) {
        if points.len() > LEAF {
            let (before, behind) = halves(points, axis);
            let next = (axis + 1) % 3;
            build(before, next);
            build(behind, next);
        }
    }
}

mod rayon {
    use super::{Point, SHORT, halves, sequential};

    pub(super) fn run(points: &mut Vec<Point<3>>) {
        build(points, 0);
    }

    fn build(points: &mut [Point<3>], axis: usize) {
        if points.len() <= SHORT {
            return sequential::build(points, axis);
        }
        let (before, behind) = halves(points, axis);
        let next = (axis + 1) % 3;
        rayon::join(|| build(before, next), || build(behind, next));
    }
}

mod furcate {
    use super::{Point, SHORT, halves, sequential};

    pub(super) fn run(points: &mut Vec<Point<3>>) {
        build(points, 0);
    }

    fn build(points: &mut [Point<3>], axis: usize) {
        if points.len() <= SHORT {
            return sequential::build(points, axis);
        }
        let (before, behind) = halves(points, axis);
        let next = (axis + 1) % 3;
        furcate::join(|| build(before, next), || build(behind, next));
    }
}
