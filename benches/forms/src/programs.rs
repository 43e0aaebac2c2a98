//! Recursive programs in the forms that people write.
//!
//! The programs fork down to the last item, so that the fork is most of their time. Each is written as a user would write it, once for
//! all libraries: `both!(c, left, right)` is a fork, and `c` is the handle of libraries that have one, or `()`.

use std::hint::black_box;

/// A tree in boxes.
pub(crate) struct Tree {
    pub value: u64,
    pub left: Option<Box<Tree>>,
    pub right: Option<Box<Tree>>,
}

impl Tree {
    fn of(size: u64) -> Option<Box<Tree>> {
        let rest = size.checked_sub(1)?;
        let left = rest / 2;
        Some(Box::new(Tree { value: size, left: Tree::of(left), right: Tree::of(rest - left) }))
    }
}

/// A result that has to be dropped.
pub(crate) struct Owned(pub u64);

impl Drop for Owned {
    fn drop(&mut self) {
        black_box(self.0);
    }
}

/// The data of all forms.
pub(crate) struct Data {
    pub size: u64,
    pub numbers: Vec<u64>,
    pub tree: Option<Box<Tree>>,
}

impl Data {
    /// Makes the data of a form.
    pub(crate) fn of(form: &str, size: u64) -> Self {
        let numbers = if form == "fib" { vec![] } else { (0..size).collect() };
        let tree = if form == "tree" { Tree::of(size) } else { None };
        Data { size, numbers, tree }
    }
}

/// Declares a module with all forms. Each takes the handle and the data, and returns a checksum.
macro_rules! forms {
    ($module:ident: $c:tt: $Handle:ty, $both:ident, $run:ident) => {
        mod $module {
            use super::{Data, Owned, Tree};

            fn fib($c: $Handle, n: u64) -> u64 {
                if n < 2 {
                    return n;
                }
                let (a, b) = $both!($c, fib($c, n - 1), fib($c, n - 2));
                a + b
            }

            fn moved($c: $Handle, from: u64, to: u64) -> u64 {
                if to - from <= 1 {
                    return from;
                }
                let middle = from.midpoint(to);
                let (a, b) = $both!(move $c, moved($c, from, middle), moved($c, middle, to));
                a + b
            }

            fn slice($c: $Handle, numbers: &[u64]) -> u64 {
                if let [number] = numbers {
                    return *number;
                }
                let (left, right) = numbers.split_at(numbers.len() / 2);
                let (a, b) = $both!($c, slice($c, left), slice($c, right));
                a + b
            }

            fn slice_mut($c: $Handle, numbers: &mut [u64]) {
                if let [number] = numbers {
                    *number += 1;
                    return;
                }
                let (left, right) = numbers.split_at_mut(numbers.len() / 2);
                $both!($c, slice_mut($c, left), slice_mut($c, right));
            }

            fn wide($c: $Handle, numbers: &[u64]) -> [u64; 8] {
                if let [number] = numbers {
                    let mut counts = [0; 8];
                    counts[*number as usize % 8] = 1;
                    return counts;
                }
                let (left, right) = numbers.split_at(numbers.len() / 2);
                let (mut a, b) = $both!($c, wide($c, left), wide($c, right));
                for (a, b) in a.iter_mut().zip(b) {
                    *a += b;
                }
                a
            }

            fn owned($c: $Handle, numbers: &[u64]) -> Owned {
                if let [number] = numbers {
                    return Owned(*number);
                }
                let (left, right) = numbers.split_at(numbers.len() / 2);
                let (a, b) = $both!($c, owned($c, left), owned($c, right));
                Owned(a.0 + b.0)
            }

            fn generic<T, F>($c: $Handle, items: &[T], map: &F) -> u64
            where
                T: Sync,
                F: Fn(&T) -> u64 + Sync,
            {
                if let [item] = items {
                    return map(item);
                }
                let (left, right) = items.split_at(items.len() / 2);
                let (a, b) = $both!($c, generic($c, left, map), generic($c, right, map));
                a + b
            }

            #[allow(clippy::too_many_arguments, reason = "so that the closures capture much")]
            fn captures($c: $Handle, n: u64, p: u64, q: u64, r: u64, s: u64, t: u64, u: &[u64]) -> u64 {
                if n < 2 {
                    return p ^ q ^ r ^ s ^ t ^ u[0];
                }
                let (left, right) = (n / 2, n - n / 2);
                let (a, b) = $both!(
                    $c,
                    captures($c, left, p + 1, q, r + n, s, t, u),
                    captures($c, right, p, q + 1, r, s + n, t, u)
                );
                a + b
            }

            impl Sum for Tree {
                fn sum(&self, $c: $Handle) -> u64 {
                    let sum = |$c: $Handle, tree: &Option<Box<Tree>>| tree.as_ref().map_or(0, |tree| tree.sum($c));
                    let (left, right) = $both!($c, sum($c, &self.left), sum($c, &self.right));
                    self.value + left + right
                }
            }

            /// Recursion by a method.
            trait Sum {
                fn sum(&self, handle: $Handle) -> u64;
            }

            pub(crate) fn run(form: &str, data: &mut Data) -> Option<u64> {
                let Data { size, numbers, tree } = data;
                let size = *size;
                Some(match form {
                    "fib" => $run!($c, fib($c, size)),
                    "moved" => $run!($c, moved($c, 0, size)),
                    "slice" => $run!($c, slice($c, numbers)),
                    "slice-mut" => {
                        $run!($c, slice_mut($c, numbers));
                        numbers[0]
                    }
                    "wide" => $run!($c, wide($c, numbers)).iter().sum(),
                    "owned" => $run!($c, owned($c, numbers)).0,
                    "generic" => $run!($c, generic($c, numbers, &|x| x ^ 1)),
                    "captures" => $run!($c, captures($c, size, 1, 2, 3, 4, 5, numbers)),
                    "tree" => {
                        let tree = tree.as_ref()?;
                        $run!($c, tree.sum($c))
                    }
                    _ => return None,
                })
            }
        }
    };
}

/// Names of the forms.
pub(crate) const FORMS: &[&str] =
    &["fib", "moved", "slice", "slice-mut", "wide", "owned", "generic", "captures", "tree"];

/// Number of forks of a form.
pub(crate) fn forks(form: &str, size: u64) -> u64 {
    fn fib(n: u64) -> u64 {
        if n < 2 { 0 } else { 1 + fib(n - 1) + fib(n - 2) }
    }
    match form {
        "fib" => fib(size),
        "tree" => size,
        _ => size - 1,
    }
}
