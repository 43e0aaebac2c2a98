//! Both preludes in one module: a method belongs to the library whose type it is called on.

use furcate::beside_rayon::*;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// The names in a module of the library's root.
fn names(module: &str) -> BTreeSet<&'static str> {
    let source =
        include_str!("../../src/lib.rs").split_once(&format!("pub mod {module} {{")).expect("the module").1;
    let source = source.split_once("\n}").expect("its end").0;
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let words = code.flat_map(|line| line.split([' ', ',', '{', '}', ';', ':']));
    words.filter(|word| word.starts_with(|first: char| first.is_ascii_uppercase())).collect()
}

#[test]
fn both_have_the_same_traits() {
    assert!(names("prelude").len() > 15);
    assert_eq!(names("prelude"), names("beside_rayon"));
}

#[test]
fn the_type_decides() {
    let ours =
        furcate::iter::repeat_n(3_u64, 100).map(|x| x + 1).filter(|x| *x > 3).size_limit(7).sum::<u64>();
    let theirs = rayon::iter::repeat_n(3_u64, 100)
        .map(|x| x + 1)
        .filter(|x| *x > 3)
        .with_min_len_of_rayon()
        .sum::<u64>();
    assert_eq!(ours, theirs);
    // Methods that only one library has.
    assert_eq!((0..10_u64).wrap_iter().bound_depth(1).map(|piece| piece.sum::<u64>()).sum::<u64>(), 45);
    // Rayon's names are there.
    fn total(items: impl ParallelIterator<Item = u64>) -> u64 {
        items.sum()
    }
    assert_eq!(total(rayon::iter::once(5)), 5);
    assert_eq!(total(furcate::iter::once(5).into_rayon()), 5);
}

/// A method that takes an iterator of rayon's as it is.
trait OfRayon: ParallelIterator {
    fn with_min_len_of_rayon(self) -> Self {
        self
    }
}
impl<I: ParallelIterator> OfRayon for I {}
