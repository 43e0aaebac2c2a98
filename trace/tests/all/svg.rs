//! Pictures of traces, read back as XML.

use furcate::prelude::*;
use furcate::trace::PieceKind;
use furcate::{ThreadPoolBuilder, join};
use roxmltree::{Document, Node};
use std::time::Duration;
use testkit::traces::traced;
use testkit::{pool, spin};

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap_or_else(|| panic!("no {name}")).parse().unwrap()
}

/// The rectangles that have words: x, y, width, and the words.
fn titled(document: &Document<'_>) -> Vec<(f64, f64, f64, String)> {
    let rectangles = document.descendants().filter(|node| node.has_tag_name("rect"));
    rectangles
        .filter_map(|rect| {
            let title = rect.children().find(|child| child.has_tag_name("title"))?;
            let words = title.descendants().filter_map(|node| node.text()).next().unwrap().trim().to_owned();
            Some((number(rect, "x"), number(rect, "y"), number(rect, "width"), words))
        })
        .collect()
}

fn parse(picture: &str) -> Document<'_> {
    let document = Document::parse(picture).expect("well-formed XML");
    for node in document.descendants() {
        for attribute in node.attributes() {
            assert!(!attribute.name().contains("href"), "refers to another file");
            let is_finite = attribute.value().parse::<f64>().is_ok_and(f64::is_finite);
            let is_number = matches!(attribute.name(), "x" | "y" | "x1" | "x2" | "y1" | "y2");
            assert!(is_finite || !is_number, "{} = {}", attribute.name(), attribute.value());
        }
    }
    document
}

/// Every leaf is a rectangle as wide as it took time; none overlaps another one; all are inside the picture.
#[test]
fn leaves_are_as_wide_as_they_took_time() {
    let pool = pool(2);
    let (_, trace) = traced(|| {
        pool.install(|| {
            let chain = (0..16_u64).into_par_iter().bound_depth(3).force_depth(3);
            chain.for_each(|i| spin(Duration::from_micros(1000 + 200 * i)));
        });
    });
    let picture = furcate_trace::svg(&trace);
    let document = parse(&picture);
    let bounds: Vec<f64> = document
        .root_element()
        .attribute("viewBox")
        .unwrap()
        .split(' ')
        .map(|n| n.parse().unwrap())
        .collect();
    let rectangles = titled(&document);
    let mut widths: Vec<f64> =
        rectangles.iter().filter(|r| r.3.starts_with("leaf of 2")).map(|r| r.2).collect();
    let mut times: Vec<f64> = trace
        .graph()
        .pieces()
        .filter(|piece| piece.kind == PieceKind::Leaf(2))
        .map(|piece| piece.duration().as_secs_f64())
        .collect();
    assert_eq!((widths.len(), times.len()), (8, 8));
    widths.sort_by(f64::total_cmp);
    times.sort_by(f64::total_cmp);
    let scale = (widths[7] + 0.8) / times[7];
    for (width, time) in widths.iter().zip(times) {
        // (A gap of 0.8 is left to the neighbor.)
        assert!((width + 0.8 - time * scale).abs() < 0.1, "{width} for {time}");
    }
    for (i, a) in rectangles.iter().enumerate() {
        assert!(a.0 >= -0.01 && a.0 + a.2 <= bounds[2] + 0.01 && a.1 + 8.0 <= bounds[3], "{a:?}");
        for b in &rectangles[i + 1..] {
            let apart = a.0 + a.2 <= b.0 + 0.9 || b.0 + b.2 <= a.0 + 0.9 || (a.1 - b.1).abs() >= 8.0;
            assert!(apart, "{a:?} lies on {b:?}");
        }
    }
}

/// A picture of ten thousand tasks can be read, and so can one of nested forks without end, and of nothing.
#[test]
fn large_graphs_are_folded() {
    fn chain(depth: u32) {
        if depth > 0 {
            join(|| (), || chain(depth - 1));
        }
    }
    let pool = pool(2);
    let (_, many) = traced(|| {
        pool.install(|| {
            (0..20_000_u64).into_par_iter().size_limit(1).for_each(|x| _ = std::hint::black_box(x))
        });
    });
    let (_, deep) = traced(|| pool.install(|| chain(1000)));
    let (_, nothing) = traced(|| ());
    for (trace, least) in [(many, 16_384), (deep, 1000), (nothing, 0)] {
        let pieces = trace.graph().pieces().count();
        assert!(pieces >= least, "{pieces}");
        let picture = furcate_trace::svg(&trace);
        let document = parse(&picture);
        let shapes = document.descendants().filter(Node::is_element).count();
        assert!(shapes < 30_000 && picture.len() < 3_000_000, "{shapes} shapes, {} bytes", picture.len());
        // All pieces are in some shape.
        let shown: usize = titled(&document)
            .iter()
            .map(|(.., words)| words.split_once(" pieces").map_or(1, |(count, _)| count.parse().unwrap()))
            .sum();
        assert_eq!(shown, pieces);
    }
}

