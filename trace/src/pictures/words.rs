//! Text in pictures: its width, and times.

use std::time::Duration;

/// Returns at least the width of a text in letters of 12 pixels. The font is the viewer's, so this is an estimate.
pub(crate) fn text_width(text: &str) -> f64 {
    text.chars().map(|c| if c.is_ascii() { 7.2 } else { 12.0 }).sum()
}

/// Returns the text, or its begin with an ellipsis if it is wider than that.
pub(crate) fn shortened(text: &str, width: f64) -> String {
    if text_width(text) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        if text_width(&short) > width - 24.0 {
            break;
        }
        short.push(c);
    }
    short.push('…');
    short
}

/// Returns the unit in which a time of so many seconds is written, and the number of these units in a second.
fn unit(seconds: f64) -> (&'static str, f64) {
    match seconds {
        ..1e-3 => ("us", 1e6),
        ..1.0 => ("ms", 1e3),
        _ => ("s", 1.0),
    }
}

/// Returns a time in words.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (unit, per_second) = unit(seconds);
    format!("{:.1} {unit}", seconds * per_second)
}

/// Returns the ticks of a time axis: each one's time in seconds, and its label. They are a round time apart, and at most eleven.
pub(crate) fn ticks(seconds: f64) -> Vec<(f64, String)> {
    let (unit, per_second) = unit(seconds);
    let whole = seconds * per_second;
    let power = 10_f64.powf((whole / 10.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| whole / step <= 10.0);
    let step = step.unwrap_or(10.0 * power);
    // So many digits that ticks differ.
    let digits = (-(step * 1.000_001).log10().floor()).max(0.0) as usize;
    let at = |number: u32| f64::from(number) * step;
    (0..=10)
        .map(at)
        .take_while(|at| *at <= whole)
        .map(|at| (at / per_second, format!("{at:.digits$} {unit}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let labels =
            |seconds| ticks(seconds).into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(", ");
        assert_eq!(
            labels(0.0045),
            "0.0 ms, 0.5 ms, 1.0 ms, 1.5 ms, 2.0 ms, 2.5 ms, 3.0 ms, 3.5 ms, 4.0 ms, 4.5 ms"
        );
        assert_eq!(labels(7e-6), "0 us, 1 us, 2 us, 3 us, 4 us, 5 us, 6 us, 7 us");
        assert_eq!(
            labels(0.95),
            "0 ms, 100 ms, 200 ms, 300 ms, 400 ms, 500 ms, 600 ms, 700 ms, 800 ms, 900 ms"
        );
        assert_eq!(labels(45.0), "0 s, 5 s, 10 s, 15 s, 20 s, 25 s, 30 s, 35 s, 40 s, 45 s");
        for seconds in [1e-9, 1e-6, 0.003, 0.1, 1.0, 3e6] {
            let ticks = ticks(seconds);
            assert!((3..=11).contains(&ticks.len()), "{ticks:?}");
            assert!(ticks.iter().all(|(at, _)| *at <= seconds * 1.000_001), "{ticks:?}");
        }
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(shortened("worker 0", 200.0), "worker 0");
        for long in ["a".repeat(100), "é".repeat(100)] {
            let short = shortened(&long, 200.0);
            assert!(
                short.ends_with('…') && text_width(&short) <= 200.0 && short.chars().count() > 10,
                "{short}"
            );
        }
    }
}
