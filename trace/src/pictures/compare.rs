//! Several ways to compute the same, side by side.

use super::boxes::five_numbers;
use super::{box_plot, svg};
use crate::recording::{self, Recorder};
use crate::{AlreadyRunning, Event, Trace};
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io};

/// Compares computations, such as one chain under several policies: runs them in turn, and writes one page with box plots and graphs.
///
/// ```
/// use furcate::prelude::*;
/// use furcate_trace::Comparison;
///
/// let v: Vec<u64> = (0..100_000).collect();
/// let mut comparison = Comparison::new("A sum");
/// comparison.add("no policy", || v.par_iter().sum::<u64>());
/// comparison.add("size_limit(1000)", || v.par_iter().size_limit(1000).sum::<u64>());
/// let page = comparison.run(5).unwrap().html();
/// assert!(page.starts_with("<!doctype html>"));
/// ```
///
/// A call is recorded as a [trace](Trace) in each of its runs, so the times contain the trace's cost, a few percent.
#[derive(Default)]
#[allow(missing_debug_implementations, reason = "holds closures")]
pub struct Comparison<'a> {
    title: String,
    ways: Vec<(String, Box<dyn FnMut() -> Recorded + 'a>)>,
}

impl<'a> Comparison<'a> {
    /// Makes a comparison without computations.
    pub fn new(title: impl Into<String>) -> Self {
        Comparison { title: title.into(), ways: Vec::new() }
    }

    /// Adds a computation. The name stands beside its results.
    pub fn add<R>(&mut self, name: impl Into<String>, mut run: impl FnMut() -> R + 'a) -> &mut Self {
        self.add_with(name, || (), move |()| run())
    }

    /// Adds a computation with an input that is made for each run, outside the measured time.
    pub fn add_with<T, R>(
        &mut self,
        name: impl Into<String>,
        mut input: impl FnMut() -> T + 'a,
        mut run: impl FnMut(T) -> R + 'a,
    ) -> &mut Self {
        let run = move || {
            let input = input();
            let recording = Recording::start()?;
            let begin = Instant::now();
            let result = run(input);
            let time = begin.elapsed();
            let trace = recording.stop();
            drop(result);
            Ok((time, trace))
        };
        self.ways.push((name.into(), Box::new(run)));
        self
    }

    /// Runs each computation so many times, at least once, in turn: so a machine that becomes slower meanwhile is slower for all. One
    /// run more, the first one, does not count.
    ///
    /// # Errors
    ///
    /// If a trace is being recorded already, for instance because `FURCATE_TRACE` is set.
    pub fn run(&mut self, runs: usize) -> Result<Compared, AlreadyRunning> {
        let mut results: Vec<_> =
            self.ways.iter().map(|(name, _)| Way { name: name.clone(), runs: Vec::new() }).collect();
        for round in 0..=runs.max(1) {
            for ((_, run), way) in self.ways.iter_mut().zip(&mut results) {
                let (time, trace) = run()?;
                if round > 0 {
                    way.runs.push(Run::new(time, trace));
                }
            }
        }
        results.iter_mut().for_each(Way::keep_median);
        Ok(Compared { title: self.title.clone(), ways: results })
    }
}

/// The time and the trace of a run.
type Recorded = Result<(Duration, Trace), AlreadyRunning>;

/// The recording of a run, which also ends when the run panics.
struct Recording(Option<Recorder>);

impl Recording {
    /// Begins to record. While the program has no pool there is nothing to record: a run that makes the first pool is the one that does not
    /// count.
    fn start() -> Result<Self, AlreadyRunning> {
        let recorder = recording::recorder();
        recorder.map_or(Ok(()), |recorder| (recorder.start)())?;
        Ok(Recording(recorder))
    }

    fn stop(mut self) -> Trace {
        self.end().unwrap_or_default()
    }

    fn end(&mut self) -> Option<Trace> {
        (self.0.take()?.stop)()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        drop(self.end());
    }
}

/// The results of a [`Comparison`].
#[derive(Clone, Debug)]
pub struct Compared {
    title: String,
    ways: Vec<Way>,
}

/// The runs of one computation, the shortest first.
#[derive(Clone, Debug)]
struct Way {
    name: String,
    runs: Vec<Run>,
}

