//! The calls of MPI that the transports between processes need, as functions with types.
//!
//! rsmpi's safe receive does not compare a buffer's type with the message's. So the MPI functions are called here by their C names, for
//! bytes only, and nothing else in this crate calls them.
//!
//! | function | calls of MPI |
//! |---|---|
//! | [`Mpi::init`] | `MPI_Init_thread` (by rsmpi), `MPI_Finalized`, `MPI_Comm_dup`, `MPI_Comm_set_errhandler`, `MPI_Comm_rank`, `MPI_Comm_size` |
//! | [`Mpi::send`], [`Mpi::complete_sends`] | `MPI_Isend`, `MPI_Test` |
//! | [`Mpi::receive`] | `MPI_Improbe`, `MPI_Get_count`, `MPI_Mrecv` |
//! | [`Mpi::of_rank_0`] | `MPI_Bcast` |
//! | [`Mpi::share_memory`], [`Window`] | `MPI_Comm_split_type`, `MPI_Win_allocate_shared`, `MPI_Win_shared_query`, `MPI_Barrier`, `MPI_Win_free` |
//!
//! Errors: MPI's handler `MPI_ERRORS_ARE_FATAL`, which `init` sets, ends the program with a message that names the rank. So no code is returned from
//! these functions.
//!
//! # Invariants of the `unsafe` code
//!
//! 1. *Serialized.* MPI is initialized for calls by one thread at a time (`MPI_THREAD_SERIALIZED`), and every call after that is made with the
//!    lock [`Mpi::state`], or with the lock [`IN_USE`] while there is no other reference. A process has at most one `Mpi` at a time, so that no one uses
//!    MPI after another one has ended it. Rsmpi's handle ends MPI when the `Mpi` is dropped; nothing refers to it then.
//! 2. *Buffers live.* The bytes of a message lie in a box of their own until `MPI_Test` says that the send is complete. When MPI ends before that, the
//!    box is leaked.
//! 3. *A window outlives its words.* A [`Words`] holds its [`Window`], and the window holds the `Mpi`.
//! 4. *Aligned and zeroed.* MPI aligns the first rank's memory for any type. The memory of each rank is a multiple of 64 bytes long, so that the
//!    next rank's is aligned, too. A rank zeroes its own memory before the barrier, and the others use it behind the barrier.
//! 5. *Atomic only.* A window's memory is reached as `AtomicU64` only, so nothing that another process does with it is a data race.
#![allow(unsafe_code, reason = "MPI is a C library: see the invariants")]

use mpi::environment::Universe;
use mpi::ffi;
use std::ffi::{c_int, c_void};
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The initialized MPI.
pub(crate) struct Mpi {
    rank: usize,
    size: usize,
    state: Mutex<State>,
    /// Ends MPI when dropped. `None` if the program had initialized MPI before, and ends it.
    universe: Option<Universe>,
}

/// Whether there is an [`Mpi`] (invariant 1). Locked while one is made or dropped.
static IN_USE: Mutex<bool> = Mutex::new(false);

/// The communicator, and the sends under way.
struct State {
    communicator: ffi::MPI_Comm,
    sends: Vec<Send>,
}

/// A send under way (invariant 2).
struct Send {
    request: ffi::MPI_Request,
    bytes: Box<[u8]>,
}

// SAFETY: handles of MPI are names for objects of the library. It may be called by any thread, one at a time, and the lock sees to that
// (invariant 1).
unsafe impl std::marker::Send for State {}

// SAFETY: invariant 1. The `Universe` is only dropped.
unsafe impl std::marker::Send for Mpi {}
// SAFETY: as above.
unsafe impl Sync for Mpi {}

/// Calls an MPI function that writes a value, and returns the value.
fn out<T>(call: impl FnOnce(*mut T) -> c_int) -> T {
    let mut value = MaybeUninit::uninit();
    call(value.as_mut_ptr());
    // SAFETY: an MPI function that returns has written its results. On an error it does not return.
    unsafe { value.assume_init() }
}

