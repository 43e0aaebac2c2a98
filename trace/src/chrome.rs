//! The trace in the JSON format of Chrome's trace viewer, which Perfetto reads too ("Trace Event Format").
//!
//! Each thread is a track of nested slices: calls of chains, jobs, halves of forks, leaves, reductions, waits. Arrows lead from forks to the
//! jobs that thieves have made of them. The rest are instants.
//!
//! `furcate-trace` reads the file back. For this, each of the trace's events is in the `args` of one record, the first one that the event
//! begins, or else the last one that it ends: `event` is its kind, and `payload` its payload, in hexadecimal digits. An event that viewers show
//! nothing of is in a metadata record. The `args` of `thread_name` have the thread's other values, and `otherData` has those of the trace.

use super::graph::{Place, thefts};
use super::{Event, JobId, ThreadTrace, Trace};
use std::collections::HashMap;
use std::fmt::{self, Display};
use std::io::{self, Write};
use std::time::Duration;

impl Trace {
    /// Writes the trace as JSON that <https://ui.perfetto.dev> and `chrome://tracing` open. Every thread is a track of nested slices. An
    /// arrow leads from a fork to the job that a thief has made of it. The program `furcate-trace` of the crate of that name reads the file, too.
    ///
    /// Cost: some 120 bytes per event.
    ///
    /// # Errors
    ///
    /// If the writer fails.
    pub fn write_chrome(&self, to: impl Write) -> io::Result<()> {
        let mut out = Out { to: io::BufWriter::new(to), first: true };
        write!(
            out.to,
            "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"furcate\":\"1\",\"lost\":\"{}\",\"duration\":\"{}\",\"threads_left_out\":\"{}\"}},\"traceEvents\":[",
            self.lost(),
            self.duration.as_nanos(),
            self.left_out
        )?;
        let arrows = arrows(&self.threads);
        for (thread, track) in self.threads.iter().zip(1..) {
            write_track(&mut out, thread, track, self.duration, &arrows)?;
        }
        out.to.write_all(b"\n]}\n")?;
        out.to.flush()
    }
}

struct Out<W> {
    to: W,
    first: bool,
}

impl<W: Write> Out<W> {
    /// Writes an event of a track. `more` begins with a comma, or is empty.
    fn event(
        &mut self,
        phase: char,
        name: &str,
        track: u32,
        at: Duration,
        more: impl Display,
    ) -> io::Result<()> {
        let comma = if std::mem::take(&mut self.first) { "" } else { "," };
        let (micros, nanos) = (at.as_micros(), at.subsec_nanos() % 1000);
        write!(
            self.to,
            "{comma}\n{{\"ph\":\"{phase}\",\"name\":{},\"pid\":1,\"tid\":{track},\"ts\":{micros}.{nanos:03}{more}}}",
            Quoted(name)
        )
    }
}

/// A string between quotation marks.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if (c as u32) < 0x20 => write!(f, "\\u{:04x}", c as u32)?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}

/// Returns the numbers of the arrows, by the places of the forks and of the jobs between which they lead.
fn arrows(threads: &[ThreadTrace]) -> HashMap<Place, u64> {
    thefts(threads)
        .into_iter()
        .zip(0..)
        .flat_map(|((fork, job), number)| [(fork, number), (job, number)])
        .collect()
}

