//! Pictures of traces.

mod boxes;
mod compare;
mod layout;
mod read;
mod words;

pub use boxes::box_plot;
pub use compare::{Compared, Comparison};
pub use read::read_chrome;

use crate::{Graph, Piece, PieceKind, ThreadSummary, Trace};
use layout::{Layout, Shape};
use svg::Document;
use svg::node::element::{Group, Line, Rectangle, Text, Title};
use words::{shortened, text_width, ticks};

/// Width of the picture.
const WIDTH: f64 = 1400.0;

/// Distance of everything from the edge of the picture.
const MARGIN: f64 = 20.0;

/// Height of a row of the timeline.
const ROW: f64 = 18.0;

/// The greatest width of a thread's name. A longer name is cut.
const NAME: f64 = 200.0;

/// Colors of the threads, which people with any kind of sight can tell apart (Okabe and Ito 2008).
const COLORS: [&str; 8] =
    ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999"];

/// Returns the picture of a trace: an SVG document without references to other files.
///
/// The picture has two parts, as the graphs of Kvik (Raje and Wagner 2020, Figures 1 and 2) have:
///
/// - *The graph*: a rectangle for each sequential piece, as wide as the piece took time, in the color of its thread. Parts that follow one another
///   stand below each other, and the halves of a fork stand side by side. Lines lead from each fork to its halves, and from the halves to
///   the next part. Half-transparent rectangles are parts that are too narrow to be drawn one by one, as one. Of more than twelve calls, the
///   longest twelve are drawn, and each run of others is one half-transparent rectangle below its label (`calls 13 to 480: 3.2 ms of work`).
/// - *The timeline*: a row for each thread, in which its pieces stand at the times at which they ran. Gaps are idle time. The axis below the
///   rows counts from the start of the recording.
///
/// Cost: linear in the number of events. The document has at most some ten thousand shapes, whatever the length of the trace.
#[must_use]
pub fn svg(trace: &Trace) -> String {
    let graph = trace.graph();
    let (mut picture, top) = (Group::new(), MARGIN + 16.0 * (trace.threads().len() as f64 + 2.0));
    let threads = trace.summary().threads;
    picture = legend(picture, trace, &graph, &threads);
    let (graph_group, bottom) = draw_graph(&graph, top);
    let (timeline, end) = draw_timeline(trace, &graph, &threads, bottom + 2.0 * MARGIN);
    Document::new()
        .set("viewBox", (0, 0, WIDTH, end + MARGIN))
        .set("font-family", "sans-serif")
        .set("font-size", 12)
        .add(Rectangle::new().set("width", "100%").set("height", "100%").set("fill", "white"))
        .add(picture)
        .add(graph_group)
        .add(timeline)
        .to_string()
}

/// Writes the threads with their colors, and the graph in numbers.
fn legend(mut group: Group, trace: &Trace, graph: &Graph, threads: &[ThreadSummary]) -> Group {
    let (work, span) = (graph.work().as_secs_f64(), graph.span().as_secs_f64());
    let line = format!(
        "{:.3} ms; work {:.3} ms, span {:.3} ms, parallelism {:.1}",
        trace.duration().as_secs_f64() * 1e3,
        work * 1e3,
        span * 1e3,
        work / span.max(1e-9)
    );
    group = group.add(Text::new(line).set("x", MARGIN).set("y", MARGIN + 12.0));
    for (thread, number) in threads.iter().zip(0..) {
        let y = MARGIN + 16.0 * (f64::from(number) + 1.0);
        let busy = thread.busy.as_secs_f64() / trace.duration().as_secs_f64().max(1e-9) * 100.0;
        let name = shortened(&thread.name, NAME);
        let words = format!("{name}: busy {busy:.0} %, {} steals", thread.steals);
        group = group
            .add(rectangle(MARGIN, y + 2.0, 12.0, 12.0, color(number as usize)))
            .add(Text::new(words).set("x", MARGIN + 18.0).set("y", y + 12.0));
    }
    group
}

fn color(thread: usize) -> &'static str {
    COLORS[thread % COLORS.len()]
}

fn rectangle(x: f64, y: f64, width: f64, height: f64, color: &str) -> Rectangle {
    let number = |n: f64| format!("{n:.2}");
    Rectangle::new()
        .set("x", number(x))
        .set("y", number(y))
        .set("width", number(width))
        .set("height", number(height))
        .set("fill", color)
}