impl Mpi {
    /// Initializes MPI, unless the program has done that already.
    pub(crate) fn init() -> Result<Self, String> {
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        if *in_use {
            return Err("this process has a world already: make one, and lend it to all that make calls, since messages of two worlds would \
                        be mixed"
                .into());
        }
        // SAFETY: the program may call this function at any time.
        let has_ended: c_int = unsafe { out(|it| ffi::MPI_Finalized(it)) };
        if has_ended != 0 {
            return Err("MPI has ended in this process, by the drop of an earlier world or by the program itself, and cannot begin again: make \
                        one world at the beginning, and drop it at the end"
                .into());
        }
        let universe =
            mpi::initialize_with_threading(mpi::Threading::Serialized).map(|(universe, _)| universe);
        let threading = mpi::environment::threading_support();
        if threading < mpi::Threading::Serialized {
            let (who, instead) = match universe {
                Some(_) => ("this MPI library supports", "use one that was built for threads"),
                None => (
                    "the program has initialized MPI with",
                    "ask for MPI_THREAD_SERIALIZED there, or leave it to `furcate_cluster::init`",
                ),
            };
            return Err(format!(
                "{who} the thread level {threading:?} only: furcate-cluster needs MPI_THREAD_SERIALIZED, since any worker may send a message; \
                 {instead}"
            ));
        }
        // SAFETY: MPI is initialized, and no other thread has this `Mpi` yet (invariant 1). A program that has initialized MPI itself with
        // this thread level makes no calls at the same time, as that level demands. `communicator` is written if the code says so.
        let (communicator, rank, size) = unsafe {
            // The program may have set another handler for errors on the world's communicator, which a duplicate inherits. So this code is
            // looked at, and those after it need not be.
            let mut communicator = MaybeUninit::uninit();
            let code = ffi::MPI_Comm_dup(ffi::RSMPI_COMM_WORLD, communicator.as_mut_ptr());
            if code != ffi::MPI_SUCCESS as c_int {
                return Err(format!("MPI cannot duplicate its communicator: error {code}"));
            }
            let communicator = communicator.assume_init();
            ffi::MPI_Comm_set_errhandler(communicator, ffi::RSMPI_ERRORS_ARE_FATAL);
            let rank: c_int = out(|it| ffi::MPI_Comm_rank(communicator, it));
            let size: c_int = out(|it| ffi::MPI_Comm_size(communicator, it));
            (communicator, rank, size)
        };
        *in_use = true;
        let state = Mutex::new(State { communicator, sends: Vec::new() });
        Ok(Mpi { rank: rank as usize, size: size as usize, state, universe })
    }

    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to send bytes to a rank. `more` says whether the message goes on in the next send to that rank.
    ///
    /// # Panics
    ///
    /// If there are more bytes than [`LONGEST`].
    pub(super) fn send(&self, to: usize, bytes: Box<[u8]>, more: bool) {
        assert!(bytes.len() <= LONGEST && to < self.size);
        let mut state = self.state();
        // SAFETY: invariants 1 and 2; the length fits a `c_int`.
        let request = unsafe {
            out(|it| {
                let (start, len) = (bytes.as_ptr().cast::<c_void>(), bytes.len() as c_int);
                ffi::MPI_Isend(
                    start,
                    len,
                    ffi::RSMPI_UINT8_T,
                    to as c_int,
                    c_int::from(more),
                    state.communicator,
                    it,
                )
            })
        };
        state.sends.push(Send { request, bytes });
        state.complete();
    }

    /// Drops the buffers of sends that are complete. Returns the number of the others.
    pub(super) fn complete_sends(&self) -> usize {
        let mut state = self.state();
        state.complete();
        state.sends.len()
    }

