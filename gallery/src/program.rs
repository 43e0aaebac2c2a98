//! A program of the gallery: three columns of code, an input, and a checker.

use std::time::{Duration, Instant};

/// The three ways in which each program is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// A loop, or the algorithm that a sequential program would use.
    Sequential,
    /// With rayon's traits and functions.
    Rayon,
    /// With furcate's.
    Furcate,
}

impl Column {
    /// All of them, in the table's order.
    pub const ALL: [Column; 3] = [Column::Sequential, Column::Rayon, Column::Furcate];

    /// Returns the name: also that of the module in each program's source.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Column::Sequential => "sequential",
            Column::Rayon => "rayon",
            Column::Furcate => "furcate",
        }
    }
}

/// A program: what it computes, and how it is measured.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The name: also that of its source file.
    pub name: &'static str,
    /// The collection that it is known from: `PBBS`, `NAS`, or `classic`.
    pub suite: &'static str,
    /// What it computes, in a few words.
    pub what: &'static str,
    /// What `size` counts, for instance `keys`.
    pub unit: &'static str,
    /// The usual size: with it, the sequential column takes a few tenths of a second.
    pub size: usize,
    /// A size that takes some milliseconds, and still divides.
    pub quick: usize,
    /// What the third column says about its schedule; empty if it differs from the second one in the name of the library alone.
    pub schedule: &'static str,
    /// Why the third column is faster or slower than the second one, in a sentence.
    pub why: &'static str,
    /// The source text.
    pub source: &'static str,
    /// Makes an input of a size, the same one each time.
    pub case: fn(size: usize) -> Box<dyn Case>,
}

impl Program {
    /// Returns a column's code: its module without the indentation.
    ///
    /// # Panics
    ///
    /// If the source has no module of that name.
    #[must_use]
    pub fn code(&self, column: Column) -> String {
        let head = format!("\nmod {} {{\n", column.name());
        let (_, code) = self.source.split_once(&head).expect("each column is a module");
        let (code, _) = code.split_once("\n}\n").expect("a module ends");
        code.lines().map(|line| line.strip_prefix("    ").unwrap_or(line).to_owned() + "\n").collect()
    }

    /// Returns the number of a column's code lines, without blank ones and comments.
    #[must_use]
    pub fn lines(&self, column: Column) -> usize {
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
        self.code(column).lines().filter(is_code).count()
    }
}

/// An input with the three programs that run on it.
pub trait Case {
    /// Runs a column, and returns its time. What it needs of the input is made before, what it leaves is dropped after.
    fn run(&mut self, column: Column) -> Duration;

    /// Checks what the last run has returned, against the sequential column or a published value.
    ///
    /// # Errors
    ///
    /// If it is wrong: with what was expected.
    fn check(&self) -> Result<(), String>;
}

/// Whether an output is right for an input.
type Check<I, O> = fn(&I, &O) -> Result<(), String>;

struct Borrowed<I, O> {
    input: I,
    columns: [fn(&I) -> O; 3],
    check: Check<I, O>,
    output: Option<O>,
}

/// Makes a case whose programs read the input, and return an output.
pub fn reads<I: 'static, O: 'static>(
    input: I,
    columns: [fn(&I) -> O; 3],
    check: Check<I, O>,
) -> Box<dyn Case> {
    Box::new(Borrowed { input, columns, check, output: None })
}

impl<I, O> Case for Borrowed<I, O> {
    fn run(&mut self, column: Column) -> Duration {
        self.output = None;
        let run = self.columns[column as usize];
        let begin = Instant::now();
        self.output = Some(run(&self.input));
        begin.elapsed()
    }

    fn check(&self) -> Result<(), String> {
        (self.check)(&self.input, self.output.as_ref().ok_or("nothing has run")?)
    }
}

struct InPlace<I> {
    input: I,
    columns: [fn(&mut I); 3],
    check: Check<I, I>,
    output: Option<I>,
}

/// Makes a case whose programs change the input. Each run gets a copy.
pub fn changes<I: Clone + 'static>(input: I, columns: [fn(&mut I); 3], check: Check<I, I>) -> Box<dyn Case> {
    Box::new(InPlace { input, columns, check, output: None })
}

impl<I: Clone> Case for InPlace<I> {
    fn run(&mut self, column: Column) -> Duration {
        self.output = None;
        let run = self.columns[column as usize];
        let output = self.output.insert(self.input.clone());
        let begin = Instant::now();
        run(output);
        begin.elapsed()
    }

    fn check(&self) -> Result<(), String> {
        (self.check)(&self.input, self.output.as_ref().ok_or("nothing has run")?)
    }
}

/// Returns an error if two values differ.
///
/// # Errors
///
/// Then: with both, shortened.
pub fn equal<T: PartialEq + std::fmt::Debug + ?Sized>(is: &T, expected: &T) -> Result<(), String> {
    let shown = |value: &T| format!("{value:?}").chars().take(200).collect::<String>();
    if is == expected { Ok(()) } else { Err(format!("{} instead of {}", shown(is), shown(expected))) }
}

/// Returns an error if numbers differ by more than a share of the expected one (and, near 0, by more than that share itself).
///
/// # Errors
///
/// Then: with the first pair that differs.
pub fn close(is: &[f64], expected: &[f64], share: f64) -> Result<(), String> {
    equal(&is.len(), &expected.len())?;
    let differ = |(is, expected): &(&f64, &f64)| {
        (*is - *expected).abs() > share * expected.abs().max(1.0) || is.is_nan()
    };
    match is.iter().zip(expected).find(differ) {
        Some((is, expected)) => Err(format!("{is} instead of {expected}")),
        None => Ok(()),
    }
}
