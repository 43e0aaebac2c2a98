//! An engine in one thread, in which thieves come at random, so that parts are stolen however short a computation is.

use crate::cases::Random;
use furcate::detach::{BlockingSuspend, Detach, Detachable, Offers, RightPart};
use furcate::{Context, Executor};
use std::cell::Cell;
use std::sync::Arc;

/// The engine, and the scope in which its computations detach parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thieves;

/// Returns yes or no, at random.
fn perhaps() -> bool {
    thread_local!(static STATE: Cell<u64> = const { Cell::new(0) });
    let mut random = Random(STATE.get());
    let yes = random.below(2) == 0;
    STATE.set(random.0);
    yes
}

impl Executor for Thieves {
    type Scope<'scope> = Thieves;

    fn join_context<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(Context) -> RA + Send,
        B: FnOnce(Context) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        if perhaps() {
            let right = right(Context::new(true));
            (left(Context::new(false)), right)
        } else {
            (left(Context::new(false)), right(Context::new(perhaps())))
        }
    }

    fn detached<'scope, B, R>(&self, body: B) -> R
    where
        B: FnOnce(&Self::Scope<'scope>) -> R + Send,
        R: Send,
    {
        body(self)
    }

    fn num_threads(&self) -> usize {
        4
    }
}

impl<'scope> Detach<'scope> for Thieves {
    type Offers<'o, J: Detachable<'scope, Self>> = Offered<J, J::Meeting>;

    type Handle = BlockingSuspend;

    fn handle(&self) -> BlockingSuspend {
        BlockingSuspend::default()
    }

    fn num_threads(&self) -> usize {
        4
    }

    fn fork<J, A, R>(&self, left: A, right: J) -> (R, RightPart<J, J::Meeting>)
    where
        J: Detachable<'scope, Self>,
        A: FnOnce() -> R + Send,
    {
        match (perhaps(), perhaps()) {
            (true, early) => {
                let meeting = Arc::default();
                let mut right = Some(right);
                let mut steal = || {
                    if let Some(right) = right.take() {
                        right.run(self, Arc::clone(&meeting), Context::new(true));
                    }
                };
                if early {
                    steal();
                }
                let left = left();
                steal();
                (left, RightPart::Taken(meeting))
            }
            (false, _) => (left(), RightPart::Back(right)),
        }
    }

    fn offers<J, B, R>(&self, body: B) -> R
    where
        J: Detachable<'scope, Self>,
        B: FnOnce(&mut Offered<J, J::Meeting>) -> R,
    {
        body(&mut Offered {
            part: None,
            run: |part, meeting| part.run(&Thieves, meeting, Context::new(true)),
        })
    }
}

/// An offered part, and the function by which a thief runs it.
pub(crate) struct Offered<J, M> {
    part: Option<(J, Arc<M>)>,
    run: fn(J, Arc<M>),
}

impl<J, M: Default> Offers<J, M> for Offered<J, M> {
    fn demand(&mut self) -> bool {
        perhaps()
    }

    fn offer(&mut self, part: J) -> Arc<M> {
        assert!(self.part.is_none(), "one part at a time");
        let meeting = Arc::default();
        self.part = Some((part, Arc::clone(&meeting)));
        meeting
    }

    fn is_taken(&mut self) -> bool {
        if perhaps()
            && let Some((part, meeting)) = self.part.take()
        {
            (self.run)(part, meeting);
        }
        self.part.is_none()
    }

    fn take_back(&mut self) -> Option<J> {
        if self.is_taken() { None } else { self.part.take().map(|(part, _)| part) }
    }
}
