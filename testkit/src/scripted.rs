//! An engine that steals as a script says, in one thread. All scripts together cover everything that thieves could do
//! to a detached computation, in every order.

use crate::Random;
use furcate_pool::detach::{BlockingSuspend, Detach, Detachable, Offers, RightPart};
use furcate_pool::{Context, Executor};
use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Source of the script's answers. An answer is one of `0 .. of`, and 0 means that nothing happens.
#[derive(Debug)]
enum Answers {
    /// These answers, and then 0. All questions are recorded: answer, of.
    Path {
        path: Vec<(usize, usize)>,
        at: usize,
        most: usize,
    },
    Random(Random),
    /// Every offer is stolen, and stolen parts are run when their owner has nothing left, oldest first.
    Greedy,
}

/// Numbers of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thefts {
    pub forks: usize,
    pub offers: usize,
    /// Offers that were taken back.
    pub back: usize,
}

#[derive(Debug)]
struct State {
    answers: Answers,
    thefts: Thefts,
}

/// The engine.
#[derive(Clone, Debug)]
pub struct Scripted {
    state: Arc<Mutex<State>>,
    demand: Demand,
    /// Whether parts that have not begun when another one panics are dropped. (Furcate's pool drops them, rayon's runs
    /// them.)
    drops: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Demand {
    Asked,
    Always,
}

impl Scripted {
    fn new(answers: Answers) -> Self {
        let state = State { answers, thefts: Thefts::default() };
        Scripted { state: Arc::new(Mutex::new(state)), demand: Demand::Asked, drops: true }
    }

    pub fn random(seed: u64) -> Self {
        let scripted = Scripted::new(Answers::Random(Random(seed)));
        Scripted { drops: seed & 1 == 0, ..scripted }
    }

    /// Another random script at each call.
    pub fn another() -> Self {
        thread_local!(static SEED: Cell<u64> = const { Cell::new(0) });
        Scripted::random(SEED.replace(SEED.get() + 1))
    }

    /// Steals everything that is offered, and no fork.
    pub fn greedy() -> Self {
        Scripted { demand: Demand::Always, ..Scripted::new(Answers::Greedy) }
    }

    /// Always has demand, and never steals.
    pub fn undecided() -> Self {
        let nothing = Answers::Path { path: vec![], at: 0, most: 0 };
        Scripted { demand: Demand::Always, ..Scripted::new(nothing) }
    }

    /// Runs `check` on every script in which the first `most` answers are any, and all others 0. Returns the number of
    /// scripts.
    pub fn every(most: usize, check: impl Fn(&Scripted)) -> usize {
        let (mut path, mut scripts) = (vec![], 0);
        loop {
            let engine = Scripted::new(Answers::Path { path, at: 0, most });
            check(&engine);
            scripts += 1;
            let mut state = engine.state.lock().unwrap();
            let Answers::Path { path: asked, .. } = &mut state.answers else {
                unreachable!("it was made here")
            };
            path = std::mem::take(asked);
            // The next script, as an odometer counts.
            while path.last().is_some_and(|&(answer, of)| answer + 1 == of) {
                path.pop();
            }
            match path.last_mut() {
                Some((answer, _)) => *answer += 1,
                None => return scripts,
            }
        }
    }

    pub fn thefts(&self) -> Thefts {
        self.state.lock().unwrap().thefts
    }

    fn choose(&self, of: usize) -> usize {
        match &mut self.state.lock().unwrap().answers {
            Answers::Path { path, at, most } => {
                if *at == path.len() && path.len() < *most {
                    path.push((0, of));
                }
                let answer = path.get(*at).map_or(0, |&(answer, _)| answer);
                *at += 1;
                answer
            }
            Answers::Random(random) => random.index(of),
            Answers::Greedy => 0,
        }
    }

    fn is_greedy(&self) -> bool {
        matches!(self.state.lock().unwrap().answers, Answers::Greedy)
    }
}

impl Executor for Scripted {
    type Scope<'scope> = Stage<'scope>;

    fn detached<'scope, B, R>(&self, body: B) -> R
    where
        B: FnOnce(&Self::Scope<'scope>) -> R + Send,
        R: Send,
    {
        let stage = Stage {
            script: self.clone(),
            queue: Mutex::default(),
            panic: Mutex::default(),
            depth: AtomicUsize::new(0),
        };
        let result = stage.guard(|| body(&stage));
        while let Some(job) = stage.next(|queued| self.choose(queued)) {
            stage.run(job);
        }
        match (stage.panic.into_inner().unwrap(), result) {
            (None, Some(result)) => result,
            (Some(payload), result) => {
                quietly(result);
                resume_unwind(payload)
            }
            (None, None) => unreachable!("the body has panicked"),
        }
    }

    fn join_context<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(Context) -> RA + Send,
        B: FnOnce(Context) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        match self.choose(3) {
            0 => (left(Context::new(false)), right(Context::new(false))),
            1 => (left(Context::new(false)), right(Context::new(true))),
            _ => {
                let right = right(Context::new(true));
                (left(Context::new(false)), right)
            }
        }
    }

    fn num_threads(&self) -> usize {
        2
    }
}

fn quietly<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(payload);
    }
}

type Job<'s> = Box<dyn FnOnce(&Stage<'s>) + Send + 's>;

