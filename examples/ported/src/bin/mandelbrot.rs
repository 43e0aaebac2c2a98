//! Draws the Mandelbrot set, row by row, and writes a PNG file.

// The line that differs from a program on rayon.
#[cfg(not(feature = "rayon"))]
use furcate as rayon;

use clap::Parser;
use rayon::prelude::*;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

/// Draws the Mandelbrot set.
#[derive(Parser)]
struct Arguments {
    /// Width and height of the picture, in pixels
    #[arg(default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    size: u32,
    /// The PNG file to write; none if it is left out
    file: Option<PathBuf>,
}

const MOST: u32 = 1000;

/// Returns the number of steps after which the point has left the circle of radius 2.
fn steps(re: f64, im: f64) -> u32 {
    let (mut x, mut y) = (0.0, 0.0);
    for step in 0..MOST {
        let (xx, yy) = (x * x, y * y);
        if xx + yy > 4.0 {
            return step;
        }
        (x, y) = (xx - yy + re, 2.0 * x * y + im);
    }
    MOST
}

fn color(steps: u32) -> [u8; 3] {
    if steps == MOST {
        return [0, 0, 0];
    }
    let t = (steps as f64 / 60.0).sqrt();
    [0.0, 0.33, 0.67].map(|phase| (127.5 * (1.0 - ((t + phase) * std::f64::consts::TAU).cos())) as u8)
}

fn draw(size: usize) -> Vec<u8> {
    let mut pixels = vec![0; 3 * size * size];
    pixels.par_chunks_mut(3 * size).enumerate().for_each(|(row, pixels)| {
        let im = row as f64 / size as f64 * 3.0 - 1.5;
        for (column, pixel) in pixels.chunks_mut(3).enumerate() {
            let re = column as f64 / size as f64 * 3.0 - 2.25;
            pixel.copy_from_slice(&color(steps(re, im)));
        }
    });
    pixels
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { size, file } = Arguments::parse();
    let pixels = ported::timed(|| draw(size as usize));
    println!("result {}", pixels.par_iter().map(|&x| u64::from(x)).sum::<u64>());
    if let Some(path) = file {
        let file =
            File::create(&path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        let mut encoder = png::Encoder::new(BufWriter::new(file), size, size);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header()?.write_image_data(&pixels)?;
    }
    Ok(())
}
