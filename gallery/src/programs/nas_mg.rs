//! Solves a Poisson equation on a cube with periodic borders, by four V-cycles (NAS: MG, multigrid).

use crate::nas::{Generator, SEED};
use crate::program::{Program, changes, close};

pub(super) const PROGRAM: Program = Program {
    name: "nas_mg",
    suite: "NAS",
    what: "a Poisson equation by multigrid",
    unit: "class: 0 = S, 1 = W, 2 = A",
    size: 2,
    quick: 0,
    schedule: "",
    why: "a tie: the loops over fine grids are even, wait for memory and take most of the time; the cost of a call shows only on the coarse grids",
    source: include_str!("nas_mg.rs"),
    case: |size| {
        let (points, norm) = *CLASSES.get(size).expect("give the class as 0 (S), 1 (W) or 2 (A)");
        let columns = [sequential::run, rayon::run, furcate::run];
        let problem = Problem { expected: norm, ..Problem::new(points) };
        changes(problem, columns, |input, output| close(&[output.norm / input.expected], &[1.0], 1e-8))
    },
};

/// The classes of the benchmark: the points of an edge, and the published norm of the residual.
const CLASSES: [(usize, f64); 3] =
    [(32, 0.5307707005734e-4), (128, 0.6467329375339e-5), (256, 0.2433365309069e-5)];

const ROUNDS: usize = 4;

/// The weights of a point, and of its neighbors across a face, across an edge, and across a corner.
type Weights = [f64; 4];

/// The equation's operator, negated: charges plus its result are the residual.
const MINUS_OPERATOR: Weights = [8.0 / 3.0, 0.0, -1.0 / 6.0, -1.0 / 12.0];
const SMOOTHER: Weights = [-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0, 0.0];
const RESTRICTION: Weights = [0.5, 0.25, 0.125, 0.0625];

/// A cube of numbers, plane by plane, and row by row within a plane. Opposite borders are neighbors.
#[derive(Clone)]
struct Grid {
    points: usize,
    values: Vec<f64>,
}

impl Grid {
    fn new(points: usize) -> Grid {
        Grid { points, values: vec![0.0; points.pow(3)] }
    }

    fn plane(&self, plane: usize) -> &[f64] {
        &self.values[plane * self.points.pow(2)..][..self.points.pow(2)]
    }

    fn row(&self, plane: usize, row: usize) -> &[f64] {
        &self.values[(plane * self.points + row) * self.points..][..self.points]
    }

    /// Returns the indices of a plane's neighbors, or of a row's neighbors.
    fn beside(&self, index: usize) -> (usize, usize) {
        ((index + self.points - 1) % self.points, (index + 1) % self.points)
    }

    /// Returns the least number of planes of a part in the parallel columns. A coarse grid is one part.
    fn least_part(&self) -> usize {
        4096_usize.div_ceil(self.points.pow(2))
    }
}

/// A grid of the V-cycle: the residual of its equation, and the correction of the solution.
#[derive(Clone)]
struct Level {
    residual: Grid,
    correction: Grid,
}

#[derive(Clone)]
struct Problem {
    charges: Grid,
    solution: Grid,
    levels: Vec<Level>,
    norm: f64,
    expected: f64,
}

impl Problem {
    /// Puts charges of 1 and -1 at the places of the ten largest and the ten smallest of random numbers.
    fn new(points: usize) -> Problem {
        let mut random = Generator::new(SEED);
        let mut charges = Grid::new(points);
        let mut places: Vec<(f64, usize)> =
            (0..charges.values.len()).map(|place| (random.draw(), place)).collect();
        places.select_nth_unstable_by(10, |a, b| a.0.total_cmp(&b.0));
        places[..10].iter().for_each(|&(_, place)| charges.values[place] = -1.0);
        let last = places.len() - 10;
        places.select_nth_unstable_by(last, |a, b| a.0.total_cmp(&b.0));
        places[last..].iter().for_each(|&(_, place)| charges.values[place] = 1.0);

        let sizes = std::iter::successors(Some(points), |points| (*points > 2).then_some(points / 2));
        let levels = sizes.map(|points| Level { residual: Grid::new(points), correction: Grid::new(points) });
        Problem { charges, solution: Grid::new(points), levels: levels.collect(), norm: 0.0, expected: 0.0 }
    }
}

/// Space for rows of intermediate sums.
struct Rows {
    faces: Vec<f64>,
    edges: Vec<f64>,
    result: Vec<f64>,
    beside: Vec<f64>,
}

impl Rows {
    fn new(points: usize) -> Rows {
        let row = vec![0.0; points];
        Rows { faces: row.clone(), edges: row.clone(), result: row, beside: vec![0.0; points + 2] }
    }

