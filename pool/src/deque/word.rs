//! The word of a deque, which thieves and owner change: which jobs are shared, and whether a thief steals a private
//! one.

/// Indices of the shared part, packed into 64 bits so that one compare-and-swap moves both. The split is in the lower half: the owner
/// compares it at every pop, and so needs no shift.
///
/// Indices count modulo 2^32, and a deque holds fewer than 2^30 jobs. So the distance of any two of them has a sign.
/// The same holds for the split that [`Word::reaching`] puts out of reach.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(u64);

/// A word's meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordState {
    /// Jobs `top .. split` are shared: any thief may take the one at `top`.
    Shared { top: u32, split: u32 },
    /// Nothing is shared; jobs from `top` on are the owner's.
    Private { top: u32 },
    /// Nothing is shared yet, and a thief is about to take the private job at `top`.
    Reaching { top: u32 },
}

const REACHING: u32 = 1 << 30;

impl Word {
    pub(super) const fn new(bits: u64) -> Self {
        Word(bits)
    }

    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    pub(super) const fn shared(top: u32, split: u32) -> Self {
        Word((top as u64) << 32 | split as u64)
    }

    pub(super) const fn private(top: u32) -> Self {
        Word::shared(top, top)
    }

    /// Puts the split far out of the owner's reach, so that its one comparison with it fails for every job.
    pub(super) const fn reaching(top: u32) -> Self {
        Word::shared(top, top.wrapping_add(REACHING))
    }

    pub(super) const fn top(self) -> u32 {
        (self.0 >> 32) as u32
    }

    const fn split(self) -> u32 {
        self.0 as u32
    }

    /// Whether the job at `index` is the owner's, regardless of thieves. The owner asks this at every pop: one comparison.
    #[inline]
    pub(super) const fn leaves(self, index: u64) -> bool {
        distance(self.split(), index as u32) >= 0
    }

    pub(super) const fn state(self) -> WordState {
        let (top, split) = (self.top(), self.split());
        match split.wrapping_sub(top) {
            0 => WordState::Private { top },
            REACHING => WordState::Reaching { top },
            _ => WordState::Shared { top, split },
        }
    }
}

impl std::fmt::Debug for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.state().fmt(f)
    }
}

/// Returns how far `to` lies above `from`, for indices less than 2^31 apart.
#[inline]
pub(super) const fn distance(from: u32, to: u32) -> i32 {
    to.wrapping_sub(from) as i32
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn states_are_told_apart_at_every_index() {
        for top in [0, 1, 7, u32::MAX / 2, u32::MAX / 2 + 1, u32::MAX - 1, u32::MAX] {
            assert_eq!(Word::private(top).state(), WordState::Private { top });
            assert_eq!(Word::reaching(top).state(), WordState::Reaching { top });
            for len in [1, 2, 1000, REACHING - 1] {
                let split = top.wrapping_add(len);
                assert_eq!(Word::shared(top, split).state(), WordState::Shared { top, split });
            }
        }
    }

    #[test]
    fn the_owner_keeps_what_lies_behind_the_split() {
        for top in [0, 5, u32::MAX - 2, u32::MAX] {
            let base = (7 << 32) + u64::from(top);
            let word = Word::shared(top, top.wrapping_add(3));
            assert!(!word.leaves(base) && !word.leaves(base + 2));
            assert!(word.leaves(base + 3) && word.leaves(base + 1000));
            assert!(Word::private(top).leaves(base));
            assert!(!Word::private(top).leaves(base - 1));
            for index in [base - 1000, base - 1, base, base + 1000] {
                assert!(!Word::reaching(top).leaves(index), "the owner looks closer");
            }
        }
    }
}
