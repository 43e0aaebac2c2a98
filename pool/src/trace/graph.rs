//! The fork-join graph of a trace.
//!
//! The graph is kept as a flat sequence of steps, like brackets: `Fork left… Right right… Join`. So a computation whose forks are nested
//! a hundred thousand levels deep needs no recursion, neither here nor where a graph is dropped.

use super::{Event, JobId, ThreadTrace, Trace};
use std::collections::HashMap;
use std::time::Duration;
use std::{mem, vec};

/// The fork-join graph of a [trace](Trace).
///
/// ```
/// use furcate_pool::trace::{self, Step};
///
/// let pool = furcate_pool::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// trace::start().unwrap();
/// pool.install(|| furcate_pool::join(|| (), || ()));
/// let graph = trace::stop().unwrap().graph();
/// let forks = graph.roots().iter().flatten().filter(|step| matches!(step, Step::Fork { .. }));
/// assert_eq!(forks.count(), 1);
/// assert!(graph.span() <= graph.work());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Graph {
    roots: Vec<Vec<Step>>,
}

/// A step of a computation. Steps stand one after the other like brackets: each `Fork` has its `Right` and its `Join`; between the first two
/// stands the left half, and between the last two the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Work of one thread in which no fork was recorded.
    Piece(Piece),
    /// Two halves begin, potentially in parallel. The steps of the left one follow.
    Fork {
        /// Whether the right half was stolen.
        stolen: bool,
    },
    /// The steps of the right half follow. There are none if the thief's events are not in the trace.
    Right,
    /// Both halves have ended.
    Join,
}

/// A sequential piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// The index of its thread in [`Trace::threads`].
    pub thread: usize,
    /// The time of its begin, since the start of the trace.
    pub begin: Duration,
    /// The time of its end.
    pub end: Duration,
    /// Its kind.
    pub kind: PieceKind,
}

/// The kind of a [`Piece`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PieceKind {
    /// Ordinary code between two events.
    Code,
    /// A leaf of a chain, with its size.
    Leaf(u64),
    /// A reduction of two outputs.
    Reduction,
}

impl Piece {
    /// Returns the time from its begin to its end.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.end.saturating_sub(self.begin)
    }
}

impl Trace {
    /// Returns the fork-join graph. Cost: O(n log n) for n events.
    #[must_use]
    pub fn graph(&self) -> Graph {
        let mut drafts = Vec::new();
        for (thread, number) in self.threads.iter().zip(0..) {
            let piece = (Duration::ZERO, PieceKind::Code);
            Reader { thread: number, open: Vec::new(), piece, drafts: &mut drafts }
                .read(thread, self.duration);
        }
        drafts.sort_unstable_by_key(|draft| draft.place);
        // Stolen jobs move to their forks.
        let forks: HashMap<Place, Place> =
            thefts(&self.threads).into_iter().map(|(fork, job)| (job, fork)).collect();
        let (mut stolen, mut others) = (HashMap::new(), Vec::new());
        for draft in drafts {
            match forks.get(&draft.place) {
                Some(fork) => _ = stolen.insert(*fork, draft.steps),
                None => others.push(draft.steps),
            }
        }
        let mut roots: Vec<_> = others.into_iter().map(|steps| link(steps, &mut stolen)).collect();
        // Parts that were offered, and jobs whose forks were lost.
        let mut places: Vec<_> = stolen.keys().copied().collect();
        places.sort_unstable();
        for place in places {
            if let Some(steps) = stolen.remove(&place) {
                roots.push(link(steps, &mut stolen));
            }
        }
        Graph { roots }
    }
}

impl Graph {
    /// Returns the computations that no recorded fork explains: calls from outside, spawned jobs, tasks.
    #[must_use]
    pub fn roots(&self) -> &[Vec<Step>] {
        &self.roots
    }

    /// Returns the time of all pieces together: the work, T1.
    #[must_use]
    pub fn work(&self) -> Duration {
        self.pieces().map(|piece| piece.duration()).sum()
    }

    /// Returns the pieces of all roots.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> {
        self.roots.iter().flatten().filter_map(|step| match step {
            Step::Piece(piece) => Some(*piece),
            _ => None,
        })
    }

    /// Returns the longest time that pieces take one after the other, within any root: the span, Tinf. Roots that wait for each other count
    /// as if they did not.
    ///
    /// The span may be longer than the run by the time of some events: a thief may begin before the owner has recorded the fork.
    #[must_use]
    pub fn span(&self) -> Duration {
        self.roots.iter().map(|steps| span(steps)).max().unwrap_or_default()
    }
}

