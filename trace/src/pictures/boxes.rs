//! Box plots.

use super::words::{shortened, text_width};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Height of a row.
const ROW: u32 = 34;

/// Width of the axis of the values.
const AXIS: u32 = 400;

/// Free room on the right, for half of the label at the end of the axis.
const RIGHT: u32 = 40;

/// The greatest width of a row's name, in letters of 12 pixels. A longer name is cut.
const NAME: f64 = 500.0;

/// Returns a box plot as an SVG document: a row for each name. A box reaches from the first quartile to the third one, with the median. The
/// whiskers end at the least and at the most value. Values are not negative.
///
/// ```
/// let picture = furcate_trace::box_plot("time in ms", &[("one", vec![1.0, 2.0, 4.0]), ("other", vec![3.0])]);
/// assert!(picture.starts_with("<svg") && picture.contains("other"));
/// ```
#[must_use]
pub fn box_plot(title: &str, rows: &[(&str, Vec<f64>)]) -> String {
    let rows: Vec<_> =
        rows.iter().map(|(name, values)| (shortened(name, NAME), five_numbers(values))).collect();
    let mut drawing = String::new();
    {
        let left =
            rows.iter().map(|(name, _)| text_width(name) * 13.0 / 12.0 + 16.0).fold(60.0, f64::max) as u32;
        let height = ROW * u32::try_from(rows.len()).unwrap_or(u32::MAX / ROW - 3) + 70;
        let area = SVGBackend::with_string(&mut drawing, (left + AXIS + RIGHT, height)).into_drawing_area();
        draw(&area, title, &rows, left).expect("drawing into a string does not fail");
    }
    drawing
}

type Area<'s> = DrawingArea<SVGBackend<'s>, plotters::coord::Shift>;

fn draw(
    area: &Area<'_>,
    name: &str,
    boxes: &[(String, [f32; 5])],
    left: u32,
) -> Result<(), Box<dyn std::error::Error + 'static>> {
    area.fill(&WHITE).map_err(|error| error.to_string())?;
    let rows = 0.0_f32..boxes.len() as f32;
    let most = boxes.iter().map(|(_, numbers)| numbers[4]).fold(0.0, f32::max);
    // An axis has an end, also if all values are 0.
    let most = if most > 0.0 { most } else { 1.0 };
    // The chart's second axis holds `f32`s, as quartiles are.
    let mut chart = ChartBuilder::on(area)
        .caption(name, ("sans-serif", 16))
        .margin_right(RIGHT)
        .x_label_area_size(28)
        .y_label_area_size(left)
        .build_cartesian_2d(0.0_f32..most * 1.08, rows.end..rows.start)
        .map_err(|error| error.to_string())?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .light_line_style(WHITE)
        .x_labels(6)
        .x_label_formatter(&|x| label(*x))
        .draw()
        .map_err(|error| error.to_string())?;
    for ((name, numbers), row) in boxes.iter().zip(0_u16..) {
        let middle = f32::from(row) + 0.5;
        // (Plotters' own box plot has whiskers of one and a half times the box, whether there are such values or not.)
        let color = RGBColor(0, 0x72, 0xb2);
        let [least, first, median, third, most] = *numbers;
        let frame = [(first, middle - 0.25), (third, middle + 0.25)];
        let boxes = [Rectangle::new(frame, color.mix(0.25).filled()), Rectangle::new(frame, color)];
        chart.draw_series(boxes).map_err(|error| error.to_string())?;
        let upright = |x: f32, half: f32| vec![(x, middle - half), (x, middle + half)];
        let lines = [
            vec![(least, middle), (first, middle)],
            vec![(third, middle), (most, middle)],
            upright(least, 0.15),
            upright(most, 0.15),
        ];
        let lines = lines.map(|line| PathElement::new(line, color));
        let median = PathElement::new(upright(median, 0.25), color.stroke_width(3));
        chart.draw_series(lines.into_iter().chain([median])).map_err(|error| error.to_string())?;
        let point = chart.backend_coord(&(0.0, middle));
        let style = ("sans-serif", 13).into_font().into_text_style(area);
        let style = style.pos(Pos::new(HPos::Right, VPos::Center));
        area.draw_text(name, &style, (point.0 - 8, point.1)).map_err(|error| error.to_string())?;
    }
    area.present().map_err(|error| error.to_string())?;
    Ok(())
}

/// Returns a value at the axis in three digits.
fn label(value: f32) -> String {
    let digits = (2.0 - value.abs().max(1e-9).log10().floor()).max(0.0) as usize;
    let label = format!("{value:.digits$}");
    if digits == 0 { label } else { label.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

/// Returns the least value, the quartiles with the median, and the most value; between two values by their distances.
pub(crate) fn five_numbers(values: &[f64]) -> [f32; 5] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1) as f64;
    [0.0, 0.25, 0.5, 0.75, 1.0].map(|part| {
        let place = part * last;
        let value = |place: f64| sorted.get(place as usize).copied().unwrap_or_default();
        let (below, above) = (value(place.floor()), value(place.ceil()));
        (below + (above - below) * place.fract()) as f32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        let labels = [0.0, 0.1 + 0.2, 0.000_12, 2.5, 1200.0, 1e7].map(label);
        assert_eq!(labels, ["0", "0.3", "0.00012", "2.5", "1200", "10000000"]);
    }

    #[test]
    fn quartiles() {
        assert_eq!(five_numbers(&[]), [0.0; 5]);
        assert_eq!(five_numbers(&[7.0]), [7.0; 5]);
        assert_eq!(five_numbers(&[4.0, 1.0, 2.0, 3.0, 5.0]), [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(five_numbers(&[1.0, 2.0]), [1.0, 1.25, 1.5, 1.75, 2.0]);
    }
}