fn write_track<W: Write>(
    out: &mut Out<W>,
    thread: &ThreadTrace,
    track: u32,
    end: Duration,
    arrows: &HashMap<Place, u64>,
) -> io::Result<()> {
    let mut args = format!(",\"args\":{{\"name\":{},\"lost\":{}", Quoted(&thread.label()), thread.lost);
    if let Some(name) = &thread.name {
        args += &format!(",\"own_name\":{}", Quoted(name));
    }
    if let Some(time) = thread.processor_time {
        args += &format!(",\"processor_time\":{}", time.as_nanos());
    }
    out.event('M', "thread_name", track, Duration::ZERO, args + "}")?;
    let mut open = Open::default();
    for (index, event) in thread.events.iter().enumerate() {
        let at = event.at;
        let read_back =
            format!("\"event\":\"{}\",\"payload\":\"{:x}\"", event.event.kind(), event.event.payload());
        let arrow = |phase: char| {
            let number = arrows.get(&(track as usize - 1, index));
            number.map(|number| (phase, format!(",\"cat\":\"steal\",\"id\":{number}")))
        };
        let call;
        // How many slices end, the slice that begins, and an arrow's end.
        let (ends, begins, arrow) = match event.event {
            Event::CallBegin => (0, Some(("call", Slice::Call, String::new())), None),
            Event::CallEnd => (open.down_to(|slice| slice == Slice::Call), None, None),
            Event::JobBegin { .. } => (0, Some(("job", Slice::Job, String::new())), arrow('f')),
            Event::JobEnd => (open.down_to(|slice| slice == Slice::Job), None, None),
            Event::Fork { job } => (0, Some(("left", Slice::Fork(job), String::new())), arrow('s')),
            Event::Right { job } => (
                open.down_to(|slice| slice == Slice::Fork(job)),
                Some(("right", Slice::Fork(job), String::new())),
                None,
            ),
            Event::Joined { job } | Event::Stolen { job } => {
                (open.down_to(|slice| slice == Slice::Fork(job)), None, None)
            }
            Event::Offer { .. } => (0, None, arrow('s')),
            Event::LeafBegin { size } => (0, Some(("leaf", Slice::Leaf, format!("\"size\":{size},"))), None),
            Event::LeafEnd => (open.down_to(|slice| slice == Slice::Leaf), None, None),
            Event::ChainBegin { place } => {
                call = format!("call at {place}");
                (0, Some((call.as_str(), Slice::Chain, String::new())), None)
            }
            Event::ChainEnd => (open.down_to(|slice| slice == Slice::Chain), None, None),
            Event::LogBegin { name } => (0, Some((name, Slice::Log, String::new())), None),
            Event::LogEnd => (open.down_to(|slice| slice == Slice::Log), None, None),
            Event::ReduceBegin => (0, Some(("reduce", Slice::Reduce, String::new())), None),
            Event::ReduceEnd => (open.down_to(|slice| slice == Slice::Reduce), None, None),
            Event::WaitBegin => (0, Some(("wait", Slice::Wait, String::new())), None),
            Event::WaitEnd => (open.down_to(|slice| slice == Slice::Wait), None, None),
            Event::ParkBegin { .. } => (0, Some(("parked", Slice::Sleep, String::new())), None),
            Event::NapBegin { .. } => (0, Some(("nap", Slice::Sleep, String::new())), None),
            Event::ParkEnd | Event::NapEnd => (open.down_to(|slice| slice == Slice::Sleep), None, None),
            Event::Steal { victim, .. } => {
                out.event(
                    'i',
                    "steal",
                    track,
                    at,
                    format_args!(",\"s\":\"t\",\"args\":{{\"victim\":{victim},{read_back}}}"),
                )?;
                continue;
            }
            Event::Suspend { task } | Event::Wake { task } | Event::Resume { task } => {
                let name = match event.event {
                    Event::Suspend { .. } => "suspend",
                    Event::Wake { .. } => "wake",
                    _ => "resume",
                };
                let task = task.get();
                out.event(
                    'i',
                    name,
                    track,
                    at,
                    format_args!(",\"s\":\"t\",\"args\":{{\"task\":\"{task:x}\",{read_back}}}"),
                )?;
                continue;
            }
            Event::Handover | Event::Mug | Event::Cancel => {
                let name = match event.event {
                    Event::Handover => "slot handed over",
                    Event::Mug => "mug",
                    _ => "cancel",
                };
                out.event('i', name, track, at, format_args!(",\"s\":\"t\",\"args\":{{{read_back}}}"))?;
                continue;
            }
        };
        for left in (0..ends).rev() {
            let is_last = left == 0 && begins.is_none();
            let args = if is_last { format!(",\"args\":{{{read_back}}}") } else { String::new() };
            out.event('E', "", track, at, args)?;
        }
        if let Some((name, slice, args)) = begins {
            open.0.push(slice);
            out.event('B', name, track, at, format_args!(",\"args\":{{{args}{read_back}}}"))?;
        } else if ends == 0 {
            out.event('M', "furcate_event", track, at, format_args!(",\"args\":{{{read_back}}}"))?;
        }
        if let Some((phase, id)) = arrow {
            // The end of an arrow belongs to the slice around it, not to the next one.
            let bind = if phase == 'f' { ",\"bp\":\"e\"" } else { "" };
            out.event(phase, "steal", track, at, format_args!("{id}{bind}"))?;
        }
    }
    for _ in open.0 {
        out.event('E', "", track, end, "")?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slice {
    Call,
    Job,
    Fork(JobId),
    Chain,
    Leaf,
    Log,
    Reduce,
    Wait,
    Sleep,
}

/// The slices that have begun and not ended, the innermost last.
#[derive(Default)]
struct Open(Vec<Slice>);

impl Open {
    /// Ends slices down to the innermost one for which `is` holds, and returns their number: none if there is no such slice, since its
    /// begin was lost.
    fn down_to(&mut self, is: impl Fn(Slice) -> bool) -> usize {
        let Some(place) = self.0.iter().rposition(|slice| is(*slice)) else { return 0 };
        self.0.drain(place..).count()
    }
}
