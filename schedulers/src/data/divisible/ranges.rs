//! Ranges of integers and characters.
//!
//! All arithmetic is on the unsigned distance from the start, which cannot overflow: the distance between two values
//! of a type fits its unsigned sibling, and a start plus a distance below the length is in range.

use crate::{Divisible, Facts, IndexedProducer, PeekProducer, Producer};
use std::ops::{Range, RangeInclusive};

/// Converts a distance to a size: `usize::MAX` stands for a distance that does not fit.
macro_rules! saturate {
    ($distance:expr) => {
        usize::try_from($distance).unwrap_or(usize::MAX)
    };
}

macro_rules! integers {
    ($($int:ident as $unsigned:ident),+) => {$(
        /// Cut between numbers. The size is the number of numbers, `usize::MAX` if that does not fit.
        ///
        /// ```
        /// use furcate::Divisible;
        #[doc = concat!("assert_eq!((10..20_", stringify!($int), ").divide_at(3), (10..13, 13..20));")]
        #[doc = concat!("assert_eq!((20..10_", stringify!($int), ").size(), 0);")]
        /// ```
        impl Divisible for Range<$int> {
            #[inline]
            fn size(&self) -> usize {
                saturate!(distance::$int(self))
            }

            #[inline]
            fn should_be_divided(&self) -> bool {
                distance::$int(self) > 1
            }

            #[inline]
            fn divide(self) -> (Self, Self) {
                let middle = self.start.wrapping_add((distance::$int(&self) / 2) as $int);
                (self.start..middle, middle..self.end)
            }

            #[inline]
            fn divide_at(self, index: usize) -> (Self, Self) {
                let distance = distance::$int(&self);
                let index = $unsigned::try_from(index).unwrap_or($unsigned::MAX).min(distance);
                let middle = self.start.wrapping_add(index as $int);
                (self.start..middle, middle..self.end)
            }
        }

        impl Producer for Range<$int> {
            const FACTS: Facts = Facts::SINGLE;
        }

        /// Cut between numbers. The size is the number of numbers, `usize::MAX` if that does not fit.
        ///
        /// ```
        /// use furcate::Divisible;
        #[doc = concat!("assert_eq!((10..=19_", stringify!($int), ").divide(), (10..=14, 15..=19));")]
        /// ```
        impl Divisible for RangeInclusive<$int> {
            #[inline]
            fn size(&self) -> usize {
                if self.is_empty() {
                    return 0;
                }
                saturate!(distance::$int(&(*self.start()..*self.end()))).saturating_add(1)
            }

            #[inline]
            fn should_be_divided(&self) -> bool {
                self.start() < self.end()
            }

            #[inline]
            fn divide(self) -> (Self, Self) {
                if !self.should_be_divided() {
                    return self.divide_at(0);
                }
                let (start, end) = self.into_inner();
                // The length is the distance + 1; its half, less the one that an inclusive end has more.
                let half = (distance::$int(&(start..end)) - 1) / 2;
                let middle = start.wrapping_add(half as $int);
                (start..=middle, middle + 1..=end)
            }

            #[inline]
            fn divide_at(self, index: usize) -> (Self, Self) {
                if index == 0 || self.is_empty() {
                    return (RangeInclusive::new(1, 0), self);
                }
                let (start, end) = self.into_inner();
                let distance = distance::$int(&(start..end));
                match $unsigned::try_from(index - 1) {
                    Ok(before_last) if before_last < distance => {
                        let middle = start.wrapping_add(before_last as $int);
                        (start..=middle, middle + 1..=end)
                    }
                    _ => (start..=end, RangeInclusive::new(1, 0)),
                }
            }
        }

        impl Producer for RangeInclusive<$int> {
            const FACTS: Facts = Facts::SINGLE;
        }
    )+

        /// The length of a range in the unsigned sibling of its type.
        mod distance {
            use super::Range;
            $(
                #[inline]
                pub(super) fn $int(range: &Range<$int>) -> $unsigned {
                    if range.start < range.end { range.end.wrapping_sub(range.start) as $unsigned } else { 0 }
                }
            )+
        }
    };
}

integers!(
    u8 as u8,
    u16 as u16,
    u32 as u32,
    u64 as u64,
    u128 as u128,
    usize as usize,
    i8 as u8,
    i16 as u16,
    i32 as u32,
    i64 as u64,
    i128 as u128,
    isize as usize
);

macro_rules! indexed {
    ($($int:ident),+) => {$(
        impl IndexedProducer for Range<$int> {}

        impl PeekProducer for Range<$int> {
            const LOOKS_ARE_ITEMS: bool = true;

            #[inline]
            fn peek(&self, index: usize) -> $int {
                self.start.wrapping_add(index as $int)
            }
        }
    )+};
}

// The types of which std's iterator knows its exact length.
indexed!(u8, u16, u32, usize, i8, i16, i32, isize);

/// The surrogates: code points between two characters that are no characters.
const SURROGATES: Range<u32> = 0xD800..0xE000;

/// Returns the position of a character among all characters.
fn ordinal(c: char) -> u32 {
    let code = u32::from(c);
    if code < SURROGATES.start { code } else { code - (SURROGATES.end - SURROGATES.start) }
}

/// Returns the character at a position: the inverse of [`ordinal`].
fn character(ordinal: u32) -> char {
    let code =
        if ordinal < SURROGATES.start { ordinal } else { ordinal + (SURROGATES.end - SURROGATES.start) };
    char::from_u32(code).expect("an ordinal below a range's end belongs to a character")
}

