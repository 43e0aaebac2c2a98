//! A packed log that is read, unpacked, parsed and summed up, block by block, and a report that is written: by a loop, and by
//! a pipeline.
//!
//! `cargo run --release --example pipeline -- [BLOCKS]` makes a temporary file of so many compressed blocks of log lines, and
//! writes one line for each block, in order, to another file. The files have no name, so that they vanish with the
//! program, however it ends. Reading a file blocks a thread: `blocking` has some threads for that, and the
//! pipeline's tasks wait for them.

mod common;

use blocking::{Unblock, unblock};
use clap::Parser;
use common::arguments::Bounds;
use common::output::{finish, grouped, line};
use common::progress::Progress;
use common::table::{Cell, Table};
use common::timing::timed;
use furcate::prelude::*;
use furcate::stream::{Stream, pipeline};
use futures_lite::{AsyncReadExt, stream};
use miniz_oxide::{deflate, inflate};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::process::ExitCode;
use std::sync::Arc;

/// A block takes about 45 kB of the folder for temporary files.
const BLOCKS: Bounds<u64> = Bounds::new(1, 100_000);

/// Sums up a packed log, block by block: by a loop, and by a pipeline.
#[derive(Parser)]
struct Arguments {
    #[arg(default_value_t = 400, value_parser = BLOCKS.parser(),
          help = BLOCKS.help("Blocks of the log, of 45 kB each in the folder for temporary files"))]
    blocks: u64,
}

/// Lines of a block.
const LINES: u64 = 5000;

/// Greatest number of blocks in memory, wherever they wait.
const IN_FLIGHT: usize = 16;

/// Makes a file without a name: the system removes it when the program ends, also when it is killed.
fn nameless() -> io::Result<File> {
    tempfile::tempfile().map_err(|error| {
        let folder = std::env::temp_dir();
        io::Error::new(
            error.kind(),
            format!("no temporary file can be made in {}: {error}", folder.display()),
        )
    })
}

/// Returns another handle of a file, at its beginning. The handles share one position, so they are used one after the
/// other.
fn from_start(file: &File) -> io::Result<File> {
    let mut file = file.try_clone()?;
    file.rewind()?;
    Ok(file)
}

/// Writes the log: every block with its length before it, and at the end a length of 0.
fn make(file: &File, blocks: u64, progress: &Progress) -> io::Result<()> {
    let pack = |block: u64| {
        let mut text = String::new();
        for line in block * LINES..(block + 1) * LINES {
            let hash = line.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            let status = if hash % 100 == 0 { 500 } else { 200 };
            let _ = writeln!(text, "GET /page/{} {status} {}", hash % 1000, hash % 65_536);
        }
        deflate::compress_to_vec(text.as_bytes(), 1)
    };
    let mut file = BufWriter::new(from_start(file)?);
    for block in &mut (0..blocks).into_par_iter().map(pack).blocks_iter(std::iter::repeat(64)) {
        for packed in block.collect::<Vec<_>>() {
            file.write_all(&(packed.len() as u32).to_le_bytes())?;
            file.write_all(&packed)?;
            progress.step();
        }
    }
    file.write_all(&[0; 4])?;
    file.flush()
}

fn unpack(packed: Vec<u8>) -> io::Result<String> {
    let bytes = inflate::decompress_to_vec(&packed).map_err(|error| io::Error::other(error.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// Returns the line of the report: the number of requests, the number of failed ones, and the number of bytes sent.
fn sum_up(log: &str) -> io::Result<String> {
    let (mut failed, mut sent) = (0, 0);
    for line in log.lines() {
        let mut words = line.rsplit(' ');
        let bytes = words.next().and_then(|bytes| bytes.parse::<u64>().ok());
        sent += bytes.ok_or_else(|| io::Error::other(format!("no size in {line:?}")))?;
        failed += u64::from(words.next() == Some("500"));
    }
    Ok(format!("{} requests, {failed} failed, {sent} bytes\n", log.lines().count()))
}

fn by_loop(log: File, mut report: File, progress: &Progress) -> io::Result<()> {
    let mut log = BufReader::new(log);
    loop {
        let mut length = [0; 4];
        log.read_exact(&mut length)?;
        let mut packed = vec![0; u32::from_le_bytes(length) as usize];
        if packed.is_empty() {
            return Ok(());
        }
        log.read_exact(&mut packed)?;
        report.write_all(sum_up(&unpack(packed)?)?.as_bytes())?;
        progress.step();
    }
}

/// Returns the blocks of a log.
fn blocks(log: File) -> impl Stream<Item = io::Result<Vec<u8>>> + Send {
    stream::try_unfold(Unblock::new(log), |mut log| async move {
        let mut length = [0; 4];
        log.read_exact(&mut length).await?;
        let mut packed = vec![0; u32::from_le_bytes(length) as usize];
        log.read_exact(&mut packed).await?;
        Ok((!packed.is_empty()).then_some((packed, log)))
    })
}

fn by_pipeline(log: File, report: File, progress: &Progress) -> io::Result<()> {
    let report = Arc::new(report);
    pipeline(blocks(log))
        .stage(|packed| packed.and_then(unpack))
        .stage(|log| sum_up(&log?))
        .max_in_flight(IN_FLIGHT)
        .try_for_each_async(|line| {
            let report = Arc::clone(&report);
            progress.step();
            unblock(move || (&*report).write_all(line?.as_bytes()))
        })
}

fn main() -> ExitCode {
    finish("pipeline", run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> io::Result<()> {
    type Way = fn(File, File, &Progress) -> io::Result<()>;
    let Arguments { blocks } = *arguments;
    let ways: [(&str, Way); 2] = [("a loop", by_loop), ("a pipeline", by_pipeline)];
    let progress = Progress::new("packing the log", (ways.len() + 1) * blocks as usize);
    let log = nameless()?;
    make(&log, blocks, &progress)?;
    let mut table = Table::new(["time"]);
    let mut reports = vec![];
    for (name, way) in ways {
        progress.message(name);
        let report = nameless()?;
        let (input, output) = (from_start(&log)?, from_start(&report)?);
        let (done, time) = timed(|| way(input, output, &progress));
        done?;
        table.row(name, [Cell::Time(time)]);
        reports.push(io::read_to_string(from_start(&report)?)?);
    }
    assert!(reports[0] == reports[1] && reports[0].lines().count() as u64 == blocks);
    // A damaged log is an error, not a panic.
    log.set_len(log.metadata()?.len() - 6)?;
    let error = by_pipeline(from_start(&log)?, nameless()?, &progress).expect_err("the log has no end");
    drop(progress);
    line(format_args!(
        "{} blocks of {LINES} lines, {} threads\n\n{table}\n\na log that is cut off: {error}",
        grouped(blocks),
        furcate::current_num_threads()
    ));
    Ok(())
}
