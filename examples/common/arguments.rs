//! Arguments with bounds: the bounds stand in the help text and in every error message.
//!
//! ```ignore
//! const NODES: Bounds<usize> = Bounds::new(1, 20_000_000);
//!
//! #[derive(clap::Parser)]
//! struct Arguments {
//!     #[arg(default_value_t = 300_000, value_parser = NODES.parser(), help = NODES.help("Nodes of the graph"))]
//!     nodes: usize,
//! }
//!
//! let arguments: Arguments = clap::Parser::parse(); // exits with code 0 after `--help`, with code 2 after an error
//! ```

use clap::CommandFactory;
use clap::error::ErrorKind;
use std::fmt::Display;
use std::str::FromStr;

/// The least and the greatest value of a numeric argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds<T> {
    least: T,
    greatest: T,
}

impl<T> Bounds<T> {
    /// Bounds that both belong to the permitted values.
    pub(crate) const fn new(least: T, greatest: T) -> Self {
        Bounds { least, greatest }
    }
}

impl<T: Copy + Display + FromStr + PartialOrd> Bounds<T> {
    /// Parses an argument. The error names the bounds; clap adds the argument's name and value.
    pub(crate) fn parser(self) -> impl Fn(&str) -> Result<T, String> + Clone {
        move |text| {
            let value = text.parse::<T>().ok().filter(|value| (self.least..=self.greatest).contains(value));
            value.ok_or_else(|| format!("give a number from {} to {}", self.least, self.greatest))
        }
    }

    /// The argument's line of `--help`: its meaning and its bounds.
    pub(crate) fn help(self, meaning: &str) -> String {
        format!("{meaning} [from {} to {}]", self.least, self.greatest)
    }
}

/// Ends the program with code 2 because an argument cannot be used, with a message in clap's manner.
pub(crate) fn reject<A: CommandFactory>(message: impl Display) -> ! {
    A::command().error(ErrorKind::ValueValidation, message).exit()
}
