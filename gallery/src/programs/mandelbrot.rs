//! Draws the Mandelbrot set, and encodes the image as a PNG file in memory (classic: Mandelbrot).

use crate::program::{Program, close, equal, reads};

pub(super) const PROGRAM: Program = Program {
    name: "mandelbrot",
    suite: "classic",
    what: "an image of the Mandelbrot set as a PNG file",
    unit: "lines",
    size: 1000,
    quick: 30,
    schedule: "",
    why: "a tie: the costs of lines differ a hundredfold, but stealing balances many lines in both libraries; one thread encodes the image",
    source: include_str!("mandelbrot.rs"),
    case: |size| {
        reads(size, [sequential::run, rayon::run, furcate::run], |lines, file| {
            equal(file, &sequential::run(lines))?;
            // The area of the set is known to be 1.5066. Points that need more than 500 steps add about a hundredth.
            let black = decoded(file, *lines).iter().filter(|pixel| **pixel == 0).count();
            let area = black as f64 * (RIGHT - LEFT) * (BOTTOM - TOP) / (WIDTH * lines) as f64;
            close(&[area], &[1.5066], 0.05)
        })
    },
};

const WIDTH: usize = 1200;
const STEPS: usize = 500;
const LEFT: f64 = -2.1;
const RIGHT: f64 = 0.7;
const TOP: f64 = -1.2;
const BOTTOM: f64 = 1.2;

/// Draws a line: each point is as bright as the number of steps until its sequence leaves the disk of radius 2.
#[inline(never)]
fn draw(line: &mut [u8], y: usize, lines: usize) {
    let im = TOP + (BOTTOM - TOP) * (y as f64 + 0.5) / lines as f64;
    for (x, pixel) in line.iter_mut().enumerate() {
        let re = LEFT + (RIGHT - LEFT) * (x as f64 + 0.5) / WIDTH as f64;
        let (mut a, mut b) = (0.0, 0.0);
        let leaves = (0..STEPS).find(|_| {
            (a, b) = (a * a - b * b + re, 2.0 * a * b + im);
            a * a + b * b > 4.0
        });
        *pixel = leaves.map_or(0, |step| (step % 255) as u8 + 1);
    }
}

/// Returns an image as a file.
fn encoded(image: &[u8], lines: usize) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, WIDTH as u32, lines as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().expect("a vector takes all bytes");
    writer.write_image_data(image).expect("the image has the size that was named");
    writer.finish().expect("the image is complete");
    file
}

/// Returns a file's image.
fn decoded(file: &[u8], lines: usize) -> Vec<u8> {
    let mut image = vec![0; WIDTH * lines];
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("a PNG file");
    reader.next_frame(&mut image).expect("an image of the right size");
    image
}

mod sequential {
    use super::{WIDTH, draw, encoded};

    pub(super) fn run(lines: &usize) -> Vec<u8> {
        let mut image = vec![0; WIDTH * lines];
        image.chunks_mut(WIDTH).enumerate().for_each(|(y, line)| draw(line, y, *lines));
        encoded(&image, *lines)
    }
}

mod rayon {
    use super::{WIDTH, draw, encoded};
    use rayon::prelude::*;

    pub(super) fn run(lines: &usize) -> Vec<u8> {
        let mut image = vec![0; WIDTH * lines];
        image.par_chunks_mut(WIDTH).enumerate().for_each(|(y, line)| draw(line, y, *lines));
        encoded(&image, *lines)
    }
}

mod furcate {
    use super::{WIDTH, draw, encoded};
    use furcate::prelude::*;

    pub(super) fn run(lines: &usize) -> Vec<u8> {
        let mut image = vec![0; WIDTH * lines];
        image.par_chunks_mut(WIDTH).enumerate().for_each(|(y, line)| draw(line, y, *lines));
        encoded(&image, *lines)
    }
}
