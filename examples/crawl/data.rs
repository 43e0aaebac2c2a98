//! The file: blocks of readings, each compressed by itself; and the computation on them.
//!
//! A reading is a line of text: a time, a station, and a temperature.
//!
//! ```text
//! 00:00:17.250 station-07 23.4
//! ```

use super::common::random::Random;
use super::http::Error;
use miniz_oxide::{deflate, inflate};
use std::fmt::Write;
use std::ops::Range;

/// Approximate number of bytes of text in a block.
const BLOCK: usize = 128 << 10;

/// Number of buckets of a histogram: one for every degree from -32 to 31.
pub(crate) const BUCKETS: usize = 64;

/// The file in the server's form.
pub(crate) struct Stored {
    pub(crate) bytes: Vec<u8>,
    /// Ranges of the blocks.
    pub(crate) index: Vec<Range<usize>>,
}

impl Stored {
    pub(crate) fn new(blocks: usize) -> Self {
        use furcate::prelude::*;
        let compressed: Vec<Vec<u8>> =
            (0..blocks).into_par_iter().map(|i| deflate::compress_to_vec(block(i).as_bytes(), 1)).collect();
        let mut stored = Stored { bytes: Vec::new(), index: Vec::with_capacity(blocks) };
        for block in compressed {
            let start = stored.bytes.len();
            stored.bytes.extend(block);
            stored.index.push(start..stored.bytes.len());
        }
        stored
    }
}

/// Returns the text of a block, which is always the same.
fn block(number: usize) -> String {
    let mut random = Random(number as u64);
    let mut text = String::with_capacity(BLOCK + 64);
    let mut milliseconds = random.below(86_000_000);
    while text.len() < BLOCK {
        milliseconds += random.below(500);
        let seconds = milliseconds / 1000 % 86_400;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let station = random.below(40);
        // The sum of several is nearly Gaussian.
        let tenths = (0..4).map(|_| random.below(120)).sum::<u64>() as i64 - 200;
        let (sign, tenths) = (if tenths < 0 { "-" } else { "" }, tenths.unsigned_abs());
        writeln!(
            text,
            "{hour:02}:{minute:02}:{second:02}.{:03} station-{station:02} {sign}{}.{}",
            milliseconds % 1000,
            tenths / 10,
            tenths % 10
        )
        .expect("strings take everything");
    }
    text
}

/// Does the work on a block: unpacks it, and counts its temperatures. Returns the number of bytes unpacked.
pub(crate) fn count(compressed: &[u8], histogram: &mut [u64]) -> Result<usize, Error> {
    let text = inflate::decompress_to_vec(compressed)
        .map_err(|error| Error::Damaged(format!("a block cannot be unpacked: {error}")))?;
    for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let bucket = degrees(line).and_then(|degrees| histogram.get_mut(usize::try_from(degrees + 32).ok()?));
        let Some(bucket) = bucket else {
            return Err(Error::Damaged(format!("`{}` is no reading", String::from_utf8_lossy(line))));
        };
        *bucket += 1;
    }
    Ok(text.len())
}

/// Returns the temperature of a reading, rounded down.
fn degrees(line: &[u8]) -> Option<i64> {
    let start = line.iter().rposition(|&byte| byte == b' ')? + 1;
    let (negative, digits) = match &line[start..] {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let [whole @ .., b'.', tenth] = digits else { return None };
    let tenths = whole.iter().chain([tenth]).try_fold(0_i64, |number, &byte| {
        byte.is_ascii_digit().then(|| number.saturating_mul(10).saturating_add(i64::from(byte - b'0')))
    })?;
    Some((if negative { -tenths } else { tenths }).div_euclid(10))
}

#[cfg(test)]
mod tests {
    use super::{BUCKETS, Stored, block, count, degrees};

    #[test]
    fn temperatures_are_rounded_down() {
        let of = |text: &str| degrees(text.as_bytes());
        assert_eq!(of("x 23.4"), Some(23));
        assert_eq!(of("x -0.1"), Some(-1));
        assert_eq!(of("x -7.0"), Some(-7));
        assert_eq!(of("x 7"), None);
        assert_eq!(of("7.0"), None);
        assert_eq!(of("x 7.O"), None);
    }

    #[test]
    fn all_readings_are_counted() {
        let stored = Stored::new(3);
        let mut histogram = [0; BUCKETS];
        for (number, range) in stored.index.iter().enumerate() {
            let before: u64 = histogram.iter().sum();
            let unpacked = count(&stored.bytes[range.clone()], &mut histogram).unwrap();
            assert_eq!(unpacked, block(number).len());
            assert_eq!(histogram.iter().sum::<u64>() - before, block(number).lines().count() as u64);
        }
        let cut = &stored.bytes[..stored.index[0].end / 2];
        assert!(count(cut, &mut histogram).is_err());
    }
}