    /// Computes the weighted sum of each point of a row and its 26 neighbors.
    fn weigh(&mut self, weights: Weights, grid: &Grid, plane: usize, row: usize) -> &[f64] {
        let [own, face, edge, corner] = weights;
        let ((below, above), (left, right)) = (grid.beside(plane), grid.beside(row));
        add_rows([(below, row), (above, row), (plane, left), (plane, right)], grid, &mut self.faces);
        add_rows([(below, left), (below, right), (above, left), (above, right)], grid, &mut self.edges);
        let sums = grid.row(plane, row).iter().zip(&self.faces).zip(&self.edges);
        let results = self.result.iter_mut().zip(&mut self.beside[1..]);
        for ((result, beside), ((point, faces), edges)) in results.zip(sums) {
            *result = own * point + face * faces + edge * edges;
            *beside = face * point + edge * faces + corner * edges;
        }
        self.beside[0] = self.beside[grid.points];
        self.beside[grid.points + 1] = self.beside[1];
        let beside = self.beside.iter().zip(&self.beside[2..]);
        self.result.iter_mut().zip(beside).for_each(|(result, (left, right))| *result += left + right);
        &self.result
    }
}

fn add_rows([a, b, c, d]: [(usize, usize); 4], grid: &Grid, sum: &mut [f64]) {
    let [a, b, c, d] = [a, b, c, d].map(|(plane, row)| grid.row(plane, row));
    for ((((sum, a), b), c), d) in sum.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        *sum = a + b + (c + d);
    }
}

/// Adds to each point of a plane the weighted sum of the other grid's points around it.
fn add_weighted(weights: Weights, grid: &Grid, plane: usize, out: &mut [f64]) {
    let mut rows = Rows::new(grid.points);
    for (row, out) in out.chunks_mut(grid.points).enumerate() {
        add(out, rows.weigh(weights, grid, plane, row));
    }
}

/// Computes a plane of a coarse grid. Its points are the fine grid's points with odd indices.
fn restrict(fine: &Grid, plane: usize, out: &mut [f64]) {
    let mut rows = Rows::new(fine.points);
    for (row, out) in out.chunks_mut(fine.points / 2).enumerate() {
        let odd = rows.weigh(RESTRICTION, fine, 2 * plane + 1, 2 * row + 1).iter().skip(1).step_by(2);
        out.iter_mut().zip(odd).for_each(|(out, value)| *out = *value);
    }
}

/// Computes a plane of a fine grid: each point is the mean of the eight coarse points next to it, some of which coincide.
fn interpolate(coarse: &Grid, plane: usize, out: &mut [f64]) {
    let next = |fine: usize| ((fine + 2 * coarse.points - 1) / 2 % coarse.points, fine / 2);
    let (below, above) = next(plane);
    let mut sums = vec![0.0; coarse.points];
    for (row, out) in out.chunks_mut(2 * coarse.points).enumerate() {
        let (left, right) = next(row);
        add_rows([(below, left), (below, right), (above, left), (above, right)], coarse, &mut sums);
        let mut before = sums[coarse.points - 1];
        for (pair, &sum) in out.chunks_exact_mut(2).zip(&sums) {
            pair[0] = (before + sum) / 8.0;
            pair[1] = sum / 4.0;
            before = sum;
        }
    }
}

fn add(out: &mut [f64], values: &[f64]) {
    out.iter_mut().zip(values).for_each(|(out, value)| *out += value);
}

fn sum_of_squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

mod sequential {
    use super::{Grid, Level, MINUS_OPERATOR, Problem, ROUNDS, SMOOTHER};
    use super::{add, add_weighted, interpolate, restrict, sum_of_squares};

    pub(super) fn run(problem: &mut Problem) {
        let Problem { charges, solution, levels, norm, .. } = problem;
        for _ in 0..ROUNDS {
            compute_residual(charges, solution, &mut levels[0].residual);
            correct(levels);
            let correction = &levels[0].correction;
            on_planes(solution, |k, plane| add(plane, correction.plane(k)));
        }
        let residual = &mut levels[0].residual;
        compute_residual(charges, solution, residual);
        let squares: f64 = (0..residual.points).map(|k| sum_of_squares(residual.plane(k))).sum();
        *norm = (squares / residual.values.len() as f64).sqrt();
    }

    fn compute_residual(charges: &Grid, solution: &Grid, residual: &mut Grid) {
        on_planes(residual, |k, plane| {
            plane.copy_from_slice(charges.plane(k));
            add_weighted(MINUS_OPERATOR, solution, k, plane);
        });
    }

    /// Corrects the solution of the finest level: first on the coarser levels, then by smoothing.
    fn correct(levels: &mut [Level]) {
        let [Level { residual, correction }, coarser @ ..] = levels else { return };
        if coarser.is_empty() {
            correction.values.fill(0.0);
        } else {
            on_planes(&mut coarser[0].residual, |k, plane| restrict(residual, k, plane));
            correct(coarser);
            on_planes(correction, |k, plane| interpolate(&coarser[0].correction, k, plane));
            on_planes(residual, |k, plane| add_weighted(MINUS_OPERATOR, correction, k, plane));
        }
        on_planes(correction, |k, plane| add_weighted(SMOOTHER, residual, k, plane));
    }

