//! The driver: how a chain's shares are cut out, described, and run on a rank's pool.
//!
//! | form | first share of rank r of n | a share is described by | and made of |
//! |---|---|---|---|
//! | by position | the r-th of n equal parts | start and size | the fragment of the source that holds it |
//! | by value | the r-th of n parts, cut as evenly as the value can be | the encoded value | the chain, into which the value is put |
//!
//! # Invariants
//!
//! 1. *Fragments.* In the form by position, the chain's producer is lent once. The parts of it that this rank does not work on are
//!    kept, by their positions. A share is cut out of its fragment; a part that is given away becomes a fragment again. So each
//!    position is folded at most once on a rank, and a source that owns its elements (a vector) works like any other.
//! 2. *Cuts are checked.* If a cut is not where the description says, the call fails on all ranks, because the ranks would not agree
//!    about the rest.
//! 3. In the form by value, no producer is lent while a value is put into the chain: one share is worked on at a time.

use crate::call::{Call, Next, Search, Work};
use crate::encoding::{decode, encode};
use crate::handshake::Caller;
use crate::portable::{ByPosition, ByValue, Form, Portable};
use crate::segments::{Gapped, Segments};
use crate::session::Failure;
use crate::share::{Describe, Share, Site};
use crate::stop::Stops;
use crate::world::World;
use furcate_adaptors::iter::ParallelIterator;
use furcate_pool::Executor;
use furcate_pool::sync::machine::Mutex;
use furcate_schedulers::policy::Reason;
use furcate_schedulers::{
    Adaptive, Divisible, Facts, Plan, Policy, Producer, Reduction, Schedule, Scheduler,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::PoisonError;

/// A form whose descriptions can be sent, for a chain `I`: by position, or by a value that serde can encode.
///
/// This trait is not implemented outside this crate.
#[diagnostic::on_unimplemented(
    message = "pieces of `{I}` cannot be sent to another rank",
    note = "pieces of `wrap_iter` and `work` travel by value: the type that is divided needs `serde::Serialize` and `serde::de::DeserializeOwned`"
)]
pub trait Travels<I: Portable>: Form {
    /// Runs all shares of this rank, and returns the result of the call.
    #[doc(hidden)]
    fn run<R>(chain: I, call: &Runner<'_, I, R>) -> Result<R::Output, Failed>
    where
        R: Reduction<I::Item> + Sync,
        R::Output: Serialize + DeserializeOwned;
}

/// A rank's part in a call, for the forms.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "hidden")]
pub struct Runner<'w, I: ParallelIterator, R: Reduction<I::Item>>(Call<'w, I::Item, R>);

/// A call has failed.
#[doc(hidden)]
#[derive(Debug)]
pub struct Failed(Failure);

/// The terminal of a call.
pub(crate) struct Terminal<R> {
    pub(crate) name: &'static str,
    pub(crate) place: &'static Location<'static>,
    pub(crate) reduction: R,
    pub(crate) search: Search,
    pub(crate) to_root: bool,
}

/// Runs a chain on all ranks.
///
/// # Panics
///
/// If the call fails. A panic of this rank goes on.
pub(crate) fn drive<I, R>(
    chain: I,
    world: &World,
    stops: &Stops,
    terminal: Terminal<R>,
) -> (R::Output, Option<Reason>)
where
    I: Portable<Form: Travels<I>>,
    R: Reduction<I::Item> + Sync,
    R::Output: Serialize + DeserializeOwned,
{
    let number = world.begin_call();
    let units = catch_unwind(AssertUnwindSafe(|| chain.units()));
    let size = units.as_ref().map_or(None, |units| *units).unwrap_or(0);
    let caller =
        Caller::new::<I, R::Output>(terminal.name, size, world.build()).at(terminal.place, terminal.to_root);
    let Terminal { reduction, search, to_root, .. } = terminal;
    let call = Runner(Call::new((world, *number), caller, reduction, (search, to_root), stops));
    let result = units.and_then(|_| catch_unwind(AssertUnwindSafe(|| I::Form::run(chain, &call))));
    if let Err(payload) = &result {
        call.0.has_panicked(&**payload);
    }
    call.0.leave();
    match result {
        Ok(Ok(output)) => {
            drop(number);
            (output, call.0.reason())
        }
        Ok(Err(Failed(failure))) => {
            drop(number);
            panic!("the call failed on all ranks: {failure}")
        }
        Err(payload) => {
            drop(number);
            resume_unwind(payload)
        }
    }
}

