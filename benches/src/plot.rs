//! Plots as SVG: lines with markers over two axes, for tables whose rows are many.

use std::fmt::{self, Write};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The scale of an axis.
#[derive(Clone, Debug)]
pub enum Scale {
    /// Evenly, not from 0 on.
    Linear,
    /// Evenly from 0 on: they are not negative.
    FromZero,
    /// By their logarithms: they are positive.
    Log,
    /// By their logarithms, with ticks at 1, 2, 4, 8 ...: they are 1 or more.
    Doubling,
    /// Each at a place with a name: the values are 0, 1, 2 ...
    Places(Vec<String>),
}

/// A plot.
#[derive(Clone, Debug)]
pub struct Plot {
    title: String,
    x: (String, Scale),
    y: (String, Scale),
    lines: Vec<Line>,
}

#[derive(Clone, Debug)]
struct Line {
    name: String,
    is_reference: bool,
    points: Vec<(f64, f64)>,
}

/// An axis on which all values have room.
struct Axis {
    logarithms: bool,
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
}

const WIDTH: f64 = 820.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 590.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 400.0;

/// The palette of Okabe and Ito, which color-blind people can tell apart, with a darker yellow.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#c0a800", "#56b4e9", "#e69f00", "#444444"];

impl Plot {
    /// Makes an empty plot; each axis has a label, with the unit, and a scale.
    #[must_use]
    pub fn new(title: impl Into<String>, x: (&str, Scale), y: (&str, Scale)) -> Self {
        Plot { title: title.into(), x: (x.0.into(), x.1), y: (y.0.into(), y.1), lines: Vec::new() }
    }

    /// Adds a point to the line called `name`.
    pub fn add(&mut self, name: &str, x: f64, y: f64) {
        self.add_to(name, false, (x, y));
    }

    /// Adds a point to a reference line, which belongs to no contestant.
    pub fn add_reference(&mut self, name: &str, x: f64, y: f64) {
        self.add_to(name, true, (x, y));
    }

