//! Axes have room for all values, and plots contain all points.

use super::{Axis, BOTTOM, LEFT, Plot, RIGHT, Scale, TOP};

fn axis(scale: &Scale, values: &[f64]) -> Axis {
    Axis::new(scale, values.iter().copied())
}

fn labels(scale: &Scale, values: &[f64]) -> Vec<String> {
    axis(scale, values).ticks.into_iter().map(|(_, label)| label).collect()
}

#[test]
fn ticks_are_round_and_around_all_values() {
    assert_eq!(labels(&Scale::Linear, &[0.0, 10.0]), ["0", "2", "4", "6", "8", "10"]);
    assert_eq!(labels(&Scale::Linear, &[0.93, 1.12]), ["0.9", "0.95", "1", "1.05", "1.1", "1.15"]);
    assert_eq!(labels(&Scale::Log, &[1.1, 1.2]), ["1.1", "1.12", "1.14", "1.16", "1.18", "1.2"]);
    assert_eq!(labels(&Scale::Log, &[3.0, 180.0]), ["2", "5", "10", "20", "50", "100", "200"]);
    assert_eq!(labels(&Scale::Log, &[0.02, 900.0]), ["0.01", "0.1", "1", "10", "100", "1000"]);
    assert_eq!(labels(&Scale::Log, &[1.0, 100.0]), ["1", "2", "5", "10", "20", "50", "100"]);
    assert_eq!(labels(&Scale::FromZero, &[0.93, 0.98]), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
    assert_eq!(labels(&Scale::Doubling, &[1.0, 17.0]), ["1", "2", "4", "8", "16", "32"]);
    assert_eq!(labels(&Scale::Doubling, &[64.0, 64.0]), ["64", "128"]);
    let places = Scale::Places(vec!["a".into(), "b".into()]);
    assert_eq!(labels(&places, &[0.0]), ["a", "b"]);
    for scale in [Scale::Linear, Scale::Log, places] {
        for values in [&[0.5][..], &[1.0], &[0.25, 0.7, 0.3], &[1e-6, 1.0], &[0.9999, 1.0001]] {
            let axis = axis(&scale, values);
            for &value in values {
                let part = axis.part(value);
                assert!((-1e-9..=1.0 + 1e-9).contains(&part), "{value} of {values:?} at {part}");
            }
            assert!((2..=14).contains(&axis.ticks.len()), "{values:?}: {} ticks", axis.ticks.len());
        }
    }
}

#[test]
fn values_are_in_order_and_logarithms_even() {
    let axis = axis(&Scale::Log, &[1.0, 1e4]);
    let parts = [1.0, 10.0, 100.0, 1e3, 1e4].map(|value| axis.part(value));
    assert!(parts.windows(2).all(|two| (two[1] - two[0] - 0.25).abs() < 1e-9), "{parts:?}");
}

#[test]
#[should_panic(expected = "-1 has no logarithm")]
fn what_has_no_logarithm_is_refused() {
    axis(&Scale::Log, &[-1.0, 1.0]);
}

#[test]
fn every_point_is_drawn_inside_the_axes() {
    let mut plot = Plot::new("a < b & c", ("x, ms", Scale::Linear), ("y, us", Scale::Log));
    let xs: Vec<f64> = (0..20).map(f64::from).collect();
    for &x in &xs {
        plot.add("one", x, (x + 1.0).powi(3));
        plot.add("two", x, 7.0);
        plot.add_reference("least", x, 1.0);
    }
    let svg = plot.svg();
    assert_eq!(svg.matches("a &lt; b &amp; c").count(), 1);
    for label in ["one", "two", "least", "x, ms", "y, us"] {
        assert_eq!(svg.matches(&format!(">{label}</text>")).count(), 1, "{label}");
    }
    // No reference has markers.
    assert_eq!(svg.matches("<circle").count(), 2 * xs.len());
    assert_eq!(svg.matches("stroke-dasharray").count(), 2);
    let lines = svg.lines().filter_map(|line| line.strip_prefix("<polyline")?.split('"').rev().nth(1));
    let lines: Vec<Vec<(f64, f64)>> = lines
        .map(|points| {
            let points = points.split_whitespace().map(|point| point.split_once(',').unwrap());
            points.map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).collect()
        })
        .collect();
    assert_eq!(lines.len(), 6, "each is in the legend, too");
    for line in lines.iter().skip(1).step_by(2) {
        assert_eq!(line.len(), xs.len());
        assert!(line.iter().all(|(x, y)| (LEFT..=RIGHT).contains(x) && (TOP..=BOTTOM).contains(y)));
        assert!(line.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 >= two[1].1));
    }
    assert_eq!(svg.matches('<').count(), svg.matches('>').count());
}

#[test]
fn files_are_written_but_for_empty_plots() {
    let directory = std::env::temp_dir().join(format!("furcate-plots-{}", std::process::id()));
    let mut plot = Plot::new("t", ("x", Scale::Linear), ("y", Scale::Linear));
    assert_eq!(plot.write(&directory, "empty").unwrap(), None);
    assert!(!directory.exists());
    plot.add("one", 1.0, 1.0);
    let path = plot.write(&directory, "one point, 0.5").unwrap().expect("it has a point");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), plot.svg());
    assert!(path.ends_with("one point, 0.5.svg"));
    std::fs::remove_dir_all(&directory).unwrap();
}
