//! The trace in the JSON format of Chrome's trace viewer, which Perfetto reads too ("Trace Event Format").
//!
//! Each thread is a track of nested slices: calls of chains, jobs, halves of forks, blocks, leaves, reductions, waits. Arrows lead from forks to
//! the jobs that thieves have made of them. The rest are instants. A leaf's record has the position of its first item, which is the graph's.
//!
//! `furcate-trace` reads the file back. For this, each of the trace's events is in the `args` of one record, the first one that the event
//! begins, or else the last one that it ends: `event` is its kind, and `payload` its payload, in hexadecimal digits. An event that viewers show
//! nothing of is in a metadata record. The `args` of `thread_name` have the thread's other values, and `otherData` has those of the trace.

use super::graph::{PieceKind, Place, thefts};
use super::{Event, JobId, ThreadTrace, TimedEvent, Trace};
use std::borrow::Cow;
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
        let about = format!(
            "\"furcate\":\"1\",\"lost\":\"{}\",\"duration\":\"{}\",\"threads_left_out\":\"{}\",\"began\":\"{}\"",
            self.lost(),
            self.duration.as_nanos(),
            self.left_out,
            self.began.as_nanos()
        );
        let mut out = Out::new(to, &about)?;
        self.write_tracks(&mut out)?;
        out.end()
    }

    fn write_tracks(&self, out: &mut Out<impl Write>) -> io::Result<()> {
        let (arrows, positions) = (arrows(&self.threads), positions(self));
        for (thread, track) in self.threads.iter().zip(1..) {
            write_track(out, thread, track, self.duration, &arrows, &positions)?;
        }
        Ok(())
    }
}

/// Writes the traces of several processes into one file for <https://ui.perfetto.dev>, such as those of the ranks of a cluster. Each trace is a process of
/// the given name. The times of all count from the earliest start, by the clocks of their machines.
///
/// ```
/// use furcate::trace;
///
/// let traces = ["first", "second"].map(|name| {
///     trace::start().unwrap();
///     furcate::join(|| (), || ());
///     (name.to_owned(), trace::stop().unwrap())
/// });
/// furcate_trace::write_processes(&traces, Vec::new()).unwrap();
/// ```
///
/// # Errors
///
/// If the writer fails.
#[cfg(feature = "pictures")]
pub fn write_processes(processes: &[(String, Trace)], to: impl Write) -> io::Result<()> {
    let first = processes.iter().map(|(_, trace)| trace.began).min().unwrap_or_default();
    let mut out = Out::new(to, "")?;
    // From 1 on: viewers take the process 0 for the system's idle one.
    for ((name, trace), process) in processes.iter().zip(1..) {
        (out.process, out.shift) = (process, trace.began - first);
        let args = format_args!(",\"args\":{{\"name\":{}}}", Quoted(name));
        out.event('M', "process_name", 1, Duration::ZERO, args)?;
        trace.write_tracks(&mut out)?;
    }
    out.end()
}

struct Out<W: Write> {
    to: io::BufWriter<W>,
    first: bool,
    process: u32,
    /// Time from the file's time 0 to the start of the process's trace.
    shift: Duration,
}

