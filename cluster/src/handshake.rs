//! The handshake: whether all ranks make the same call.
//!
//! A caller is the type of the chain, the terminal with its type, the size of the source, and the build of the program. All messages carry
//! its digest, and every rank sends its words to rank 0, without waiting for a reply. If the words differ, rank 0 aborts the call on all
//! ranks, with both. A message with another digest is not used.

use std::any::type_name;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The caller of a collective call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) words: String,
    pub(crate) digest: u64,
}

impl Caller {
    /// The terminal `terminal` with outputs of type `O`, on a chain of type `I` with `size` units, in a program of this build.
    pub(crate) fn new<I, O>(terminal: &str, size: usize, build: u64) -> Self {
        let words = format!(
            "`{terminal}` of {size} units of {}, with outputs of {}, in build {build:x}",
            type_name::<I>(),
            type_name::<O>()
        );
        // The hasher's keys are constants, so equal programs have equal digests.
        let mut hasher = DefaultHasher::new();
        (&words, size_of::<I>(), size_of::<O>(), env!("CARGO_PKG_VERSION")).hash(&mut hasher);
        Caller { words, digest: hasher.finish() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_differ_in_each_point() {
        let caller = Caller::new::<u8, u16>("sum", 10, 1);
        assert_eq!(caller, Caller::new::<u8, u16>("sum", 10, 1));
        let others = [
            Caller::new::<i8, u16>("sum", 10, 1),
            Caller::new::<u8, i16>("sum", 10, 1),
            Caller::new::<u8, u16>("max", 10, 1),
            Caller::new::<u8, u16>("sum", 11, 1),
            Caller::new::<u8, u16>("sum", 10, 2),
        ];
        assert!(others.iter().all(|other| other.digest != caller.digest && other.words != caller.words));
    }
}
