//! Finds the centers of clusters of points, by Lloyd's algorithm (classic: k-means).

use crate::geometry::distance_squared;
use crate::inputs;
use crate::program::{Program, equal, reads};

pub(super) const PROGRAM: Program = Program {
    name: "k_means",
    suite: "classic",
    what: "64 centers of clusters of points in 8 dimensions, by 10 rounds of Lloyd's algorithm",
    unit: "points",
    size: 200_000,
    quick: 1 << 12,
    schedule: ".adaptive()",
    why: "a tie: the distances cost nearly everything; without `adaptive`, which makes fewer lists of clusters, furcate took 1.07 of rayon's time in most builds, and 1.0 in others that differ in the code of an allocation",
    source: include_str!("k_means.rs"),
    case: |size| {
        let points = inputs::clustered_points(size, CENTERS);
        reads(points, [sequential::run, rayon::run, furcate::run], |points, centers| {
            equal(centers, &by_lists(points))
        })
    },
};

const ROUNDS: usize = 10;
const CENTERS: usize = 64;

type Point = [f64; 8];

/// The points that are nearest to a center. Coordinates are whole numbers, so their sums are exact, in whatever order they are added.
#[derive(Clone, Copy, Default)]
struct Cluster {
    sum: Point,
    count: usize,
}

impl Cluster {
    fn add(&mut self, sum: &Point, count: usize) {
        self.sum.iter_mut().zip(sum).for_each(|(a, b)| *a += b);
        self.count += count;
    }
}

/// Returns the index of the center that is nearest to a point.
#[inline(never)]
fn nearest(centers: &[Point], point: &Point) -> usize {
    let distances = centers.iter().map(|center| distance_squared(center, point)).enumerate();
    distances.reduce(|a, b| if b.1 < a.1 { b } else { a }).map_or(0, |(place, _)| place)
}

/// Adds up two lists of clusters.
fn merge(mut clusters: Vec<Cluster>, others: Vec<Cluster>) -> Vec<Cluster> {
    clusters.iter_mut().zip(&others).for_each(|(cluster, other)| cluster.add(&other.sum, other.count));
    clusters
}

/// Moves each center to the mean of its points, if it has any.
fn move_centers(centers: &mut [Point], clusters: &[Cluster]) {
    for (center, cluster) in centers.iter_mut().zip(clusters).filter(|(_, cluster)| cluster.count > 0) {
        *center = cluster.sum.map(|sum| sum / cluster.count as f64);
    }
}

/// Returns the centers by lists of the points that are nearest to each one, for the check.
fn by_lists(points: &[Point]) -> Vec<Point> {
    let mut centers: Vec<Point> = points.iter().take(CENTERS).copied().collect();
    for _ in 0..ROUNDS {
        let mut lists = vec![Vec::new(); centers.len()];
        for point in points {
            let distances = centers.iter().map(|center| distance_squared(center, point));
            let nearest = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
            lists[nearest.map_or(0, |(place, _)| place)].push(point);
        }
        for (center, list) in centers.iter_mut().zip(&lists).filter(|(_, list)| !list.is_empty()) {
            let sum = |axis: usize| list.iter().map(|point| point[axis]).sum::<f64>();
            *center = std::array::from_fn(|axis| sum(axis) / list.len() as f64);
        }
    }
    centers
}

mod sequential {
    use super::{CENTERS, Cluster, Point, ROUNDS, move_centers, nearest};

    pub(super) fn run(points: &Vec<Point>) -> Vec<Point> {
        let mut centers: Vec<Point> = points.iter().take(CENTERS).copied().collect();
        for _ in 0..ROUNDS {
            let mut clusters = vec![Cluster::default(); centers.len()];
            for point in points {
                clusters[nearest(&centers, point)].add(point, 1);
            }
            move_centers(&mut centers, &clusters);
        }
        centers
    }
}

mod rayon {
    use super::{CENTERS, Cluster, Point, ROUNDS, merge, move_centers, nearest};
    use rayon::prelude::*;

    pub(super) fn run(points: &Vec<Point>) -> Vec<Point> {
        let mut centers: Vec<Point> = points.iter().take(CENTERS).copied().collect();
        for _ in 0..ROUNDS {
            let empty = || vec![Cluster::default(); centers.len()];
            let clusters = points.par_iter().fold(empty, |mut clusters, point| {
                clusters[nearest(&centers, point)].add(point, 1);
                clusters
            });
            let clusters = clusters.reduce(empty, merge);
            move_centers(&mut centers, &clusters);
        }
        centers
    }
}

mod furcate {
    use super::{CENTERS, Cluster, Point, ROUNDS, merge, move_centers, nearest};
    use furcate::prelude::*;

    pub(super) fn run(points: &Vec<Point>) -> Vec<Point> {
        let mut centers: Vec<Point> = points.iter().take(CENTERS).copied().collect();
        for _ in 0..ROUNDS {
            let empty = || vec![Cluster::default(); centers.len()];
            let clusters = points.par_iter().fold(empty, |mut clusters, point| {
                clusters[nearest(&centers, point)].add(point, 1);
                clusters
            });
            // A part is divided when a thief asks, so there are few lists of clusters.
            let clusters = clusters.adaptive().reduce(empty, merge);
            move_centers(&mut centers, &clusters);
        }
        centers
    }
}
