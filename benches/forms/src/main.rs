//! `forms LIBRARY FORM SIZE [ROUNDS]` runs a recursive program of some form on one worker, and prints the number of its forks and the
//! least time of a round in nanoseconds. `forms` prints the names of libraries and forms. `benches/forms.sh` runs it.
//!
//! The programs fork down to the last item, so that the fork is most of their time. Each is written as a user would write it, once for
//! all libraries: `both!(c, left, right)` is a fork, and `c` is the handle of libraries that have one, or `()`.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Instant;

/// A tree in boxes.
struct Tree {
    value: u64,
    left: Option<Box<Tree>>,
    right: Option<Box<Tree>>,
}

impl Tree {
    fn of(size: u64) -> Option<Box<Tree>> {
        let rest = size.checked_sub(1)?;
        let left = rest / 2;
        Some(Box::new(Tree { value: size, left: Tree::of(left), right: Tree::of(rest - left) }))
    }
}

/// A result that has to be dropped.
struct Owned(u64);

impl Drop for Owned {
    fn drop(&mut self) {
        black_box(self.0);
    }
}

/// The data of all forms.
struct Data {
    size: u64,
    numbers: Vec<u64>,
    tree: Option<Box<Tree>>,
}

/// Declares a module with all forms. Each takes the handle and the data, and returns a checksum.
macro_rules! forms {
    ($module:ident: $c:tt: $Handle:ty, $both:ident, $run:ident) => {
        mod $module {
            #[allow(unused_imports, reason = "not every library has a handle")]
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

            pub fn run(form: &str, data: &mut Data) -> Option<u64> {
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

/// No fork at all.
macro_rules! serial {
    (move $c:tt, $left:expr, $right:expr) => {
        ($left, $right)
    };
    ($c:tt, $left:expr, $right:expr) => {
        ($left, $right)
    };
}
macro_rules! run_serial {
    ($c:tt, $call:expr) => {
        $call
    };
}
forms!(plain: (): (), serial, run_serial);

macro_rules! by_furcate {
    (move $c:tt, $left:expr, $right:expr) => {
        furcate::join(move || $left, move || $right)
    };
    ($c:tt, $left:expr, $right:expr) => {
        furcate::join(|| $left, || $right)
    };
}
macro_rules! run_furcate {
    ($c:tt, $call:expr) => {
        super::furcate_pool().install(|| $call)
    };
}
forms!(with_furcate: (): (), by_furcate, run_furcate);

macro_rules! by_handle {
    (move $c:tt, $left:expr, $right:expr) => {
        $c.join(move |$c| $left, move |$c| $right)
    };
    ($c:tt, $left:expr, $right:expr) => {
        $c.join(|$c| $left, |$c| $right)
    };
}
macro_rules! run_handle {
    ($c:tt, $call:expr) => {
        super::furcate_pool().install(|| furcate::join_with(|$c| $call, |_| ()).0)
    };
}
forms!(with_handle: c: &furcate::Worker, by_handle, run_handle);

macro_rules! by_rayon {
    (move $c:tt, $left:expr, $right:expr) => {
        rayon::join(move || $left, move || $right)
    };
    ($c:tt, $left:expr, $right:expr) => {
        rayon::join(|| $left, || $right)
    };
}
macro_rules! run_rayon {
    ($c:tt, $call:expr) => {
        super::rayon_pool().install(|| $call)
    };
}
forms!(with_rayon: (): (), by_rayon, run_rayon);

macro_rules! run_chili {
    ($c:tt, $call:expr) => {{
        let mut scope = super::chili_pool().scope();
        let $c = &mut scope;
        $call
    }};
}
forms!(with_chili: c: &mut chili::Scope<'_>, by_handle, run_chili);

#[cfg(feature = "forte")]
macro_rules! run_forte {
    ($c:tt, $call:expr) => {
        super::FORTE.with_worker(|$c| $call)
    };
}
#[cfg(feature = "forte")]
forms!(with_forte: c: &forte::Worker, by_handle, run_forte);

fn furcate_pool() -> &'static furcate::ThreadPool {
    static POOL: OnceLock<furcate::ThreadPool> = OnceLock::new();
    POOL.get_or_init(|| {
        furcate::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be started")
    })
}

fn rayon_pool() -> &'static rayon::ThreadPool {
    static POOL: OnceLock<rayon::ThreadPool> = OnceLock::new();
    POOL.get_or_init(|| {
        rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be started")
    })
}

fn chili_pool() -> &'static chili::ThreadPool {
    static POOL: OnceLock<chili::ThreadPool> = OnceLock::new();
    POOL.get_or_init(|| {
        let thread_count = std::num::NonZero::new(1);
        chili::ThreadPool::with_config(chili::Config { thread_count, ..chili::Config::default() })
    })
}

/// The caller is its one worker.
#[cfg(feature = "forte")]
static FORTE: forte::ThreadPool = forte::ThreadPool::new();

/// A run of a form with some library.
type Run = fn(&str, &mut Data) -> Option<u64>;

const LIBRARIES: &[(&str, Run)] = &[
    ("plain", plain::run),
    ("rayon", with_rayon::run),
    ("furcate", with_furcate::run),
    ("furcate-handle", with_handle::run),
    ("chili", with_chili::run),
    #[cfg(feature = "forte")]
    ("forte", with_forte::run),
];

const FORMS: &[&str] =
    &["fib", "moved", "slice", "slice-mut", "wide", "owned", "generic", "captures", "tree"];

/// Number of forks of a form.
fn forks(form: &str, size: u64) -> u64 {
    fn fib(n: u64) -> u64 {
        if n < 2 { 0 } else { 1 + fib(n - 1) + fib(n - 2) }
    }
    match form {
        "fib" => fib(size),
        "tree" => size,
        _ => size - 1,
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (library, form, size, rounds) = match &args[..] {
        [library, form, size] => (library, form, size.parse(), Ok(1)),
        [library, form, size, rounds] => (library, form, size.parse(), rounds.parse()),
        _ => {
            let names: Vec<&str> = LIBRARIES.iter().map(|(name, _)| *name).collect();
            println!("{}\n{}", names.join(" "), FORMS.join(" "));
            return ExitCode::SUCCESS;
        }
    };
    let (Ok(size), Ok(rounds)) = (size, rounds) else {
        eprintln!("forms: a size and a number of rounds are expected, not `{}`", args[2..].join(" "));
        return ExitCode::FAILURE;
    };
    let Some((_, run)) = LIBRARIES.iter().find(|(name, _)| name == library) else {
        eprintln!("forms: there is no library {library}; call `forms` for their names");
        return ExitCode::FAILURE;
    };
    let numbers: Vec<u64> = if form == "fib" { vec![] } else { (0..size).collect() };
    let tree = if form == "tree" { Tree::of(size) } else { None };
    let mut data = Data { size, numbers, tree };
    let mut least = u128::MAX;
    for _ in 0..rounds {
        let begin = Instant::now();
        let Some(sum) = run(form, black_box(&mut data)) else {
            eprintln!("forms: there is no form {form}; call `forms` for their names");
            return ExitCode::FAILURE;
        };
        black_box(sum);
        least = least.min(begin.elapsed().as_nanos());
    }
    println!("{} {least}", forks(form, size));
    ExitCode::SUCCESS
}
