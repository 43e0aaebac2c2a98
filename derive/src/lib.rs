//! `#[derive(Divisible)]`, the proc-macro crate behind furcate's feature `derive`.
//!
//! Use it through `furcate`, which re-exports the macro beside the trait of the same name.
#![forbid(unsafe_code)]

mod expand;
mod parse;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements the trait `Divisible` for a struct: its fields are cut at the same place. (Feature `derive` of `furcate`,
/// which is not on by default.)
///
/// ```
/// use furcate::prelude::*;
///
/// #[derive(Divisible)]
/// struct Sums<'a> {
///     terms: &'a [u64],
///     totals: &'a mut [u64],
/// }
///
/// let mut totals = [0; 4];
/// let (left, right) = Sums { terms: &[1, 2, 3, 4], totals: &mut totals }.divide();
/// assert_eq!((left.terms, right.terms), (&[1, 2][..], &[3, 4][..]));
/// assert_eq!((left.totals.len(), right.totals.len()), (2, 2));
/// ```
///
/// # Fields
///
/// | attribute | left part | right part | needs |
/// |---|---|---|---|
/// | none | the part before the cut | the rest | `Divisible` |
/// | `#[divide_by(clone)]` | a clone | the value | `Clone` |
/// | `#[divide_by(default)]` | the value | `Default::default()` | `Default` |
///
/// `default` is for a value that has been accumulated so far. Such a value belongs to the items before the cut, so it
/// stays **left**, and the right part begins with an empty one. A reduction that puts the left part before the right
/// one then loses and doubles nothing.
///
/// ```
/// use furcate::prelude::*;
///
/// #[derive(Divisible)]
/// struct Search<'a> {
///     text: &'a str,
///     #[divide_by(clone)]
///     needle: char,
///     #[divide_by(default)]
///     found: usize,
/// }
///
/// let matches: usize = Search { text: "how much wood would a woodchuck chuck", needle: 'w', found: 0 }
///     .wrap_iter()
///     .map(|part| part.found + part.text.matches(part.needle).count())
///     .sum();
/// assert_eq!(matches, 4);
///
/// let (left, right) = Search { text: "ab", needle: 'w', found: 7 }.divide();
/// assert_eq!((left.found, right.found), (7, 0));
/// ```
///
/// # Methods
///
/// * `size` is the smallest size of a divided field. The excess of longer fields stays in the right part.
/// * `should_be_divided` is true if it is true for all divided fields.
/// * `divide_at(i)` cuts all divided fields after `i` units.
/// * `divide`: if a struct has one divided field, that field chooses the middle (a string may know a better one than half
///   of its bytes). Else all divided fields are cut after half the size.
///
/// # Generics
///
/// Lifetimes, parameters and where-clauses are kept. If a field's type mentions a type parameter, the requirement of
/// the field (the table's last column) becomes a condition of the implementation.
///
/// ```
/// use furcate::Divisible;
///
/// #[derive(Divisible)]
/// struct Tagged<D, T>(D, #[divide_by(clone)] T);
///
/// let (left, right) = Tagged(0..10, "tag").divide_at(3); // `Range<i32>: Divisible`, `&str: Clone`
/// assert_eq!((left.0, right.0, right.1), (0..3, 3..10, "tag"));
/// ```
///
/// # A renamed crate
///
/// The generated code names `::furcate`. If the crate has another name, or is re-exported by another crate, give its
/// path on the struct:
///
/// ```
/// mod vendored {
///     pub use ::furcate as scheduling;
/// }
///
/// #[derive(vendored::scheduling::Divisible)]
/// #[divide_by(crate = crate::vendored::scheduling)]
/// struct Rows(std::ops::Range<usize>);
/// # fn main() {}
/// ```
///
/// # Errors
///
/// The macro refuses an enum, a union and a struct without a divided field: there would be nothing to cut, or several
/// ways to do it.
///
/// ```compile_fail
/// #[derive(furcate::Divisible)]
/// enum Work { Rows(std::ops::Range<usize>), Done }
/// ```
/// ```compile_fail
/// #[derive(furcate::Divisible)]
/// struct Nothing;
/// ```
/// ```compile_fail
/// #[derive(furcate::Divisible)]
/// struct Fixed { #[divide_by(clone)] factor: u32 }
/// ```
///
/// If a field does not meet the requirement in the table's last column, the error points at its type. A struct that
/// implements `Drop` cannot be taken apart:
///
/// ```compile_fail,E0277
/// #[derive(furcate::Divisible)]
/// struct Scaled<'a> { values: &'a [f64], factor: f64 } // `factor` needs #[divide_by(clone)]
/// ```
/// ```compile_fail,E0277
/// struct NotClone;
///
/// #[derive(furcate::Divisible)]
/// struct Node<'a> { values: &'a [f64], #[divide_by(clone)] state: NotClone }
/// ```
/// ```compile_fail,E0509
/// #[derive(furcate::Divisible)]
/// struct Guarded<'a> { values: &'a mut [f64] }
///
/// impl Drop for Guarded<'_> {
///     fn drop(&mut self) {}
/// }
/// ```
#[proc_macro_derive(Divisible, attributes(divide_by))]
pub fn derive_divisible(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    parse::Struct::parse(&input)
        .map_or_else(syn::Error::into_compile_error, |parsed| expand::divisible(&parsed))
        .into()
}

#[cfg(test)]
mod tests;
