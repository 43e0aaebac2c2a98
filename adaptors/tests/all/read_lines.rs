//! `par_lines` of readers: the lines are those of std's `lines`, whatever the reader gives at once.

use furcate::prelude::*;
use proptest::prelude::*;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use testkit::{on_pools, pools};

/// A reader that gives its bytes in pieces, and some errors in between.
#[derive(Clone)]
struct Pieces {
    pieces: Vec<Result<Vec<u8>, io::ErrorKind>>,
    at: usize,
}

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.pieces.first_mut() {
            None => Ok(0),
            Some(Err(kind)) => {
                let kind = *kind;
                drop(self.pieces.remove(0));
                Err(kind.into())
            }
            Some(Ok(bytes)) => {
                let len = bytes.len().min(into.len());
                into[..len].copy_from_slice(&bytes[..len]);
                bytes.drain(..len);
                self.at += len;
                if bytes.is_empty() {
                    drop(self.pieces.remove(0));
                }
                if len == 0 { self.read(into) } else { Ok(len) }
            }
        }
    }
}

/// Lines up to and with the first error of the reader itself.
fn expected(reader: impl BufRead) -> Vec<Result<String, io::ErrorKind>> {
    let mut lines = Vec::new();
    for line in reader.lines() {
        let line = line.map_err(|error| error.kind());
        let is_end = line == Err(io::ErrorKind::BrokenPipe);
        lines.push(line);
        if is_end {
            break;
        }
    }
    lines
}

fn parallel(reader: impl BufRead + Send) -> Vec<Result<String, io::ErrorKind>> {
    reader.par_lines().ordered().map(|line| line.map_err(|error| error.kind())).collect()
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        "[a-zé\r]{0,20}".prop_map(String::into_bytes),
        Just(b"\xff not utf-8".to_vec()),
        (0..30_000_usize).prop_map(|len| vec![b'x'; len]),
    ];
    prop::collection::vec((line, prop_oneof![Just("\n"), Just("\r\n"), Just("")]), 0..60)
        .prop_map(|lines| lines.into_iter().flat_map(|(line, end)| [line, end.into()].concat()).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn as_std(text in text(), capacity in 1..20_000_usize, threads in 0..4_usize) {
        pools()[threads].install(|| -> Result<(), TestCaseError> {
            let all = expected(&text[..]);
            prop_assert_eq!(&parallel(&text[..]), &all);
            prop_assert_eq!(&parallel(BufReader::with_capacity(capacity, &text[..])), &all);
            let pieces = text.chunks(capacity).map(|piece| Ok(piece.to_vec())).collect();
            prop_assert_eq!(&parallel(BufReader::new(Pieces { pieces, at: 0 })), &all);
            Ok(())
        })?;
    }

    /// An error of the reader is the last item and comes once; interrupted reads are repeated.
    #[test]
    fn errors(text in text(), at in any::<prop::sample::Index>(), capacity in 1..9000_usize) {
        let cut = at.index(text.len() + 1);
        let pieces = vec![
            Err(io::ErrorKind::Interrupted), Ok(text[..cut].to_vec()), Err(io::ErrorKind::Interrupted),
            Err(io::ErrorKind::BrokenPipe), Ok(text[cut..].to_vec()), Err(io::ErrorKind::BrokenPipe),
        ];
        let reader = || BufReader::with_capacity(capacity, Pieces { pieces: pieces.clone(), at: 0 });
        let all = expected(reader());
        on_pools(|| assert_eq!(parallel(reader()), all));
    }
}

#[test]
fn long_texts() {
    let text: String = (0..200_000).map(|i| format!("line {i} {}\n", "x".repeat(i % 50))).collect();
    on_pools(|| {
        let count = text.as_bytes().par_lines().filter(|line| line.as_ref().unwrap().ends_with('x')).count();
        assert_eq!(count, 200_000 - 200_000 / 50);
        let hit = BufReader::new(text.as_bytes())
            .par_lines()
            .ordered()
            .map(Result::unwrap)
            .find_first(|line| line.starts_with("line 15000"));
        assert_eq!(hit.unwrap().split(' ').nth(1), Some("15000"));
    });
    let joined: io::Result<Vec<String>> = text.as_bytes().par_lines().ordered().collect();
    assert!(joined.unwrap().iter().zip(text.lines()).all(|(a, b)| a == b));
}

/// A call that ends early has read some blocks in vain, not the whole reader.
#[test]
fn it_stops_early() {
    let text = "a line of some words\n".repeat(1_000_000);
    let mut reader = text.as_bytes();
    assert!((&mut reader).par_lines().any(|line| line.unwrap().len() > 3));
    assert!(reader.len() > text.len() / 2, "{} bytes are left", reader.len());
}

#[test]
fn lines_that_are_too_long() {
    for text in ["short\nlonger than that\nshort\n", "short\nlonger than that", "longer than that\n"] {
        let lines =
            text.as_bytes().par_lines().ordered().max_len(8).map(|line| line.map_err(|error| error.kind()));
        let lines: Vec<_> = lines.collect();
        assert_eq!(lines.iter().filter(|line| line.is_err()).count(), 1, "{lines:?}");
    }
    // One that does not end is not read to its end.
    let mut reader = BufReader::new(io::repeat(b'x'));
    let lines: Vec<_> = reader.by_ref().par_lines().max_len(100_000).collect();
    assert!(matches!(&lines[..], [Err(_)]));
    assert!(b"x\r\nxx\r\n".par_lines().max_len(2).all(|line| line.is_ok()));
}

/// Lines that have come are not held back for those that have not.
#[test]
fn lines_of_a_slow_reader() {
    struct Channel(mpsc::Receiver<&'static [u8]>);
    impl Read for Channel {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0.recv().map_or(Ok(0), |bytes| {
                into[..bytes.len()].copy_from_slice(bytes);
                Ok(bytes.len())
            })
        }
    }
    for pool in &pools()[..3] {
        let (send, receive) = mpsc::channel();
        let (done, finished) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                let lines = BufReader::new(Channel(receive)).par_lines();
                pool.install(|| lines.for_each(move |line| done.send(line.unwrap()).unwrap()));
            });
            for _ in 0..100 {
                send.send(&b"one\ntwo\nthr"[..]).unwrap();
                let mut come: Vec<String> =
                    (0..2).map(|_| finished.recv_timeout(Duration::from_secs(20)).unwrap()).collect();
                come.sort();
                assert_eq!(come, ["one", "two"]);
                send.send(b"ee\n").unwrap();
                assert_eq!(finished.recv_timeout(Duration::from_secs(20)).unwrap(), "three");
            }
            drop(send);
        });
    }
}