    fn add_to(&mut self, name: &str, is_reference: bool, point: (f64, f64)) {
        match self.lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => self.lines.push(Line { name: name.into(), is_reference, points: vec![point] }),
        }
    }

    /// Writes `<directory>/<name>.svg`, unless the plot is empty; prints and returns the path.
    ///
    /// # Errors
    ///
    /// If that is not possible.
    pub fn write(&self, directory: &Path, name: &str) -> io::Result<Option<PathBuf>> {
        if self.lines.is_empty() {
            return Ok(None);
        }
        fs::create_dir_all(directory)?;
        let path = directory.join(format!("{name}.svg"));
        fs::write(&path, self.svg())?;
        println!("  {}", path.display());
        Ok(Some(path))
    }

    /// Returns the plot as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut svg = String::new();
        self.draw(&mut svg).expect("a string takes whatever is written");
        svg
    }

    fn draw(&self, svg: &mut String) -> fmt::Result {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let x_axis = Axis::new(&self.x.1, points().map(|point| point.0));
        let y_axis = Axis::new(&self.y.1, points().map(|point| point.1));
        let x_at = |x| LEFT + x_axis.part(x) * (RIGHT - LEFT);
        let y_at = |y| BOTTOM - y_axis.part(y) * (BOTTOM - TOP);
        writeln!(
            svg,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" fill="black">"#
        )?;
        writeln!(svg, r#"<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>"#)?;
        text(svg, (LEFT, 24.0), r#"font-size="15""#, &self.title)?;
        let grid = r##"stroke="#dddddd""##;
        for (x, label) in &x_axis.ticks {
            let x = x_at(*x);
            writeln!(svg, r#"<path d="M{x:.1} {TOP} V{BOTTOM}" {grid}/>"#)?;
            text(svg, (x, BOTTOM + 18.0), r#"text-anchor="middle""#, label)?;
        }
        for (y, label) in &y_axis.ticks {
            let y = y_at(*y);
            writeln!(svg, r#"<path d="M{LEFT} {y:.1} H{RIGHT}" {grid}/>"#)?;
            text(svg, (LEFT - 8.0, y + 4.0), r#"text-anchor="end""#, label)?;
        }
        writeln!(svg, r#"<path d="M{LEFT} {TOP} V{BOTTOM} H{RIGHT}" fill="none" stroke="black"/>"#)?;
        text(svg, ((LEFT + RIGHT) / 2.0, BOTTOM + 42.0), r#"text-anchor="middle""#, &self.x.0)?;
        let middle = (TOP + BOTTOM) / 2.0;
        let upwards = format!(r#"text-anchor="middle" transform="rotate(-90 18 {middle})""#);
        text(svg, (18.0, middle), &upwards, &self.y.0)?;
        let mut colours = COLOURS.iter().cycle();
        let mut dashes = [r#"stroke-dasharray="7 4""#, r#"stroke-dasharray="2 3""#].iter().cycle();
        let style = |line: &Line| match line.is_reference {
            true => ("#888888", *dashes.next().expect("they are repeated")),
            false => (*colours.next().expect("they are repeated"), ""),
        };
        let styles: Vec<_> = self.lines.iter().map(style).collect();
        // The first one lies on top.
        for (row, (line, (colour, dashes))) in self.lines.iter().zip(styles).enumerate().rev() {
            let legend = TOP + 8.0 + 22.0 * row as f64;
            let key = [(RIGHT + 16.0, legend), (RIGHT + 42.0, legend)];
            text(svg, (RIGHT + 50.0, legend + 4.0), "", &line.name)?;
            let points: Vec<_> = line.points.iter().map(|&(x, y)| (x_at(x), y_at(y))).collect();
            for points in [&key[..], &points] {
                write!(svg, r#"<polyline fill="none" stroke="{colour}" stroke-width="2" {dashes} points=""#)?;
                points.iter().try_for_each(|(x, y)| write!(svg, "{x:.1},{y:.1} "))?;
                writeln!(svg, r#""/>"#)?;
            }
            for (x, y) in points.iter().filter(|_| !line.is_reference) {
                writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.5" fill="{colour}"/>"#)?;
            }
        }
        writeln!(svg, "</svg>")
    }
}

fn text(svg: &mut String, (x, y): (f64, f64), style: &str, text: &str) -> fmt::Result {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}" {style}>{text}</text>"#)
}

impl Axis {
    fn new(scale: &Scale, values: impl Iterator<Item = f64>) -> Self {
        let (least, most) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
        assert!(least.is_finite() && most.is_finite(), "there is a point, and it is somewhere");
        match scale {
            Scale::Places(names) => {
                let ticks = names.iter().enumerate().map(|(place, name)| (place as f64, name.clone()));
                Axis {
                    logarithms: false,
                    low: -0.25,
                    high: names.len() as f64 - 0.75,
                    ticks: ticks.collect(),
                }
            }
            Scale::FromZero => Axis::linear(0.0, most),
            Scale::Doubling => {
                let low = least.log2().floor() as i32;
                let high = (most.log2().ceil() as i32).max(low + 1);
                Axis::between(true, &(low..=high).map(|power| 2_f64.powi(power)).collect::<Vec<_>>())
            }
            Scale::Log if most > 3.0 * least => Axis::log(least, most),
            // Too near to each other to have decades between them.
            Scale::Log | Scale::Linear => Axis::linear(least, most),
        }
    }

    /// Ticks are 1, 2, 5, 10, 20 ..., or where there are many decades 1, 10, 100 ...
    fn log(least: f64, most: f64) -> Self {
        assert!(least > 0.0, "{least} has no logarithm");
        let steps: &[f64] = if most / least > 3e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let decades = least.log10().floor() as i32..=most.log10().ceil() as i32;
        let all: Vec<f64> =
            decades.flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade))).collect();
        let first = all.iter().rposition(|&tick| tick <= least).unwrap_or(0);
        let last = all.iter().position(|&tick| tick >= most).unwrap_or(all.len() - 1);
        Axis::between(true, &all[first..=last])
    }

    /// Makes an axis with some five ticks, 1, 2 or 5 times a power of ten apart.
    fn linear(least: f64, most: f64) -> Self {
        let most = if most > least { most } else { least + least.abs().max(1.0) };
        let rough = (most - least) / 5.0;
        let decade = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade).into_iter().find(|&step| step >= rough);
        let step = step.unwrap_or(rough);
        let ticks = (least / step).floor() as i64..=(most / step).ceil() as i64;
        Axis::between(false, &ticks.map(|tick| tick as f64 * step).collect::<Vec<_>>())
    }

    fn between(logarithms: bool, ticks: &[f64]) -> Self {
        let label = |&tick: &f64| (tick, ((tick * 1e6).round() / 1e6).to_string());
        let (low, high) = (ticks[0], ticks[ticks.len() - 1]);
        Axis { logarithms, low, high, ticks: ticks.iter().map(label).collect() }
    }

    /// Returns the position of a value between both ends.
    fn part(&self, value: f64) -> f64 {
        let place = |value: f64| if self.logarithms { value.ln() } else { value };
        (place(value) - place(self.low)) / (place(self.high) - place(self.low))
    }
}

#[cfg(test)]
mod tests;
