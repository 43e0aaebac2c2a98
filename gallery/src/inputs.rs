//! Inputs, made by random generators with fixed seeds: the same ones in each run.

use crate::geometry::{Point, Ray, Triangle, minus};
use crate::graph::Edges;
use fastrand::Rng;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, process};

/// Returns numbers below a bound. Small ones are more frequent: each number is a product of two random numbers.
#[must_use]
pub fn skewed_numbers(count: usize, bound: u32) -> Vec<u32> {
    let mut random = Rng::with_seed(1);
    (0..count).map(|_| (random.f64() * random.f64() * f64::from(bound)) as u32).collect()
}

/// Random words. The frequency of the nth word in a text is proportional to about 1/n (Zipf's law).
#[derive(Debug)]
pub struct Vocabulary {
    words: Vec<String>,
    random: Rng,
}

impl Vocabulary {
    /// Makes 65,536 words.
    #[must_use]
    pub fn new() -> Vocabulary {
        let mut random = Rng::with_seed(2);
        let mut word = || (0..random.usize(3..12)).map(|_| random.lowercase()).collect();
        Vocabulary { words: (0..1 << 16).map(|_| word()).collect(), random }
    }

    /// Returns a text of about `bytes` bytes: lines of about 80 bytes, with a space between two words.
    pub fn text(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 16);
        let mut line = 0;
        while text.len() < bytes {
            let place = (self.words.len() as f64).powf(self.random.f64()) as usize;
            text += &self.words[place - 1];
            let full = text.len() - line > 80;
            text.push(if full { '\n' } else { ' ' });
            line = if full { text.len() } else { line };
        }
        text
    }

    /// Returns texts of very different lengths, which have about `bytes` bytes together.
    pub fn documents(&mut self, bytes: usize) -> Vec<String> {
        let mut documents = Vec::new();
        let mut rest = bytes;
        while rest > 0 {
            let length = skewed_length(&mut self.random, 100, 400_000).min(rest);
            documents.push(self.text(length));
            rest -= length;
        }
        documents
    }
}

impl Default for Vocabulary {
    fn default() -> Vocabulary {
        Vocabulary::new()
    }
}

/// Returns a random length. One length in n is at least n times the least one (Pareto's law, as for the files of a disk).
fn skewed_length(random: &mut Rng, least: usize, most: usize) -> usize {
    ((least as f64 / (1.0 - random.f64())) as usize).min(most)
}

/// A temporary folder of text files. The folder is removed when the value is dropped.
#[derive(Debug)]
pub struct TextFolder {
    folder: PathBuf,
    /// The paths of the files.
    pub files: Vec<PathBuf>,
}

