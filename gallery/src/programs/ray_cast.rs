//! Finds the first triangle that each ray hits, by a tree of boxes (PBBS: rayCast).

use crate::geometry::{Bounds, Ray, Triangle};
use crate::inputs;
use crate::program::{Program, equal, reads, sample};

pub(super) const PROGRAM: Program = Program {
    name: "ray_cast",
    suite: "PBBS",
    what: "the first triangle that each ray hits, with as many rays as triangles",
    unit: "rays",
    size: 50_000,
    quick: 4000,
    schedule: "",
    why: "a tie: a ray costs microseconds, and long stretches of rays cost about the same, so both libraries divide them well",
    source: include_str!("ray_cast.rs"),
    case: |size| {
        let scene = Scene { triangles: inputs::small_triangles(size), rays: inputs::rays(size) };
        reads(scene, [sequential::run, rayon::run, furcate::run], |scene, hits| {
            equal(&hits.len(), &scene.rays.len())?;
            equal(hits, &sequential::run(scene))?;
            let by_a_loop = |ray| {
                let hits = scene.triangles.iter().map(|triangle| (triangle.distance(ray), triangle.label));
                let first = hits.min_by(|(a, _), (b, _)| a.total_cmp(b));
                first.filter(|(distance, _)| distance.is_finite()).map(|(_, label)| label)
            };
            let mut sample = sample(scene.rays.iter().zip(hits), 100);
            equal(&sample.find(|(ray, hit)| **hit != by_a_loop(ray)).map(|(_, hit)| hit), &None)
        })
    },
};

struct Scene {
    triangles: Vec<Triangle>,
    rays: Vec<Ray>,
}

/// The greatest number of triangles in a leaf.
const LEAF: usize = 4;

/// At most this number of triangles is divided by one thread.
const SHORT: usize = 1000;

/// Triangles, and the least box around them: a bounding volume hierarchy.
struct Tree<'a> {
    bounds: Bounds,
    content: Content<'a>,
}

enum Content<'a> {
    Triangles(&'a [Triangle]),
    Halves(Box<[Tree<'a>; 2]>),
}

impl<'a> Tree<'a> {
    fn leaf(triangles: &'a [Triangle]) -> Self {
        Tree { bounds: around(triangles), content: Content::Triangles(triangles) }
    }

    fn of(left: Self, right: Self) -> Self {
        Tree { bounds: left.bounds.and(&right.bounds), content: Content::Halves(Box::new([left, right])) }
    }

    fn first_hit(&self, ray: &Ray) -> Option<u32> {
        let mut first = (f64::INFINITY, None);
        self.search(ray, &mut first);
        first.1
    }

    fn search(&self, ray: &Ray, first: &mut (f64, Option<u32>)) {
        if self.bounds.entry(ray) >= first.0 {
            return;
        }
        match &self.content {
            Content::Triangles(triangles) => {
                for triangle in *triangles {
                    let distance = triangle.distance(ray);
                    if distance < first.0 {
                        *first = (distance, Some(triangle.label));
                    }
                }
            }
            Content::Halves(halves) => {
                let [left, right] = &**halves;
                let to_the_right = ray.direction[self.bounds.longest_axis()] > 0.0;
                let (near, far) = if to_the_right { (left, right) } else { (right, left) };
                near.search(ray, first);
                far.search(ray, first);
            }
        }
    }
}

fn around(triangles: &[Triangle]) -> Bounds {
    Bounds::around(triangles.iter().flat_map(|triangle| &triangle.corners))
}

/// Cuts triangles at the median along the longest side of their box.
fn halves(triangles: &mut [Triangle]) -> (&mut [Triangle], &mut [Triangle]) {
    let (axis, middle) = (around(triangles).longest_axis(), triangles.len() / 2);
    let center = |triangle: &Triangle| triangle.corners.iter().map(|corner| corner[axis]).sum::<f64>();
    triangles.select_nth_unstable_by(middle, |a, b| center(a).total_cmp(&center(b)));
    triangles.split_at_mut(middle)
}

mod sequential {
    use super::{LEAF, Scene, Tree, Triangle, halves};

    pub(super) fn run(scene: &Scene) -> Vec<Option<u32>> {
        let mut triangles = scene.triangles.clone();
        let tree = build(&mut triangles);
        scene.rays.iter().map(|ray| tree.first_hit(ray)).collect()
    }

    pub(super) fn build(triangles: &mut [Triangle]) -> Tree<'_> {
        if triangles.len() <= LEAF {
            return Tree::leaf(triangles);
        }
        let (left, right) = halves(triangles);
        Tree::of(build(left), build(right))
    }
}

mod rayon {
    use super::{SHORT, Scene, Tree, Triangle, halves, sequential};
    use rayon::prelude::*;

    pub(super) fn run(scene: &Scene) -> Vec<Option<u32>> {
        let mut triangles = scene.triangles.clone();
        let tree = build(&mut triangles);
        scene.rays.par_iter().map(|ray| tree.first_hit(ray)).collect()
    }

    fn build(triangles: &mut [Triangle]) -> Tree<'_> {
        if triangles.len() <= SHORT {
            return sequential::build(triangles);
        }
        let (left, right) = halves(triangles);
        let (left, right) = rayon::join(|| build(left), || build(right));
        Tree::of(left, right)
    }
}

mod furcate {
    use super::{SHORT, Scene, Tree, Triangle, halves, sequential};
    use furcate::prelude::*;

    pub(super) fn run(scene: &Scene) -> Vec<Option<u32>> {
        let mut triangles = scene.triangles.clone();
        let tree = build(&mut triangles);
        scene.rays.par_iter().map(|ray| tree.first_hit(ray)).collect()
    }

    fn build(triangles: &mut [Triangle]) -> Tree<'_> {
        if triangles.len() <= SHORT {
            return sequential::build(triangles);
        }
        let (left, right) = halves(triangles);
        let (left, right) = furcate::join(|| build(left), || build(right));
        Tree::of(left, right)
    }
}
