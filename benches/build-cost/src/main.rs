//! The chains, compiled with the library that a feature names, and run once.

#[cfg(feature = "chains")]
mod chains;
#[cfg(feature = "more")]
mod more;

/// The only line that differs between the libraries.
#[cfg(feature = "chains")]
mod prelude {
    #[cfg(feature = "with-furcate")]
    pub(crate) use furcate::prelude::*;
    #[cfg(feature = "with-rayon")]
    pub(crate) use rayon::prelude::*;
}

fn main() {
    #[cfg(feature = "chains")]
    println!("{}", chains::all());
    #[cfg(feature = "more")]
    println!("{}", more::all());
}