impl TextFolder {
    /// Writes files of very different lengths: from 2000 bytes to eight million.
    ///
    /// # Panics
    ///
    /// If a file cannot be written.
    #[must_use]
    pub fn new(files: usize) -> TextFolder {
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("furcate-gallery-{}-{number}", process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder can be written");

        const LONGEST: usize = 8_000_000;
        let text = Vocabulary::new().text(LONGEST);
        let mut random = Rng::with_seed(3);
        let files = (0..files).map(|number| {
            let path = folder.join(format!("{number}.txt"));
            let length = skewed_length(&mut random, 2000, LONGEST);
            fs::write(&path, &text[..length]).expect("the temporary folder can be written");
            path
        });
        TextFolder { files: files.collect(), folder }
    }
}

impl Drop for TextFolder {
    fn drop(&mut self) {
        // If this fails, the files stay in the temporary folder.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns the edges of a graph with a few vertices of very many edges, 16 ends per vertex on average, in random order.
///
/// The number of vertices with at least d edges falls as the power -1.5 of d, as in many social networks. Vertices are numbered in
/// random order.
#[must_use]
pub fn power_law_edges(vertex_count: usize) -> Edges {
    let mut random = Rng::with_seed(2);
    let numbers = random_numbers(vertex_count, &mut random);
    let mut end = || numbers[(random.f64().powi(3) * vertex_count as f64) as usize];
    let ends = (0..8 * vertex_count).map(|_| [end(), end()]).filter(|[a, b]| a != b).collect();
    Edges { vertex_count, ends }
}

/// Returns the edges of the largest cubic grid with at most `at_most` vertices. Vertices are numbered in random order.
#[must_use]
pub fn grid_edges(at_most: usize) -> Edges {
    let side = (1..).take_while(|side| side * side * side <= at_most).last().unwrap_or(0);
    let vertex_count = side * side * side;
    let numbers = random_numbers(vertex_count, &mut Rng::with_seed(3));
    let is_inside = |place, step| place / step % side + 1 < side;
    let next = |place, step| is_inside(place, step).then(|| [numbers[place], numbers[place + step]]);
    let forward = |place| [1, side, side * side].into_iter().filter_map(move |step| next(place, step));
    Edges { vertex_count, ends: (0..vertex_count).flat_map(forward).collect() }
}

/// Returns all numbers below `count`, in random order.
fn random_numbers(count: usize, random: &mut Rng) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..count as u32).collect();
    random.shuffle(&mut numbers);
    numbers
}

/// Returns points with whole coordinates below 1000. Each point is near one of `places` random places.
#[must_use]
pub fn clustered_points<const N: usize>(count: usize, places: usize) -> Vec<[f64; N]> {
    let mut random = Rng::with_seed(4);
    let centers: Vec<[f64; N]> = (0..places).map(|_| [(); N].map(|()| 900.0 * random.f64())).collect();
    let mut near = |place: f64| (place + 100.0 * random.f64() * random.f64()).floor();
    (0..count).map(|i| centers[i % places].map(&mut near)).collect()
}

/// Returns random points of the unit cube (or square).
#[must_use]
pub fn points_in_cube<const D: usize>(count: usize) -> Vec<Point<D>> {
    let mut random = Rng::with_seed(2);
    (0..count).map(|_| std::array::from_fn(|_| random.f64())).collect()
}

/// Returns random points of the disk with center 0 and radius 1.
#[must_use]
pub fn points_in_disk(count: usize) -> Vec<Point<2>> {
    let mut random = Rng::with_seed(3);
    let points = std::iter::repeat_with(|| [2.0 * random.f64() - 1.0, 2.0 * random.f64() - 1.0]);
    points.filter(|[x, y]| x * x + y * y < 1.0).take(count).collect()
}

/// Returns points of the unit cube (or square), in clouds around ten random places.
#[must_use]
pub fn points_in_clouds<const D: usize>(count: usize) -> Vec<Point<D>> {
    let mut random = Rng::with_seed(4);
    let centers = points_in_cube::<D>(10);
    let near = |_| {
        let center = centers[random.usize(..centers.len())];
        let spread = random.f64().powi(2);
        center.map(|x| (x + spread * (random.f64() - 0.5)).rem_euclid(1.0))
    };
    (0..count).map(near).collect()
}

/// Returns points with whole coordinates below 2^20. All points differ.
#[must_use]
pub fn grid_points(count: usize) -> Vec<[i32; 2]> {
    let mut random = Rng::with_seed(5);
    let mut seen = std::collections::HashSet::new();
    let points = std::iter::repeat_with(|| [random.i32(..1 << 20), random.i32(..1 << 20)]);
    points.filter(|point| seen.insert(*point)).take(count).collect()
}

/// Returns rectangles within the unit square, as their lower left and upper right corners. Small ones are more frequent.
#[must_use]
pub fn rectangles(count: usize) -> Vec<[Point<2>; 2]> {
    let mut random = Rng::with_seed(6);
    let mut rectangle = || {
        let low = [random.f64(), random.f64()];
        let size = random.f64() * random.f64();
        [low, low.map(|x| x + size * (1.0 - x))]
    };
    (0..count).map(|_| rectangle()).collect()
}

/// Returns small triangles in the unit cube. Their size is such that a ray meets several of them.
#[must_use]
pub fn small_triangles(count: usize) -> Vec<Triangle> {
    let mut random = Rng::with_seed(7);
    let size = 4.0 / (count as f64).sqrt();
    let mut triangle = |(label, place): (usize, Point<3>)| {
        let mut corner = || place.map(|x| x + size * random.f64());
        Triangle { corners: [corner(), corner(), corner()], label: label as u32 }
    };
    points_in_cube(count).into_iter().enumerate().map(&mut triangle).collect()
}

/// Returns rays. Each ray starts at a random point of the unit cube, and goes toward another one.
#[must_use]
pub fn rays(count: usize) -> Vec<Ray> {
    let mut random = Rng::with_seed(8);
    let mut point = || [random.f64(), random.f64(), random.f64()];
    let mut ray = || {
        let (origin, target) = (point(), point());
        Ray { origin, direction: minus(&target, &origin) }
    };
    (0..count).map(|_| ray()).collect()
}

/// Returns two strings of the letters A, C, G and T. In the second one, a third of the first one's letters is replaced by random letters.
#[must_use]
pub fn similar_sequences(length: usize) -> [Vec<u8>; 2] {
    let mut random = Rng::with_seed(9);
    let mut letter = || b"ACGT"[random.usize(..4)];
    let first: Vec<u8> = (0..length).map(|_| letter()).collect();
    let mut random = Rng::with_seed(10);
    let second =
        first.iter().map(|&same| if random.u8(..3) == 0 { b"ACGT"[random.usize(..4)] } else { same });
    [first.clone(), second.collect()]
}

/// Returns random numbers from 0 to 1.
#[must_use]
pub fn random_floats(count: usize, seed: u64) -> Vec<f64> {
    let mut random = Rng::with_seed(seed);
    (0..count).map(|_| random.f64()).collect()
}