fn span(steps: &[Step]) -> Duration {
    // For each open fork: the span before the fork, and the span of the left half.
    let (mut open, mut span) = (Vec::new(), Duration::ZERO);
    for step in steps {
        match step {
            Step::Piece(piece) => span += piece.duration(),
            Step::Fork { .. } => open.push((mem::take(&mut span), Duration::ZERO)),
            Step::Right => open.last_mut().expect("a fork is open").1 = mem::take(&mut span),
            Step::Join => {
                let (before, left) = open.pop().expect("a fork is open");
                span = before + left.max(span);
            }
        }
    }
    span
}

/// The place of an event: its thread, and its index there.
pub(super) type Place = (usize, usize);

/// A fork or an offer: one use of a job's name.
struct Use {
    fork: Place,
    /// The time at which the owner learned whether the job was stolen; for an offer, that of the next use.
    end: Duration,
    /// Whether a job that begins may be this one.
    may_begin: bool,
}

/// Returns the place of each stolen job's begin, by the place of its fork.
///
/// The name of a job is its address, so it is used again and again. A thief may record the begin of a job before the owner records the
/// fork, which it does after the push, and after the owner records that the job is stolen. But the begin comes after the end of the use
/// before, and before the next use.
pub(super) fn thefts(threads: &[ThreadTrace]) -> HashMap<Place, Place> {
    let (mut uses, mut begins) = (HashMap::<JobId, Vec<Use>>::new(), Vec::new());
    for (thread, number) in threads.iter().zip(0..) {
        for (event, index) in thread.events.iter().zip(0..) {
            let (at, place) = (event.at, (number, index));
            match event.event {
                Event::Fork { job } | Event::Offer { job } => {
                    let uses = uses.entry(job).or_default();
                    if let Some(before) = uses.last_mut().filter(|before| before.end == Duration::MAX) {
                        before.end = at;
                    }
                    uses.push(Use { fork: place, end: Duration::MAX, may_begin: true });
                }
                Event::Right { job } | Event::Stolen { job } => {
                    if let Some(last) = uses.get_mut(&job).and_then(|uses| uses.last_mut()) {
                        last.end = at;
                        last.may_begin = matches!(event.event, Event::Stolen { .. });
                    }
                }
                Event::JobBegin { job, .. } => begins.push((at, job, place)),
                _ => {}
            }
        }
    }
    begins.sort_unstable();
    let mut thefts = HashMap::new();
    for (at, job, place) in begins {
        let Some(uses) = uses.get_mut(&job) else { continue };
        let under_way = uses.partition_point(|one| one.end < at);
        let candidates = &mut uses[under_way.saturating_sub(1)..];
        if let Some(theirs) = candidates.iter_mut().take(2).find(|one| one.may_begin) {
            theirs.may_begin = false;
            thefts.insert(theirs.fork, place);
        }
    }
    thefts
}

/// Puts stolen halves where their forks are.
fn link(steps: Vec<DraftStep>, stolen: &mut HashMap<Place, Vec<DraftStep>>) -> Vec<Step> {
    let mut linked = Vec::with_capacity(steps.len());
    let mut under_way: Vec<vec::IntoIter<DraftStep>> = vec![steps.into_iter()];
    while let Some(steps) = under_way.last_mut() {
        match steps.next() {
            Some(DraftStep::Is(step)) => linked.push(step),
            Some(DraftStep::StolenRight(fork)) => {
                linked.push(Step::Right);
                under_way.extend(stolen.remove(&fork).map(Vec::into_iter));
            }
            None => _ = under_way.pop(),
        }
    }
    linked
}

/// A job or a call, whose stolen halves are not linked yet.
struct Draft {
    /// The place of its begin.
    place: Place,
    steps: Vec<DraftStep>,
}

enum DraftStep {
    Is(Step),
    /// A right half that another thread has run.
    StolenRight(Place),
}

/// Something that has begun.
enum Open {
    Root(Draft),
    Left {
        fork: JobId,
        place: Place,
        /// The index of its `Fork` in the steps of the root.
        index: usize,
    },
    Right {
        fork: JobId,
    },
    Wait,
}

impl Open {
    fn is_half_of(&self, job: JobId) -> bool {
        matches!(self, Open::Left { fork, .. } | Open::Right { fork } if *fork == job)
    }
}