    /// Takes the next bytes that have arrived: the rank that sent them, and whether the message goes on.
    pub(super) fn receive(&self) -> Option<(usize, Box<[u8]>, bool)> {
        let mut state = self.state();
        state.complete();
        // SAFETY: invariant 1; all pointers are to locals. The buffer is as long as the message, whose number of bytes is known.
        unsafe {
            let (mut message, mut status) = (MaybeUninit::uninit(), MaybeUninit::<ffi::MPI_Status>::uninit());
            let arrived: c_int = out(|flag| {
                let (any, tag) = (ffi::RSMPI_ANY_SOURCE, ffi::RSMPI_ANY_TAG);
                ffi::MPI_Improbe(
                    any,
                    tag,
                    state.communicator,
                    flag,
                    message.as_mut_ptr(),
                    status.as_mut_ptr(),
                )
            });
            if arrived == 0 {
                return None;
            }
            let status = status.assume_init();
            let len: c_int = out(|it| ffi::MPI_Get_count(&raw const status, ffi::RSMPI_UINT8_T, it));
            let mut bytes = vec![0_u8; usize::try_from(len).unwrap_or(0)].into_boxed_slice();
            let start = bytes.as_mut_ptr().cast::<c_void>();
            ffi::MPI_Mrecv(start, len, ffi::RSMPI_UINT8_T, message.as_mut_ptr(), ffi::RSMPI_STATUS_IGNORE);
            Some((status.MPI_SOURCE as usize, bytes, status.MPI_TAG != 0))
        }
    }

    /// Allocates memory that all ranks share, so many words for each. Returns `None` if not all ranks are on one node. A collective call.
    pub(super) fn share_memory(self: &Arc<Self>, words: usize) -> Option<Arc<Window>> {
        let bytes = words.next_multiple_of(8) * size_of::<AtomicU64>();
        let state = self.state();
        // SAFETY: invariant 1; all pointers are to locals. Every rank makes the same calls.
        let handle = unsafe {
            let (kind, none) = (ffi::RSMPI_COMM_TYPE_SHARED, ffi::RSMPI_INFO_NULL);
            let node =
                out(|it| ffi::MPI_Comm_split_type(state.communicator, kind, self.rank as c_int, none, it));
            let on_node: c_int = out(|it| ffi::MPI_Comm_size(node, it));
            // All ranks get the same answer: if one node holds all ranks, it is the only one.
            let handle = (on_node as usize == self.size).then(|| {
                let mut start: *mut c_void = ptr::null_mut();
                let start = (&raw mut start).cast();
                out(|it| ffi::MPI_Win_allocate_shared(bytes as ffi::MPI_Aint, 1, none, node, start, it))
            });
            let mut node = node;
            ffi::MPI_Comm_free(&raw mut node);
            handle
        };
        drop(state);
        let window = Arc::new(Window { handle: handle?, words, mpi: Arc::clone(self) });
        // Relaxed: the barrier orders it with all that the others do (invariant 4).
        window.words_of(self.rank).iter().for_each(|word| word.store(0, Relaxed));
        self.barrier();
        Some(window)
    }

    /// Ends this process if this thread panics, and by that the program: launchers end all ranks if one dies. Called first when a world
    /// is dropped.
    ///
    /// To end MPI in order takes all ranks. After a panic the others may be in a call that this rank will never make, or dead, and the
    /// program would hang. (`MPI_Abort` of MPICH 4.0 hangs as well, while there is a shared window.)
    pub(super) fn abort_if_panicking(&self) {
        if std::thread::panicking() {
            // Text that cannot be written is lost in any case.
            let _ = io::stdout().flush();
            let _ = writeln!(
                io::stderr(),
                "furcate-cluster: rank {} has panicked, and ends the program on all ranks",
                self.rank
            );
            std::process::abort();
        }
    }

