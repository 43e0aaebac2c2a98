//! Strings against std and rayon.

use crate::support::assert_schedules;
use crate::support::cuts::{CountInNanoLoops, assert_cuts};
use crate::support::steps::in_steps;
use furcate::Inline;
use furcate::prelude::*;
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use testkit::on_pools;

/// Characters of the texts: of 1, 2, 3 and 4 bytes, separators, and both parts of a line end.
const ALPHABET: [char; 8] = ['a', 'ñ', '\u{2003}', '\u{10FFFF}', ',', '\n', '\r', ' '];

fn texts(characters: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&ALPHABET[..]), 0..=characters)
        .prop_map(|characters| characters.into_iter().collect())
}

/// Every text of up to `characters` characters.
fn all_texts(characters: u32) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut shorter = 0;
    for _ in 0..characters {
        let longest = std::mem::replace(&mut shorter, texts.len())..texts.len();
        for i in longest {
            texts.extend(ALPHABET.map(|character| format!("{}{character}", texts[i])));
        }
    }
    texts
}

/// Runs a check for every method and every kind of pattern: `check!(std's iterator, the method and its arguments)`.
macro_rules! for_all_methods {
    ($text:ident, $check:ident) => {{
        $check!($text.chars(), par_chars());
        $check!($text.char_indices(), par_char_indices());
        $check!($text.bytes(), par_bytes());
        $check!($text.encode_utf16(), par_encode_utf16());
        $check!($text.lines(), par_lines());
        $check!($text.split_whitespace(), par_split_whitespace());
        $check!($text.split_ascii_whitespace(), par_split_ascii_whitespace());
        for_all_methods!(@pattern $text, $check, ',');
        for_all_methods!(@pattern $text, $check, 'ñ');
        for_all_methods!(@pattern $text, $check, ['\n', '\u{10FFFF}']);
        for_all_methods!(@pattern $text, $check, |c: char| c != 'a');
    }};
    (@pattern $text:ident, $check:ident, $pattern:expr) => {{
        $check!($text.split($pattern), par_split($pattern));
        $check!($text.split_inclusive($pattern), par_split_inclusive($pattern));
        $check!($text.split_terminator($pattern), par_split_terminator($pattern));
        $check!($text.matches($pattern), par_matches($pattern));
        $check!($text.match_indices($pattern), par_match_indices($pattern));
    }};
}

