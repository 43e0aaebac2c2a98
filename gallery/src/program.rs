//! A program of the gallery: three columns of code, an input, and a checker.

#[cfg(test)]
use std::any::Any;
use std::time::{Duration, Instant};

/// The three ways in which each program is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// A loop, or the algorithm that a sequential program would use.
    Sequential,
    /// With rayon's traits and functions.
    Rayon,
    /// With furcate's traits and functions.
    Furcate,
}

impl Column {
    /// All of them, in the table's order.
    pub const ALL: [Column; 3] = [Column::Sequential, Column::Rayon, Column::Furcate];

    /// Returns the column's name. The module in each program's source has the same name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Column::Sequential => "sequential",
            Column::Rayon => "rayon",
            Column::Furcate => "furcate",
        }
    }

    /// Returns the column of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Column> {
        Column::ALL.into_iter().find(|column| column.name() == name)
    }
}

/// A program: what it computes, and how it is measured.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The program's name. The source file has the same name.
    pub name: &'static str,
    /// The collection that the program is known from: `PBBS`, `NAS`, or `classic`.
    pub suite: &'static str,
    /// What the program computes: a noun phrase of a few words.
    pub what: &'static str,
    /// What `size` counts, for instance `keys`.
    pub unit: &'static str,
    /// The usual size. With this size, the sequential column takes a few tenths of a second, or less where there is not enough to do.
    pub size: usize,
    /// A size that takes some milliseconds, and is still large enough to be divided.
    pub quick: usize,
    /// The schedule that the third column names; empty if it names none. Then only the library's name differs from the second column (but in `find_first`).
    pub schedule: &'static str,
    /// Why the third column is faster or slower than the second one: a sentence without its capital letter and its period.
    pub why: &'static str,
    /// The source text.
    pub source: &'static str,
    /// Makes an input of a size. The same size always gives the same input.
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

    /// Returns the numbers of code lines of the three columns, as a text.
    #[must_use]
    pub fn all_lines(&self) -> String {
        Column::ALL.map(|column| self.lines(column).to_string()).join(" ")
    }

    /// Returns the number of a column's code lines, without blank ones and comments.
    #[must_use]
    pub fn lines(&self, column: Column) -> usize {
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
        self.code(column).lines().filter(is_code).count()
    }
}

/// An input with the three columns that run on it.
pub trait Case: Send {
    /// Runs a column, and returns its time. The time includes neither copying the input nor dropping the output.
    fn run(&mut self, column: Column) -> Duration;

    /// Checks the output of the last run, for instance against the sequential column or a published value.
    ///
    /// # Errors
    ///
    /// If the output is wrong. The text says what was expected.
    fn check(&self) -> Result<(), String>;

    /// The output of the last run.
    #[cfg(test)]
    fn output(&self) -> Option<&dyn Any>;

    /// Checks an output of another case of the same program, as if it were this one's.
    #[cfg(test)]
    fn check_other(&self, output: &dyn Any) -> Result<(), String>;
}

/// Whether an output is right for an input.
type Check<I, O> = fn(&I, &O) -> Result<(), String>;

/// Runs a column, and returns its time and its output.
type Run<I, O> = Box<dyn Fn(&I, Column) -> (Duration, O) + Send>;

/// A case of any kind.
struct Runs<I, O> {
    input: I,
    run: Run<I, O>,
    check: Check<I, O>,
    output: Option<O>,
}

impl<I: Send, O: Send + 'static> Case for Runs<I, O> {
    fn run(&mut self, column: Column) -> Duration {
        self.output = None;
        let (time, output) = (self.run)(&self.input, column);
        self.output = Some(output);
        time
    }

    fn check(&self) -> Result<(), String> {
        (self.check)(&self.input, self.output.as_ref().ok_or("nothing has run")?)
    }

    #[cfg(test)]
    fn output(&self) -> Option<&dyn Any> {
        self.output.as_ref().map(|output| output as &dyn Any)
    }

    #[cfg(test)]
    fn check_other(&self, output: &dyn Any) -> Result<(), String> {
        (self.check)(&self.input, output.downcast_ref().ok_or("an output of another program")?)
    }
}

/// Makes a case whose programs read the input, and return an output.
pub fn reads<I: Send + 'static, O: Send + 'static>(
    input: I,
    columns: [fn(&I) -> O; 3],
    check: Check<I, O>,
) -> Box<dyn Case> {
    let run = move |input: &I, column| {
        let begin = Instant::now();
        let output = columns[column as usize](input);
        (begin.elapsed(), output)
    };
    Box::new(Runs { input, run: Box::new(run), check, output: None })
}

/// Makes a case whose programs change the input. Each run gets a copy.
pub fn changes<I: Clone + Send + 'static>(
    input: I,
    columns: [fn(&mut I); 3],
    check: Check<I, I>,
) -> Box<dyn Case> {
    let run = move |input: &I, column| {
        let mut output = input.clone();
        let begin = Instant::now();
        columns[column as usize](&mut output);
        (begin.elapsed(), output)
    };
    Box::new(Runs { input, run: Box::new(run), check, output: None })
}

/// Returns about `count` of the items, evenly spaced.
pub fn sample<I: ExactSizeIterator>(items: I, count: usize) -> impl Iterator<Item = I::Item> {
    let step = 1 + items.len() / count;
    items.step_by(step)
}

/// Returns an error if two values differ.
///
/// # Errors
///
/// If the values differ. The text contains both of them, shortened.
pub fn equal<T: PartialEq + std::fmt::Debug + ?Sized>(is: &T, expected: &T) -> Result<(), String> {
    let shown = |value: &T| format!("{value:?}").chars().take(200).collect::<String>();
    if is == expected { Ok(()) } else { Err(format!("{} instead of {}", shown(is), shown(expected))) }
}

/// Returns an error if a number differs from the expected one by more than a share of it. Below 1, the share itself is the limit.
///
/// # Errors
///
/// If numbers differ. The text contains the first pair that differs.
pub fn close(is: &[f64], expected: &[f64], share: f64) -> Result<(), String> {
    equal(&is.len(), &expected.len())?;
    let differ = |(is, expected): &(&f64, &f64)| {
        let difference = (*is - *expected).abs();
        difference.is_nan() || difference > share * expected.abs().max(1.0)
    };
    match is.iter().zip(expected).find(differ) {
        Some((is, expected)) => Err(format!("{is} instead of {expected}")),
        None => Ok(()),
    }
}