impl<W: Write> Out<W> {
    /// Begins the file, whose `otherData` has these members.
    fn new(to: W, about: &str) -> io::Result<Self> {
        let mut to = io::BufWriter::new(to);
        write!(to, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{{about}}},\"traceEvents\":[")?;
        Ok(Out { to, first: true, process: 1, shift: Duration::ZERO })
    }

    fn end(mut self) -> io::Result<()> {
        self.to.write_all(b"\n]}\n")?;
        self.to.flush()
    }

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
        let (process, at) = (self.process, at + self.shift);
        // Unique in the file: Perfetto gives a thread's name to the number alone. (A trace has at most 1024 threads.)
        let track = track + 10_000 * (process - 1);
        let (micros, nanos) = (at.as_micros(), at.subsec_nanos() % 1000);
        write!(
            self.to,
            "{comma}\n{{\"ph\":\"{phase}\",\"name\":{},\"pid\":{process},\"tid\":{track},\"ts\":{micros}.{nanos:03}{more}}}",
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

/// The positions of leaves, by their threads and begins.
type Positions = HashMap<(usize, Duration), Option<u64>>;

/// Returns the positions of the leaves. Two leaves of a thread have one begin if the clock is coarse: their positions are not known.
fn positions(trace: &Trace) -> Positions {
    let mut positions = HashMap::new();
    for piece in trace.graph().pieces().filter(|piece| matches!(piece.kind, PieceKind::Leaf(_))) {
        let entry = positions.entry((piece.thread, piece.begin));
        entry.and_modify(|first| *first = None).or_insert(piece.first);
    }
    positions
}

fn write_track<W: Write>(
    out: &mut Out<W>,
    thread: &ThreadTrace,
    track: u32,
    end: Duration,
    arrows: &HashMap<Place, u64>,
    positions: &Positions,
) -> io::Result<()> {
    let mut args = format!(",\"args\":{{\"name\":{},\"lost\":{}", Quoted(&thread.label()), thread.lost);
    if let Some(name) = &thread.name {
        args += &format!(",\"own_name\":{}", Quoted(name));
    }
    if let Some(time) = thread.processor_time {
        args += &format!(",\"processor_time\":{}", time.as_nanos());
    }
    out.event('M', "thread_name", track, Duration::ZERO, args + "}")?;
    let mut open = Vec::new();
    for (index, TimedEvent { at, event }) in thread.events.iter().enumerate() {
        let (at, event) = (*at, *event);
        let args = match event {
            Event::LeafBegin { size } => {
                let first = positions.get(&(track as usize - 1, at)).copied().flatten();
                let from = first.map_or("\"unknown\"".to_owned(), |first| first.to_string());
                format!("\"size\":{size},\"from\":{from},")
            }
            Event::Steal { victim, .. } => format!("\"victim\":{victim},"),
            Event::RankSteal { rank } | Event::RankGive { rank } => format!("\"rank\":{rank},"),
            Event::Suspend { task } | Event::Wake { task } | Event::Resume { task } => {
                format!("\"task\":\"{:x}\",", task.get())
            }
            _ => String::new(),
        };
        let args = format!(
            ",\"args\":{{{args}\"event\":\"{}\",\"payload\":\"{:x}\"}}",
            event.kind(),
            event.payload()
        );
        let shown = Shown::of(event);
        let ends = shown.end_slices(&mut open);
        let (phase, name) = match &shown {
            Shown::Begin(name, _) => ('B', &**name),
            Shown::Next(name, _) => ('B', *name),
            Shown::End(_) if ends > 0 => ('E', ""),
            Shown::Instant(name) => ('i', *name),
            Shown::End(_) | Shown::Nothing => ('M', "furcate_event"),
        };
        // One of the ends may be the record of the event.
        for _ in usize::from(phase == 'E')..ends {
            out.event('E', "", track, at, "")?;
        }
        let scope = if phase == 'i' { ",\"s\":\"t\"" } else { "" };
        out.event(phase, name, track, at, format_args!("{scope}{args}"))?;
        if let Shown::Begin(_, slice) | Shown::Next(_, slice) = shown {
            open.push(slice);
        }
        if let Some(number) = arrows.get(&(track as usize - 1, index)) {
            // The end of an arrow belongs to the slice around it, not to the next one.
            let (phase, bind) =
                if matches!(event, Event::JobBegin { .. }) { ('f', ",\"bp\":\"e\"") } else { ('s', "") };
            // Unique in the file, as the tracks.
            let number = u64::from(out.process) << 32 | number;
            out.event(phase, "steal", track, at, format_args!(",\"cat\":\"steal\",\"id\":{number}{bind}"))?;
        }
    }
    for _ in open {
        out.event('E', "", track, end, "")?;
    }
    Ok(())
}

/// What a viewer shows of an event.
pub(super) enum Shown {
    /// A slice of this name begins.
    Begin(Cow<'static, str>, Slice),
    /// The slice ends, and another one of this name begins in its place.
    Next(&'static str, Slice),
    /// The slice ends, and the slices inside it.
    End(Slice),
    Instant(&'static str),
    Nothing,
}

impl Shown {
    pub(super) fn of(event: Event) -> Shown {
        let begin = |name: &'static str, slice| Shown::Begin(name.into(), slice);
        match event {
            Event::CallBegin => begin("call", Slice::Call),
            Event::CallEnd => Shown::End(Slice::Call),
            Event::JobBegin { .. } => begin("job", Slice::Job),
            Event::JobEnd => Shown::End(Slice::Job),
            Event::Fork { job } => begin("left", Slice::Fork(job)),
            Event::Offer { .. } => Shown::Nothing,
            Event::Right { job } => Shown::Next("right", Slice::Fork(job)),
            Event::Joined { job } | Event::Stolen { job } => Shown::End(Slice::Fork(job)),
            Event::LeafBegin { .. } => begin("leaf", Slice::Leaf),
            Event::LeafEnd => Shown::End(Slice::Leaf),
            Event::ChainBegin { place } => Shown::Begin(format!("call at {place}").into(), Slice::Chain),
            Event::ChainEnd => Shown::End(Slice::Chain),
            Event::BlockBegin { size, .. } => Shown::Begin(format!("block of {size}").into(), Slice::Block),
            Event::BlockEnd => Shown::End(Slice::Block),
            Event::LogBegin { name } => begin(name, Slice::Log),
            Event::LogEnd => Shown::End(Slice::Log),
            Event::ReduceBegin => begin("reduce", Slice::Reduce),
            Event::ReduceEnd => Shown::End(Slice::Reduce),
            Event::WaitBegin => begin("wait", Slice::Wait),
            Event::WaitEnd => Shown::End(Slice::Wait),
            Event::ParkBegin { .. } => begin("parked", Slice::Sleep),
            Event::NapBegin { .. } => begin("nap", Slice::Sleep),
            Event::ParkEnd | Event::NapEnd => Shown::End(Slice::Sleep),
            Event::Steal { .. } => Shown::Instant("steal"),
            Event::Suspend { .. } => Shown::Instant("suspend"),
            Event::Wake { .. } => Shown::Instant("wake"),
            Event::Resume { .. } => Shown::Instant("resume"),
            Event::Handover => Shown::Instant("slot handed over"),
            Event::Mug => Shown::Instant("mug"),
            Event::Cancel => Shown::Instant("cancel"),
            Event::Stop { by_deadline: false } => Shown::Instant("stopped by a token"),
            Event::Stop { by_deadline: true } => Shown::Instant("stopped by a deadline"),
            Event::RankSteal { .. } => Shown::Instant("steal from a rank"),
            Event::RankGive { .. } => Shown::Instant("given to a rank"),
        }
    }

    /// Ends the slice that ends here, and those inside it. Returns their number: 0 if there is no such slice, since its begin was lost. `open`
    /// has the slices that have begun and not ended, the innermost last.
    pub(super) fn end_slices(&self, open: &mut Vec<Slice>) -> usize {
        let (Shown::Next(_, slice) | Shown::End(slice)) = self else { return 0 };
        let Some(place) = open.iter().rposition(|one| one == slice) else { return 0 };
        open.drain(place..).count()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slice {
    Call,
    Job,
    Fork(JobId),
    Chain,
    Block,
    Leaf,
    Log,
    Reduce,
    Wait,
    Sleep,
}
