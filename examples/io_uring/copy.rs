//! The copy, with each kind of reads and writes.

use crate::common::arguments::Bounds;
use crate::common::output::line;
use crate::common::table::{Cell, Table};
use crate::common::timing::interleaved;
use crate::ring::Ring;
use blocking::unblock;
use clap::Parser;
use furcate::prelude::*;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Instant;

const BLOCKS: Bounds<u64> = Bounds::new(1, 10_000);

/// Bytes of a block.
const BLOCK: usize = 1 << 16;

/// Number of reads and writes in flight.
const IN_FLIGHT: usize = 64;

/// Copies a file, block by block, with reads and writes that are futures.
#[derive(Parser)]
struct Arguments {
    #[arg(default_value_t = 500, value_parser = BLOCKS.parser(), help = BLOCKS.help("Number of blocks of 64 KiB"))]
    blocks: u64,
}

/// The work on each block.
fn turn(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.iter_mut().for_each(|byte| *byte = byte.wrapping_add(13));
    bytes
}

/// The file that is read, the file that is written, and the number of blocks.
struct Copy {
    from: Arc<File>,
    to: Arc<File>,
    blocks: u64,
}

impl Copy {
    fn blocked(&self) -> io::Result<()> {
        (0..self.blocks).into_par_iter().try_for_each(|block| {
            let (at, mut bytes) = (block * BLOCK as u64, vec![0; BLOCK]);
            self.from.read_exact_at(&mut bytes, at)?;
            self.to.write_all_at(&turn(bytes), at)
        })
    }

    /// The chain: each read and each write is a future.
    fn awaited<R, W>(
        &self,
        read: impl Fn(u64) -> R + Sync + Send,
        write: impl Fn(u64, Vec<u8>) -> W + Sync + Send,
    ) -> io::Result<()>
    where
        R: Future<Output = io::Result<Vec<u8>>> + Send,
        W: Future<Output = io::Result<Vec<u8>>> + Send,
    {
        let offsets = (0..self.blocks).into_par_iter().map(|block| block * BLOCK as u64);
        offsets
            .map(async |at| io::Result::Ok((at, read(at).await?)))
            .io_await()
            .max_in_flight(IN_FLIGHT)
            .map(|block| block.map(|(at, bytes)| (at, turn(bytes))))
            .map(async |block: io::Result<_>| {
                let (at, bytes) = block?;
                write(at, bytes).await
            })
            .io_await()
            .try_for_each(|written| written.map(drop))
    }

    fn unblocked(&self) -> io::Result<()> {
        let read = |at| {
            let (from, mut bytes) = (Arc::clone(&self.from), vec![0; BLOCK]);
            unblock(move || from.read_exact_at(&mut bytes, at).map(|()| bytes))
        };
        let write = |at, bytes: Vec<u8>| {
            let to = Arc::clone(&self.to);
            unblock(move || to.write_all_at(&bytes, at).map(|()| bytes))
        };
        self.awaited(read, write)
    }

    fn by_ring(&self, ring: &Ring) -> io::Result<()> {
        self.awaited(|at| ring.read_at(&self.from, at, BLOCK), |at, bytes| ring.write_at(&self.to, at, bytes))
    }

    /// Empties the output before a run, and compares it after it.
    fn checked(&self, run: &dyn Fn(&Self) -> io::Result<()>) -> io::Result<std::time::Duration> {
        self.to.set_len(0)?;
        let begin = Instant::now();
        run(self)?;
        let time = begin.elapsed();
        let (mut from, mut to) = (vec![0; BLOCK], vec![0; BLOCK]);
        for at in (0..self.blocks).map(|block| block * BLOCK as u64) {
            self.from.read_exact_at(&mut from, at)?;
            self.to.read_exact_at(&mut to, at)?;
            from = turn(from);
            if from != to {
                return Err(io::Error::other(format!("the copy has other bytes from {at} on")));
            }
        }
        Ok(time)
    }
}

pub(crate) fn run() -> io::Result<()> {
    let Arguments { blocks } = Arguments::parse();
    let copy = Copy { from: tempfile::tempfile()?.into(), to: tempfile::tempfile()?.into(), blocks };
    for block in 0..blocks {
        let bytes: Vec<u8> = (0..BLOCK as u64).map(|i| (i * 7 + block * 31) as u8).collect();
        copy.from.write_all_at(&bytes, block * BLOCK as u64)?;
    }
    let ring = Ring::new();
    type Run<'a> = (&'static str, Box<dyn Fn(&Copy) -> io::Result<()> + 'a>);
    let mut runs: Vec<Run<'_>> = vec![
        ("workers that block", Box::new(Copy::blocked)),
        ("io_await, blocking::unblock", Box::new(Copy::unblocked)),
    ];
    if let Ok(ring) = &ring {
        runs.push(("io_await, io_uring", Box::new(|copy| copy.by_ring(ring))));
    }
    let mut failed = None;
    let times = interleaved("io_uring", 5, &mut runs, |(name, run)| {
        copy.checked(run).unwrap_or_else(|error| {
            failed.get_or_insert(io::Error::new(error.kind(), format!("{name}: {error}")));
            Default::default()
        })
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let mut table = Table::new(["time"]);
    for ((name, _), times) in runs.iter().zip(times) {
        table.row(*name, [Cell::Time(times.median())]);
    }
    line(format_args!("{blocks} blocks of 64 KiB, read, turned and written\n\n{table}"));
    if let Err(error) = &ring {
        line(format_args!(
            "\nio_uring is left out, because this system refuses it: {error}. Futures of `blocking` do the same."
        ));
    }
    Ok(())
}