/// Draws the graph below `top`. Returns its lower end, too.
fn draw_graph(graph: &Graph, top: f64) -> (Group, f64) {
    let layout = Layout::new(graph, WIDTH - 2.0 * MARGIN);
    let mut group = Group::new();
    for shape in &layout.shapes {
        group = match shape {
            Shape::Line { from, to } => group.add(
                Line::new()
                    .set("x1", format!("{:.2}", from.0 + MARGIN))
                    .set("y1", format!("{:.2}", from.1 + top))
                    .set("x2", format!("{:.2}", to.0 + MARGIN))
                    .set("y2", format!("{:.2}", to.1 + top))
                    .set("stroke", "#666666")
                    .set("stroke-width", 0.8),
            ),
            Shape::Piece { piece, x, y, width } => {
                // Neighbors can be told apart.
                let wide = if *width > 4.0 { width - 0.8 } else { *width };
                let shape = rectangle(x + MARGIN, y + top, wide, layout::PIECE, color(piece.thread));
                group.add(shape.add(Title::new(words(piece))))
            }
            Shape::Label { words, x, y } => group.add(
                Text::new(words.as_str())
                    .set("x", format!("{:.2}", x + MARGIN))
                    .set("y", format!("{:.2}", y + top))
                    .set("text-anchor", "middle"),
            ),
            Shape::Folded { thread, pieces, work, x, y, width } => {
                let shape = rectangle(x + MARGIN, y + top, *width, layout::PIECE, color(*thread));
                let plural = if *pieces == 1 { "" } else { "s" };
                let words = format!("{pieces} piece{plural}, {}", words::duration(*work));
                group.add(shape.set("fill-opacity", 0.5).add(Title::new(words)))
            }
        };
    }
    (group, top + layout.height)
}

fn words(piece: &Piece) -> String {
    let kind = match piece.kind {
        PieceKind::Leaf(size) => match piece.first {
            Some(first) => format!("leaf of {size}, from {first} on"),
            None => format!("leaf of {size}"),
        },
        PieceKind::Reduction => "reduction".to_owned(),
        PieceKind::Code => "code".to_owned(),
    };
    let call = piece.place.map(|place| format!(", call at {place}")).unwrap_or_default();
    format!("{kind}, {} from {}{call}", words::duration(piece.duration()), words::duration(piece.begin))
}

/// Draws a row for each thread below `top`, with its name, and a time axis below the rows. Returns the lower end, too.
fn draw_timeline(trace: &Trace, graph: &Graph, threads: &[ThreadSummary], top: f64) -> (Group, f64) {
    let short: Vec<_> = threads.iter().map(|thread| (shortened(&thread.name, NAME), &thread.name)).collect();
    let left = MARGIN + short.iter().map(|(short, _)| text_width(short) + 8.0).fold(0.0, f64::max);
    // On the right, half of the last label needs a place beside the margin.
    let width = WIDTH - 2.0 * MARGIN - left;
    let whole = trace.duration().as_secs_f64().max(1e-9);
    let scale = width / whole;
    let mut rows = vec![Vec::new(); trace.threads().len()];
    for piece in graph.pieces() {
        rows[piece.thread].push(piece);
    }
    let bottom = top + ROW * rows.len() as f64;
    let mut group = Group::new();
    for ((pieces, (short, name)), number) in rows.iter_mut().zip(short).zip(0..) {
        let y = top + ROW * f64::from(number);
        let label = Text::new(short).set("x", MARGIN).set("y", y + 11.0);
        group = group.add(label.add(Title::new(name.as_str()))).add(rectangle(
            left,
            y,
            width,
            ROW - 4.0,
            "#eeeeee",
        ));
        pieces.sort_unstable_by_key(|piece: &Piece| piece.begin);
        // Pieces that touch each other within a third of a pixel are one shape.
        let mut shape = None::<(f64, f64)>;
        let draw = |group: Group, (from, to): (f64, f64)| {
            let wide = (to - from).max(0.1);
            group.add(rectangle(from + left, y, wide, ROW - 4.0, color(number as usize)))
        };
        for piece in pieces.iter() {
            let [from, to] = [piece.begin, piece.end].map(|at| (at.as_secs_f64() * scale).min(width));
            shape = match shape {
                Some((begin, end)) if from < end + 0.3 => Some((begin, end.max(to))),
                Some(done) => {
                    group = draw(group, done);
                    Some((from, to))
                }
                None => Some((from, to)),
            };
        }
        if let Some(last) = shape {
            group = draw(group, last);
        }
    }
    for (at, label) in ticks(whole) {
        let x = format!("{:.2}", left + at * scale);
        let tick = Line::new()
            .set("x1", x.clone())
            .set("y1", bottom - 2.0)
            .set("x2", x.clone())
            .set("y2", bottom + 3.0)
            .set("stroke", "#666666");
        let label = Text::new(label).set("x", x).set("y", bottom + 15.0).set("text-anchor", "middle");
        group = group.add(tick).add(label);
    }
    (group, bottom + 18.0)
}
