//! Libraries of bodies in space.

use super::against_one_thread;
use crate::random::Random;
use crate::{Case, Size};
use bvh::aabb::{Aabb, Bounded};
use bvh::bounding_hierarchy::{BHShape, BoundingHierarchy};
use bvh::bvh::Bvh;
use bvh::ray::Ray;
use nalgebra::{Point3, Vector3};
use rayon::prelude::*;

/// Boxes that fall on a floor. The solver's workers wait for each other between stages, without leaving their jobs.
pub(super) fn rapier(size: Size) -> Case {
    use rapier3d::prelude::{ColliderBuilder, PhysicsWorld, RigidBodyBuilder, Vector};
    let (side, steps) = size.pick((8, 60), (3, 20));
    against_one_thread(move || {
        let mut random = Random(60);
        let mut world = PhysicsWorld::new();
        let floor = RigidBodyBuilder::fixed().translation(Vector::new(0.0, -1.0, 0.0));
        world.insert(floor, ColliderBuilder::cuboid(50.0, 1.0, 50.0));
        for i in 0..side * side * side {
            let mut near = |i: u32| i as f32 * 1.1 + random.unit() as f32 * 0.1;
            let (x, y, z) = (near(i % side), near(i / side % side), near(i / side / side));
            let body = RigidBodyBuilder::dynamic().translation(Vector::new(x, y + 0.6, z));
            world.insert(body, ColliderBuilder::cuboid(0.5, 0.5, 0.5));
        }
        (0..steps).for_each(|_| world.step());
        let numbers = world.bodies.iter().flat_map(|(_, body)| {
            let (place, speed) = (body.translation(), body.linvel());
            [place.x, place.y, place.z, speed.x, speed.y, speed.z].map(f32::to_bits)
        });
        numbers.collect::<Vec<u32>>()
    })
}

#[derive(Clone)]
struct Sphere {
    center: Point3<f32>,
    radius: f32,
    number: usize,
    node: usize,
}

impl Bounded<f32, 3> for Sphere {
    fn aabb(&self) -> Aabb<f32, 3> {
        let half = Vector3::repeat(self.radius);
        Aabb::with_bounds(self.center - half, self.center + half)
    }
}

impl BHShape<f32, 3> for Sphere {
    fn set_bh_node_index(&mut self, index: usize) {
        self.node = index;
    }

    fn bh_node_index(&self) -> usize {
        self.node
    }
}

/// Builds a tree of bounding boxes, and looks for the boxes that rays meet.
pub(super) fn bvh(size: Size) -> Case {
    let (count, rays) = size.pick((60_000, 20_000), (1000, 300));
    let mut random = Random(61);
    let mut place = |scale: f32| -> [f32; 3] { [(); 3].map(|()| random.unit() as f32 * scale) };
    let spheres: Vec<Sphere> = (0..count)
        .map(|number| Sphere { center: Point3::from(place(100.0)), radius: 0.5, number, node: 0 })
        .collect();
    let rays: Vec<Ray<f32, 3>> =
        (0..rays).map(|_| Ray::new(Point3::from(place(100.0)), Vector3::from(place(1.0)))).collect();
    against_one_thread(move || {
        let mut spheres = spheres.clone();
        let tree: Bvh<f32, 3> = Bvh::build_par(&mut spheres);
        let met = |ray: &Ray<f32, 3>| {
            let spheres = tree.traverse(ray, &spheres);
            spheres.iter().fold((0, 0), |(count, sum), sphere| (count + 1, sum + sphere.number))
        };
        rays.par_iter().map(met).collect::<Vec<(usize, usize)>>()
    })
}