#[derive(Clone, Debug)]
struct Run {
    time: Duration,
    tasks: usize,
    steals: usize,
    /// Only the median run keeps its trace.
    trace: Option<Trace>,
}

impl Run {
    fn new(time: Duration, trace: Trace) -> Run {
        let count = |is: fn(Event) -> bool| {
            let events = trace.threads().iter().flat_map(|thread| thread.events());
            events.filter(|event| is(event.event)).count()
        };
        let tasks = count(|event| matches!(event, Event::Fork { .. } | Event::Offer { .. })) + 1;
        let steals = count(|event| matches!(event, Event::Steal { .. }));
        Run { time, tasks, steals, trace: Some(trace) }
    }
}

impl Way {
    /// Sorts the runs, and drops the traces of all but the median one.
    fn keep_median(&mut self) {
        self.runs.sort_by_key(|run| run.time);
        let median = self.runs.len() / 2;
        for (run, number) in self.runs.iter_mut().zip(0..) {
            run.trace = run.trace.take().filter(|_| number == median);
        }
    }

    fn median(&self) -> &Run {
        &self.runs[self.runs.len() / 2]
    }

    /// Whether the middle halves of the times have a time in common, so that one more run of each may change which one is faster.
    fn ties_with(&self, other: &Way) -> bool {
        let [[_, first, _, third, _], [_, from, _, to, _]] =
            [self, other].map(|way| five_numbers(&way.values(milliseconds)));
        first <= to && from <= third
    }

    fn values(&self, of: fn(&Run) -> f64) -> Vec<f64> {
        self.runs.iter().map(of).collect()
    }
}

fn milliseconds(run: &Run) -> f64 {
    run.time.as_secs_f64() * 1e3
}

fn tasks(run: &Run) -> f64 {
    run.tasks as f64
}

fn steals(run: &Run) -> f64 {
    run.steals as f64
}

impl Compared {
    /// Returns the times of the runs of each computation, with its name; the shortest time first.
    pub fn times(&self) -> impl Iterator<Item = (&str, Vec<Duration>)> {
        self.ways.iter().map(|way| (way.name.as_str(), way.runs.iter().map(|run| run.time).collect()))
    }

    /// Returns the page: an HTML document that needs no other file and no network.
    #[must_use]
    pub fn html(&self) -> String {
        let title = escaped(&self.title);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n<h1>{title}</h1>\n<p><strong>{}</strong></p>\n<p>{}</p>\n",
            escaped(&self.winner()),
            self.machine()
        );
        page.push_str("<div class=\"plots\">\n");
        for (name, of) in
            [("time in ms", milliseconds as fn(&Run) -> f64), ("tasks", tasks), ("steals", steals)]
        {
            let rows: Vec<_> = self.ways.iter().map(|way| (way.name.as_str(), way.values(of))).collect();
            let _ = writeln!(page, "<figure>{}</figure>", box_plot(name, &rows));
        }
        page.push_str("</div>\n<table>\n<tr><th>computation<th>median time<th>least<th>most<th>to the first<th>tasks<th>steals\n");
        let first = self.ways.first().map_or(1.0, |way| milliseconds(way.median()));
        for way in &self.ways {
            let median = way.median();
            let time = |run: Option<&Run>| run.map_or(0.0, milliseconds);
            let _ = writeln!(
                page,
                "<tr><td>{}<td>{:.3} ms<td>{:.3} ms<td>{:.3} ms<td>{:.2}<td>{}<td>{}",
                escaped(&way.name),
                milliseconds(median),
                time(way.runs.first()),
                time(way.runs.last()),
                milliseconds(median) / first.max(1e-9),
                median.tasks,
                median.steals
            );
        }
        page.push_str("</table>\n");
        for way in &self.ways {
            let Some(trace) = &way.median().trace else { continue };
            let _ = writeln!(page, "<h2>{}</h2>", escaped(&way.name));
            if trace.summary().work.is_zero() {
                page.push_str(
                    "<p>Nothing was recorded: this computation does not run on furcate's pool.</p>\n",
                );
                continue;
            }
            let _ = writeln!(
                page,
                "<p>The median run.</p>\n<figure class=\"graph\">{}</figure>\n<pre>{}</pre>",
                svg(trace),
                escaped(&trace.summary().to_string())
            );
        }
        page.push_str("</html>\n");
        page
    }

    /// Writes the [page](Self::html) to a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write_html(&self, path: impl AsRef<Path>) -> io::Result<()> {
        fs::write(path, self.html())
    }

    /// Says which computation is fastest, and by how much. Names those that may be as fast: their quartiles overlap with its own.
    fn winner(&self) -> String {
        let time = |way: &&Way| way.median().time;
        let Some(winner) = self.ways.iter().min_by_key(time) else { return String::new() };
        // The others, the fastest first.
        let mut others: Vec<_> = self.ways.iter().filter(|way| !std::ptr::eq(*way, winner)).collect();
        let first = others.first().copied();
        others.sort_by_key(time);
        let (name, best) = (&winner.name, milliseconds(winner.median()));
        let (Some(first), Some(next)) = (first, others.first()) else {
            return format!("{name}: {best:.3} ms.");
        };
        let ties: Vec<_> =
            others.iter().filter(|way| way.ties_with(winner)).map(|way| way.name.as_str()).collect();
        let mut sentence = if ties.is_empty() {
            // The first computation is what the others are compared with.
            let to = if std::ptr::eq(winner, &self.ways[0]) { next } else { first };
            let part = best / milliseconds(to.median()).max(1e-9);
            format!("{name} is fastest: {best:.3} ms, {part:.2} of {}.", to.name)
        } else {
            format!(
                "No computation is clearly fastest. {name} has the least median, {best:.3} ms, but its quartiles overlap with those of {}.",
                ties.join(", ")
            )
        };
        if winner.runs.len() < 5 {
            sentence.push_str(" Fewer than five runs say little: run more of them.");
        }
        sentence
    }

    fn machine(&self) -> String {
        let runs = self.ways.first().map_or(0, |way| way.runs.len());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        format!(
            "{runs} runs of each, in turn, on a machine with {threads} hardware threads ({}, {}). The runs were recorded, which costs a few \
             percent. A task is the call itself, a recorded fork, or a part that an adaptive \
             computation has offered.",
            std::env::consts::ARCH,
            std::env::consts::OS
        )
    }
}

