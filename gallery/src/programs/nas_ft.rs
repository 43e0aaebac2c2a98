//! Solves a diffusion equation on a box by three-dimensional Fourier transforms (NAS: FT, Fourier transform).

use std::f64::consts::PI;
use std::ops::{Add, Mul, Sub};

use crate::nas::{Generator, SEED};
use crate::program::{Program, changes, close};

pub(super) const PROGRAM: Program = Program {
    name: "nas_ft",
    suite: "NAS",
    what: "a diffusion equation by 3-D Fourier transforms",
    unit: "class: 0 = S, 1 = W, 2 = A",
    size: 2,
    quick: 0,
    schedule: "",
    why: "a tie: there are only 14 loops, all over equal planes, and both libraries divide them alike",
    source: include_str!("nas_ft.rs"),
    case: |size| {
        let class = CLASSES.get(size).expect("give the class as 0 (S), 1 (W) or 2 (A)");
        let columns = [sequential::run, rayon::run, furcate::run];
        changes(Problem::new(class), columns, |input, output| {
            close(output.sums.as_flattened(), input.expected.as_flattened(), 1e-12)
        })
    },
};

const ROUNDS: usize = 6;

/// The classes of the benchmark: the lengths of the box, and the published checksums after each round.
const CLASSES: [([usize; 3], [[f64; 2]; ROUNDS]); 3] = [
    (
        [64, 64, 64],
        [
            [5.546087004964e2, 4.845363331978e2],
            [5.546385409189e2, 4.865304269511e2],
            [5.546148406171e2, 4.883910722336e2],
            [5.545423607415e2, 4.901273169046e2],
            [5.544255039624e2, 4.917475857993e2],
            [5.542683411902e2, 4.932597244941e2],
        ],
    ),
    (
        [128, 128, 32],
        [
            [5.673612178944e2, 5.293246849175e2],
            [5.631436885271e2, 5.282149986629e2],
            [5.594024089970e2, 5.270996558037e2],
            [5.560698047020e2, 5.260027904925e2],
            [5.530898991250e2, 5.249400845633e2],
            [5.504159734538e2, 5.239212247086e2],
        ],
    ),
    (
        [256, 256, 128],
        [
            [5.046735008193e2, 5.114047905510e2],
            [5.059412319734e2, 5.098809666433e2],
            [5.069376896287e2, 5.098144042213e2],
            [5.077892868474e2, 5.101336130759e2],
            [5.085233095391e2, 5.104914655194e2],
            [5.091487099959e2, 5.107917842803e2],
        ],
    ),
];

#[derive(Clone, Copy, Default)]
struct Complex {
    re: f64,
    im: f64,
}

