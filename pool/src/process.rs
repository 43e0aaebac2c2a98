//! What concerns the process and its threads as a whole.

#[cfg(unix)]
use std::sync::atomic::Ordering::AcqRel;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How often this process descends from a fork after it was first asked.
static FORKS: AtomicUsize = AtomicUsize::new(0);

/// Tells processes apart: a forked child has another generation than its parent.
pub(crate) fn generation() -> usize {
    #[cfg(unix)]
    {
        extern "C" fn in_child() {
            FORKS.fetch_add(1, AcqRel);
        }
        static HANDLER: std::sync::Once = std::sync::Once::new();
        // SAFETY: the handler does nothing but an atomic addition, which is allowed in a forked child.
        HANDLER.call_once(|| unsafe {
            // Without memory for the handler, forked children are not told apart; nothing else depends on it.
            libc::pthread_atfork(None, None, Some(in_child));
        });
    }
    // Relaxed: changes only while the process has one thread.
    FORKS.load(Relaxed)
}

/// Pins the calling thread to a core, by its number among the process's cores. Where that is not possible, the thread
/// runs where the system likes.
pub(crate) fn pin(number: usize) {
    if let Some(cores) = core_affinity::get_core_ids()
        && !cores.is_empty()
    {
        core_affinity::set_for_current(cores[number % cores.len()]);
    }
}
