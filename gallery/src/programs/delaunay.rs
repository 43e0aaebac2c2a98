//! The Delaunay triangulation of points in the plane, by divide and conquer (PBBS: delaunayTriangulation; Guibas and Stolfi).

use crate::inputs;
use crate::program::{Program, equal, reads};

pub(super) const PROGRAM: Program = Program {
    name: "delaunay",
    suite: "PBBS",
    what: "the Delaunay triangulation of points in the plane",
    unit: "points",
    size: 400_000,
    quick: 16_000,
    schedule: "",
    why: "a tie: forks stop at a thousand points, so they are few, and one thread does the last and longest merge",
    source: include_str!("delaunay.rs"),
    case: |size| reads(inputs::grid_points(size), [sequential::run, rayon::run, furcate::run], check),
};

/// At most this number of points is triangulated by one thread.
const SHORT: usize = 1000;

/// A point with whole coordinates, so that all tests are exact.
type Place = [i32; 2];

/// Returns the vector from `b` to `a`.
fn minus(a: Place, b: Place) -> [i64; 2] {
    [i64::from(a[0]) - i64::from(b[0]), i64::from(a[1]) - i64::from(b[1])]
}

/// Whether three places are a left turn.
fn is_left_turn(a: Place, b: Place, c: Place) -> bool {
    area(minus(b, a), minus(c, a)) > 0
}

/// Returns the signed area of the parallelogram of two vectors.
fn area([ax, ay]: [i64; 2], [bx, by]: [i64; 2]) -> i64 {
    ax * by - ay * bx
}

/// Whether the circle through three places that are a left turn contains a fourth one.
fn circle_contains(a: Place, b: Place, c: Place, d: Place) -> bool {
    let [a, b, c] = [a, b, c].map(|corner| minus(corner, d));
    let part = |[x, y]: [i64; 2], area: i64| i128::from(x * x + y * y) * i128::from(area);
    part(a, area(b, c)) + part(b, area(c, a)) + part(c, area(a, b)) > 0
}

/// One direction of an edge.
#[derive(Clone, Copy)]
struct Edge {
    origin: Place,
    /// The next edge around the origin, counterclockwise.
    next: u32,
    /// The next edge around the origin, clockwise.
    previous: u32,
}

/// A triangulation. The directions of an edge have the numbers 2i and 2i + 1, so `edge ^ 1` is the other direction.
#[derive(Default)]
struct Mesh {
    edges: Vec<Edge>,
    /// The even numbers of the deleted edges.
    free: Vec<u32>,
    /// The edge of the hull that leaves the leftmost point counterclockwise.
    leftmost: u32,
    /// The edge of the hull that leaves the rightmost point clockwise.
    rightmost: u32,
}

impl Mesh {
    fn origin(&self, edge: u32) -> Place {
        self.edges[edge as usize].origin
    }

    fn target(&self, edge: u32) -> Place {
        self.origin(edge ^ 1)
    }

    fn next(&self, edge: u32) -> u32 {
        self.edges[edge as usize].next
    }

    fn previous(&self, edge: u32) -> u32 {
        self.edges[edge as usize].previous
    }

    /// Returns the next edge around the face on the left of an edge.
    fn next_on_left(&self, edge: u32) -> u32 {
        self.previous(edge ^ 1)
    }

    fn is_left_of(&self, edge: u32, place: Place) -> bool {
        is_left_turn(self.origin(edge), self.target(edge), place)
    }

    fn is_right_of(&self, edge: u32, place: Place) -> bool {
        is_left_turn(self.target(edge), self.origin(edge), place)
    }

    /// Exchanges what follows two edges around their origins: joins two circles of edges, or cuts one in two.
    fn splice(&mut self, a: u32, b: u32) {
        let (after_a, after_b) = (self.next(a), self.next(b));
        self.edges[a as usize].next = after_b;
        self.edges[b as usize].next = after_a;
        self.edges[after_a as usize].previous = b;
        self.edges[after_b as usize].previous = a;
    }

