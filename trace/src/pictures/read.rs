//! Traces from files.

use crate::{Event, ThreadTrace, TimedEvent, Trace};
use miniserde::{Deserialize, json};
use std::collections::HashSet;
use std::io::{self, BufReader, Read};
use std::time::Duration;

/// Reads a trace that [`Trace::write_chrome`] or `FURCATE_TRACE` has written. Its summary and its picture are those of the trace that was
/// recorded.
///
/// Cost: some 400 bytes of memory per event. The names of [logs](Event::LogBegin) and the places of [calls](Event::ChainBegin) stay in memory
/// until the program ends.
///
/// ```
/// use furcate::trace;
///
/// trace::start().unwrap();
/// furcate::join(|| (), || ());
/// let trace = trace::stop().unwrap();
/// let mut file = Vec::new();
/// trace.write_chrome(&mut file)?;
/// let read = furcate_trace::read_chrome(&file[..])?;
/// assert_eq!(read.summary().to_string(), trace.summary().to_string());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// If the reader fails, or if what it reads is no such trace, or only the begin of one. The error says what to do.
pub fn read_chrome(from: impl Read) -> io::Result<Trace> {
    let mut text = String::new();
    BufReader::new(from).read_to_string(&mut text)?;
    let whole = text.trim_end();
    if whole.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the file is empty: the program still runs, or was killed before it wrote the trace; let it end, or end it with SIGINT",
        ));
    }
    let file: File = json::from_str(whole).map_err(|_| {
        if json::from_str::<json::Value>(whole).is_ok() {
            invalid(FOREIGN.to_owned())
        } else if whole.starts_with('{') && !whole.ends_with("\n]}") {
            io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!(
                    "the trace is cut off after line {}: copy the whole file, or record the trace again",
                    text.lines().count()
                ),
            )
        } else {
            invalid("this is not JSON; name the file that FURCATE_TRACE has written".to_owned())
        }
    })?;
    if file.about.furcate != FORMAT {
        return Err(invalid(FOREIGN.to_owned()));
    }
    file.trace().ok_or_else(|| {
        invalid("a value in the trace is wrong or missing: it was changed, or another version of furcate has written it; use furcate-trace of that version".to_owned())
    })
}

/// The format's number, in `otherData`.
const FORMAT: &str = "1";

const FOREIGN: &str = "this is JSON, but not a trace that this version of furcate-trace reads: name the file that FURCATE_TRACE has written, and record it with the same version of furcate";

fn invalid(words: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, words)
}

/// What is read of a file.
#[derive(Deserialize)]
struct File {
    #[serde(rename = "otherData")]
    about: About,
    #[serde(rename = "traceEvents")]
    records: Vec<Record>,
}

#[derive(Deserialize)]
struct About {
    furcate: String,
    began: String,
    duration: String,
    threads_left_out: String,
}

/// A record: a thread's name (`thread_name`), or something of an event. Only records with `args` matter.
#[derive(Deserialize)]
struct Record {
    name: String,
    tid: usize,
    ts: f64,
    args: Option<Args>,
}

#[derive(Deserialize)]
struct Args {
    event: Option<String>,
    payload: Option<String>,
    lost: Option<u64>,
    own_name: Option<String>,
    processor_time: Option<u64>,
}

impl File {
    fn trace(self) -> Option<Trace> {
        let mut threads = Vec::<(Args, Vec<TimedEvent>)>::new();
        let mut names = HashSet::<&'static str>::new();
        for Record { name, tid, ts, args } in self.records {
            let Some(args) = args else { continue };
            // The threads are numbered from 1 on, in their order.
            let Some(kind) = &args.event else {
                if name != "thread_name" || tid != threads.len() + 1 {
                    return None;
                }
                threads.push((args, Vec::new()));
                continue;
            };
            let payload = u64::from_str_radix(args.payload.as_deref()?, 16).ok()?;
            let mut known = |name: &str| match names.get(name) {
                Some(name) => *name,
                None => {
                    let leaked: &'static str = name.to_owned().leak();
                    names.insert(leaked);
                    leaked
                }
            };
            let event = match Event::of_kind(kind, payload)? {
                Event::LogBegin { .. } => Event::LogBegin { name: known(&name) },
                Event::ChainBegin { .. } => {
                    Event::ChainBegin { place: known(name.strip_prefix("call at ")?) }
                }
                event => event,
            };
            // Microseconds, with three digits behind the point.
            let at = Duration::from_nanos((ts * 1e3).round() as u64);
            threads.get_mut(tid.checked_sub(1)?)?.1.push(TimedEvent { at, event });
        }
        let threads = threads.into_iter().map(|(args, events)| {
            let processor_time = args.processor_time.map(Duration::from_nanos);
            Some(ThreadTrace::from_parts(args.own_name, events, args.lost?, processor_time))
        });
        let duration = Duration::from_nanos(self.about.duration.parse().ok()?);
        Some(Trace::from_parts(
            threads.collect::<Option<_>>()?,
            self.about.threads_left_out.parse().ok()?,
            duration,
            Duration::from_nanos(self.about.began.parse().ok()?),
        ))
    }
}
