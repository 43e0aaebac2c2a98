//! The build: a number that tells two executables apart.
//!
//! Two ranks understand each other if they run the same machine code: positions, types and reductions belong to the program. A rank cannot see
//! the others' source, so each one hashes the file that it was started from. Builds for another processor, with other options or of changed
//! source have other files, and so have other numbers. (Copies of one file have the same number, wherever they lie.)
//!
//! The hash is not a cryptographic one: it guards against mistakes. It reads eight words at a time, each into a lane of its own, because a
//! hash that waits for each word would take longer than reading the file. A step of a lane is a bijection of the lane's state and of the
//! word. So files that differ in a single word always differ in a lane.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::sync::OnceLock;

/// Returns the number of this process's executable, which is read once. 0 if it cannot be read.
///
/// For 50 MB that takes some 8 milliseconds, and 20 times as long in a build without optimization.
pub(crate) fn of_this_program() -> u64 {
    static BUILD: OnceLock<u64> = OnceLock::new();
    *BUILD.get_or_init(|| executable().and_then(hash_of).unwrap_or(0))
}

/// Opens the file from which this process was started.
fn executable() -> io::Result<File> {
    // On Linux this is the file itself, also if another one has taken its name since then.
    File::open("/proc/self/exe").or_else(|_| File::open(std::env::current_exe()?))
}

/// Number of lanes.
const LANES: usize = 8;

/// Number of bytes that are read at once: a multiple of the lanes' words.
const BUFFER: usize = 256 << 10;

/// Hashes the content of a file. The hash is never 0.
fn hash_of(mut file: impl Read) -> io::Result<u64> {
    let mut buffer = vec![0; BUFFER];
    let mut lanes: [u64; LANES] = std::array::from_fn(|lane| lane as u64);
    let mut len = 0;
    loop {
        let read = fill(&mut file, &mut buffer)?;
        len += read;
        // The end of the last words is filled up with zeros. The length tells them apart from zeros of the file.
        let end = read.next_multiple_of(LANES * 8);
        buffer[read..end].fill(0);
        for words in buffer[..end].chunks_exact(LANES * 8) {
            for (lane, word) in lanes.iter_mut().zip(words.chunks_exact(8)) {
                let word = u64::from_le_bytes(word.try_into().expect("8 bytes"));
                *lane = (*lane ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            }
        }
        if read < BUFFER {
            break;
        }
    }
    // The hasher's keys are constants.
    let mut hasher = DefaultHasher::new();
    (lanes, len as u64).hash(&mut hasher);
    Ok(hasher.finish().max(1))
}

/// Reads until the buffer is full, or the file ends. Returns the number of bytes.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < buffer.len() {
        match file.read(&mut buffer[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn any_byte_and_the_length_change_the_hash() {
        for len in [0, 1, 8, 63, 64, 65, 1000, BUFFER - 1, BUFFER, BUFFER + 1] {
            let file: Vec<u8> = (0..len).map(|i| (i * 7 % 251) as u8).collect();
            let hash = |file: &[u8]| hash_of(file).unwrap();
            let mut hashes = HashSet::from([hash(&file)]);
            for at in [0, 1, 7, 8, 62, 63, 64, 999, BUFFER - 1, BUFFER].into_iter().filter(|&at| at < len) {
                let mut other = file.clone();
                other[at] ^= 0x80;
                assert!(hashes.insert(hash(&other)), "byte {at} of {len}");
            }
            assert!(hashes.insert(hash(&[&file[..], &[0]].concat())), "a zero behind {len} bytes");
            assert!(!hashes.insert(hash(&file)) && !hashes.contains(&0));
        }
    }

    /// A file that gives few bytes at a time.
    struct Slow<'f>(&'f [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = buffer.len().min(37);
            self.0.read(&mut buffer[..len])
        }
    }

    #[test]
    fn short_reads_do_not_change_the_hash() {
        let file: Vec<u8> = (0..BUFFER + 77).map(|i| (i % 253) as u8).collect();
        assert_eq!(hash_of(Slow(&file)).unwrap(), hash_of(&file[..]).unwrap());
    }

    #[test]
    fn this_program_has_a_number() {
        assert_ne!(of_this_program(), 0);
        assert_eq!(of_this_program(), hash_of(executable().unwrap()).unwrap());
    }
}
