//! Stacks of virtual threads, which are used again when their threads have ended.
//!
//! | stack | size | end |
//! |---|---|---|
//! | *guarded*: of the first [`GUARDED`] threads that are alive | 4 MB | a page that cannot be touched |
//! | *packed*: of all others, many out of one block of memory | 64 KB | words whose value is checked |
//!
//! A guarded stack takes two of the mappings of a process, of which Linux permits 65,530. Memory of either kind is used when it is touched.
//!
//! # Invariants
//!
//! 1. A packed stack is a part of its block that no other stack has, and the block lives as long as one of its stacks.
//! 2. The lowest words of a packed stack are [`WORD`]. They are checked after each run of its thread: if one is different, the thread has used
//!    more than its stack, and may have overwritten the next one. So the process ends. (A frame with unused space may pass by the words without
//!    touching them.)

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::ptr::NonNull;
use std::rc::Rc;

/// Number of guarded stacks of a real thread's simulations: half of the mappings that Linux permits. A program whose threads are fewer (all but
/// a cluster of more ranks) never gets a packed stack. On Windows, all are guarded.
const GUARDED: usize = if cfg!(windows) { usize::MAX } else { 16 << 10 };
/// Size of a guarded stack.
const GUARDED_SIZE: usize = 4 << 20;
/// Size of a packed stack, and of the block of a number of them.
const SIZE: usize = 64 << 10;
const BLOCK: Layout = match Layout::from_size_align(1024 * SIZE, 4096) {
    Ok(layout) => layout,
    Err(_) => panic!("a layout"),
};
/// Invariant 2: a cache line.
const WORD: u64 = 0x5AFE_57AC_C0DE_F00D;
const WORDS: usize = 8;

/// The memory of packed stacks.
pub(crate) struct Block(NonNull<u8>);

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and no stack uses it any more (invariant 1).
        unsafe { dealloc(self.0.as_ptr(), BLOCK) };
    }
}

/// Stack of a virtual thread.
pub(crate) enum ThreadStack {
    Guarded(DefaultStack),
    /// Lowest word, and the block.
    Packed(NonNull<[u64; WORDS]>, #[allow(dead_code, reason = "keeps the memory")] Rc<Block>),
}

// SAFETY: a guarded stack is one of the crate's own. A packed stack has 64 KB, but no guard page: `check` ends the process when its thread has
// overflowed it (invariant 2), which is later than the contract wants. Only a program of more than `GUARDED` threads has one.
unsafe impl Stack for ThreadStack {
    fn base(&self) -> StackPointer {
        match self {
            ThreadStack::Guarded(stack) => stack.base(),
            ThreadStack::Packed(lowest, _) => lowest.addr().saturating_add(SIZE),
        }
    }

    fn limit(&self) -> StackPointer {
        match self {
            ThreadStack::Guarded(stack) => stack.limit(),
            ThreadStack::Packed(lowest, _) => lowest.addr(),
        }
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        match self {
            ThreadStack::Guarded(stack) => stack.teb_fields(),
            ThreadStack::Packed(..) => unreachable!("all stacks are guarded on Windows"),
        }
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, limit: usize, guaranteed: usize) {
        match self {
            ThreadStack::Guarded(stack) => stack.update_teb_fields(limit, guaranteed),
            ThreadStack::Packed(..) => unreachable!("all stacks are guarded on Windows"),
        }
    }
}

/// Stacks without a thread.
struct Free {
    stacks: Vec<ThreadStack>,
    packed: Vec<ThreadStack>,
    /// Number of guarded stacks that threads have, or that runs which failed have abandoned.
    lent: usize,
}

thread_local! {
    static FREE: RefCell<Free> = const { RefCell::new(Free { stacks: Vec::new(), packed: Vec::new(), lent: 0 }) };
}

impl ThreadStack {
    /// Returns a stack that no thread uses.
    pub(crate) fn take() -> Self {
        FREE.with_borrow_mut(|free| {
            if free.lent < GUARDED {
                free.lent += 1;
                let new = || DefaultStack::new(GUARDED_SIZE).map(ThreadStack::Guarded);
                return free.stacks.pop().unwrap_or_else(|| new().expect("there is room for a stack"));
            }
            if free.packed.is_empty() {
                // SAFETY: the size is not 0.
                let memory = NonNull::new(unsafe { alloc(BLOCK) });
                let block = Rc::new(Block(memory.unwrap_or_else(|| handle_alloc_error(BLOCK))));
                free.packed.extend((0..BLOCK.size()).step_by(SIZE).map(|at| {
                    // SAFETY: inside the block, of which each stack has a part of its own (invariant 1). Nobody else writes its lowest words.
                    let lowest = unsafe {
                        let lowest = block.0.add(at).cast::<[u64; WORDS]>();
                        lowest.write([WORD; WORDS]);
                        lowest
                    };
                    ThreadStack::Packed(lowest, Rc::clone(&block))
                }));
            }
            free.packed.pop().expect("a block has stacks")
        })
    }

    /// Takes the stack of a thread that has ended.
    pub(crate) fn give_back(self) {
        FREE.with_borrow_mut(|free| match self {
            ThreadStack::Guarded(_) => {
                free.lent -= 1;
                free.stacks.push(self);
            }
            ThreadStack::Packed(..) => free.packed.push(self),
        });
    }

    /// Returns the place of a packed stack's lowest words, for [`check`].
    pub(crate) fn lowest(&self) -> Option<Lowest> {
        match self {
            ThreadStack::Guarded(_) => None,
            ThreadStack::Packed(lowest, _) => Some(Lowest(*lowest)),
        }
    }
}

/// The lowest words of a packed stack.
#[derive(Clone, Copy)]
pub(crate) struct Lowest(NonNull<[u64; WORDS]>);

impl Lowest {
    /// Ends the process if the stack has overflowed (invariant 2). Called while its thread does not run, and before the stack is given back.
    pub(crate) fn check(self) {
        // SAFETY: the stack is alive.
        if unsafe { self.0.read() } != [WORD; WORDS] {
            eprintln!(
                "a virtual thread has used more than its stack of {} KB: all but the first {GUARDED} threads get that much",
                SIZE >> 10
            );
            std::process::abort();
        }
    }
}