/// Runs shares until the call ends.
fn shares<I, R>(
    call: &Runner<'_, I, R>,
    mut run: impl FnMut(&Work) -> Result<Segments<R::Output>, String>,
) -> Result<R::Output, Failed>
where
    I: ParallelIterator,
    R: Reduction<I::Item> + Sync,
    R::Output: Serialize + DeserializeOwned,
{
    loop {
        match call.0.next() {
            Next::Work(work) => match run(&work) {
                Ok(segments) => call.0.finish(segments, work.up),
                Err(reason) => call.0.fail(reason),
            },
            Next::End(output) => return Ok(output),
            Next::Failed(failure) => return Err(Failed(failure)),
        }
    }
}

/// Runs a share on the rank's pool: on demand, or if the chain waits for futures, by the scheduler that suspends.
fn run_share<I, R, P, L, S, E>(
    call: &Runner<'_, I, R>,
    (part, end, has_positions): (P, u64, bool),
    describe: &Describe<'_, P>,
    plan: Plan<L, S, E>,
) -> Segments<R::Output>
where
    I: ParallelIterator,
    R: Reduction<I::Item> + Sync,
    R::Output: Serialize + DeserializeOwned,
    P: Producer<Item = I::Item>,
    L: Policy,
    S: Scheduler,
    E: Executor,
{
    const { has_order(P::FACTS) };
    let site =
        Site { lookout: &call.0, describe, has_positions, is_timed: has_positions && !S::FACTS.suspends };
    let share = Share::new(part, end, &site);
    let reduction = Gapped(call.0.reduction().clone());
    if S::FACTS.suspends {
        plan.scheduler.schedule((share, plan.policy, reduction), &plan.executor)
    } else {
        Adaptive::new().schedule((share, plan.policy, reduction), &plan.executor)
    }
}

/// Returns the `index`-th of `parts` equal parts of `0..size`: its start and its end. Where the parts are not equal, the first ones are
/// larger.
fn even_part(size: u64, index: usize, parts: usize) -> (u64, u64) {
    let (size, parts) = (u128::from(size), parts as u128);
    let cut = |index: usize| (size * index as u128).div_ceil(parts) as u64;
    (cut(index), cut(index + 1))
}

/// Refuses chains whose positions mean nothing.
const fn has_order(facts: Facts) {
    assert!(
        facts.in_order,
        "`spread` needs items in order: this chain's items go to the task that asks first, so no rank could tell another one which \
         it means"
    );
}

impl<I: Portable<Form = ByPosition>> Travels<I> for ByPosition {
    fn run<R>(mut chain: I, call: &Runner<'_, I, R>) -> Result<R::Output, Failed>
    where
        R: Reduction<I::Item> + Sync,
        R::Output: Serialize + DeserializeOwned,
    {
        run_by_position(&mut chain, call)
    }
}

fn run_by_position<'c, I, R>(chain: &'c mut I, call: &Runner<'_, I, R>) -> Result<R::Output, Failed>
where
    I: Portable<Form = ByPosition>,
    R: Reduction<I::Item> + Sync,
    R::Output: Serialize + DeserializeOwned,
{
    let plan = chain.schedule().into_plan();
    let producer = chain.producer();
    let size = producer.size();
    if size == usize::MAX {
        call.0.fail("a source with more units than can be counted cannot be spread by positions".to_owned());
    }
    call.0.has_units(size);
    let (rank, ranks) = (call.0.world().rank(), call.0.world().size());
    let fragments = Fragments::new(producer);
    let describe = |part: I::Producer<'c>, end: u64| {
        let len = part.size() as u64;
        fragments.keep(end - len, part);
        let position = encode(&(end - len, len));
        position.map(Some).map_err(|error| format!("a position cannot be encoded: {error}"))
    };
    shares(call, |work| {
        let (start, end) = match &work.description {
            None => even_part(size as u64, rank, ranks),
            Some(bytes) => {
                let (start, len) = decode::<(u64, u64)>(bytes)
                    .map_err(|error| format!("a position from another rank {error}"))?;
                (start, start.saturating_add(len))
            }
        };
        if start == end && rank > 0 {
            return Ok(call.0.nothing());
        }
        let part = fragments.cut_out(start, end)?;
        Ok(run_share(call, (part, end, true), &describe, plan.clone()))
    })
}