/// Every cut of every short text, with all edge cases among them: no text, separators at the ends, adjacent, and alone,
/// `\r\n` cut in the middle, one character alone (I7).
#[test]
fn every_cut_of_every_short_text() {
    for text in all_texts(3) {
        macro_rules! check {
            ($std:expr, $par:ident($($pattern:expr)?)) => {
                assert_cuts!($std.collect::<Vec<_>>(), text.$par($($pattern)?));
            };
        }
        for_all_methods!(text, check);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn every_method_under_every_schedule(text in texts(24)) {
        let text = text.as_str();
        macro_rules! check {
            ($std:expr, $par:ident($($pattern:expr)?)) => {{
                let expected: Vec<_> = $std.collect();
                // rayon takes a `\r` at the end of the text for the end of a line; std, and furcate, do not.
                if stringify!($par) != "par_lines" || !text.ends_with('\r') {
                    let rayons = rayon::str::ParallelString::$par(text $(, $pattern)?);
                    assert_eq!(rayon::iter::ParallelIterator::collect::<Vec<_>>(rayons), expected);
                }
                on_pools(|| {
                    assert_schedules!(expected, text.$par($($pattern)?), |it| it.collect::<Vec<_>>());
                });
            }};
        }
        for_all_methods!(text, check);
    }

    #[test]
    fn every_cut_of_longer_texts(text in texts(24)) {
        macro_rules! check {
            ($std:expr, $par:ident($($pattern:expr)?)) => {
                assert_cuts!($std.collect::<Vec<_>>(), text.$par($($pattern)?));
            };
        }
        for_all_methods!(text, check);
    }

    #[test]
    fn patterns_by_reference(text in texts(24)) {
        let separators = [',', '\u{10FFFF}'];
        let expected: Vec<_> = text.split(separators).collect();
        assert_schedules!(expected, text.par_split(&separators), |it| it.collect::<Vec<_>>());
        assert_schedules!(expected, text.par_split(&separators[..]), |it| it.collect::<Vec<_>>());
    }

    #[test]
    fn drain(text in texts(24), ends: (prop::sample::Index, prop::sample::Index)) {
        let boundaries: Vec<usize> = (0..=text.len()).filter(|&i| text.is_char_boundary(i)).collect();
        let (a, b) = (*ends.0.get(&boundaries), *ends.1.get(&boundaries));
        let range = a.min(b)..a.max(b);
        let mut left = text.clone();
        let expected: Vec<char> = left.drain(range.clone()).collect();
        let mut string = text.clone();
        assert_schedules!(expected, { string.clone_from(&text); string.par_drain(range.clone()) }, |it| {
            it.collect::<Vec<char>>()
        });
        prop_assert_eq!(&string, &left);
    }
}

#[test]
fn drain_takes_out_what_nobody_drives() {
    let mut string = String::from("añb");
    drop(string.par_drain(1..3));
    assert_eq!(string, "ab");
    drop(string.par_drain(..));
    assert_eq!(string, "");
}

#[test]
fn drain_refuses_ranges_outside_and_inside_characters() {
    let mut string = String::from("añb");
    let ranges: [std::ops::Range<usize>; 5] = [2..3, 1..2, 0..5, 5..5, std::ops::Range { start: 3, end: 1 }];
    for range in ranges {
        let refused = catch_unwind(AssertUnwindSafe(|| drop(string.par_drain(range.clone()))));
        assert!(refused.is_err(), "{range:?}");
    }
    assert_eq!(string, "añb");
}

/// Every character of a text is looked at twice at most: once in search of cuts, once in a leaf (I4).
#[test]
fn work_is_linear_however_it_is_cut() {
    let line = "x".repeat(100_000);
    let texts = [
        line.clone(),
        format!("\n{line}"),
        format!("{line}\n"),
        format!("{line}\n{line}\n{line}"),
        "xyz\n".repeat(25_000),
        format!("{}{line}", "\n".repeat(10_000)),
        format!("{line}{}", "\n".repeat(10_000)),
    ];
    for text in &texts {
        let lines = text.split('\n').count();
        let calls = AtomicUsize::new(0);
        let newline = |c: char| {
            calls.fetch_add(1, Relaxed);
            c == '\n'
        };
        let check = |found: usize, how: &str| {
            assert_eq!(found, lines, "{how}");
            let calls = calls.swap(0, Relaxed);
            // std looks twice at a separator that ends a search; we look at most as often.
            assert!(
                calls <= 2 * text.len() + 2 * lines,
                "{calls} calls for {} characters, {how}",
                text.len()
            );
        };

        let mut it = text.par_split(newline);
        let found = in_steps(it.producer(), std::iter::repeat(16)).concat().len();
        check(found, "by steps of 16");

        check(text.par_split(newline).sequential().drive(CountInNanoLoops), "by growing steps");
        check(
            text.par_split(newline).size_limit(1).on(Inline).drive(CountInNanoLoops),
            "divided to the bottom",
        );
        check(text.par_split(newline).force_depth(10).on(Inline).drive(CountInNanoLoops), "forced");
        check(text.par_split(newline).drive(CountInNanoLoops), "as by default");
    }
}

/// A part in which a search has found nothing is not searched again.
#[test]
fn a_part_without_separators_says_so() {
    let calls = AtomicUsize::new(0);
    let mut it = "añb".par_split(|c| {
        calls.fetch_add(1, Relaxed);
        c == ','
    });
    let producer = it.producer();
    assert!(producer.should_be_divided());
    assert_eq!(calls.load(Relaxed), 0, "laziness (I5)");
    let (left, right) = producer.divide();
    assert_eq!((left.size(), right.size()), (5, 0));
    assert_eq!(calls.load(Relaxed), 3);
    assert!(!left.should_be_divided() && !right.should_be_divided());
    let (left, _) = left.divide();
    let (left, _) = left.divide_at(2);
    assert_eq!(calls.load(Relaxed), 3);
    assert_eq!(left.into_iter().collect::<Vec<_>>(), ["añb"]);
}

/// Cuts at the nearest separator to the middle: the first behind it, else the last before it.
#[test]
fn cut_near_the_middle() {
    fn halves<'t>(mut it: impl ParallelIterator<Item = &'t str>) -> (Vec<&'t str>, Vec<&'t str>) {
        let (left, right) = it.producer().divide();
        (left.into_iter().collect(), right.into_iter().collect())
    }
    assert_eq!(halves("a,b,cd,e".par_split(',')), (vec!["a", "b", "cd"], vec!["e"]));
    assert_eq!(halves("a,b,cdef".par_split(',')), (vec!["a", "b"], vec!["cdef"]));
    assert_eq!(halves("a,bcdefg,".par_split(',')), (vec!["a", "bcdefg"], vec![""]));
    assert_eq!(halves("a,bcdefg,".par_split_inclusive(',')), (vec!["a,"], vec!["bcdefg,"]));
    assert_eq!(halves(",\u{10FFFF}".par_split_inclusive(|_| true)), (vec![","], vec!["\u{10FFFF}"]));
}

/// Deep divisions, and texts that cannot be divided at all (I7).
#[test]
fn long_texts() {
    let separators = ",".repeat(100_000);
    assert_eq!(separators.par_split(',').size_limit(1).map(|_| 1).sum::<usize>(), 100_001);
    assert_eq!(separators.par_split_terminator(',').size_limit(1).map(|_| 1).sum::<usize>(), 100_000);
    assert_eq!(separators.par_split_whitespace().size_limit(1).map(str::len).sum::<usize>(), 100_000);
    assert_eq!("\u{10FFFF}".par_chars().force_depth(30).on(Inline).map(|_| 1).sum::<usize>(), 1);
    assert_eq!("\u{10FFFF}".par_split(',').force_depth(30).on(Inline).map(|_| 1).sum::<usize>(), 1);
}

/// A predicate that panics does so in the caller. One that changes its mind yields some parts of the text.
#[test]
fn patterns_that_misbehave() {
    let text = "a,b,c,d\n".repeat(100);
    on_pools(|| {
        let panics = |c: char| c == '\n' || if c == 'd' { panic!("d") } else { false };
        let caught = catch_unwind(|| text.par_split(panics).size_limit(8).map(str::len).sum::<usize>());
        assert_eq!(*caught.unwrap_err().downcast_ref::<&str>().unwrap(), "d");
    });
    let turn = AtomicUsize::new(0);
    let whimsical = |_| turn.fetch_add(1, Relaxed).is_multiple_of(3);
    let parts: Vec<&str> = text.par_split_inclusive(whimsical).size_limit(1).collect();
    assert_eq!(parts.concat(), text, "inclusive parts lose nothing");
}
