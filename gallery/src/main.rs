//! Fifty classical parallel algorithms, side by side: sequential, on rayon, on furcate.
//!
//! ```text
//! cargo run --release -p furcate-gallery -- list
//! cargo run --profile bench -p furcate-gallery -- run all --html gallery.html
//! ```

use clap::{Parser, Subcommand};
use furcate_gallery::measure::{self, Measured, Settings, measure};
use furcate_gallery::program::{Column, Program};
use furcate_gallery::programs::PROGRAMS;
use furcate_gallery::{page, table};
use std::path::PathBuf;
use std::process::ExitCode;

/// Classical parallel algorithms, each as a loop, on rayon and on furcate: their times, their memory, and their code.
#[derive(Parser)]
#[command(name = "furcate-gallery")]
struct Arguments {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Lists the programs, with the code lines of their three columns
    List,
    /// Prints a program's code in a column
    Show {
        /// The program's name
        #[arg(value_parser = program)]
        program: &'static Program,
        /// sequential, rayon or furcate
        #[arg(value_parser = column, default_value = "furcate")]
        column: Column,
    },
    /// Runs programs, checks their results, and compares their times and their memory
    Run {
        /// Names of programs, or `all`
        #[arg(value_parser = programs, default_value = "all")]
        programs: Vec<Vec<&'static Program>>,
        /// Threads of both libraries' pools [default: the machine's number]
        #[arg(long, value_parser = positive)]
        threads: Option<usize>,
        /// The size of the input, in the program's unit (see `list`) [default: the program's own]
        #[arg(long, value_parser = positive)]
        size: Option<usize>,
        /// Small sizes and one round: whether all is right, not how fast it is
        #[arg(long)]
        quick: bool,
        /// Rounds of one process for each column
        #[arg(long, value_parser = positive, default_value = "7", conflicts_with = "quick")]
        rounds: usize,
        /// Calls the programs from a thread of the pool, and not from the main thread, whose calls rayon hands over to its pool
        #[arg(long)]
        inside: bool,
        /// Writes a page for a browser, too: charts, the code side by side, and graphs of runs
        #[arg(long, value_name = "PAGE")]
        html: Option<PathBuf>,
    },
}

fn program(name: &str) -> Result<&'static Program, String> {
    furcate_gallery::programs::named(name)
        .ok_or_else(|| "there is no such program; `list` prints their names".into())
}

fn programs(name: &str) -> Result<Vec<&'static Program>, String> {
    if name == "all" { Ok(PROGRAMS.iter().collect()) } else { program(name).map(|program| vec![program]) }
}

fn column(name: &str) -> Result<Column, String> {
    Column::named(name).ok_or_else(|| "give sequential, rayon or furcate".into())
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&number| number > 0).ok_or_else(|| "give a number from 1 on".into())
}

fn main() -> ExitCode {
    if let Some(result) = measure::child() {
        return finish(result);
    }
    match Arguments::parse().command {
        Action::List => {
            print!("{}", table::list());
            ExitCode::SUCCESS
        }
        Action::Show { program, column } => {
            print!("{}", program.code(column));
            ExitCode::SUCCESS
        }
        Action::Run { programs, threads, size, quick, rounds, inside, html } => {
            let threads = threads.unwrap_or_else(furcate::current_num_threads);
            let rounds = if quick { 1 } else { rounds };
            let settings = Settings { threads, size, quick, rounds, inside };
            finish(run(&programs.concat(), &settings, html.as_deref()))
        }
    }
}

fn run(
    programs: &[&'static Program],
    settings: &Settings,
    html: Option<&std::path::Path>,
) -> Result<(), String> {
    print!("{}", table::head(settings));
    let (mut all, mut errors) = (Vec::<Measured>::new(), Vec::new());
    for program in programs {
        match measure(program, settings) {
            Ok(measured) => {
                print!("{}", table::row(&measured));
                all.push(measured);
            }
            Err(error) => errors.push(error),
        }
    }
    print!("{}", table::summary(&all));
    if let Some(path) = html {
        let page = page::html(&all, settings)?;
        std::fs::write(path, page).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("open {} in a browser", path.display());
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

fn finish(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("furcate-gallery: {error}");
            ExitCode::FAILURE
        }
    }
}
