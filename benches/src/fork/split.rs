//! Lace's split deque as its C library has it (van Dijk and van de Pol 2014), on one worker: the unsafe forms against which the cost
//! of safety is measured.
//!
//! Tasks lie in an array. A fork writes the right half's closure, up to six words, and a pointer to a function for thieves into the next
//! task; and its worker takes the closure out again. Nothing but that is done for a fork that was not stolen: two loads of flags, no fence, no
//! counter, no panic caught. There are no thieves, but all checks for them are compiled. [`Form`] adds the parts of the price of safety
//! one after the other.

use super::{Engine, Fork};
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::hint;
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

/// The parts of safety that a split deque pays for.
pub trait Form: fmt::Debug + Sized {
    /// The engine's name.
    const NAME: &'static str;

    /// Whether a panic of a left half is caught, so that the right half, which borrows from the same frame, is taken back before the
    /// frame ends. Otherwise a panic ends the process.
    const GUARDED: bool;

    /// Whether each closure gets an allocation of its own, as inputs of tasks do in lace.rs's *safe* version.
    const BOXED: bool;
}

/// As C: see the module.
#[derive(Debug)]
pub struct Unsafe;

impl Form for Unsafe {
    const NAME: &'static str = "split-unsafe";
    const GUARDED: bool = false;
    const BOXED: bool = false;
}

/// Panics unwind.
#[derive(Debug)]
pub struct Guarded;

impl Form for Guarded {
    const NAME: &'static str = "split-guarded";
    const GUARDED: bool = true;
    const BOXED: bool = false;
}

/// Panics unwind, and closures are allocated.
#[derive(Debug)]
pub struct Boxed;

impl Form for Boxed {
    const NAME: &'static str = "split-boxed";
    const GUARDED: bool = true;
    const BOXED: bool = true;
}

/// Number of tasks in the array, as in Lace.
const TASKS: usize = 100_000;

/// Size of a task's data.
const WORDS: usize = 6;

/// Values of a task's `thief`.
const EMPTY: usize = 0;
const TASK: usize = 1;
const COMPLETED: usize = 2;

#[repr(C, align(64))]
struct Task {
    run: Cell<Option<unsafe fn(*mut u8)>>,
    thief: AtomicUsize,
    data: UnsafeCell<[MaybeUninit<usize>; WORDS]>,
}

impl Task {
    /// Returns the place of a closure or a result.
    #[inline(always)]
    fn data<T>(&self) -> *mut T {
        self.data.get().cast()
    }
}

/// A worker with its deque.
///
/// Invariants:
/// 1. `head` points into `tasks`, or to its end. Only `spawn` moves it up, and only `take` down.
/// 2. Spawns and takes nest: the task below `head` holds the closure of the innermost fork that was not taken. A fork that is unwound
///    takes its closure, or ends the process.
pub struct SplitFork<F> {
    head: Cell<*const Task>,
    split: Cell<*const Task>,
    end: *const Task,
    all_stolen: Cell<bool>,
    /// Whether a thief wants shared tasks.
    move_split: AtomicBool,
    /// A vector, because the pointers stay valid when it moves.
    tasks: Vec<Task>,
    form: PhantomData<F>,
}

/// Ends the process if it is dropped.
struct NoUnwind;

impl Drop for NoUnwind {
    fn drop(&mut self) {
        process::abort();
    }
}

impl<F: Form> SplitFork<F> {
    fn new() -> Self {
        let task = || Task {
            run: Cell::new(None),
            thief: AtomicUsize::new(EMPTY),
            data: UnsafeCell::new([MaybeUninit::uninit(); WORDS]),
        };
        let tasks: Vec<Task> = (0..TASKS).map(|_| task()).collect();
        let range = tasks.as_ptr_range();
        SplitFork {
            head: Cell::new(range.start),
            // With one worker, all tasks are private.
            split: Cell::new(range.start),
            end: range.end,
            all_stolen: Cell::new(false),
            move_split: AtomicBool::new(false),
            tasks,
            form: PhantomData,
        }
    }

    const fn is_boxed<B>() -> bool {
        F::BOXED
            || mem::size_of::<B>() > WORDS * mem::size_of::<usize>()
            || mem::align_of::<B>() > mem::align_of::<usize>()
    }

    #[inline(always)]
    fn spawn<B: FnOnce(&Self) -> R, R>(&self, right: B) {
        let head = self.head.get();
        if head == self.end {
            overflow();
        }
        // SAFETY: `head` points to a task (invariant 1), which holds no closure (invariant 2).
        let task = unsafe { &*head };
        task.run.set(Some(run::<F, B, R>));
        task.thief.store(TASK, Relaxed);
        // SAFETY: a closure that is not boxed fits.
        unsafe {
            if Self::is_boxed::<B>() {
                task.data::<*mut B>().write(Box::into_raw(Box::new(right)));
            } else {
                task.data::<B>().write(right);
            }
        }
        if self.all_stolen.get() || self.move_split.load(Relaxed) {
            self.share(head);
        }
        // SAFETY: `head` was not the end.
        self.head.set(unsafe { head.add(1) });
    }

