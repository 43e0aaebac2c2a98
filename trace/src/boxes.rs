//! Box plots.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Height of a row.
const ROW: u32 = 34;

/// Returns a box plot as an SVG document: a row for each name. A box reaches from the first quartile to the third one, with the median. The
/// whiskers end at the least and at the most value. Values are not negative.
///
/// ```
/// let picture = furcate_trace::box_plot("time in ms", &[("one", vec![1.0, 2.0, 4.0]), ("other", vec![3.0])]);
/// assert!(picture.starts_with("<svg") && picture.contains("other"));
/// ```
#[must_use]
pub fn box_plot(title: &str, rows: &[(&str, Vec<f64>)]) -> String {
    let most = rows.iter().flat_map(|(_, values)| values).copied().fold(0.0, f64::max).max(1e-9);
    let mut drawing = String::new();
    {
        let height = ROW * u32::try_from(rows.len()).unwrap_or(u32::MAX / ROW - 3) + 70;
        let area = SVGBackend::with_string(&mut drawing, (620, height)).into_drawing_area();
        draw(&area, title, rows, most).expect("drawing into a string does not fail");
    }
    drawing
}

type Area<'s> = DrawingArea<SVGBackend<'s>, plotters::coord::Shift>;

fn draw(
    area: &Area<'_>,
    name: &str,
    boxes: &[(&str, Vec<f64>)],
    most: f64,
) -> Result<(), Box<dyn std::error::Error + 'static>> {
    area.fill(&WHITE).map_err(|error| error.to_string())?;
    let rows = 0.0_f32..boxes.len() as f32;
    // The chart's second axis holds `f32`s, as quartiles are.
    let mut chart = ChartBuilder::on(area)
        .caption(name, ("sans-serif", 16))
        .margin_right(24)
        .x_label_area_size(28)
        .y_label_area_size(190)
        .build_cartesian_2d(0.0_f32..(most * 1.08) as f32, rows.end..rows.start)
        .map_err(|error| error.to_string())?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .light_line_style(WHITE)
        .x_labels(6)
        .x_label_formatter(&|x| x.to_string())
        .draw()
        .map_err(|error| error.to_string())?;
    for ((name, values), row) in boxes.iter().zip(0_u16..) {
        let middle = f32::from(row) + 0.5;
        // (Plotters' own box plot has whiskers of one and a half times the box, whether there are such values or not.)
        let color = RGBColor(0, 0x72, 0xb2);
        let [least, first, median, third, most] = five_numbers(values);
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

/// Returns the least value, the quartiles with the median, and the most value; between two values by their distances.
fn five_numbers(values: &[f64]) -> [f32; 5] {
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
    fn quartiles() {
        assert_eq!(five_numbers(&[]), [0.0; 5]);
        assert_eq!(five_numbers(&[7.0]), [7.0; 5]);
        assert_eq!(five_numbers(&[4.0, 1.0, 2.0, 3.0, 5.0]), [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(five_numbers(&[1.0, 2.0]), [1.0, 1.25, 1.5, 1.75, 2.0]);
    }
}
