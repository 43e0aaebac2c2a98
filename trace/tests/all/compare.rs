//! Comparisons, each in a page.

use furcate::trace::{self, AlreadyRunning};
use furcate_trace::Comparison;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use testkit::process::{good_child, plays};
use testkit::spin;
use testkit::traces::alone;

/// The runs take turns, and inputs are outside of the measured times.
#[test]
fn the_runs_take_turns() {
    let _alone = alone();
    let order = RefCell::new(String::new());
    let long = Duration::from_millis(20);
    let mut comparison = Comparison::new("turns");
    comparison.add_with("a", || spin(long), |()| order.borrow_mut().push('a'));
    comparison.add("b", || order.borrow_mut().push('b'));
    let compared = comparison.run(3).unwrap();
    drop(comparison);
    assert_eq!(order.into_inner(), "abababab");
    let times: Vec<_> = compared.times().collect();
    assert_eq!((times[0].0, times[1].0), ("a", "b"));
    for (_, times) in times {
        assert_eq!(times.len(), 3);
        assert!(times.is_sorted() && times[1] < long);
    }
}

/// The first run of a program makes its pool, and does not count. The runs that count are recorded.
#[test]
fn a_program_may_begin_with_a_comparison() {
    if !plays("beginner") {
        return good_child("compare::a_program_may_begin_with_a_comparison", "beginner", &[]);
    }
    let mut comparison = Comparison::new("beginner");
    comparison.add("forks", || furcate::join(|| (), || ()));
    let page = comparison.run(1).unwrap().html();
    assert!(!page.contains("Nothing was recorded"), "{page}");
}

/// The page needs nothing else, names are escaped, and each computation has its graph.
#[test]
fn the_page_is_whole() {
    let _alone = alone();
    let mut comparison = Comparison::new("<a> & b");
    comparison.add("\"x\" <y>", || furcate::join(|| spin(Duration::from_micros(50)), || ()));
    comparison.add("none", || ());
    let page = comparison.run(4).unwrap().html();
    assert!(
        page.contains("<h1>&lt;a&gt; &amp; b</h1>") && page.contains("<h2>&quot;x&quot; &lt;y&gt;</h2>"),
        "{page}"
    );
    assert!(page.contains("<strong>none is fastest: "), "{page}");
    // Three plots, and a graph of the one that uses the pool.
    assert_eq!(page.matches("<svg").count(), 4);
    assert_eq!(page.matches("Nothing was recorded").count(), 1);
    let links = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!links.contains("http") && !links.contains("src=") && !links.contains("href"), "{links}");
    for picture in page.split("<svg").skip(1) {
        let (picture, _) = picture.split_once("</svg>").unwrap();
        roxmltree::Document::parse(&format!("<svg{picture}</svg>")).unwrap();
    }
    let empty = Comparison::new("nothing").run(1).unwrap().html();
    assert!(empty.contains("</html>"));
}

/// Names and labels of plots are inside the picture, and no shorter than they need be.
#[test]
fn plots_have_room_for_their_texts() {
    let long = "bound_depth(3).even_levels().force_depth(3).size_limit(1000)";
    let longest = "name ".repeat(100);
    let rows = [(long, vec![0.1, 0.31]), ("b", vec![1_234_567.0]), (longest.as_str(), vec![0.0])];
    for rows in [&rows[..], &rows[..1], &rows[2..]] {
        let plot = furcate_trace::box_plot("time in ms", rows);
        let document = roxmltree::Document::parse(&plot).unwrap();
        let number =
            |node: roxmltree::Node<'_, '_>, name| node.attribute(name).unwrap().parse::<f64>().unwrap();
        let width = number(document.root_element(), "width");
        for text in document.descendants().filter(|node| node.has_tag_name("text")) {
            let words = text.text().unwrap().trim();
            let wide = words.chars().count() as f64 * number(text, "font-size") * 0.55;
            let left = number(text, "x")
                - match text.attribute("text-anchor") {
                    Some("middle") => wide / 2.0,
                    Some("end") => wide,
                    _ => 0.0,
                };
            assert!(left >= 0.0 && left + wide <= width, "{words} at {left} of {width}");
        }
        assert_eq!(plot.contains(long), rows[0].0 == long);
    }
}

#[test]
fn recordings_are_not_mixed_up() {
    let _alone = alone();
    let runs = Cell::new(0);
    let mut comparison = Comparison::new("panics");
    comparison.add("panics", || {
        runs.set(runs.get() + 1);
        assert!(runs.get() < 3, "the third run");
    });
    assert!(catch_unwind(AssertUnwindSafe(|| drop(comparison.run(5)))).is_err());
    // The recording has ended.
    trace::start().unwrap();
    let error = Comparison::new("second").add("none", || ()).run(1).err();
    assert_eq!(error, Some(AlreadyRunning));
    assert!(trace::stop().is_some());
}