    /// Adds an edge that is not connected to any other edge.
    fn add(&mut self, origin: Place, target: Place) -> u32 {
        let edge = self.free.pop().unwrap_or(self.edges.len() as u32);
        let both =
            [(edge, origin), (edge ^ 1, target)].map(|(e, origin)| Edge { origin, next: e, previous: e });
        if edge as usize == self.edges.len() {
            self.edges.extend(both);
        } else {
            self.edges[edge as usize..][..2].copy_from_slice(&both);
        }
        edge
    }

    /// Adds an edge from the target of `a` to the origin of `b`, so that all three have the same face on their left.
    fn connect(&mut self, a: u32, b: u32) -> u32 {
        let edge = self.add(self.target(a), self.origin(b));
        self.splice(edge, self.next_on_left(a));
        self.splice(edge ^ 1, b);
        edge
    }

    fn delete(&mut self, edge: u32) {
        self.splice(edge, self.previous(edge));
        self.splice(edge ^ 1, self.previous(edge ^ 1));
        self.free.push(edge & !1);
    }

    /// The triangulation of at most three places, from left to right.
    fn of_few(places: &[Place]) -> Mesh {
        let mut mesh = Mesh::default();
        match *places {
            [a, b] => {
                mesh.leftmost = mesh.add(a, b);
                mesh.rightmost = mesh.leftmost ^ 1;
            }
            [a, b, c] => {
                let (first, second) = (mesh.add(a, b), mesh.add(b, c));
                mesh.splice(first ^ 1, second);
                (mesh.leftmost, mesh.rightmost) = (first, second ^ 1);
                if is_left_turn(a, b, c) {
                    mesh.connect(second, first);
                } else if is_left_turn(a, c, b) {
                    mesh.rightmost = mesh.connect(second, first);
                    mesh.leftmost = mesh.rightmost ^ 1;
                }
            }
            _ => {}
        }
        mesh
    }

    /// The triangulation of both meshes' points. All points of the second mesh are on the right of those of the first one.
    fn merge(mut self, right: Mesh) -> Mesh {
        let moved = self.edges.len() as u32;
        let move_edge =
            |edge: Edge| Edge { next: edge.next + moved, previous: edge.previous + moved, ..edge };
        self.edges.extend(right.edges.into_iter().map(move_edge));
        self.free.extend(right.free.into_iter().map(|edge| edge + moved));

        // The first edge between the two is the lower common tangent, from right to left.
        let (mut left, mut right, rightmost) =
            (self.rightmost, right.leftmost + moved, right.rightmost + moved);
        loop {
            if self.is_left_of(left, self.origin(right)) {
                left = self.next_on_left(left);
            } else if self.is_right_of(right, self.origin(left)) {
                right = self.next(right ^ 1);
            } else {
                break;
            }
        }
        let mut base = self.connect(right ^ 1, left);
        if self.origin(left) == self.origin(self.leftmost) {
            self.leftmost = base ^ 1;
        }
        self.rightmost = if self.origin(right) == self.origin(rightmost) { base } else { rightmost };

        // Each new edge completes a triangle with the base. The triangle's third corner is a point of the left or of the right mesh.
        loop {
            let left = self.candidate(base, self.next(base ^ 1), Mesh::next);
            let right = self.candidate(base, self.previous(base), Mesh::previous);
            let contains = |left, right| {
                let corners = [self.target(left), self.origin(left), self.origin(right)];
                circle_contains(corners[0], corners[1], corners[2], self.target(right))
            };
            base = match (left, right) {
                (None, None) => return self,
                (Some(left), Some(right)) if contains(left, right) => self.connect(right, base ^ 1),
                (Some(left), _) => self.connect(base ^ 1, left ^ 1),
                (None, Some(right)) => self.connect(right, base ^ 1),
            };
        }
    }

