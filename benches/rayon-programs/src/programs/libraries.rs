//! Published libraries that are built on rayon.

use super::against_one_thread;
use crate::random::Random;
use crate::{Case, Size};
use oxipng::{BitDepth, ColorType, Options, RawImage};

/// An image that is made smaller, with filters and compressors tried beside each other.
pub(super) fn oxipng(size: Size) -> Case {
    let side = size.pick(400, 40);
    let mut random = Random(9);
    let mut pixels = Vec::new();
    for y in 0..side {
        for x in 0..side {
            let noise = random.below(8) as u32;
            let circle = (x * x + y * y) / side;
            pixels.extend([x + noise, circle, (x ^ y) / 4].map(|channel| (channel % 256) as u8));
        }
    }
    against_one_thread(move || {
        let image = RawImage::new(
            side,
            side,
            ColorType::RGB { transparent_color: None },
            BitDepth::Eight,
            pixels.clone(),
        );
        let image = image.expect("there are as many pixels as it takes");
        image.create_optimized_png(&Options::from_preset(3)).expect("the image can be written")
    })
}

pub(super) fn blake3(size: Size) -> Case {
    let bytes: Vec<u8> =
        Random(10).numbers(size.pick(4_000_000, 40_000)).iter().flat_map(|x| x.to_le_bytes()).collect();
    const TIMES: usize = 16;
    let expected = (0..TIMES).fold(blake3::Hasher::new(), |mut hasher, _| {
        hasher.update(&bytes);
        hasher
    });
    Case::of(expected.finalize(), move || {
        let mut hasher = blake3::Hasher::new();
        (0..TIMES).for_each(|_| _ = hasher.update_rayon(&bytes));
        hasher.finalize()
    })
}
