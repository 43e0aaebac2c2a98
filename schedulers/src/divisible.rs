//! *What* is divided.

mod options;
mod ranges;
mod slices;
mod strings;
mod tuples;
mod vectors;

/// Something that can be cut in two.
///
/// This is all that a computation needs in order to be scheduled by furcate. Implement it for your own type (or
/// derive it on a struct, with `#[derive(Divisible)]` and furcate's feature `derive`), call `wrap_iter()`, and every
/// policy, scheduler and terminal applies.
///
/// Two methods are enough: [`size`](Self::size) and [`divide_at`](Self::divide_at).
///
/// # Contract
///
/// 1. The left part of a cut holds what comes first, the right part the rest; nothing is lost or doubled.
/// 2. `divide_at(i)` puts `i` units to the left, or as near as the data allow (a string is cut between characters); an
///    `i` past the end puts everything to the left. For `0 < i < size` the left part is not empty.
/// 3. [`size`](Self::size) is 0 exactly if there is nothing left.
/// 4. The parts are smaller than the whole. Schedulers take a part's word that it is not for a guess, and divide on,
///    for a dozen levels; after that such a part is a leaf.
/// 5. [`divide`](Self::divide) works also where [`should_be_divided`](Self::should_be_divided) says no: one part is
///    then empty.
///
/// The trait is **safe to implement wrongly**: a lying size or cut makes a wrong result or a panic, never undefined
/// behaviour, and schedulers neither loop for ever nor overflow the stack on divisions that do not get anywhere.
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
    note = "implement `Divisible` for it (two methods: `size` and `divide_at`) or derive it: `#[derive(Divisible)]`",
    note = "a field of a derived struct that is not to be cut says so: `#[divide_by(clone)]` or `#[divide_by(default)]`"
)]
pub trait Divisible: Sized {
    /// How much there is, in the units that [`divide_at`](Self::divide_at) counts: elements, bytes of a string,
    /// numbers of a range. `usize::MAX` stands for anything that does not fit.
    ///
    /// Policies decide by it; it need not be the number of items that come out (a `filter` has its input's size).
    fn size(&self) -> usize;

    /// Cuts after `index` units: see the trait's contract.
    fn divide_at(self, index: usize) -> (Self, Self);

    /// Is there anything left to cut? By default: is the size at least 2.
    fn should_be_divided(&self) -> bool {
        self.size() > 1
    }

    /// Cuts into two parts of about the same size. By default: at half the size.
    fn divide(self) -> (Self, Self) {
        let half = self.size() / 2;
        self.divide_at(half)
    }
}
