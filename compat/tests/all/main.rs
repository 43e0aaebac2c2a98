//! The cases: each method of rayon's under both libraries.

mod every_method;
mod indexed;
mod iter;
