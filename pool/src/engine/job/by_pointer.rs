//! Closures on their way to a function that is compiled for them and not inlined.
//!
//! A fork is such a function. Its caller keeps no registers for it, so a call that does not fork saves none, and half of the calls of a
//! recursive function are leaves. How closures travel depends on their size:
//!
//! | words | the closure | because |
//! |---|---|---|
//! | up to 2 | travels in registers | |
//! | 3 | stays in the caller's frame; a pointer travels | a copy in memory would have to wait for the fields that were just written: some 5 ns |
//! | more | stays, and the fork is inlined | all fields would be loaded again (the program `queens` takes 1.25 times as long) |
//!
//! `benches/forms.sh` measures this.

use std::mem::ManuallyDrop;

/// Whether a value travels in registers.
pub(crate) const fn fits_registers<T>() -> bool {
    size_of::<T>() <= 2 * size_of::<usize>()
}

/// Whether a value is so large that a fork of its own would cost more than it saves.
pub(crate) const fn is_large<T>() -> bool {
    size_of::<T>() > 3 * size_of::<usize>()
}

/// A value in the caller's frame. It is taken or dropped once.
#[derive(Debug)]
pub(crate) struct ByPointer<'f, T>(&'f mut ManuallyDrop<T>);

impl<'f, T> ByPointer<'f, T> {
    /// # Safety
    ///
    /// The caller neither uses nor drops the value any more.
    #[inline(always)]
    pub(crate) unsafe fn new(value: &'f mut ManuallyDrop<T>) -> Self {
        ByPointer(value)
    }

    #[inline(always)]
    pub(crate) fn take(self) -> T {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the value is this one's (`new`), and its drop does not run.
        unsafe { ManuallyDrop::take(this.0) }
    }
}

impl<T> Drop for ByPointer<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the value is this one's (`new`), and was not taken.
        unsafe { ManuallyDrop::drop(self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_value_is_taken_or_dropped_once() {
        let count = Arc::new(());
        let mut value = ManuallyDrop::new(Arc::clone(&count));
        // SAFETY: `value` is not used again.
        drop(unsafe { ByPointer::new(&mut value) });
        assert_eq!(Arc::strong_count(&count), 1);
        let mut value = ManuallyDrop::new(Arc::clone(&count));
        // SAFETY: as above.
        let taken = unsafe { ByPointer::new(&mut value) }.take();
        assert_eq!(Arc::strong_count(&count), 2);
        drop(taken);
        assert_eq!(Arc::strong_count(&count), 1);
    }
}
