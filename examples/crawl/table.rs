//! What is printed.

use crate::Options;
use crate::contest::{Contestant, ROUNDS};
use crate::data::BUCKETS;
use crate::job::Reference;
use std::io::{self, Write};
use std::time::Duration;

pub(crate) fn print(
    out: &mut impl Write,
    options: &Options,
    threads: usize,
    reference: &Reference,
    contestants: &[Contestant<'_>],
) -> io::Result<()> {
    let Options { ranges, latency, in_flight } = *options;
    let megabytes = |bytes: usize| bytes as f64 / 1e6;
    writeln!(
        out,
        "{ranges} ranges of a file of {:.1} MB ({:.1} MB unpacked), {latency:?} each, {in_flight} at most at the same \
         time; {threads} threads",
        megabytes(reference.compressed),
        megabytes(reference.unpacked)
    )?;
    histogram(out, reference)?;

    writeln!(
        out,
        "\nAll contestants found the same (medians of {ROUNDS} interleaved rounds).\n\n\
         {:<30} {:>9} {:>9} {:>9} {:>9} {:>12}",
        "", "time", "furcate=1", "CPU", "server's", "connections"
    )?;
    let furcate = contestants.last().map_or(Duration::ZERO, |furcate| furcate.median().time);
    for contestant in contestants {
        let outcome = contestant.median();
        let scale = ranges as f64 / contestant.ranges as f64;
        let mark = if scale > 1.0 { "~" } else { "" };
        let time = outcome.time.mul_f64(scale);
        let processor = |time: Option<Duration>| match time {
            Some(time) => format!("{mark}{}", seconds(time.mul_f64(scale))),
            None => "unknown".into(),
        };
        writeln!(
            out,
            "{:<30} {:>9} {:>9.2} {:>9} {:>9} {:>12}",
            contestant.name,
            format!("{mark}{}", seconds(time)),
            time.as_secs_f64() / furcate.as_secs_f64(),
            processor(outcome.own),
            processor(outcome.server),
            outcome.connections
        )?;
    }
    let work = reference.work / u32::try_from(threads).unwrap_or(u32::MAX);
    let waiting = latency.mul_f64((ranges as f64 / in_flight as f64).max(1.0));
    let ideal = work.max(waiting);
    writeln!(
        out,
        "{:<30} {:>9} {:>9.2} {:>9}   waiting: {}",
        "no less: its work, or waiting",
        seconds(ideal),
        ideal.as_secs_f64() / furcate.as_secs_f64(),
        seconds(reference.work),
        seconds(waiting)
    )?;
    for partial in contestants.iter().filter(|contestant| contestant.ranges < ranges) {
        let (name, some) = (&partial.name, partial.ranges);
        writeln!(out, "\n~ {name}: measured with the first {some} ranges only, and multiplied.")?;
    }
    Ok(())
}

fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

/// All readings, a column for every two degrees.
fn histogram(out: &mut impl Write, reference: &Reference) -> io::Result<()> {
    let mut total = [0_u64; BUCKETS];
    for histogram in reference.histograms.chunks(BUCKETS) {
        total.iter_mut().zip(histogram).for_each(|(total, count)| *total += count);
    }
    let pairs: Vec<u64> = total.chunks(2).map(|pair| pair.iter().sum()).collect();
    let most = pairs.iter().copied().max().unwrap_or(0).max(1);
    let bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let column = |&count: &u64| if count == 0 { ' ' } else { bars[(count * 7 / most) as usize] };
    let columns: String = pairs.iter().map(column).collect();
    writeln!(out, "{} readings from -32 to 31 degrees: |{columns}|", total.iter().sum::<u64>())
}
