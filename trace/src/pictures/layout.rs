//! Where the shapes of a fork-join graph stand.
//!
//! A piece is a box that is as wide as the piece took time. Boxes of parts that follow one another stand below each other, on a common
//! middle line. The boxes of a fork's halves stand side by side. Calls stand below each other, in the order of their begins. If there are many, only the
//! longest ones are drawn, and each run of others between them is one box.

use super::words::duration;
use crate::{Graph, Piece, Step};
use std::mem;
use std::ops::Range;
use std::time::Duration;

/// Height of a piece.
pub(crate) const PIECE: f64 = 8.0;

/// Height of the lines from a fork to its halves.
const EDGE: f64 = 7.0;

/// Distance between two parts that follow one another.
const GAP: f64 = 1.0;

/// A part that is narrower than this is drawn as one shape, with all that is in it.
const NARROW: f64 = 2.0;

/// The least width of a shape.
const VISIBLE: f64 = 0.8;

/// Nested forks of which the picture shows each one. Deeper ones are drawn as one shape.
const DEEPEST: usize = 200;

/// Calls of which the picture shows each one. If there are more, it shows so many of the longest ones.
const CALLS: usize = 12;

/// Height of the line of text above a run of calls.
const LABEL: f64 = 18.0;

/// A shape, with its upper left corner.
pub(crate) enum Shape {
    Piece {
        piece: Piece,
        x: f64,
        y: f64,
        width: f64,
    },
    /// Parts with all that is in them, in the color of the thread that has done most of it.
    Folded {
        thread: usize,
        pieces: usize,
        work: Duration,
        x: f64,
        y: f64,
        width: f64,
    },
    Line {
        from: (f64, f64),
        to: (f64, f64),
    },
    /// Words, with the middle of their baseline.
    Label {
        words: String,
        x: f64,
        y: f64,
    },
}

/// The shapes of a graph.
pub(crate) struct Layout {
    pub(crate) shapes: Vec<Shape>,
    pub(crate) height: f64,
}

impl Layout {
    /// Places a graph in a box of that width.
    pub(crate) fn new(graph: &Graph, width: f64) -> Layout {
        // Calls with their first moments, in order. A root without pieces, whose events were lost, is none.
        let begin = |steps| pieces(steps).map(|piece| piece.begin).min();
        let calls = graph.roots().iter().filter_map(|steps| Some((begin(steps)?, steps, measure(steps))));
        let mut calls: Vec<_> = calls.collect();
        calls.sort_by_key(|(begin, ..)| *begin);
        let mut longest: Vec<_> = (0..calls.len()).collect();
        longest.sort_by(|a, b| calls[*b].2.1.total_cmp(&calls[*a].2.1));
        let mut is_drawn = vec![false; calls.len()];
        longest.iter().take(CALLS).for_each(|call| is_drawn[*call] = true);

        let scale = width / calls.iter().map(|(.., (_, seconds))| *seconds).fold(1e-9, f64::max);
        let mut layout = Layout { shapes: Vec::new(), height: 0.0 };
        let mut next = 0;
        while next < calls.len() {
            let first = next;
            if is_drawn[first] {
                let (_, steps, (forks, seconds)) = &mut calls[first];
                let mut root = Root { steps, forks: mem::take(forks), scale, shapes: &mut layout.shapes };
                let wide = *seconds * scale;
                layout.height +=
                    root.sequence(0..steps.len(), 0, ((width - wide) / 2.0, layout.height), wide);
                next += 1;
            } else {
                next += is_drawn[first..].iter().take_while(|is_drawn| !**is_drawn).count();
                let run = &calls[first..next];
                let seconds: f64 = run.iter().map(|(.., (_, seconds))| *seconds).sum();
                let wide = (seconds * scale).min(width);
                let which = match next - first {
                    1 => format!("call {next}"),
                    _ => format!("calls {} to {next}", first + 1),
                };
                // The width of a call leaves out what stands below its widest part, so the label sums up the pieces.
                let steps = || run.iter().flat_map(|(_, steps, _)| *steps);
                let work = pieces(steps()).map(Piece::duration).sum();
                let at = place(steps()).map(|place| format!(" at {place}")).unwrap_or_default();
                let words = format!("{which}{at}: {} of work", duration(work));
                layout.shapes.push(Shape::Label { words, x: width / 2.0, y: layout.height + LABEL - 5.0 });
                let place = ((width - wide) / 2.0, layout.height + LABEL);
                layout.height += LABEL;
                layout.height += fold(steps(), place, wide, &mut layout.shapes);
            }
            layout.height += 3.0 * GAP;
        }
        layout
    }
}

/// The place and the size of a fork. Indices count steps, and widths are in seconds.
#[derive(Clone, Copy, Default)]
struct Fork {
    right: usize,
    join: usize,
    left_width: f64,
    right_width: f64,
}

/// Returns the fork at each index (a default one where the step is no fork), and the width of the root.
fn measure(steps: &[Step]) -> (Vec<Fork>, f64) {
    let mut forks = vec![Fork::default(); steps.len()];
    // For each open fork: its index, and the width of the parts before the fork.
    let (mut open, mut width) = (Vec::new(), 0.0_f64);
    for (step, index) in steps.iter().zip(0..) {
        match step {
            Step::Piece(piece) => width = width.max(piece.duration().as_secs_f64()),
            Step::Fork { .. } => open.push((index, mem::take(&mut width))),
            Step::Right => {
                let fork: &mut Fork = &mut forks[open.last().expect("a fork is open").0];
                (fork.right, fork.left_width) = (index, mem::take(&mut width));
            }
            Step::Join => {
                let (of, before) = open.pop().expect("a fork is open");
                (forks[of].join, forks[of].right_width) = (index, width);
                width = before.max(forks[of].left_width + width);
            }
        }
    }
    (forks, width)
}

