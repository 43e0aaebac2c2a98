//! Standard output that survives a reader that leaves early, as in `words | head -3`.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::{ExitCode, exit};

/// Writes a line to standard output.
///
/// If the reader has closed the pipe, the program ends with code 0, because the reader wants no more.
pub(crate) fn line(text: impl Display) {
    let mut out = io::stdout().lock();
    if let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush()) {
        if error.kind() == io::ErrorKind::BrokenPipe {
            exit(0);
        }
        eprintln!("standard output cannot be written: {error}");
        exit(1);
    }
}

/// Returns the exit code of `main`: 1 for an error, after a message that begins with the program's name.
pub(crate) fn finish<E: Display>(program: &str, result: Result<(), E>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{program}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Formats a number with a comma after every three digits: `1,234,567`.
pub(crate) fn grouped(number: impl TryInto<u64>) -> String {
    let Ok(number) = number.try_into() else { return "?".into() };
    let digits = number.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