impl Add for Complex {
    type Output = Complex;
    fn add(self, other: Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for Complex {
    type Output = Complex;
    fn sub(self, other: Complex) -> Complex {
        Complex { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Mul for Complex {
    type Output = Complex;
    fn mul(self, other: Complex) -> Complex {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

/// A direction of the box: its length, the roots of unity for forward and backward transforms, and each wave's decay during a round.
#[derive(Clone)]
struct Axis {
    length: usize,
    forward: Vec<Complex>,
    backward: Vec<Complex>,
    decays: Vec<f64>,
}

impl Axis {
    fn new(length: usize) -> Axis {
        let roots = |sign: f64| {
            let angles = (0..length / 2).map(|i| sign * 2.0 * PI * i as f64 / length as f64);
            angles.map(|angle| Complex { re: angle.cos(), im: angle.sin() }).collect()
        };
        let waves = (0..length).map(|i| i.min(length - i) as f64);
        let decays = waves.map(|wave| (-4e-6 * PI * PI * wave * wave).exp()).collect();
        Axis { length, forward: roots(-1.0), backward: roots(1.0), decays }
    }
}

/// The field is stored plane by plane (all x and y of a z). The spectrum and its copy are stored slab by slab (all x and z of a y). So each
/// of the three transforms stays within a plane or a slab.
#[derive(Clone)]
struct Problem {
    axes: [Axis; 3],
    field: Vec<Complex>,
    spectrum: Vec<Complex>,
    copy: Vec<Complex>,
    sums: Vec<[f64; 2]>,
    expected: [[f64; 2]; ROUNDS],
}

impl Problem {
    fn new(&(lengths, expected): &([usize; 3], [[f64; 2]; ROUNDS])) -> Problem {
        let mut random = Generator::new(SEED);
        let points = lengths.iter().product();
        let field = (0..points).map(|_| Complex { re: random.draw(), im: random.draw() }).collect();
        let zeros = vec![Complex::default(); points];
        let axes = lengths.map(Axis::new);
        Problem { axes, field, spectrum: zeros.clone(), copy: zeros, sums: Vec::new(), expected }
    }
}

/// The number of lines that are transformed side by side, so that the inner loops are long enough.
const LINES: usize = 8;

/// Transforms the rows of a plane.
fn transform_rows(plane: &mut [Complex], roots: &[Complex]) {
    transform(plane, roots, 1, 2 * roots.len());
}

/// Transforms the columns of a plane.
fn transform_columns(plane: &mut [Complex], roots: &[Complex]) {
    transform(plane, roots, plane.len() / (2 * roots.len()), 1);
}

/// Transforms lines. Two points of a line are `along` places apart, and two lines `across`.
fn transform(plane: &mut [Complex], roots: &[Complex], along: usize, across: usize) {
    let length = 2 * roots.len();
    let mut lines = vec![Complex::default(); length * LINES];
    let mut space = lines.clone();
    for first in (0..plane.len() / length).step_by(LINES) {
        let place = |point: usize, line: usize| point * along + (first + line) * across;
        for (point, values) in lines.chunks_exact_mut(LINES).enumerate() {
            values.iter_mut().enumerate().for_each(|(line, value)| *value = plane[place(point, line)]);
        }
        fourier(&mut lines, &mut space, roots);
        for (point, values) in lines.chunks_exact(LINES).enumerate() {
            values.iter().enumerate().for_each(|(line, value)| plane[place(point, line)] = *value);
        }
    }
}

/// Stockham's Fourier transform of lines side by side. Each stage goes from one array to the other.
fn fourier(lines: &mut Vec<Complex>, space: &mut Vec<Complex>, roots: &[Complex]) {
    let mut step = 1;
    while step <= roots.len() {
        let width = step * LINES;
        let (low, high) = lines.split_at(lines.len() / 2);
        let pairs = low.chunks_exact(width).zip(high.chunks_exact(width));
        let results = space.chunks_exact_mut(2 * width).zip(roots.iter().step_by(step));
        for ((low, high), (result, &root)) in pairs.zip(results) {
            let (sums, differences) = result.split_at_mut(width);
            for (((&a, &b), sum), difference) in low.iter().zip(high).zip(sums).zip(differences) {
                *sum = a + b;
                *difference = root * (a - b);
            }
        }
        std::mem::swap(lines, space);
        step *= 2;
    }
}

/// Fills a slab with its rows of all planes, or a plane with its rows of all slabs.
fn gather(from: &[Complex], index: usize, to: &mut [Complex], width: usize) {
    let stride = from.len() / to.len();
    for (row, elements) in to.chunks_exact_mut(width).enumerate() {
        elements.copy_from_slice(&from[(row * stride + index) * width..][..width]);
    }
}

/// Multiplies the waves of a slab by their decay during a round.
fn decay(slab: &mut [Complex], x: &Axis, y: f64, z: &Axis) {
    for (row, z) in slab.chunks_exact_mut(x.length).zip(&z.decays) {
        for (wave, x) in row.iter_mut().zip(&x.decays) {
            let factor = x * y * z;
            *wave = Complex { re: wave.re * factor, im: wave.im * factor };
        }
    }
}

/// Returns the sum of 1024 points of the field, divided by the number of all points.
fn checksum(field: &[Complex], [x, y, z]: [usize; 3]) -> [f64; 2] {
    let points = (1..=1024).map(|j| field[((5 * j % z) * y + 3 * j % y) * x + j % x]);
    let sum = points.fold(Complex::default(), Complex::add);
    [sum.re / field.len() as f64, sum.im / field.len() as f64]
}

mod sequential {
    use super::{Problem, ROUNDS, checksum, decay, gather, transform_columns, transform_rows};

    pub(super) fn run(problem: &mut Problem) {
        let Problem { axes: [x, y, z], field, spectrum, copy, sums, .. } = problem;
        let (plane_size, slab_size) = (x.length * y.length, x.length * z.length);
        field.chunks_mut(plane_size).for_each(|plane| {
            transform_rows(plane, &x.forward);
            transform_columns(plane, &y.forward);
        });
        spectrum.chunks_mut(slab_size).enumerate().for_each(|(j, slab)| {
            gather(field, j, slab, x.length);
            transform_columns(slab, &z.forward);
        });
        for _ in 0..ROUNDS {
            let slabs = spectrum.chunks_mut(slab_size).zip(copy.chunks_mut(slab_size));
            slabs.enumerate().for_each(|(j, (slab, copy))| {
                decay(slab, x, y.decays[j], z);
                copy.copy_from_slice(slab);
                transform_columns(copy, &z.backward);
            });
            field.chunks_mut(plane_size).enumerate().for_each(|(k, plane)| {
                gather(copy, k, plane, x.length);
                transform_columns(plane, &y.backward);
                transform_rows(plane, &x.backward);
            });
            sums.push(checksum(field, [x.length, y.length, z.length]));
        }
    }
}

mod rayon {
    use super::{Problem, ROUNDS, checksum, decay, gather, transform_columns, transform_rows};
    use rayon::prelude::*;

    pub(super) fn run(problem: &mut Problem) {
        let Problem { axes: [x, y, z], field, spectrum, copy, sums, .. } = problem;
        let (plane_size, slab_size) = (x.length * y.length, x.length * z.length);
        field.par_chunks_mut(plane_size).for_each(|plane| {
            transform_rows(plane, &x.forward);
            transform_columns(plane, &y.forward);
        });
        spectrum.par_chunks_mut(slab_size).enumerate().for_each(|(j, slab)| {
            gather(field, j, slab, x.length);
            transform_columns(slab, &z.forward);
        });
        for _ in 0..ROUNDS {
            let slabs = spectrum.par_chunks_mut(slab_size).zip(copy.par_chunks_mut(slab_size));
            slabs.enumerate().for_each(|(j, (slab, copy))| {
                decay(slab, x, y.decays[j], z);
                copy.copy_from_slice(slab);
                transform_columns(copy, &z.backward);
            });
            field.par_chunks_mut(plane_size).enumerate().for_each(|(k, plane)| {
                gather(copy, k, plane, x.length);
                transform_columns(plane, &y.backward);
                transform_rows(plane, &x.backward);
            });
            sums.push(checksum(field, [x.length, y.length, z.length]));
        }
    }
}

mod furcate {
    use super::{Problem, ROUNDS, checksum, decay, gather, transform_columns, transform_rows};
    use furcate::prelude::*;

    pub(super) fn run(problem: &mut Problem) {
        let Problem { axes: [x, y, z], field, spectrum, copy, sums, .. } = problem;
        let (plane_size, slab_size) = (x.length * y.length, x.length * z.length);
        field.par_chunks_mut(plane_size).for_each(|plane| {
            transform_rows(plane, &x.forward);
            transform_columns(plane, &y.forward);
        });
        spectrum.par_chunks_mut(slab_size).enumerate().for_each(|(j, slab)| {
            gather(field, j, slab, x.length);
            transform_columns(slab, &z.forward);
        });
        for _ in 0..ROUNDS {
            let slabs = spectrum.par_chunks_mut(slab_size).zip(copy.par_chunks_mut(slab_size));
            slabs.enumerate().for_each(|(j, (slab, copy))| {
                decay(slab, x, y.decays[j], z);
                copy.copy_from_slice(slab);
                transform_columns(copy, &z.backward);
            });
            field.par_chunks_mut(plane_size).enumerate().for_each(|(k, plane)| {
                gather(copy, k, plane, x.length);
                transform_columns(plane, &y.backward);
                transform_rows(plane, &x.backward);
            });
            sums.push(checksum(field, [x.length, y.length, z.length]));
        }
    }
}