    /// Returns the edge to the third corner on one side of the base, if there is one. Deletes the edges that cannot stay.
    fn candidate(&mut self, base: u32, mut edge: u32, turn: fn(&Mesh, u32) -> u32) -> Option<u32> {
        if !self.is_right_of(base, self.target(edge)) {
            return None;
        }
        let (left, right) = (self.target(base), self.origin(base));
        while circle_contains(left, right, self.target(edge), self.target(turn(self, edge))) {
            let next = turn(self, edge);
            self.delete(edge);
            edge = next;
        }
        Some(edge)
    }

    /// Returns the numbers of the edges in both directions, without the deleted ones.
    fn numbers(&self) -> Vec<u32> {
        let mut is_free = vec![false; self.edges.len()];
        self.free.iter().for_each(|edge| is_free[*edge as usize..][..2].fill(true));
        (0..self.edges.len() as u32).filter(|edge| !is_free[*edge as usize]).collect()
    }

    /// Returns the corner on the left of an edge, if there is a triangle.
    fn corner(&self, edge: u32) -> Option<Place> {
        let second = self.next_on_left(edge);
        let is_closed = self.next_on_left(self.next_on_left(second)) == edge;
        Some(self.target(second)).filter(|corner| is_closed && self.is_left_of(edge, *corner))
    }
}

/// Checks that the edges are those of the sequential column, that all faces but the outer one are triangles, and that no circle around
/// one of them contains the corner of a neighbor: then no circle contains any point.
fn check(places: &Vec<Place>, mesh: &Mesh) -> Result<(), String> {
    let sorted = |mesh: &Mesh| {
        let ends = mesh.numbers().into_iter().map(|edge| [mesh.origin(edge), mesh.target(edge)]);
        let mut ends: Vec<[Place; 2]> = ends.collect();
        ends.sort_unstable();
        ends
    };
    equal(&sorted(mesh), &sorted(&sequential::run(places)))?;
    let edges = mesh.numbers();
    let triangles = edges.iter().filter(|edge| mesh.corner(**edge).is_some()).count() / 3;
    equal(&triangles, &(edges.len() / 2 + 1 - places.len()))?;
    let is_wrong = |&edge: &u32| {
        let corners = mesh.corner(edge).zip(mesh.corner(edge ^ 1));
        corners.is_some_and(|(a, b)| circle_contains(mesh.origin(edge), mesh.target(edge), a, b))
    };
    equal(&edges.into_iter().find(is_wrong), &None)
}

mod sequential {
    use super::{Mesh, Place};

    pub(super) fn run(places: &Vec<Place>) -> Mesh {
        let mut places = places.clone();
        places.sort_unstable();
        triangulate(&places)
    }

    pub(super) fn triangulate(places: &[Place]) -> Mesh {
        if places.len() <= 3 {
            return Mesh::of_few(places);
        }
        let (left, right) = places.split_at(places.len() / 2);
        triangulate(left).merge(triangulate(right))
    }
}

mod rayon {
    use super::{Mesh, Place, SHORT, sequential};
    use rayon::prelude::*;

    pub(super) fn run(places: &Vec<Place>) -> Mesh {
        let mut places = places.clone();
        places.par_sort_unstable();
        triangulate(&places)
    }

    fn triangulate(places: &[Place]) -> Mesh {
        if places.len() <= SHORT {
            return sequential::triangulate(places);
        }
        let (left, right) = places.split_at(places.len() / 2);
        let (left, right) = rayon::join(|| triangulate(left), || triangulate(right));
        left.merge(right)
    }
}

mod furcate {
    use super::{Mesh, Place, SHORT, sequential};
    use furcate::prelude::*;

    pub(super) fn run(places: &Vec<Place>) -> Mesh {
        let mut places = places.clone();
        places.par_sort_unstable();
        triangulate(&places)
    }

    fn triangulate(places: &[Place]) -> Mesh {
        if places.len() <= SHORT {
            return sequential::triangulate(places);
        }
        let (left, right) = places.split_at(places.len() / 2);
        let (left, right) = furcate::join(|| triangulate(left), || triangulate(right));
        left.merge(right)
    }
}
