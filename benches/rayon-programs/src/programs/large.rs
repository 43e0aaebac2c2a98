//! Programs of published libraries that take long to build.

mod documents;
mod frames;

use super::Prepare;

pub(super) const ALL: &[(&str, Prepare)] = &[
    ("polars-group", frames::group),
    ("polars-join", frames::join),
    ("tantivy", documents::tantivy),
    ("typst", documents::typst),
];