    /// Moves the split up, for thieves.
    #[cold]
    fn share(&self, head: *const Task) {
        self.split.set(head);
        self.all_stolen.set(false);
        self.move_split.store(false, Release);
    }

    /// Takes the newest closure back.
    ///
    /// # Safety
    ///
    /// `B` is the type of the newest spawn that was not taken, and `R` its result's.
    #[inline(always)]
    unsafe fn take<B: FnOnce(&Self) -> R, R>(&self) -> Result<B, R> {
        // SAFETY: `head` is above the task of that spawn.
        let head = unsafe { self.head.get().sub(1) };
        self.head.set(head);
        // SAFETY: as above.
        let task = unsafe { &*head };
        if self.move_split.load(Relaxed) || self.split.get() > head {
            // SAFETY: as above.
            return unsafe { self.take_slowly(task) };
        }
        task.thief.store(EMPTY, Relaxed);
        // SAFETY: the closure is the caller's.
        Ok(unsafe { take_closure::<F, B>(task.data()) })
    }

    /// As `take`, for a task that may be shared or stolen.
    #[cold]
    unsafe fn take_slowly<B: FnOnce(&Self) -> R, R>(&self, task: &Task) -> Result<B, R> {
        self.split.set(task);
        self.move_split.store(false, Relaxed);
        if task.thief.load(Acquire) == TASK {
            // SAFETY: the caller's.
            return Ok(unsafe { take_closure::<F, B>(task.data()) });
        }
        while task.thief.load(Acquire) != COMPLETED {
            hint::spin_loop();
        }
        // SAFETY: the thief has written the result.
        Err(unsafe { task.data::<R>().read() })
    }
}

#[cold]
fn overflow() -> ! {
    panic!("more forks are open than a split deque has tasks")
}

/// Moves a closure out of a task's data.
///
/// # Safety
///
/// The data hold a `B`, as `spawn` has written it. It is not read again.
#[inline(always)]
unsafe fn take_closure<F: Form, B>(data: *mut u8) -> B {
    // SAFETY: the caller's.
    unsafe {
        if SplitFork::<F>::is_boxed::<B>() {
            *Box::from_raw(data.cast::<*mut B>().read())
        } else {
            data.cast::<B>().read()
        }
    }
}

/// The function for thieves: replaces the closure in a task's data by its result. A thief would pass its own worker.
///
/// # Safety
///
/// As for [`take_closure`]. The result fits.
unsafe fn run<F: Form, B: FnOnce(&SplitFork<F>) -> R, R>(data: *mut u8) {
    // SAFETY: the caller's.
    unsafe { data.cast::<R>().write(take_closure::<F, B>(data)(&SplitFork::new())) };
}

impl<F> fmt::Debug for SplitFork<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SplitFork").field("tasks", &self.tasks.len()).finish_non_exhaustive()
    }
}

impl<F: Form> Fork for SplitFork<F> {
    #[inline]
    fn join<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Self) -> RA + Send,
        B: FnOnce(&Self) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        const {
            assert!(
                mem::size_of::<RB>() <= WORDS * mem::size_of::<usize>()
                    && mem::align_of::<RB>() <= mem::align_of::<usize>()
            );
        };
        self.spawn(right);
        let left = if F::GUARDED {
            // Unwind-safe: the panic goes on.
            catch_unwind(AssertUnwindSafe(|| left(self))).unwrap_or_else(|payload| {
                // SAFETY: forks nest.
                drop(unsafe { self.take::<B, RB>() });
                resume_unwind(payload)
            })
        } else {
            let guard = NoUnwind;
            let left = left(self);
            mem::forget(guard);
            left
        };
        // SAFETY: forks nest.
        let right = match unsafe { self.take::<B, RB>() } {
            Ok(right) => right(self),
            Err(result) => result,
        };
        (left, right)
    }
}

/// One worker with a split deque: the caller of [`run`](Engine::run).
#[derive(Debug)]
pub struct Split<F>(SplitFork<F>);

impl<F: Form> Engine for Split<F> {
    const NAME: &'static str = F::NAME;
    const PARALLEL: bool = false;
    type Fork = SplitFork<F>;

    fn new(_threads: usize) -> Self {
        Self(SplitFork::new())
    }

    fn run<R, B>(&self, body: B) -> R
    where
        R: Send,
        B: FnOnce(&SplitFork<F>) -> R + Send,
    {
        body(&self.0)
    }
}