/// The root that is being placed.
struct Root<'l> {
    steps: &'l [Step],
    forks: Vec<Fork>,
    /// Pixels for each second.
    scale: f64,
    shapes: &'l mut Vec<Shape>,
}

impl Root<'_> {
    /// Returns the end of the part that begins at the index, and its width.
    fn part_at(&self, index: usize) -> (usize, f64) {
        match self.steps[index] {
            Step::Piece(piece) => (index + 1, piece.duration().as_secs_f64() * self.scale),
            Step::Fork { .. } => {
                let fork = self.forks[index];
                (fork.join + 1, (fork.left_width + fork.right_width) * self.scale)
            }
            _ => (index + 1, 0.0),
        }
    }

    /// Places steps one below the other in a box. Returns their height.
    fn sequence(&mut self, range: Range<usize>, depth: usize, at: (f64, f64), width: f64) -> f64 {
        if width < NARROW || depth > DEEPEST {
            return self.fold(range, at, width);
        }
        let middle = at.0 + width / 2.0;
        let (mut height, mut next) = (0.0, range.start);
        while next < range.end {
            let (begin, (mut end, wide)) = (next, self.part_at(next));
            self.shapes
                .push(Shape::Line { from: (middle, at.1 + height), to: (middle, at.1 + height + GAP) });
            height += GAP;
            if wide < NARROW {
                // Narrow parts in a row are one shape: else a loop of short forks would be a tower.
                let mut sum = wide;
                while end < range.end {
                    let (after, wide) = self.part_at(end);
                    if wide >= NARROW {
                        break;
                    }
                    (end, sum) = (after, sum + wide);
                }
                let wide = sum.min(width);
                height += self.fold(begin..end, (middle - wide / 2.0, at.1 + height), wide);
            } else {
                let place = (middle - wide / 2.0, at.1 + height);
                height += match self.steps[begin] {
                    Step::Piece(piece) => {
                        self.shapes.push(Shape::Piece { piece, x: place.0, y: place.1, width: wide });
                        PIECE
                    }
                    _ => self.fork(begin, depth, place, wide),
                };
            }
            next = end;
        }
        height
    }

    /// Places the fork of that index. Returns its height.
    fn fork(&mut self, index: usize, depth: usize, (x, y): (f64, f64), width: f64) -> f64 {
        let fork = self.forks[index];
        let (left, right) = (fork.left_width * self.scale, fork.right_width * self.scale);
        let heights = [
            self.sequence(index + 1..fork.right, depth + 1, (x, y + EDGE), left),
            self.sequence(fork.right + 1..fork.join, depth + 1, (x + left, y + EDGE), right),
        ];
        let (middle, bottom) = (x + width / 2.0, y + 2.0 * EDGE + heights[0].max(heights[1]));
        for (center, height) in [x + left / 2.0, x + left + right / 2.0].into_iter().zip(heights) {
            self.shapes.push(Shape::Line { from: (middle, y), to: (center, y + EDGE) });
            self.shapes.push(Shape::Line { from: (center, y + EDGE + height), to: (middle, bottom) });
        }
        bottom - y
    }

    /// Places steps as one shape. Returns its height.
    fn fold(&mut self, range: Range<usize>, at: (f64, f64), width: f64) -> f64 {
        fold(&self.steps[range], at, width, self.shapes)
    }
}

fn pieces<'s>(steps: impl IntoIterator<Item = &'s Step>) -> impl Iterator<Item = &'s Piece> {
    steps.into_iter().filter_map(|step| match step {
        Step::Piece(piece) => Some(piece),
        _ => None,
    })
}

/// Returns the place of all pieces that have one; `None` if they have several ones or none.
fn place<'s>(steps: impl IntoIterator<Item = &'s Step>) -> Option<&'static str> {
    let mut places = pieces(steps).filter_map(|piece| piece.place);
    let first = places.next()?;
    places.all(|place| place == first).then_some(first)
}

/// Adds steps as one shape. Returns its height.
fn fold<'s>(
    steps: impl IntoIterator<Item = &'s Step>,
    (x, y): (f64, f64),
    width: f64,
    shapes: &mut Vec<Shape>,
) -> f64 {
    let (mut by_thread, mut count) = (Vec::<Duration>::new(), 0);
    for piece in pieces(steps) {
        by_thread.resize(by_thread.len().max(piece.thread + 1), Duration::ZERO);
        by_thread[piece.thread] += piece.duration();
        count += 1;
    }
    let Some(thread) = (0..by_thread.len()).max_by_key(|thread| by_thread[*thread]) else { return 0.0 };
    // However narrow it is, it can be seen.
    let (x, width) = (x - (VISIBLE - width).max(0.0) / 2.0, width.max(VISIBLE));
    shapes.push(Shape::Folded { thread, pieces: count, work: by_thread.iter().sum(), x, y, width });
    PIECE
}
