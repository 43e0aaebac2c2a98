//! Programs of published libraries that run on rayon's pool.

mod arrays;
mod collections;
mod files;
mod images;
mod physics;
mod provers;
mod text;

use super::{Prepare, against_one_thread};

pub(super) const ALL: &[(&str, Prepare)] = &[
    ("rav1e", images::rav1e),
    ("image-pixels", images::pixels),
    ("imageproc-match", images::match_template),
    ("imageproc-rotate", images::rotate),
    ("fast-image-resize", images::resize),
    ("exr-write", images::exr),
    ("ark-fft", provers::fft),
    ("ark-msm", provers::msm),
    ("halo2-params", provers::halo2),
    ("winterfell", provers::winterfell),
    ("ndarray-zip", arrays::zip),
    ("ndarray-rows", arrays::rows),
    ("faer-product", arrays::product),
    ("faer-lu", arrays::lu),
    ("nalgebra-columns", arrays::columns),
    ("sprs-product", arrays::sparse_product),
    ("linfa-kmeans", arrays::kmeans),
    ("tokenizers-train", text::train),
    ("tokenizers-encode", text::encode),
    ("lightningcss", text::lightningcss),
    ("rapier3d", physics::rapier),
    ("bvh", physics::bvh),
    ("jwalk", files::jwalk),
    ("tokei", files::tokei),
    ("indexmap-sort", collections::indexmap),
    ("hashbrown-sets", collections::hashbrown),
    ("dashmap-count", collections::dashmap),
    ("petgraph-johnson", collections::petgraph),
];

/// Numbers that are equal if all their bits are equal.
struct Bits<T>(Vec<T>);

impl PartialEq for Bits<f32> {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().map(|x| x.to_bits()).eq(other.0.iter().map(|x| x.to_bits()))
    }
}

impl PartialEq for Bits<f64> {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().map(|x| x.to_bits()).eq(other.0.iter().map(|x| x.to_bits()))
    }
}
