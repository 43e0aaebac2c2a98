//! The trait of everything that can be divided, and its implementations for std's types.

mod options;
mod ranges;
mod slices;
mod strings;
mod tuples;
mod vectors;

/// Something that can be cut in two.
///
/// A type that implements this trait can be scheduled by furcate. Implement it for your own type (or derive it on a
/// struct, with `#[derive(Divisible)]` and furcate's feature `derive`), call `wrap_iter()`, and every policy, scheduler
/// and terminal applies.
///
/// Two methods are enough: [`size`](Self::size) and [`divide_at`](Self::divide_at).
///
/// # Contract
///
/// 1. The left part of a cut holds the first units, the right part the remaining ones. No unit is lost or doubled.
/// 2. `divide_at(i)` puts `i` units to the left, or as near to `i` as the data allow (a string is cut between
///    characters). An `i` past the end puts everything to the left. For `0 < i < size` the left part is not empty.
/// 3. [`size`](Self::size) is 0 exactly if no unit is left.
/// 4. The parts are smaller than the whole. If a size is a guess, a part may report a size that is not smaller.
///    Schedulers tolerate that for a dozen levels and divide on; after that, such a part becomes a leaf.
/// 5. [`divide`](Self::divide) works even if [`should_be_divided`](Self::should_be_divided) returns `false`: one part
///    is then empty.
///
/// The trait is **safe to implement wrongly**: a wrong size or cut leads to a wrong result or a panic, never to
/// undefined behavior. Schedulers neither loop for ever nor overflow the stack on divisions that make no progress.
///
/// ```
/// use furcate::Divisible;
///
/// struct Rows { first: usize, last: usize }
///
/// impl Divisible for Rows {
///     fn size(&self) -> usize {
///         self.last - self.first
///     }
///     fn divide_at(self, index: usize) -> (Self, Self) {
///         let middle = self.first + index.min(self.size());
///         (Rows { first: self.first, last: middle }, Rows { first: middle, last: self.last })
///     }
/// }
///
/// let (upper, lower) = Rows { first: 10, last: 20 }.divide();
/// assert_eq!((upper.last, lower.first), (15, 15));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be cut in two",
    note = "implement `Divisible` for it (two methods: `size` and `divide_at`) or derive it: `#[derive(Divisible)]`, with furcate's feature `derive`",
    note = "a field of a derived struct that is not to be cut says so: `#[divide_by(clone)]` or `#[divide_by(default)]`",
    note = "a reference to a vector or an array is cut as a slice: write `&v[..]` for `&v`, and `&mut v[..]` for `&mut v`"
)]
pub trait Divisible: Sized {
    /// Returns the number of units, as [`divide_at`](Self::divide_at) counts them: elements, bytes of a string, numbers
    /// of a range. `usize::MAX` stands for any number that does not fit.
    ///
    /// Policies decide by the size. It may differ from the number of items that come out (a `filter` has its input's
    /// size).
    fn size(&self) -> usize;

    /// Cuts after `index` units. See the trait's contract.
    fn divide_at(self, index: usize) -> (Self, Self);

    /// Whether anything is left to cut. By default: whether the size is at least 2.
    fn should_be_divided(&self) -> bool {
        self.size() > 1
    }

    /// Cuts into two parts of about the same size. By default, cuts at half the size.
    fn divide(self) -> (Self, Self) {
        let half = self.size() / 2;
        self.divide_at(half)
    }
}
