//! Moves bodies that attract each other: in each step, the forces on each body from all others.

// The line that differs from a program on rayon.
#[cfg(not(feature = "rayon"))]
use furcate as rayon;

use clap::Parser;
use rayon::prelude::*;

/// Moves bodies that attract each other.
#[derive(Parser)]
struct Arguments {
    /// Number of bodies
    #[arg(default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    bodies: u32,
    /// Number of steps in time
    #[arg(default_value_t = 20)]
    steps: u32,
}

#[derive(Clone, Copy)]
struct Body {
    place: [f64; 3],
    speed: [f64; 3],
    mass: f64,
}

/// Bodies at places that look random, the same in every run.
fn galaxy(number: u32) -> Vec<Body> {
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let body = |_| Body {
        place: [random(), random(), random()],
        speed: [random(), random(), random()],
        mass: 1.0 + random(),
    };
    (0..number).map(body).collect()
}

fn attraction(body: &Body, others: &[Body]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for other in others {
        let way: [f64; 3] = std::array::from_fn(|axis| other.place[axis] - body.place[axis]);
        // Softened, so that close bodies, and the body itself, do no harm.
        let square = way.iter().map(|x| x * x).sum::<f64>() + 1e-3;
        let pull = other.mass / (square * square.sqrt());
        (0..3).for_each(|axis| sum[axis] += pull * way[axis]);
    }
    sum
}

fn step(bodies: &[Body]) -> Vec<Body> {
    const TIME: f64 = 1e-4;
    let moved = |body: &Body| {
        let pull = attraction(body, bodies);
        let speed: [f64; 3] = std::array::from_fn(|axis| body.speed[axis] + TIME * pull[axis]);
        let place = std::array::from_fn(|axis| body.place[axis] + TIME * speed[axis]);
        Body { place, speed, mass: body.mass }
    };
    bodies.par_iter().map(moved).collect()
}

fn main() {
    let Arguments { bodies, steps } = Arguments::parse();
    let bodies = ported::timed(|| (0..steps).fold(galaxy(bodies), |bodies, _| step(&bodies)));
    println!("result {:?}", bodies[0].place);
}
