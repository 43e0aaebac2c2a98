//! A join one half of which panics: the panic reaches the caller. With `panic = "abort"` it ends the process.
//!
//! ```text
//! cargo run -p furcate-pool --example panics
//! ```

use furcate_pool::{join, scope};
use std::panic::catch_unwind;

fn main() {
    let mut results = [0; 2];
    scope(|s| results.iter_mut().for_each(|result| s.spawn(|_| *result = join(|| 20, || 1).0 + 1)));
    assert_eq!(results, [21, 21]);
    let caught = catch_unwind(|| join(|| 1, || panic!("in the right half")));
    println!("the panic of one half reached the caller: {}", caught.is_err());
}
