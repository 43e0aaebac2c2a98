//! Signals that end a program: its trace is written before.
//!
//! A signal handler may call next to nothing. So it asks a thread to write the trace, and waits for it. If the signal is SIGQUIT, the thread also
//! prints a [dump](super::dump).
//!
//! ```text
//!   SIGINT, SIGTERM, SIGHUP, SIGQUIT ─┬> handler: a byte to the thread ──> the thread writes the file
//!   abort ────────────────────────────┘
//!                                      waits for the thread's byte <──── a byte back
//!                                      the default action ends the program
//! ```
//!
//! # Invariants
//!
//! 1. *Async-signal-safe.* The handler reads atomics, and calls `sigaction`, `getpid`, `write`, `poll` and `raise`, which POSIX allows there.
//! 2. *No handler is replaced.* Ours is set only in the place of a default action. A program that sets one later replaces ours, or
//!    calls it in turn. When the system calls ours, the default action is in force again (`SA_RESETHAND`). If another action is, the program
//!    handles the signal, and ours does nothing.
//! 3. *It ends.* The handler waits for [`PATIENCE`] at most: the thread may need a lock that the interrupted thread holds. Meanwhile no signal
//!    interrupts it. When it returns, the signal that it has raised is delivered.
//! 4. A forked child has the handler and not the thread. There the handler only raises the signal.
//! 5. *The file is whole.* It is [written once](super::file), by a thread that no signal interrupts: see [`without_signals`].
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::io::{Read, Write};
use std::mem::zeroed;
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

/// Longest time, in milliseconds, for which a signal waits for the trace.
const PATIENCE: c_int = 5000;

// Relaxed: written before the handler is set.
/// The handler's end of the connection.
static TO_THREAD: AtomicI32 = AtomicI32::new(-1);

/// The process that has the thread.
static PROCESS: AtomicI32 = AtomicI32::new(-1);

/// The thread that waits in the handler; 0 if none does.
static INTERRUPTED: AtomicI32 = AtomicI32::new(0);

/// Returns the system's number of the thread that waits in the handler, on Linux.
pub(crate) fn interrupted_thread() -> Option<i32> {
    Some(INTERRUPTED.load(Relaxed)).filter(|thread| *thread != 0)
}

/// Has `write` called with the signal, by a thread of its own, before a signal ends the program. Called once. Without a thread, signals end the
/// program as ever.
pub(super) fn call_at_signals(write: fn(c_int)) {
    let Ok((mut thread_end, handler_end)) = UnixStream::pair() else { return };
    let serve = move || {
        without_signals(|| {
            let mut byte = [0];
            while thread_end.read_exact(&mut byte).is_ok() {
                write(byte[0].into());
                // The handler's end is never closed.
                let _ = thread_end.write_all(&byte);
            }
        });
    };
    if thread::Builder::new().name("furcate-trace".into()).spawn(serve).is_err() {
        return;
    }
    TO_THREAD.store(handler_end.into_raw_fd(), Relaxed);
    // SAFETY: it has no preconditions.
    PROCESS.store(unsafe { libc::getpid() }, Relaxed);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGABRT] {
        // SAFETY: a `sigaction` of zeros is a value. The pointers are to such values. The handler meets invariant 1.
        unsafe {
            if is_default(signal) {
                let handler: extern "C" fn(c_int) = handle;
                let mut action: libc::sigaction = zeroed();
                action.sa_sigaction = handler as libc::sighandler_t;
                action.sa_flags = libc::SA_RESETHAND;
                libc::sigfillset(&raw mut action.sa_mask);
                libc::sigaction(signal, &raw const action, ptr::null_mut());
            }
        }
    }
}

/// Calls `f`, while no signal is delivered to the calling thread.
pub(super) fn without_signals(f: impl FnOnce()) {
    // SAFETY: a set of zeros is a value, and the pointers are to such sets.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = (zeroed(), zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        f();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
    }
}

/// Whether the default action for a signal is in force.
fn is_default(signal: c_int) -> bool {
    // SAFETY: a `sigaction` of zeros is a value, and the pointer is to it.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        libc::sigaction(signal, ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_DFL
    }
}

extern "C" fn handle(signal: c_int) {
    if !is_default(signal) {
        return;
    }
    // SAFETY: the pointers are to local values. Invariant 1.
    unsafe {
        let to_thread = TO_THREAD.load(Relaxed);
        let has_thread = libc::getpid() == PROCESS.load(Relaxed);
        // POSIX does not have `gettid`. On Linux it is a system call that does nothing else.
        #[cfg(target_os = "linux")]
        INTERRUPTED.store(libc::gettid(), Relaxed);
        // The signals' numbers are less than 16 everywhere.
        if has_thread && libc::write(to_thread, [signal as u8].as_ptr().cast(), 1) == 1 {
            let mut answer = libc::pollfd { fd: to_thread, events: libc::POLLIN, revents: 0 };
            libc::poll(&raw mut answer, 1, PATIENCE);
        }
        libc::raise(signal);
    }
}
