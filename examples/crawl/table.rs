//! The output: a histogram, and the table of times.

use super::Options;
use super::common::output::{grouped, line};
use super::common::table::{Cell, Table, time};
use super::contest::{Contestant, ROUNDS};
use super::data::BUCKETS;
use super::job::Reference;
use std::time::Duration;

pub(crate) fn print(
    options: &Options,
    threads: usize,
    reference: &Reference,
    contestants: &[Contestant<'_>],
) {
    let Options { ranges, latency, in_flight } = *options;
    let megabytes = |bytes: usize| bytes as f64 / 1e6;
    line(format_args!(
        "{} ranges of a file of {:.1} MB ({:.1} MB unpacked), {} each, {in_flight} in flight at most; {threads} threads",
        grouped(ranges),
        megabytes(reference.compressed),
        megabytes(reference.unpacked),
        time(latency)
    ));
    line(histogram(reference));

    let mut table = Table::new(["time", "of furcate's", "CPU", "server's CPU", "connections"]);
    let furcate = contestants.last().map_or(Duration::ZERO, |furcate| furcate.median().time);
    let ratio = |time: Duration| Cell::Ratio(time.as_secs_f64() / furcate.as_secs_f64());
    let known = |time: Option<Duration>| time.map_or(Cell::Text("unknown".into()), Cell::Time);
    for contestant in contestants {
        let outcome = contestant.median();
        let scale = ranges as f64 / contestant.ranges as f64;
        let mark = if scale > 1.0 { " ~" } else { "" };
        let scaled = |time: Duration| time.mul_f64(scale);
        table.row(
            format!("{}{mark}", contestant.name),
            [
                Cell::Time(scaled(outcome.time)),
                ratio(scaled(outcome.time)),
                known(outcome.own.map(scaled)),
                known(outcome.server.map(scaled)),
                Cell::Count(outcome.connections as u64),
            ],
        );
    }
    let work = reference.work / u32::try_from(threads).unwrap_or(u32::MAX);
    let waiting = latency.mul_f64((ranges as f64 / in_flight as f64).max(1.0));
    let ideal = work.max(waiting);
    table.row(
        "least possible: the work, or the waiting",
        [Cell::Time(ideal), ratio(ideal), Cell::Time(reference.work), Cell::Empty, Cell::Empty],
    );
    line(format_args!(
        "\nAll contestants found the same. Medians of {ROUNDS} interleaved rounds; the waiting alone takes {}:\n\n{table}",
        time(waiting)
    ));
    for partial in contestants.iter().filter(|contestant| contestant.ranges < ranges) {
        let (name, some) = (&partial.name, partial.ranges);
        line(format_args!("\n~ {name}: measured with the first {some} ranges only, and multiplied."));
    }
}

/// Formats the histogram of all readings, with a column for every two degrees.
fn histogram(reference: &Reference) -> String {
    let mut total = [0_u64; BUCKETS];
    for histogram in reference.histograms.chunks(BUCKETS) {
        total.iter_mut().zip(histogram).for_each(|(total, count)| *total += count);
    }
    let pairs: Vec<u64> = total.chunks(2).map(|pair| pair.iter().sum()).collect();
    let most = pairs.iter().copied().max().unwrap_or(0).max(1);
    let bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let column = |&count: &u64| if count == 0 { ' ' } else { bars[(count * 7 / most) as usize] };
    let columns: String = pairs.iter().map(column).collect();
    format!("{} readings from -32 to 31 degrees: |{columns}|", grouped(total.iter().sum::<u64>()))
}