/// Reads one thread's events.
struct Reader<'r> {
    thread: usize,
    /// Everything that has begun, the innermost last. The innermost root gets the steps.
    open: Vec<Open>,
    /// Begin and kind of the piece under way.
    piece: (Duration, PieceKind),
    drafts: &'r mut Vec<Draft>,
}

impl Reader<'_> {
    fn read(mut self, thread: &ThreadTrace, end: Duration) {
        for (event, index) in thread.events.iter().zip(0..) {
            let place = (self.thread, index);
            match event.event {
                Event::LeafBegin { size } => self.cut(event.at, PieceKind::Leaf(size)),
                Event::ReduceBegin => self.cut(event.at, PieceKind::Reduction),
                event_of_thread if is_cut(event_of_thread) => {
                    self.cut(event.at, PieceKind::Code);
                    self.step(place, event_of_thread);
                }
                _ => {}
            }
        }
        self.cut(end, PieceKind::Code);
        self.close_to(0);
    }

    /// Ends the piece under way, and begins one of that kind.
    fn cut(&mut self, at: Duration, next: PieceKind) {
        let (begin, kind) = mem::replace(&mut self.piece, (at, next));
        // A thread that waits, or that is outside of all jobs, does not work.
        let works = !matches!(self.open.last(), None | Some(Open::Wait));
        if works && (at > begin || kind != PieceKind::Code) {
            let piece = Piece { thread: self.thread, begin, end: at, kind };
            self.steps().push(DraftStep::Is(Step::Piece(piece)));
        }
    }

    fn step(&mut self, place: Place, event: Event) {
        match event {
            Event::CallBegin | Event::JobBegin { .. } => self.begin_root(place),
            Event::CallEnd | Event::JobEnd => self.close_down_to(|open| matches!(open, Open::Root(_))),
            Event::WaitBegin => self.open.push(Open::Wait),
            Event::WaitEnd => self.close_down_to(|open| matches!(open, Open::Wait)),
            Event::Fork { job } => {
                // The begin of the job was lost, or it waits: then this is a job that was called without an event.
                if matches!(self.open.last(), None | Some(Open::Wait)) {
                    self.begin_root(place);
                }
                let steps = self.steps();
                let index = steps.len();
                steps.push(DraftStep::Is(Step::Fork { stolen: false }));
                self.open.push(Open::Left { fork: job, place, index });
            }
            Event::Right { job } => {
                if let Some(half) = self.open.iter().rposition(|open| open.is_half_of(job)) {
                    self.close_to(half + 1);
                    self.steps().push(DraftStep::Is(Step::Right));
                    self.open[half] = Open::Right { fork: job };
                }
            }
            Event::Joined { job } | Event::Stolen { job } => self.close_down_to(|open| open.is_half_of(job)),
            _ => {}
        }
    }

    fn begin_root(&mut self, place: Place) {
        self.open.push(Open::Root(Draft { place, steps: Vec::new() }));
    }

    /// Returns the steps of the innermost root.
    fn steps(&mut self) -> &mut Vec<DraftStep> {
        let root = self.open.iter_mut().rev().find_map(|open| match open {
            Open::Root(draft) => Some(&mut draft.steps),
            _ => None,
        });
        root.expect("halves are in a root")
    }

    /// Closes the innermost one for which `is` holds, with everything inside. Does nothing if there is none: its begin was lost.
    fn close_down_to(&mut self, is: impl Fn(&Open) -> bool) {
        if let Some(place) = self.open.iter().rposition(is) {
            self.close_to(place);
        }
    }

    /// Closes all but the outermost `count`.
    fn close_to(&mut self, count: usize) {
        while self.open.len() > count {
            match self.open.pop().expect("one is open") {
                Open::Root(draft) => self.drafts.push(draft),
                Open::Left { place, index, .. } => {
                    let steps = self.steps();
                    steps[index] = DraftStep::Is(Step::Fork { stolen: true });
                    steps.extend([DraftStep::StolenRight(place), DraftStep::Is(Step::Join)]);
                }
                Open::Right { .. } => self.steps().push(DraftStep::Is(Step::Join)),
                Open::Wait => {}
            }
        }
    }
}

/// Whether a piece of work ends at the event.
fn is_cut(event: Event) -> bool {
    matches!(
        event,
        Event::CallBegin
            | Event::CallEnd
            | Event::JobBegin { .. }
            | Event::JobEnd
            | Event::WaitBegin
            | Event::WaitEnd
            | Event::Fork { .. }
            | Event::Right { .. }
            | Event::Joined { .. }
            | Event::Stolen { .. }
            | Event::LeafEnd
            | Event::ReduceEnd
    )
}
