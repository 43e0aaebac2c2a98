//! A word count over many files, on all ranks of a world.
//!
//! ```text
//! cargo run --release -p furcate-cluster --example word_count -- --ranks 2 [PATH...]
//! mpirun -n 2 target/release/examples/word_count [PATH...]
//! ```
//!
//! Every rank makes the same sorted list of the files below the paths. A file is read by the rank that comes to its place in the list, so
//! the paths have to be there on all machines. The default is this project's book.

#[path = "../../../examples/common/mod.rs"]
mod common;
mod files;
#[path = "../support/progress.rs"]
mod progress;
#[path = "../support/ranks.rs"]
mod ranks;
mod tally;

use clap::Parser;
use clap::builder::{PathBufValueParser, TypedValueParser};
use common::arguments::{Bounds, reject};
use common::output::{grouped, line};
use common::table::time;
use common::timing::timed;
use furcate::prelude::*;
use furcate_cluster::{SpreadOver, World};
use progress::Done;
use ranks::Ranks;
use std::path::PathBuf;
use std::process::exit;
use std::sync::Arc;
use tally::Tally;

const TOP: Bounds<usize> = Bounds::new(1, 1_000_000);

/// Counts the words of many files, on all ranks.
#[derive(Parser)]
#[command(name = "word_count")]
struct Arguments {
    /// Text files, or folders with text files [default: the sources of the book]
    #[arg(value_name = "PATH", value_parser = PathBufValueParser::new().try_map(existing))]
    paths: Vec<PathBuf>,
    #[arg(long, default_value_t = 10, value_parser = TOP.parser(), help = TOP.help("Number of words that are shown"))]
    top: usize,
    #[command(flatten)]
    ranks: Ranks,
}

fn existing(path: PathBuf) -> Result<PathBuf, String> {
    match path.exists() {
        true => Ok(path),
        false => Err("there is no such file or folder; give a path that exists on every machine".into()),
    }
}

/// Counts the words of all files. Rank 0 gets the result.
fn count(files: &[PathBuf], world: &World, done: &Done) -> Option<Tally> {
    let add = |tally: Tally, file: &PathBuf| {
        let tally = tally.file(file);
        done.add(1);
        tally
    };
    let tallies = files.par_iter().fold(Tally::default, add);
    tallies.spread(world).to_root(|spread| spread.reduce(Tally::default, Tally::merge))
}

/// Returns the lowest rank whose files are not those of rank 0.
fn stranger(files: &[PathBuf], world: &World) -> Option<usize> {
    let ranks = (0..world.size()).into_par_iter().map(|_| files::digest(files));
    let digests: Vec<u64> = ranks.spread(world).collect();
    digests.iter().position(|digest| *digest != digests[0])
}

fn main() {
    let Arguments { mut paths, top, ranks } = Arguments::parse();
    let is_default = paths.is_empty();
    if is_default {
        paths.push(concat!(env!("CARGO_MANIFEST_DIR"), "/../book/src").into());
        if !paths[0].exists() {
            reject::<Arguments>(
                "the sources of the book are not here: give the path of a text file, or of a folder with some",
            );
        }
    }
    let mut files = files::below(&paths).unwrap_or_else(|error| reject::<Arguments>(error));
    // The book's pictures are text as well.
    files.retain(|file| !is_default || file.extension().is_some_and(|extension| extension == "md"));
    if files.is_empty() {
        reject::<Arguments>(
            "there are no files below the paths: give the path of a text file, or of a folder with some",
        );
    }
    let program = |world: &World, done: &Arc<Done>| {
        if let Some(rank) = stranger(&files, world) {
            return Err(rank);
        }
        let (tally, duration) = timed(|| count(&files, world, done));
        Ok((tally, duration, world.table()))
    };
    let Some((result, ranks, _)) = ranks.run(("word_count", "files"), program) else { return };
    let (tally, duration, table) = result.unwrap_or_else(|rank| {
        eprintln!("word_count: rank {rank} sees other files below the paths than rank 0: give paths that are the same on every machine");
        exit(1)
    });
    let tally = tally.expect("rank 0 has the result");
    line(format_args!("{:>12}  word", "count"));
    for (word, count) in tally.top(top) {
        line(format_args!("{:>12}  {word}", grouped(count)));
    }
    line(format_args!(
        "{} words, {} of them different, in {} files of {} bytes, counted in {} on {ranks}",
        grouped(tally.words()),
        grouped(tally.different() as u64),
        grouped(files.len() as u64),
        grouped(tally.bytes()),
        time(duration)
    ));
    tally.left_out().iter().for_each(line);
    line(table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use furcate_cluster::Threads;

    fn book() -> Vec<PathBuf> {
        files::below(&[concat!(env!("CARGO_MANIFEST_DIR"), "/../book/src").into()]).unwrap()
    }

    #[test]
    fn all_ranks_count_like_a_loop() {
        let files = book();
        assert!(files.len() > 10 && files.is_sorted());
        let serial = files.iter().fold(Tally::default(), |tally, file| tally.file(file));
        assert!(serial.words() > 10_000);
        for ranks in 1..5 {
            let tallies = Threads::new(ranks).workers(2).run(|world| count(&files, world, &Done::default()));
            for (rank, tally) in tallies.into_iter().enumerate() {
                assert_eq!(tally, (rank == 0).then(|| serial.clone()), "{ranks} ranks");
            }
        }
    }

    #[test]
    fn a_rank_with_other_files_is_found() {
        let files = book();
        for other in 0..3 {
            let found = Threads::new(3).run(|world| match world.rank() == other {
                true => stranger(&files[1..], world),
                false => stranger(&files, world),
            });
            assert_eq!(found, [Some(other.max(1)); 3]);
        }
        assert_eq!(Threads::new(3).run(|world| stranger(&files, world)), [None; 3]);
    }
}
