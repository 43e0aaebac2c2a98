//! The job of a fork: invariant 2 of [jobs](crate::engine::job).

use super::{Header, Worker};
use crate::engine::job::Outcome;
use crate::engine::job::by_pointer::is_large;
use crate::sync::latch::Latch;
use std::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// A word of a closure, which may be a pointer, or padding.
type Word = MaybeUninit<*const ()>;

/// Whether a closure is [taken word by word](StackJob::take): a large one, of so few words that the compiler unrolls the loop.
const fn goes_by_words<F>() -> bool {
    is_large::<F>()
        && size_of::<F>() <= 16 * size_of::<Word>()
        && size_of::<F>() % size_of::<Word>() == 0
        && align_of::<F>() == align_of::<Word>()
}

/// The right half of a fork, in the forking frame.
#[repr(C)]
pub(crate) struct StackJob<F, R> {
    header: Header,
    latch: Latch,
    function: UnsafeCell<ManuallyDrop<F>>,
    outcome: UnsafeCell<MaybeUninit<Outcome<R>>>,
}

impl<F, R> StackJob<F, R>
where
    F: FnOnce(&Worker, bool) -> R + Send,
    R: Send,
{
    #[inline(always)]
    pub(crate) fn new(function: F) -> Self {
        StackJob {
            // SAFETY: the header is the first field, and `run` expects a pointer to it.
            header: unsafe { Header::new(Self::run) },
            latch: Latch::new(),
            function: UnsafeCell::new(ManuallyDrop::new(function)),
            outcome: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Returns the pointer to queue. If the caller queues it, it keeps the frame (invariant 2).
    #[inline(always)]
    pub(crate) fn header(&self) -> NonNull<Header> {
        NonNull::from(self).cast()
    }

    pub(crate) fn latch(&self) -> &Latch {
        &self.latch
    }

    /// Takes the closure out.
    ///
    /// # Safety
    ///
    /// Called once, by the owner when the job was taken back unrun, or by the worker that runs it.
    #[inline(always)]
    pub(crate) unsafe fn take(&self) -> F {
        // SAFETY: no other thread has access (invariant 1), and the closure is not taken again.
        unsafe {
            if const { goes_by_words::<F>() } {
                self.take_by_words()
            } else {
                ManuallyDrop::take(&mut *self.function.get())
            }
        }
    }

    /// As [`take`](Self::take), word by word, each by a volatile read, so that the compiler does not join two into one wide load. A wide
    /// load of words that were just stored one by one waits until those stores have left the store buffer: some 2 ns of a fork whose left
    /// half is a leaf (the form `captures` of `benches/forms.sh`).
    ///
    /// # Safety
    ///
    /// As for `take`; and the closure goes by words.
    #[inline(always)]
    unsafe fn take_by_words(&self) -> F {
        let mut function = MaybeUninit::<F>::uninit();
        let (from, to) = (self.function.get().cast::<Word>(), function.as_mut_ptr().cast::<Word>());
        for word in 0..const { size_of::<F>() / size_of::<Word>() } {
            // SAFETY: both are of that many words, and aligned (`goes_by_words`). A `Word` may hold any bytes, pointers among them.
            unsafe { to.add(word).write(from.add(word).read_volatile()) };
        }
        // SAFETY: it is a copy of the whole closure; the rest is the caller's.
        unsafe { function.assume_init() }
    }

    /// Takes the result out.
    ///
    /// # Safety
    ///
    /// Called once, by the owner, when the latch is set.
    pub(crate) unsafe fn outcome(&self) -> Outcome<R> {
        // SAFETY: `run` has written it before it set the latch.
        unsafe { (*self.outcome.get()).assume_init_read() }
    }

    /// # Safety
    ///
    /// As [`JobRef::run`](super::JobRef::run); `job` points to a `StackJob<F, R>`, and `from` to its owner, a worker of the same registry.
    unsafe fn run(job: NonNull<Header>, worker: &Worker, from: *const Worker) {
        let job = job.cast::<Self>();
        // SAFETY: the frame waits for the latch (invariant 2).
        let this = unsafe { job.as_ref() };
        let migrated = !std::ptr::eq(worker, from);
        // SAFETY: the owner is a worker of the same registry.
        let serves = migrated.then(|| worker.starts(&this.latch, unsafe { &*from }));
        // SAFETY: this is the one run (invariant 1).
        let function = unsafe { this.take() };
        // Unwind-safe: the owner unwinds with the payload, so no code sees the state that the panic left broken.
        let outcome = catch_unwind(AssertUnwindSafe(|| function(worker, migrated)));
        if let Some(before) = serves {
            worker.ends(before);
        }
        // SAFETY: the owner reads it when the latch is set.
        unsafe { (*this.outcome.get()).write(outcome) };
        let latch: *const Latch = &this.latch;
        // SAFETY: not set before; the owner is a worker of this worker's registry, which this worker keeps alive.
        unsafe { Worker::set_latch(from, latch, Some(worker)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Takes a closure that captures an owner, a slice, a string, a small number and `N` words.
    fn take<const N: usize>() -> bool {
        let (owner, words, text, small) = (Arc::new(7), [3_usize; N], String::from("text"), 5_u8);
        let also = Arc::clone(&owner);
        let job =
            StackJob::new(move |_: &Worker, _: bool| *owner + words.len() + text.len() + usize::from(small));
        // SAFETY: taken once, and not queued.
        let function = unsafe { job.take() };
        assert_eq!(Arc::strong_count(&also), 2);
        drop(function);
        assert_eq!(Arc::strong_count(&also), 1);
        fn goes<F>(_: &StackJob<F, usize>) -> bool {
            goes_by_words::<F>()
        }
        goes(&job)
    }

    #[test]
    fn a_closure_is_taken_once_by_words_or_whole() {
        assert!(take::<0>());
        assert!(take::<11>());
        assert!(!take::<12>());
    }
}
