//! The page for a browser: a chart, and for each program its numbers, its code in three columns, and the graph of a run.

use crate::measure::{Measured, Settings, picture};
use crate::program::{Column, Program};
use crate::table::{of_rayon, time};
use std::fmt::Write;

/// Returns the page: an HTML document that needs no other file and no network.
///
/// # Errors
///
/// If the run for a program's graph fails.
pub fn html(all: &[Measured], settings: &Settings) -> Result<String, String> {
    let Settings { threads, rounds, .. } = settings;
    let rows: Vec<_> = all.iter().map(|row| (row.program.name, row.ratios(Column::Furcate))).collect();
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Furcate's gallery</title>\n<style>{STYLE}</style>\n<h1>Furcate's gallery</h1>\n<p>{} classical algorithms: a loop, rayon, and furcate, \
         with {threads} threads. Medians of {rounds} rounds.</p>\n<figure>{}</figure>\n<table>\n<tr><th>program<th>sequential<th>rayon<th>furcate<th>of \
         rayon's time<th>MiB: sequential<th>rayon<th>furcate<th>code lines<th>schedule\n",
        all.len(),
        furcate_trace::box_plot("furcate's time over rayon's", &rows)
    );
    for row in all {
        let program = row.program;
        let [sequential, rayon, furcate] = Column::ALL.map(|column| time(row.time(column)));
        let [peak, in_rayon, in_furcate] = Column::ALL.map(|column| row.peak(column) as f64 / 1024.0);
        let (lines, ratio) = (program.all_lines(), of_rayon(row));
        let schedule = escaped(program.schedule);
        let _ = writeln!(
            page,
            "<tr><td><a href=\"#{0}\">{0}</a><td>{sequential}<td>{rayon}<td>{furcate}<td>{ratio}<td>{peak:.1}\
             <td>{in_rayon:.1}<td>{in_furcate:.1}<td>{lines}<td><code>{schedule}</code>",
            program.name
        );
    }
    page.push_str("</table>\n");
    for row in all {
        let program = row.program;
        let _ = writeln!(
            page,
            "<h2 id=\"{}\">{}</h2>\n<p>{}. {}</p>\n<div class=\"columns\">",
            program.name,
            program.name.replace('_', " "),
            prose(&format!("{} ({})", sentence(program.what), program.suite)),
            prose(&format!("{}.", sentence(program.why))),
        );
        for column in Column::ALL {
            let time = time(row.time(column));
            let _ = writeln!(
                page,
                "<div><h3>{} <small>{time}</small></h3><pre>{}</pre></div>",
                column.name(),
                code(program, column)
            );
        }
        let graph = picture(program, settings)?;
        let _ = writeln!(
            page,
            "</div>\n<details><summary>A small run on furcate</summary><figure class=\"graph\">{graph}</figure></details>"
        );
    }
    page.push_str("</html>\n");
    Ok(page)
}

/// Returns a column's code, with marks where the third column differs from the second one.
fn code(program: &Program, column: Column) -> String {
    let other = match column {
        Column::Sequential => String::new(),
        Column::Rayon => program.code(Column::Furcate),
        Column::Furcate => program.code(Column::Rayon),
    };
    let others: Vec<&str> = other.lines().collect();
    let mut text = String::new();
    for line in program.code(column).lines() {
        let line_of_code = escaped(line);
        if other.is_empty() || others.contains(&line) {
            let _ = writeln!(text, "{line_of_code}");
        } else {
            let _ = writeln!(text, "<mark>{line_of_code}</mark>");
        }
    }
    text
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns a text as HTML, in which words between backticks are code.
fn prose(text: &str) -> String {
    let escaped = escaped(text);
    let parts = escaped.split('`').enumerate();
    parts.map(|(i, part)| if i % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const STYLE: &str = "body{font-family:sans-serif;margin:1.5rem auto;max-width:1600px;padding:0 1rem;color:#222}\
figure{margin:0;overflow-x:auto}svg{max-width:100%;height:auto}.graph svg{min-width:900px}\
table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}\
td,th{white-space:nowrap;padding:.3rem .8rem;text-align:right;border-bottom:1px solid #ddd}\
td:first-child,th:first-child,td:last-child,th:last-child{text-align:left}\
.columns{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:.6rem}\
@media(max-width:1000px){.columns{grid-template-columns:minmax(0,1fr)}}\
h3{margin:.2rem 0;font-size:1rem}small{font-weight:normal;color:#666}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f5f5f5;padding:.6rem;font-size:12px;margin:0}mark{background:#ffe9a8}";
