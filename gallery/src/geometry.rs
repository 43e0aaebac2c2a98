//! Points, rays, triangles and boxes, and the step that builds k-d trees.

use std::cmp::Ordering;

/// A point, or a vector: in the plane or in space.
pub type Point<const D: usize> = [f64; D];

/// Compares two points by their coordinates.
#[must_use]
pub fn by_x_then_y(a: &Point<2>, b: &Point<2>) -> Ordering {
    a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1]))
}

/// Returns the vector from `b` to `a`.
#[must_use]
pub fn minus<const D: usize>(a: &Point<D>, b: &Point<D>) -> Point<D> {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

/// Returns the dot product.
#[must_use]
pub fn dot<const D: usize>(a: &Point<D>, b: &Point<D>) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns the cross product.
#[must_use]
pub fn cross(a: &Point<3>, b: &Point<3>) -> Point<3> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Returns the square of the distance between two points.
#[must_use]
pub fn distance_squared<const D: usize>(a: &Point<D>, b: &Point<D>) -> f64 {
    let between = minus(a, b);
    dot(&between, &between)
}

/// The greatest number of points in a leaf of a k-d tree.
pub const LEAF: usize = 8;

/// Moves the median along an axis to the middle, and returns the points before and behind it. This step builds a k-d tree.
pub fn halves<const D: usize>(points: &mut [Point<D>], axis: usize) -> (&mut [Point<D>], &mut [Point<D>]) {
    let middle = points.len() / 2;
    let (before, _, behind) = points.select_nth_unstable_by(middle, |a, b| a[axis].total_cmp(&b[axis]));
    (before, behind)
}

/// A ray: a half-line in space.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    /// The point where the ray begins.
    pub origin: Point<3>,
    /// The ray's direction: a vector of any length.
    pub direction: Point<3>,
}

/// A triangle in space.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    /// The three points.
    pub corners: [Point<3>; 3],
    /// The triangle's number, which tells it from the others.
    pub label: u32,
}

impl Triangle {
    /// Returns the distance at which a ray hits the triangle, in lengths of the ray's direction; infinity if the ray misses.
    #[must_use]
    pub fn distance(&self, ray: &Ray) -> f64 {
        // The algorithm of Möller and Trumbore.
        let [a, b, c] = &self.corners;
        let (ab, ac, from_a) = (minus(b, a), minus(c, a), minus(&ray.origin, a));
        let (p, q) = (cross(&ray.direction, &ac), cross(&from_a, &ab));
        let volume = dot(&ab, &p);
        let (u, v) = (dot(&from_a, &p) / volume, dot(&ray.direction, &q) / volume);
        let distance = dot(&ac, &q) / volume;
        if u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0 { distance } else { f64::INFINITY }
    }
}

/// A box whose faces are parallel to the axes.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    low: Point<3>,
    high: Point<3>,
}

impl Bounds {
    /// Returns the least box around some points.
    #[must_use]
    pub fn around<'a>(points: impl IntoIterator<Item = &'a Point<3>>) -> Bounds {
        let empty = Bounds { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] };
        points.into_iter().fold(empty, |bounds, point| bounds.and(&Bounds { low: *point, high: *point }))
    }

    /// Returns the least box around this box and another one.
    #[must_use]
    pub fn and(&self, other: &Bounds) -> Bounds {
        Bounds {
            low: std::array::from_fn(|axis| self.low[axis].min(other.low[axis])),
            high: std::array::from_fn(|axis| self.high[axis].max(other.high[axis])),
        }
    }

    /// Returns the axis along which the box is longest.
    #[must_use]
    pub fn longest_axis(&self) -> usize {
        let size = minus(&self.high, &self.low);
        (1..3).fold(0, |longest, axis| if size[axis] > size[longest] { axis } else { longest })
    }

    /// Returns the distance at which a ray enters the box, in lengths of the ray's direction; infinity if the ray misses.
    #[must_use]
    pub fn entry(&self, ray: &Ray) -> f64 {
        let (mut enters, mut leaves) = (0.0_f64, f64::INFINITY);
        for axis in 0..3 {
            let low = (self.low[axis] - ray.origin[axis]) / ray.direction[axis];
            let high = (self.high[axis] - ray.origin[axis]) / ray.direction[axis];
            enters = enters.max(low.min(high));
            leaves = leaves.min(low.max(high));
        }
        if enters <= leaves { enters } else { f64::INFINITY }
    }
}
