//! The handshake: whether all ranks make the same call.
//!
//! A caller is the type of the chain, the terminal with its type and its place in the source, the size of the source, and the [build](crate::build) of the program. All
//! messages carry its digest, and every rank sends its build and its words to rank 0, without waiting for a reply. If they differ, rank 0
//! aborts the call on all ranks, with both. A message with another digest is not used.

use std::any::type_name;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::Location;

/// The caller of a collective call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) words: String,
    pub(crate) build: u64,
    pub(crate) digest: u64,
}

impl Caller {
    /// The terminal `terminal` with outputs of type `O`, on a chain of type `I` with `size` units, in a program of this build.
    pub(crate) fn new<I, O>(terminal: &str, size: usize, build: u64) -> Self {
        let words = format!(
            "`{terminal}` of {size} units of {}, with outputs of {}",
            type_name::<I>(),
            type_name::<O>()
        );
        // The hasher's keys are constants, so equal programs have equal digests.
        let mut hasher = DefaultHasher::new();
        (&words, build, size_of::<I>(), size_of::<O>(), env!("CARGO_PKG_VERSION")).hash(&mut hasher);
        Caller { words, build, digest: hasher.finish() }
    }

    /// The same caller, at a place in the source, and perhaps with a result for rank 0 alone. Two closures of one function have the same type
    /// name; the place tells them apart.
    pub(crate) fn at(self, place: &Location<'_>, to_root: bool) -> Self {
        let root = if to_root { ", for rank 0 alone" } else { "" };
        let words = format!("{}{root}, at {place}", self.words);
        let mut hasher = DefaultHasher::new();
        (self.digest, &words).hash(&mut hasher);
        Caller { words, digest: hasher.finish(), ..self }
    }

    /// Says why the call of another rank cannot go together with this one, of `rank`.
    pub(crate) fn against(&self, rank: usize, (other, build, words): (usize, u64, &str)) -> String {
        if build != self.build {
            return format!(
                "the ranks run different builds of the program: rank {other} runs {}, and rank {rank} runs {}; start the same executable on \
                 every rank, built once, for a processor that all machines have (`-C target-cpu=native` builds another one on each kind \
                 of machine)",
                Build(build),
                Build(self.build)
            );
        }
        format!(
            "the ranks make different calls: rank {other} calls {words}, and rank {rank} calls {}; every rank has to make the same \
             calls in the same order, on the same chains",
            self.words
        )
    }
}

/// A build, in words.
struct Build(u64);

impl std::fmt::Display for Build {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            0 => f.write_str("an executable that it cannot read"),
            build => write!(f, "build {build:016x}"),
        }
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
        assert!(others.iter().all(|other| other.digest != caller.digest));
        assert!(others[..4].iter().all(|other| other.words != caller.words));
    }
}