    /// Returns the byte that rank 0 has. A collective call.
    pub(crate) fn of_rank_0(&self, byte: u8) -> u8 {
        let mut byte = byte;
        let state = self.state();
        // SAFETY: invariant 1; the pointer is to a local byte.
        unsafe { ffi::MPI_Bcast((&raw mut byte).cast(), 1, ffi::RSMPI_UINT8_T, 0, state.communicator) };
        byte
    }

    /// Waits for all ranks.
    fn barrier(&self) {
        let state = self.state();
        // SAFETY: invariant 1.
        unsafe { ffi::MPI_Barrier(state.communicator) };
    }
}

impl State {
    fn complete(&mut self) {
        self.sends.retain_mut(|send| {
            // SAFETY: invariant 1; the request is that of a send that is not complete.
            let done: c_int =
                unsafe { out(|flag| ffi::MPI_Test(&raw mut send.request, flag, ffi::RSMPI_STATUS_IGNORE)) };
            done == 0
        });
    }
}

impl Drop for Mpi {
    /// Ends MPI. Leaks the buffers of sends that are not complete: ending MPI may still read them (invariant 2).
    fn drop(&mut self) {
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.complete();
        state.sends.drain(..).for_each(|send| std::mem::forget(send.bytes));
        drop(self.universe.take());
        *in_use = false;
    }
}

impl std::fmt::Debug for Mpi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mpi").field("rank", &self.rank).field("size", &self.size).finish_non_exhaustive()
    }
}

/// The greatest number of bytes of one send. Counts of MPI are 32-bit numbers.
pub(super) const LONGEST: usize = 1 << 30;

/// Memory that all ranks share.
#[derive(Debug)]
pub(super) struct Window {
    handle: ffi::MPI_Win,
    words: usize,
    mpi: Arc<Mpi>,
}

// SAFETY: as for `State`: the handle is used with the lock.
unsafe impl std::marker::Send for Window {}
// SAFETY: as above.
unsafe impl Sync for Window {}

impl Window {
    /// Returns the memory of a rank.
    pub(super) fn words_of(self: &Arc<Self>, rank: usize) -> Words {
        let state = self.mpi.state();
        let mut start: *mut AtomicU64 = ptr::null_mut();
        // SAFETY: invariant 1; all pointers are to locals.
        unsafe {
            let (mut bytes, mut unit) = (0, 0);
            let start = (&raw mut start).cast();
            ffi::MPI_Win_shared_query(self.handle, rank as c_int, &raw mut bytes, &raw mut unit, start);
            assert!(
                bytes as usize >= self.words * size_of::<AtomicU64>(),
                "the window is as long as it was made"
            );
        }
        drop(state);
        assert!(start.is_aligned() && !start.is_null());
        Words { start, len: self.words, _window: Arc::clone(self) }
    }
}

impl Drop for Window {
    /// A collective call: every rank drops its world, or ends.
    fn drop(&mut self) {
        let _state = self.mpi.state();
        // SAFETY: invariants 1 and 3.
        unsafe { ffi::MPI_Win_free(&raw mut self.handle) };
    }
}

/// A part of a window's memory.
#[derive(Clone, Debug)]
pub(super) struct Words {
    start: *const AtomicU64,
    len: usize,
    _window: Arc<Window>,
}

// SAFETY: it is a reference to atomics that live as long as it (invariants 3 and 5).
unsafe impl std::marker::Send for Words {}
// SAFETY: as above.
unsafe impl Sync for Words {}

impl Words {
    /// Returns a part of these words.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds.
    pub(super) fn part(&self, range: std::ops::Range<usize>) -> Self {
        let part = &self[range];
        Words { start: part.as_ptr(), len: part.len(), _window: Arc::clone(&self._window) }
    }
}

impl Deref for Words {
    type Target = [AtomicU64];

    #[inline]
    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: the words are aligned and initialized (invariant 4), live as long as the window, which `self` holds (invariant 3), and are
        // reached as atomics only (invariant 5).
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}