/// A computation on the engine.
#[expect(missing_debug_implementations, reason = "it holds closures")]
pub struct Stage<'s> {
    script: Scripted,
    /// Parts that were stolen and have not begun.
    queue: Mutex<VecDeque<Job<'s>>>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Number of parts that run on top of each other on the stack.
    depth: AtomicUsize,
}

/// A thief runs a part at once, on top of the stack of its owner, only if fewer parts lie there. Others wait in the queue.
const DEEPEST: usize = 24;

impl<'s> Stage<'s> {
    fn guard<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        let keep = |payload| {
            let mut panic = self.panic.lock().unwrap();
            if panic.is_none() {
                *panic = Some(payload);
            } else {
                std::mem::forget(payload);
            }
        };
        catch_unwind(AssertUnwindSafe(f)).map_err(keep).ok()
    }

    fn next(&self, choose: impl FnOnce(usize) -> usize) -> Option<Job<'s>> {
        let queued = self.queue.lock().unwrap().len();
        if queued == 0 {
            return None;
        }
        let chosen = choose(queued);
        self.queue.lock().unwrap().remove(chosen)
    }

    fn run(&self, job: Job<'s>) {
        if self.script.drops && self.panic.lock().unwrap().is_some() {
            quietly(job);
        } else {
            self.depth.fetch_add(1, Relaxed);
            self.guard(|| job(self));
            self.depth.fetch_sub(1, Relaxed);
        }
    }

    /// Steals the part: its thief runs it now, or later.
    fn steal<J: Detachable<'s, Self>>(&self, part: J, meeting: Arc<J::Meeting>) {
        let job: Job<'s> = Box::new(move |stage| part.run(stage, meeting, Context::new(true)));
        if self.script.choose(2) == 1 && self.depth.load(Relaxed) < DEEPEST {
            self.run(job);
        } else {
            self.queue.lock().unwrap().push_back(job);
        }
    }

    /// Lets other workers do something, or not.
    fn others(&self) {
        while !self.script.is_greedy() && self.depth.load(Relaxed) < DEEPEST {
            let mut chosen = 0;
            let queued = self.queue.lock().unwrap().len();
            if queued > 0 {
                chosen = self.script.choose(queued + 1);
            }
            if chosen == 0 {
                return;
            }
            let job = self.next(|_| chosen - 1).expect("one of those queued");
            self.run(job);
        }
    }
}

impl<'s> Detach<'s> for Stage<'s> {
    type Offers<'o, J: Detachable<'s, Self>>
        = Offered<'o, 's, J, J::Meeting>
    where
        Self: 'o;

    type Handle = BlockingSuspend;

    fn handle(&self) -> BlockingSuspend {
        BlockingSuspend::default()
    }

    fn num_threads(&self) -> usize {
        2
    }

    fn fork<J, A, R>(&self, left: A, right: J) -> (R, RightPart<J, J::Meeting>)
    where
        J: Detachable<'s, Self>,
        A: FnOnce() -> R + Send,
    {
        if self.script.choose(2) == 0 {
            let left = left();
            return (left, RightPart::Back(right));
        }
        self.script.state.lock().unwrap().thefts.forks += 1;
        let meeting = Arc::<J::Meeting>::default();
        self.steal(right, Arc::clone(&meeting));
        let left = left();
        self.others();
        (left, RightPart::Taken(meeting))
    }

    fn offers<J, B, R>(&self, body: B) -> R
    where
        J: Detachable<'s, Self>,
        B: FnOnce(&mut Offered<'_, 's, J, J::Meeting>) -> R,
    {
        body(&mut Offered { stage: self, offer: None })
    }
}

/// Offers of a task on this engine.
#[expect(missing_debug_implementations, reason = "it holds parts of any type")]
pub struct Offered<'o, 's, J, M> {
    stage: &'o Stage<'s>,
    offer: Option<(J, Arc<M>)>,
}

impl<'s, J, M> Offered<'_, 's, J, M>
where
    J: Detachable<'s, Stage<'s>, Meeting = M>,
{
    /// Gives the thief its chance to steal the offer.
    fn is_stolen(&mut self) -> bool {
        let script = &self.stage.script;
        if self.offer.is_none() || !(script.is_greedy() || script.choose(2) == 1) {
            return false;
        }
        let (part, meeting) = self.offer.take().expect("there is one");
        script.state.lock().unwrap().thefts.offers += 1;
        self.stage.steal(part, meeting);
        true
    }
}

impl<'s, J, M: Default> Offers<J, M> for Offered<'_, 's, J, M>
where
    J: Detachable<'s, Stage<'s>, Meeting = M>,
{
    fn demand(&mut self) -> bool {
        self.stage.others();
        self.stage.script.demand == Demand::Always || self.stage.script.choose(2) == 1
    }

    fn offer(&mut self, part: J) -> Arc<M> {
        assert!(self.offer.is_none(), "one part at a time");
        let meeting = Arc::<M>::default();
        self.offer = Some((part, Arc::clone(&meeting)));
        meeting
    }

    fn is_taken(&mut self) -> bool {
        self.is_stolen()
    }

    fn take_back(&mut self) -> Option<J> {
        if self.is_stolen() {
            return None;
        }
        let (part, _) = self.offer.take()?;
        self.stage.script.state.lock().unwrap().thefts.back += 1;
        Some(part)
    }
}