/// Cut between characters; the surrogate gap counts nothing.
///
/// ```
/// use furcate::Divisible;
/// assert_eq!(('a'..'e').divide(), ('a'..'c', 'c'..'e'));
/// ```
impl Divisible for Range<char> {
    fn size(&self) -> usize {
        (ordinal(self.start)..ordinal(self.end)).size()
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        if index >= self.size() {
            return (self.clone(), self.end..self.end);
        }
        let (left, _) = (ordinal(self.start)..ordinal(self.end)).divide_at(index);
        let middle = character(left.end);
        (self.start..middle, middle..self.end)
    }
}

impl Producer for Range<char> {
    const FACTS: Facts = Facts::SINGLE;
}

/// Cut between characters; the surrogate gap counts nothing.
///
/// ```
/// use furcate::Divisible;
/// assert_eq!(('a'..=char::MAX).size(), 0x10FFFF + 1 - 0x800 - 'a' as usize);
/// ```
impl Divisible for RangeInclusive<char> {
    fn size(&self) -> usize {
        if self.is_empty() { 0 } else { (ordinal(*self.start())..=ordinal(*self.end())).size() }
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        let nothing = RangeInclusive::new('b', 'a');
        if index == 0 {
            return (nothing, self);
        }
        if index >= self.size() {
            return (self, nothing);
        }
        let (start, end) = self.into_inner();
        let (left, right) = (ordinal(start)..=ordinal(end)).divide_at(index);
        (start..=character(*left.end()), character(*right.start())..=end)
    }
}

impl Producer for RangeInclusive<char> {
    const FACTS: Facts = Facts::SINGLE;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Cutting anywhere, at half, and again and again gives the range back.
    macro_rules! cuts {
        ($($name:ident: $int:ty),+) => {$(
            proptest! {
                #[test]
                fn $name(start: $int, end: $int, index: usize) {
                    let range = start..end;
                    for (left, right) in [range.clone().divide(), range.clone().divide_at(index)] {
                        prop_assert_eq!(left.start, range.start);
                        prop_assert_eq!(left.end, right.start);
                        prop_assert_eq!(right.end, range.end);
                        if !range.is_empty() {
                            prop_assert!(left.start <= left.end && right.start <= right.end);
                        }
                        prop_assert_eq!(left.size().saturating_add(right.size()), range.size());
                    }
                    let range = start..=end;
                    for (left, right) in [range.clone().divide(), range.clone().divide_at(index)] {
                        prop_assert_eq!(left.size().saturating_add(right.size()), range.size());
                        match (left.is_empty(), right.is_empty()) {
                            (false, false) => {
                                prop_assert_eq!(left.end().checked_add(1), Some(*right.start()));
                                prop_assert_eq!((left.start(), right.end()), (range.start(), range.end()));
                            }
                            (false, true) => prop_assert_eq!(left, range.clone()),
                            (true, false) => prop_assert_eq!(right, range.clone()),
                            (true, true) => prop_assert!(range.is_empty()),
                        }
                    }
                }
            }
        )+};
    }

    cuts!(cut_u8: u8, cut_i8: i8, cut_u32: u32, cut_i64: i64, cut_u64: u64, cut_u128: u128, cut_i128: i128);

    /// I2: ranges up to the ends of their types.
    #[test]
    #[expect(clippy::reversed_empty_ranges, reason = "they must be harmless")]
    fn extreme_ranges_neither_overflow_nor_lose_anything() {
        assert_eq!((0..u128::MAX).size(), usize::MAX);
        assert_eq!((0..=u64::MAX).size(), usize::MAX);
        assert_eq!((0..=u64::MAX).divide(), (0..=u64::MAX / 2, u64::MAX / 2 + 1..=u64::MAX));
        assert_eq!((i8::MIN..=i8::MAX).divide(), (i8::MIN..=-1, 0..=i8::MAX));
        assert_eq!((i8::MIN..i8::MAX).divide_at(200), (i8::MIN..72, 72..i8::MAX));
        assert_eq!((u8::MAX..=u8::MAX).divide_at(1).0, u8::MAX..=u8::MAX);
        assert!((u8::MAX..=u8::MAX).divide_at(1).1.is_empty());
        assert_eq!((5..=3).size(), 0);
        assert_eq!((usize::MAX..0).divide(), (usize::MAX..usize::MAX, usize::MAX..0));
        assert_eq!((i128::MIN..=i128::MAX).divide().0, i128::MIN..=-1);
    }

    #[test]
    fn characters_skip_the_surrogates() {
        let all = '\0'..=char::MAX;
        assert_eq!(all.size(), all.clone().count());
        let (left, right) = all.clone().divide();
        assert_eq!(left.clone().count() + right.clone().count(), all.count());
        assert_eq!(('\u{D7FF}'..='\u{E000}').divide(), ('\u{D7FF}'..='\u{D7FF}', '\u{E000}'..='\u{E000}'));
        assert_eq!(('\u{D7FF}'..'\u{E001}').divide_at(1), ('\u{D7FF}'..'\u{E000}', '\u{E000}'..'\u{E001}'));
        assert_eq!(('z'..'a').divide().0.size(), 0);
        assert_eq!(('a'..'c').divide_at(7), ('a'..'c', 'c'..'c'));
    }

    #[test]
    fn an_exhausted_inclusive_range_is_empty() {
        let mut range = 3..=3_u8;
        range.next();
        assert_eq!(range.size(), 0);
        let (left, right) = range.divide();
        assert_eq!((left.size(), right.size()), (0, 0));
    }
}