const STYLE: &str = "body{font-family:sans-serif;margin:1.5rem auto;max-width:1440px;padding:0 1rem;color:#222}\
.plots{display:flex;flex-wrap:wrap;gap:1rem}.plots figure{flex:1 1 360px}figure{margin:0;overflow-x:auto}\
svg{max-width:100%;height:auto}.graph svg{min-width:900px}table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}\
td,th{white-space:nowrap;padding:.3rem .8rem;text-align:right;border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}\
pre{overflow-x:auto;background:#f5f5f5;padding:.6rem}";

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn winner(ways: &[(&str, &[u64])]) -> String {
        let way = |(name, times): &(&str, &[u64])| {
            let runs = times.iter().map(|time| Run::new(Duration::from_millis(*time), Trace::default()));
            let mut way = Way { name: (*name).to_owned(), runs: runs.collect() };
            way.keep_median();
            way
        };
        Compared { title: String::new(), ways: ways.iter().map(way).collect() }.winner()
    }

    #[test]
    fn the_winner_is_named() {
        let (plain, quick, slow) = ([10, 11, 10, 12, 10], [8, 8, 9, 8, 8], [20, 20, 30, 20, 20]);
        let three = winner(&[("plain", &plain), ("quick", &quick), ("slow", &slow)]);
        assert_eq!(three, "quick is fastest: 8.000 ms, 0.80 of plain.");
        let first = winner(&[("quick", &quick), ("slow", &slow), ("plain", &plain)]);
        assert_eq!(first, "quick is fastest: 8.000 ms, 0.80 of plain.");
        assert_eq!(winner(&[("quick", &quick)]), "quick: 8.000 ms.");
        assert_eq!(winner(&[]), "");
    }

    #[test]
    fn ties_are_named() {
        let tie = winner(&[("a", &[10, 11, 12, 13, 14]), ("b", &[9, 10, 11, 12, 13]), ("c", &[20; 5])]);
        assert_eq!(
            tie,
            "No computation is clearly fastest. b has the least median, 11.000 ms, but its quartiles overlap with those of a."
        );
        assert!(winner(&[("a", &[10]), ("b", &[20])]).ends_with("run more of them."));
    }
}