impl<I, D> Travels<I> for ByValue<D>
where
    I: Portable<Form = ByValue<D>>,
    D: Divisible + Serialize + DeserializeOwned + Send,
{
    fn run<R>(mut chain: I, call: &Runner<'_, I, R>) -> Result<R::Output, Failed>
    where
        R: Reduction<I::Item> + Sync,
        R::Output: Serialize + DeserializeOwned,
    {
        shares(call, |work| {
            if let Some(bytes) = &work.description {
                let value = decode(bytes).map_err(|error| format!("a piece from another rank {error}"))?;
                chain.put(value);
            }
            Ok(run_value(&mut chain, call, work.description.is_none()))
        })
    }
}

/// Runs the share whose value is in the chain.
fn run_value<'c, I, R>(chain: &'c mut I, call: &Runner<'_, I, R>, is_first: bool) -> Segments<R::Output>
where
    I: Portable<Form: Form<Value: Serialize>>,
    R: Reduction<I::Item> + Sync,
    R::Output: Serialize + DeserializeOwned,
{
    let plan = chain.schedule().into_plan();
    let mut part = chain.producer();
    if is_first {
        call.0.has_units(part.size());
        let (rank, ranks) = (call.0.world().rank(), call.0.world().size());
        part = even_piece(part, rank, ranks);
        if rank > 0 && part.size() == 0 {
            return call.0.nothing();
        }
    }
    let describe = |part: I::Producer<'c>, _: u64| {
        let piece = I::value(part).map(|value| encode(&value)).transpose();
        piece.map_err(|error| format!("a piece cannot be encoded: {error}"))
    };
    run_share(call, (part, 0, false), &describe, plan)
}

/// Cuts a part in as many parts as there are ranks, as evenly as the data allow. Returns the part of a rank.
fn even_piece<P: Divisible>(mut part: P, rank: usize, ranks: usize) -> P {
    let (mut first, mut end) = (0, ranks);
    while end - first > 1 {
        let middle = first + (end - first).div_ceil(2);
        let (_, cut) = even_part(part.size() as u64, middle - first - 1, end - first);
        let (left, right) = part.divide_at(cut as usize);
        (part, first, end) = if rank < middle { (left, first, middle) } else { (right, middle, end) };
    }
    part
}

/// The parts of a producer that this rank does not work on, by their positions (invariant 1).
struct Fragments<P>(Mutex<BTreeMap<u64, P>>);

impl<P: Divisible> Fragments<P> {
    fn new(whole: P) -> Self {
        Fragments(Mutex::new(BTreeMap::from([(0, whole)])))
    }

    fn keep(&self, start: u64, part: P) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(start, part);
    }

    /// Takes the units of a range out.
    fn cut_out(&self, start: u64, end: u64) -> Result<P, String> {
        let missing =
            || format!("the units {start} to {end} are not on this rank: its source is another one");
        let mut fragments = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (&first, _) = fragments.range(..=start).next_back().ok_or_else(missing)?;
        let fragment = fragments.remove(&first).ok_or_else(missing)?;
        let (before, rest) = fragment.divide_at((start - first) as usize);
        let (part, after) = rest.divide_at((end - start) as usize);
        if before.size() as u64 != start - first || part.size() as u64 != end - start {
            return Err(format!(
                "a cut at {start} or at {end} is not exact: `spread` needs a source that every rank has, and that is cut where it is \
                 told"
            ));
        }
        if before.size() > 0 {
            fragments.insert(first, before);
        }
        if after.size() > 0 {
            fragments.insert(end, after);
        }
        Ok(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_parts_are_neighbors() {
        for size in [0, 1, 2, 3, 7, 100, u64::MAX] {
            for parts in [1, 2, 3, 8] {
                let mut end = 0;
                for index in 0..parts {
                    let part = even_part(size, index, parts);
                    assert!(part.0 == end && part.1 >= end, "{size} in {parts}");
                    assert!(part.1 - part.0 <= size.div_ceil(parts as u64));
                    end = part.1;
                }
                assert_eq!(end, size);
                assert!(size == 0 || even_part(size, 0, parts).1 > 0, "rank 0 has something");
            }
        }
    }

    #[test]
    fn even_pieces_are_neighbors() {
        for size in [0_usize, 1, 2, 3, 7, 100] {
            for ranks in [1, 2, 3, 8] {
                let pieces: Vec<_> = (0..ranks).map(|rank| even_piece(0..size, rank, ranks)).collect();
                assert!(pieces.iter().all(|piece| piece.len() <= size.div_ceil(ranks) + 1), "{pieces:?}");
                assert!(pieces.into_iter().flatten().eq(0..size));
            }
        }
    }

    #[test]
    fn fragments_are_cut_out_and_kept() {
        let fragments = Fragments::new(0..100_u32);
        assert_eq!(fragments.cut_out(20, 40), Ok(20..40));
        assert_eq!(fragments.cut_out(90, 100), Ok(90..100));
        fragments.keep(30, 30..40);
        assert_eq!(fragments.cut_out(35, 40), Ok(35..40));
        assert_eq!(fragments.cut_out(0, 20), Ok(0..20));
        assert!(fragments.cut_out(10, 12).is_err(), "it was taken");
        assert_eq!(fragments.cut_out(40, 80), Ok(40..80));
        assert!(fragments.cut_out(80, 95).is_err(), "half of it was taken");
    }
}