    fn on_planes(grid: &mut Grid, work: impl Fn(usize, &mut [f64])) {
        let size = grid.points.pow(2);
        grid.values.chunks_mut(size).enumerate().for_each(|(k, plane)| work(k, plane));
    }
}

mod rayon {
    use super::{Grid, Level, MINUS_OPERATOR, Problem, ROUNDS, SMOOTHER};
    use super::{add, add_weighted, interpolate, restrict, sum_of_squares};
    use rayon::prelude::*;

    pub(super) fn run(problem: &mut Problem) {
        let Problem { charges, solution, levels, norm, .. } = problem;
        for _ in 0..ROUNDS {
            compute_residual(charges, solution, &mut levels[0].residual);
            correct(levels);
            let correction = &levels[0].correction;
            on_planes(solution, |k, plane| add(plane, correction.plane(k)));
        }
        let residual = &mut levels[0].residual;
        compute_residual(charges, solution, residual);
        let squares: f64 =
            (0..residual.points).into_par_iter().map(|k| sum_of_squares(residual.plane(k))).sum();
        *norm = (squares / residual.values.len() as f64).sqrt();
    }

    fn compute_residual(charges: &Grid, solution: &Grid, residual: &mut Grid) {
        on_planes(residual, |k, plane| {
            plane.copy_from_slice(charges.plane(k));
            add_weighted(MINUS_OPERATOR, solution, k, plane);
        });
    }

    /// Corrects the solution of the finest level: first on the coarser levels, then by smoothing.
    fn correct(levels: &mut [Level]) {
        let [Level { residual, correction }, coarser @ ..] = levels else { return };
        if coarser.is_empty() {
            correction.values.fill(0.0);
        } else {
            on_planes(&mut coarser[0].residual, |k, plane| restrict(residual, k, plane));
            correct(coarser);
            on_planes(correction, |k, plane| interpolate(&coarser[0].correction, k, plane));
            on_planes(residual, |k, plane| add_weighted(MINUS_OPERATOR, correction, k, plane));
        }
        on_planes(correction, |k, plane| add_weighted(SMOOTHER, residual, k, plane));
    }

    fn on_planes(grid: &mut Grid, work: impl Fn(usize, &mut [f64]) + Sync) {
        let (size, least) = (grid.points.pow(2), grid.least_part());
        let planes = grid.values.par_chunks_mut(size).enumerate();
        planes.with_min_len(least).for_each(|(k, plane)| work(k, plane));
    }
}

mod furcate {
    use super::{Grid, Level, MINUS_OPERATOR, Problem, ROUNDS, SMOOTHER};
    use super::{add, add_weighted, interpolate, restrict, sum_of_squares};
    use furcate::prelude::*;

    pub(super) fn run(problem: &mut Problem) {
        let Problem { charges, solution, levels, norm, .. } = problem;
        for _ in 0..ROUNDS {
            compute_residual(charges, solution, &mut levels[0].residual);
            correct(levels);
            let correction = &levels[0].correction;
            on_planes(solution, |k, plane| add(plane, correction.plane(k)));
        }
        let residual = &mut levels[0].residual;
        compute_residual(charges, solution, residual);
        let squares: f64 =
            (0..residual.points).into_par_iter().map(|k| sum_of_squares(residual.plane(k))).sum();
        *norm = (squares / residual.values.len() as f64).sqrt();
    }

    fn compute_residual(charges: &Grid, solution: &Grid, residual: &mut Grid) {
        on_planes(residual, |k, plane| {
            plane.copy_from_slice(charges.plane(k));
            add_weighted(MINUS_OPERATOR, solution, k, plane);
        });
    }

    /// Corrects the solution of the finest level: first on the coarser levels, then by smoothing.
    fn correct(levels: &mut [Level]) {
        let [Level { residual, correction }, coarser @ ..] = levels else { return };
        if coarser.is_empty() {
            correction.values.fill(0.0);
        } else {
            on_planes(&mut coarser[0].residual, |k, plane| restrict(residual, k, plane));
            correct(coarser);
            on_planes(correction, |k, plane| interpolate(&coarser[0].correction, k, plane));
            on_planes(residual, |k, plane| add_weighted(MINUS_OPERATOR, correction, k, plane));
        }
        on_planes(correction, |k, plane| add_weighted(SMOOTHER, residual, k, plane));
    }

    fn on_planes(grid: &mut Grid, work: impl Fn(usize, &mut [f64]) + Sync) {
        let (size, least) = (grid.points.pow(2), grid.least_part());
        let planes = grid.values.par_chunks_mut(size).enumerate();
        planes.with_min_len(least).for_each(|(k, plane)| work(k, plane));
    }
}