/// Each row of the timeline has its thread's name at the left, an axis has the times, and all texts are inside the picture.
#[test]
fn the_timeline_has_names_and_times() {
    let name = "a name that is longer than there is room for it in the picture".to_owned();
    let pool = ThreadPoolBuilder::new().num_threads(1).thread_name(move |_| name.clone()).build().unwrap();
    let (_, trace) = traced(|| {
        join(|| (), || ());
        pool.install(|| spin(Duration::from_millis(5)));
    });
    let picture = furcate_trace::svg(&trace);
    let document = parse(&picture);
    let view = document.root_element().attribute("viewBox").unwrap();
    let [width, height] = [2, 3].map(|n| view.split(' ').nth(n).unwrap().parse::<f64>().unwrap());
    let texts: Vec<_> = document.descendants().filter(|node| node.has_tag_name("text")).collect();
    for text in &texts {
        let words = text.text().unwrap().trim();
        let (x, y, wide) = (number(*text, "x"), number(*text, "y"), 7.0 * words.chars().count() as f64);
        let left = if text.attribute("text-anchor") == Some("middle") { x - wide / 2.0 } else { x };
        assert!(left >= 0.0 && left + wide <= width && y < height, "{words} at {x}, {y}");
        // Nothing lies on a name in the timeline.
        let row = text.children().any(|child| child.has_tag_name("title"));
        let rectangles = document.descendants().filter(|node| node.has_tag_name("rect"));
        for rect in rectangles.filter(|rect| row && rect.attribute("y").is_some()) {
            let below = number(*text, "y") - number(rect, "y");
            assert!(!(0.0..14.0).contains(&below) || number(rect, "x") >= x + wide, "{words}");
        }
    }
    let has = |words: &str| texts.iter().any(|text| text.text().unwrap().trim() == words);
    for thread in trace.summary().threads {
        assert!(has(&thread.name) || thread.name.len() > 30, "{}", thread.name);
    }
    assert!(has("1 ms") || has("2 ms"), "{picture}");
}

/// Of many calls the longest ones are drawn, and each run of others is one labelled shape.
#[test]
fn many_calls_are_folded() {
    let pool = pool(1);
    let calls = |count: u64| {
        let one = |i| {
            let time = Duration::from_micros(if i == 100 { 20_000 } else { 20 });
            _ = pool.install(|| join(|| spin(time), || ()));
        };
        traced(|| (0..count).for_each(one)).1
    };
    let (few, many) = (calls(12), calls(500));
    assert_eq!(many.graph().roots().len(), 500);
    let [few_picture, picture] = [&few, &many].map(furcate_trace::svg);
    assert!(!few_picture.contains("call 1") && !few_picture.contains("calls "), "{few_picture}");
    let document = parse(&picture);
    let texts =
        document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text());
    let (mut covered, mut runs) = (0, 0);
    for words in texts.map(str::trim) {
        let Some((numbers, _)) = words.strip_prefix("call").and_then(|words| words.split_once(": ")) else {
            continue;
        };
        let numbers: Vec<usize> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
        covered += numbers[numbers.len() - 1] - numbers[0] + 1;
        runs += 1;
        assert!(
            !(numbers[0]..=numbers[numbers.len() - 1]).contains(&101),
            "the longest call is drawn: {words}"
        );
    }
    assert_eq!(covered, 500 - 12);
    assert!((1..=13).contains(&runs), "{runs}");
    let height: f64 =
        document.root_element().attribute("viewBox").unwrap().split(' ').nth(3).unwrap().parse().unwrap();
    assert!(height < 1400.0, "{height}");
    let shown: usize = titled(&document)
        .iter()
        .map(|(.., words)| words.split_once(" pieces").map_or(1, |(count, _)| count.parse().unwrap()))
        .sum();
    assert_eq!(shown, many.graph().pieces().count());
}

#[test]
fn names_of_threads_are_escaped() {
    let pool = ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "<a & \"b\">".into()).build().unwrap();
    let (_, trace) = traced(|| pool.install(|| ()));
    let picture = furcate_trace::svg(&trace);
    let document = parse(&picture);
    let has = document.descendants().any(|node| node.text().is_some_and(|text| text.contains("<a & \"b\">")));
    assert!(has, "{picture}");
}

/// The text of a leaf says where the leaf begins, and where its chain was called.
#[test]
fn leaves_say_their_positions_and_calls() {
    let pool = pool(1);
    let call = || (0..1000_u64).into_par_iter().bound_depth(3).map(|x| spin(Duration::from_nanos(x))).count();
    let (_, trace) = traced(|| pool.install(call));
    let picture = furcate_trace::svg(&trace);
    let place = format!("call at {}:{}", file!(), line!() - 3);
    for first in (0..1000).step_by(125) {
        assert!(picture.contains(&format!("leaf of 125, from {first} on, ")), "{first}");
    }
    assert!(picture.contains(&place), "{place}");
}
