//! Libraries of images and of video.

use super::{Bits, against_one_thread};
use crate::random::Random;
use crate::{Case, Size};
use image::{GrayImage, Luma, Rgb, RgbImage};

/// A pattern with noise.
fn gray(random: &mut Random, width: u32, height: u32) -> GrayImage {
    GrayImage::from_fn(width, height, |x, y| {
        Luma([(((x ^ y) + x * y / 64) as u8).wrapping_add(random.below(16) as u8)])
    })
}

/// Encodes a pattern that moves. Each frame has four tiles.
pub(super) fn rav1e(size: Size) -> Case {
    use rav1e::prelude::{Config, Context, EncoderConfig, EncoderStatus};
    let (width, height, count) = size.pick((384, 256, 6), (128, 128, 2));
    let mut random = Random(20);
    let mut plane = |width: usize, height: usize, frame: usize| -> Vec<u8> {
        let pixel = |x: usize, y: usize| ((x + 3 * frame) ^ (y + frame)) as u8;
        let noisy = |i: usize| pixel(i % width, i / width).wrapping_add(random.below(8) as u8);
        (0..width * height).map(noisy).collect()
    };
    let frames: Vec<[Vec<u8>; 3]> = (0..count)
        .map(|frame| {
            [(width, height), (width / 2, height / 2), (width / 2, height / 2)]
                .map(|(width, height)| plane(width, height, frame))
        })
        .collect();
    against_one_thread(move || {
        let settings = EncoderConfig {
            width,
            height,
            tiles: 4,
            low_latency: true,
            ..EncoderConfig::with_speed_preset(10)
        };
        let config = Config::new().with_encoder_config(settings);
        let mut encoder: Context<u8> = config.new_context().expect("the settings are valid");
        for planes in &frames {
            let mut frame = encoder.new_frame();
            for ((plane, pixels), width) in
                frame.planes.iter_mut().zip(planes).zip([width, width / 2, width / 2])
            {
                plane.copy_from_raw_u8(pixels, width, 1);
            }
            encoder.send_frame(frame).expect("the encoder is not flushed yet");
        }
        encoder.flush();
        let mut packets: Vec<Vec<u8>> = Vec::new();
        loop {
            match encoder.receive_packet() {
                Ok(packet) => packets.push(packet.data),
                Err(EncoderStatus::Encoded) => {}
                Err(EncoderStatus::LimitReached) => break packets,
                Err(error) => panic!("the encoder fails: {error}"),
            }
        }
    })
}

/// Computes each pixel on its own; rows take unequal time.
pub(super) fn pixels(size: Size) -> Case {
    let side = size.pick(1000, 100);
    against_one_thread(move || {
        RgbImage::from_par_fn(side, side, |x, y| {
            let (real, imaginary) =
                (f64::from(x) / f64::from(side) * 3.0 - 2.0, f64::from(y) / f64::from(side) * 3.0 - 1.5);
            let (mut a, mut b, mut steps) = (0.0, 0.0, 0_u8);
            while a * a + b * b < 4.0 && steps < 100 {
                (a, b) = (a * a - b * b + real, 2.0 * a * b + imaginary);
                steps += 1;
            }
            Rgb([steps, steps.wrapping_mul(7), 100 - steps])
        })
    })
}

/// Looks for a part of an image at each position.
pub(super) fn match_template(size: Size) -> Case {
    use imageproc::template_matching::{MatchTemplateMethod, match_template, match_template_parallel};
    let (width, height, side) = size.pick((500, 400, 24), (60, 50, 8));
    let image = gray(&mut Random(21), width, height);
    let template = image::imageops::crop_imm(&image, width / 3, height / 3, side, side).to_image();
    let method = MatchTemplateMethod::SumOfSquaredErrors;
    let expected = match_template(&image, &template, method);
    Case::of(Bits(expected.into_raw()), move || {
        Bits(match_template_parallel(&image, &template, method).into_raw())
    })
}

pub(super) fn rotate(size: Size) -> Case {
    use imageproc::geometric_transformations::{Border, Interpolation, rotate_about_center};
    let (width, height) = size.pick((1600, 1200), (160, 120));
    let image = gray(&mut Random(22), width, height);
    against_one_thread(move || {
        rotate_about_center(&image, 0.3, Interpolation::Bicubic, Border::Constant(Luma([0])))
    })
}

/// Makes thumbnails of several sizes.
pub(super) fn resize(size: Size) -> Case {
    use fast_image_resize::images::Image;
    use fast_image_resize::{PixelType, ResizeOptions, Resizer};
    let (width, height): (u32, u32) = size.pick((4000, 3000), (400, 300));
    let pixels: Vec<u8> =
        Random(23).numbers((width * height / 2) as usize).iter().flat_map(|x| x.to_le_bytes()).collect();
    let image = Image::from_vec_u8(width, height, pixels, PixelType::U8x4);
    let image = image.expect("there are as many pixels as it takes");
    against_one_thread(move || {
        [2, 3, 4, 5, 6, 8].map(|divisor| {
            let mut thumbnail = Image::new(width / divisor, height / divisor, PixelType::U8x4);
            let resized = Resizer::new().resize(&image, &mut thumbnail, &ResizeOptions::new());
            resized.expect("both images have the same type of pixels");
            thumbnail.into_vec()
        })
    })
}

/// Writes an image to memory. The library starts a pool for each image, and compresses blocks of lines on it.
pub(super) fn exr(size: Size) -> Case {
    use exr::prelude::{Encoding, Image, SpecificChannels, Vec2, WritableImage};
    let side: usize = size.pick(768, 64);
    let mut random = Random(24);
    let pixels: Vec<(f32, f32, f32)> = (0..side * side)
        .map(|i| {
            let (x, y) = ((i % side) as f32, (i / side) as f32);
            ((x * y).sqrt(), (x / 64.0).floor(), (y / 16.0).floor() + random.below(4) as f32)
        })
        .collect();
    let channels = SpecificChannels::rgb(move |Vec2(x, y): Vec2<usize>| pixels[y * side + x]);
    let image = Image::from_encoded_channels((side, side), Encoding::SMALL_LOSSLESS, channels);
    let write = move |is_parallel: bool| -> Vec<u8> {
        let mut file = std::io::Cursor::new(Vec::new());
        let writer = image.write();
        let writer = if is_parallel { writer } else { writer.non_parallel() };
        writer.to_buffered(&mut file).expect("the image can be written");
        file.into_inner()
    };
    Case::of(write(false), move || write(true))
}
