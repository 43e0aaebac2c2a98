//! Counts the points within each of many rectangles, by a merge-sort tree (PBBS: rangeQuery2d).

use crate::geometry::Point;
use crate::inputs;
use crate::program::{Program, equal, reads, sample};

pub(super) const PROGRAM: Program = Program {
    name: "range_query",
    suite: "PBBS",
    what: "the number of points in each of as many rectangles",
    unit: "points",
    size: 1 << 17,
    quick: 1 << 14,
    schedule: "",
    why: "a tie: the loops over blocks and over queries are even, so both libraries divide them well, and both divide the long merges",
    source: include_str!("range_query.rs"),
    case: |size| {
        let plane = Plane { points: inputs::points_in_cube(size), rectangles: inputs::rectangles(size) };
        reads(plane, [sequential::run, rayon::run, furcate::run], |plane, counts| {
            equal(&counts.len(), &plane.rectangles.len())?;
            equal(counts, &sequential::run(plane))?;
            let by_a_loop =
                |rectangle| plane.points.iter().filter(|point| is_within(point, rectangle)).count();
            let mut sample = sample(plane.rectangles.iter().zip(counts), 100);
            equal(&sample.find(|(rectangle, count)| **count != by_a_loop(rectangle)), &None)
        })
    },
};

struct Plane {
    points: Vec<Point<2>>,
    rectangles: Vec<[Point<2>; 2]>,
}

/// Blocks of at least this width are merged by several threads.
const LONG: usize = 1 << 14;

fn is_within(point: &Point<2>, [low, high]: &[Point<2>; 2]) -> bool {
    (0..2).all(|axis| low[axis] <= point[axis] && point[axis] < high[axis])
}

/// A merge-sort tree of points, which are sorted by x.
struct Tree {
    xs: Vec<f64>,
    /// The y of the same points, once for each level. In level k, each block of 2^k numbers is sorted.
    levels: Vec<Vec<f64>>,
}

impl Tree {
    fn count(&self, [low, high]: &[Point<2>; 2]) -> usize {
        let before = |numbers: &[f64], bound| numbers.partition_point(|&number| number < bound);
        let (mut begin, mut end) = (before(&self.xs, low[0]), before(&self.xs, high[0]));
        let mut count = 0;
        // The points from `begin` to `end` are cut into blocks, at most two of each level.
        for (level, ys) in self.levels.iter().enumerate() {
            let within = |block: usize| {
                let ys = &ys[block << level..(block + 1) << level];
                before(ys, high[1]) - before(ys, low[1])
            };
            if begin < end && begin % 2 == 1 {
                count += within(begin);
                begin += 1;
            }
            if begin < end && end % 2 == 1 {
                end -= 1;
                count += within(end);
            }
            (begin, end) = (begin / 2, end / 2);
        }
        count
    }
}

mod sequential {
    use super::{Plane, Point, Tree};

    pub(super) fn run(plane: &Plane) -> Vec<usize> {
        let tree = build(plane.points.clone());
        plane.rectangles.iter().map(|rectangle| tree.count(rectangle)).collect()
    }

    fn build(mut points: Vec<Point<2>>) -> Tree {
        points.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]));
        let mut ys: Vec<f64> = points.iter().map(|point| point[1]).collect();
        let mut levels = vec![ys.clone()];
        let widths = (1..).map(|level| 1 << level);
        for width in widths.take_while(|width| *width <= points.len()) {
            // The halves of a block are sorted already, so the stable sort only merges them.
            ys.chunks_mut(width).for_each(|block| block.sort_by(f64::total_cmp));
            levels.push(ys.clone());
        }
        Tree { xs: points.iter().map(|point| point[0]).collect(), levels }
    }
}

mod rayon {
    use super::{LONG, Plane, Point, Tree};
    use rayon::prelude::*;

    pub(super) fn run(plane: &Plane) -> Vec<usize> {
        let tree = build(plane.points.clone());
        plane.rectangles.par_iter().map(|rectangle| tree.count(rectangle)).collect()
    }

    fn build(mut points: Vec<Point<2>>) -> Tree {
        points.par_sort_unstable_by(|a, b| a[0].total_cmp(&b[0]));
        let mut ys: Vec<f64> = points.par_iter().map(|point| point[1]).collect();
        let mut levels = vec![ys.clone()];
        let widths = (1..).map(|level| 1 << level);
        for width in widths.take_while(|width| *width <= points.len()) {
            // The halves of a block are sorted already, so the stable sort only merges them.
            ys.par_chunks_mut(width).for_each(|block| match width {
                ..LONG => block.sort_by(f64::total_cmp),
                _ => block.par_sort_by(f64::total_cmp),
            });
            levels.push(ys.clone());
        }
        Tree { xs: points.par_iter().map(|point| point[0]).collect(), levels }
    }
}

mod furcate {
    use super::{LONG, Plane, Point, Tree};
    use furcate::prelude::*;

    pub(super) fn run(plane: &Plane) -> Vec<usize> {
        let tree = build(plane.points.clone());
        plane.rectangles.par_iter().map(|rectangle| tree.count(rectangle)).collect()
    }

    fn build(mut points: Vec<Point<2>>) -> Tree {
        points.par_sort_unstable_by(|a, b| a[0].total_cmp(&b[0]));
        let mut ys: Vec<f64> = points.par_iter().map(|point| point[1]).collect();
        let mut levels = vec![ys.clone()];
        let widths = (1..).map(|level| 1 << level);
        for width in widths.take_while(|width| *width <= points.len()) {
            // The halves of a block are sorted already, so the stable sort only merges them.
            ys.par_chunks_mut(width).for_each(|block| match width {
                ..LONG => block.sort_by(f64::total_cmp),
                _ => block.par_sort_by(f64::total_cmp),
            });
            levels.push(ys.clone());
        }
        Tree { xs: points.par_iter().map(|point| point[0]).collect(), levels }
    }
}
