//! A file that is read, unpacked, parsed and summed up, block by block, and a report that is written: by a loop, and by a
//! pipeline.
//!
//! `cargo run --release --example pipeline -- [BLOCKS]` makes a temporary file of so many compressed blocks of log lines, and
//! writes one line for each block, in order, to another one. Files have no way of waiting but to block a thread: so `blocking`
//! has a few for that, which the pipeline's tasks wait for.

use blocking::{Unblock, unblock};
use furcate::prelude::*;
use furcate::stream::{Stream, pipeline};
use futures_lite::{AsyncReadExt, stream};
use miniz_oxide::{deflate, inflate};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Lines of a block.
const LINES: u64 = 5000;

/// At most so many blocks are in memory, wherever they wait.
const IN_FLIGHT: usize = 16;

/// The log: every block with its length before it, and at the end a length of 0.
fn make(path: &Path, blocks: u64) -> io::Result<()> {
    let pack = |block: u64| {
        let mut text = String::new();
        for line in block * LINES..(block + 1) * LINES {
            let hash = line.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            let status = if hash.is_multiple_of(100) { 500 } else { 200 };
            let _ = writeln!(text, "GET /page/{} {status} {}", hash % 1000, hash % 65_536);
        }
        deflate::compress_to_vec(text.as_bytes(), 1)
    };
    let mut file = BufWriter::new(File::create(path)?);
    for block in &mut (0..blocks).into_par_iter().map(pack).blocks_iter(std::iter::repeat(64)) {
        for packed in block.collect::<Vec<_>>() {
            file.write_all(&(packed.len() as u32).to_le_bytes())?;
            file.write_all(&packed)?;
        }
    }
    file.write_all(&[0; 4])?;
    file.flush()
}

fn unpack(packed: Vec<u8>) -> io::Result<String> {
    let bytes = inflate::decompress_to_vec(&packed).map_err(|error| io::Error::other(error.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// The line of the report: how many requests there were, how many of them have failed, and how many bytes were sent.
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

fn by_loop(log: &Path, report: &Path) -> io::Result<()> {
    let (mut log, mut report) = (BufReader::new(File::open(log)?), File::create(report)?);
    loop {
        let mut length = [0; 4];
        log.read_exact(&mut length)?;
        let mut packed = vec![0; u32::from_le_bytes(length) as usize];
        if packed.is_empty() {
            return Ok(());
        }
        log.read_exact(&mut packed)?;
        report.write_all(sum_up(&unpack(packed)?)?.as_bytes())?;
    }
}

/// The blocks of a log.
fn blocks(log: File) -> impl Stream<Item = io::Result<Vec<u8>>> + Send {
    stream::try_unfold(Unblock::new(log), |mut log| async move {
        let mut length = [0; 4];
        log.read_exact(&mut length).await?;
        let mut packed = vec![0; u32::from_le_bytes(length) as usize];
        log.read_exact(&mut packed).await?;
        Ok((!packed.is_empty()).then_some((packed, log)))
    })
}

fn by_pipeline(log: &Path, report: &Path) -> io::Result<()> {
    let (log, report) = (File::open(log)?, Arc::new(File::create(report)?));
    pipeline(blocks(log))
        .stage(|packed| packed.and_then(unpack))
        .stage(|log| sum_up(&log?))
        .max_in_flight(IN_FLIGHT)
        .try_for_each_async(|line| {
            let report = Arc::clone(&report);
            unblock(move || (&*report).write_all(line?.as_bytes()))
        })
}

fn main() -> io::Result<()> {
    let blocks = std::env::args().nth(1).map_or(400, |blocks| blocks.parse().expect("a number of blocks"));
    let folder = std::env::temp_dir().join(format!("furcate-pipeline-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let log = folder.join("log");
    make(&log, blocks)?;
    println!("{blocks} blocks of {LINES} lines, {} threads", furcate::current_num_threads());
    type Way = fn(&Path, &Path) -> io::Result<()>;
    let ways: [(&str, Way); 2] = [("a loop", by_loop), ("a pipeline", by_pipeline)];
    let mut reports = vec![];
    for (name, way) in ways {
        let report = folder.join(name);
        let begun = Instant::now();
        way(&log, &report)?;
        println!("{name:<12} {:>9.1?}", begun.elapsed());
        reports.push(fs::read_to_string(report)?);
    }
    assert!(reports[0] == reports[1] && reports[0].lines().count() as u64 == blocks);
    // What is broken is an error, and no panic.
    let packed = fs::read(&log)?;
    fs::write(&log, &packed[..packed.len() - 6])?;
    println!("a log that is cut off: {}", by_pipeline(&log, &folder.join("cut")).expect_err("it has no end"));
    fs::remove_dir_all(&folder)
}
