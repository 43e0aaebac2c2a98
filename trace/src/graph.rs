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
/// use furcate::trace::{self, Step};
///
/// let pool = furcate::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// trace::start().unwrap();
/// pool.install(|| furcate::join(|| (), || ()));
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
    /// The place in the source of the innermost call of a chain that it belongs to, as in [`Event::ChainBegin`]; `None` if it belongs to none,
    /// or if that is not known.
    pub place: Option<&'static str>,
    /// The position of a leaf's first item in its chain; `None` for other pieces, and where it is not known.
    pub first: Option<u64>,
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
            Reader { thread: number, open: Vec::new(), outside: None, piece, drafts: &mut drafts }
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
    let (mut linked, mut chains) = (Vec::with_capacity(steps.len()), Chains::default());
    let mut under_way: Vec<vec::IntoIter<DraftStep>> = vec![steps.into_iter()];
    while let Some(steps) = under_way.last_mut() {
        match steps.next() {
            Some(DraftStep::Is(step)) => linked.push(chains.pass(step)),
            Some(DraftStep::Chain(place, first)) => chains.begin(Inside::Chain, Some(place), first),
            Some(DraftStep::ChainEnd) => chains.end(Inside::Chain),
            Some(DraftStep::Block(size)) => chains.block(size),
            Some(DraftStep::BlockEnd) => chains.end(Inside::Block),
            Some(DraftStep::LeafEnd) => chains.end(Inside::Leaf),
            Some(DraftStep::StolenRight(fork)) => {
                linked.push(chains.pass(Step::Right));
                under_way.extend(stolen.remove(&fork).map(Vec::into_iter));
            }
            None => _ = under_way.pop(),
        }
    }
    linked
}

/// Follows the steps of a root, for the places and the positions of its pieces.
///
/// A position is the sum of the sizes of the leaves before it. That holds only while nothing was left out and no leaf was divided after its
/// begin. So a chain, and each half and each block in it, must be one leaf or one fork, or blocks from the front. Behind other parts,
/// positions are not known.
#[derive(Default)]
struct Chains {
    /// Each thing that is open, the innermost last, with the level around it.
    open: Vec<(Inside, Level)>,
    level: Level,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Chain,
    Block,
    Half,
    Leaf,
}

/// What is known inside the innermost thing that is open.
#[derive(Clone, Copy, Default)]
struct Level {
    place: Option<&'static str>,
    /// The position of the next leaf's first item.
    next: Option<u64>,
    /// Whether there has been a leaf or a fork.
    has_part: bool,
}

impl Chains {
    /// Notes a step, and returns it with what is known of it.
    fn pass(&mut self, step: Step) -> Step {
        match step {
            Step::Piece(mut piece) => {
                piece.place = self.level.place;
                if let PieceKind::Leaf(size) = piece.kind {
                    piece.first = self.part();
                    self.level.next = piece.first.map(|first| first.saturating_add(size));
                    self.begin(Inside::Leaf, self.level.place, None);
                }
                return Step::Piece(piece);
            }
            Step::Fork { .. } => {
                let first = self.part();
                self.begin(Inside::Half, self.level.place, first);
            }
            Step::Right => {
                let next = self.end_half();
                self.begin(Inside::Half, self.level.place, next);
            }
            Step::Join => self.level.next = self.end_half(),
        }
        step
    }

    /// Notes a leaf or a fork. Returns the position of its first item.
    fn part(&mut self) -> Option<u64> {
        if mem::replace(&mut self.level.has_part, true) {
            self.level.next = None;
        }
        self.level.next
    }

    fn begin(&mut self, inside: Inside, place: Option<&'static str>, next: Option<u64>) {
        let level = Level { place, next, has_part: false };
        self.open.push((inside, mem::replace(&mut self.level, level)));
    }

    /// Begins a block of that size. The next one follows it, whatever is known inside this one. Behind a block from the back, which has no size
    /// here, positions are not known.
    fn block(&mut self, size: Option<u64>) {
        let first = self.level.next.filter(|_| size.is_some() && !self.level.has_part);
        self.level.next = first.zip(size).map(|(first, size)| first.saturating_add(size));
        self.begin(Inside::Block, self.level.place, first);
    }

    /// Ends a chain, a block or a leaf. If its begin was lost, positions are not known any more.
    fn end(&mut self, inside: Inside) {
        match self.open.last() {
            Some((open, level)) if *open == inside => {
                self.level = *level;
                self.open.pop();
            }
            _ => self.level.next = None,
        }
    }

    /// Ends a half, and what is open in it. Returns the position behind it.
    fn end_half(&mut self) -> Option<u64> {
        let half = self.open.iter().rposition(|(open, _)| *open == Inside::Half).expect("a half is open");
        let is_whole = half + 1 == self.open.len() && self.level.has_part;
        let next = self.level.next.filter(|_| is_whole);
        self.level = self.open[half].1;
        self.open.truncate(half);
        next
    }
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
    /// A chain begins that was called at this place, with the position of its next leaf.
    Chain(&'static str, Option<u64>),
    ChainEnd,
    /// A block begins, with its size if it is cut off from the front.
    Block(Option<u64>),
    BlockEnd,
    LeafEnd,
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
    /// The chain that was called while no root was open: the call makes its root only later. With the position of its next leaf.
    outside: Option<(&'static str, Option<u64>)>,
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
        if self.works() && (at > begin || kind != PieceKind::Code) {
            let piece = Piece { thread: self.thread, begin, end: at, kind, place: None, first: None };
            self.steps().push(DraftStep::Is(Step::Piece(piece)));
        }
    }

    fn step(&mut self, place: Place, event: Event) {
        match event {
            Event::CallBegin | Event::JobBegin { .. } => {
                self.begin_root(place);
                // A second root of the same chain begins at a position that is not known.
                if let (Event::CallBegin, Some((of, first))) = (event, &mut self.outside) {
                    let step = DraftStep::Chain(of, first.take());
                    self.steps().push(step);
                }
            }
            Event::ChainBegin { place } if self.works() => {
                self.steps().push(DraftStep::Chain(place, Some(0)))
            }
            Event::ChainBegin { place } => self.outside = Some((place, Some(0))),
            Event::ChainEnd if self.works() => self.steps().push(DraftStep::ChainEnd),
            Event::ChainEnd => self.outside = None,
            Event::BlockBegin { size, from_back } if self.works() => {
                self.steps().push(DraftStep::Block((!from_back).then_some(size)));
            }
            Event::BlockEnd if self.works() => self.steps().push(DraftStep::BlockEnd),
            Event::LeafEnd if self.works() => self.steps().push(DraftStep::LeafEnd),
            Event::CallEnd | Event::JobEnd => self.close_down_to(|open| matches!(open, Open::Root(_))),
            Event::WaitBegin => self.open.push(Open::Wait),
            Event::WaitEnd => self.close_down_to(|open| matches!(open, Open::Wait)),
            Event::Fork { job } => {
                // The begin of the job was lost, or it waits: then this is a job that was called without an event.
                if !self.works() {
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

    /// Whether the thread works: it is in a job, and does not wait.
    fn works(&self) -> bool {
        !matches!(self.open.last(), None | Some(Open::Wait))
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
            | Event::ChainBegin { .. }
            | Event::ChainEnd
            | Event::BlockBegin { .. }
            | Event::BlockEnd
            | Event::LeafEnd
            | Event::ReduceEnd
    )
}
