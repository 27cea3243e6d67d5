//! `warpline run --draw-lanes`: which lanes of the first group are active on which line, as the interpreter runs them.
//!
//! A row is a line of the source that lanes execute together, a column a lane. Instructions of one line that the same
//! lanes execute one after the other are one row.

use std::fmt::Write as _;
use std::path::Path;

use warpline::Place;
use warpline::interp::{Event, Observer};
use warpline::ir::Module;

use crate::chain::Sources;
use crate::html::escape;

use super::data::Data;
use super::lockstep::{self, Subject};

/// More rows than this are not drawn.
const MANY: usize = 60;
/// The longest line of the source that is shown.
const LONGEST: usize = 60;
/// Heights and widths in pixels.
const ROW: usize = 18;
const LETTER: usize = 7;
const TOP: usize = 44;
const LEFT: usize = 12;

/// What lanes do together.
#[derive(PartialEq, Eq)]
struct Row {
    file: String,
    line: u32,
    /// The lanes, from 0.
    active: Vec<u32>,
}

/// Collects rows.
struct Trace<'a> {
    module: &'a Module,
    rows: Vec<Row>,
}

impl Observer for Trace<'_> {
    fn executed(&mut self, event: &Event<'_>) {
        let Some(id) = event.function() else { return };
        let func = &self.module.functions[id];
        let Some(place) = Place::of(self.module, func, func.insts[event.inst].loc.expand()) else { return };
        let row = Row { file: place.file, line: place.line, active: event.lanes.iter().collect() };
        if row.line > 0 && self.rows.last() != Some(&row) {
            self.rows.push(row);
        }
    }
}

/// The drawing of the first group of a kernel.
pub(super) fn draw(input: &Path, title: &str, subject: Subject<'_>, data: &Data) -> String {
    let mut trace = Trace { module: subject.module, rows: Vec::new() };
    lockstep::observe(subject, data, 1, &mut trace);
    let mut sources = Sources::beside(input);
    // Where nothing but a brace stands, nothing is computed.
    let says = |code: &String| code.is_empty() || code.contains(char::is_alphanumeric);
    let rows = trace.rows.into_iter().map(|row| (code(&row, &mut sources), row));
    let (codes, rows): (Vec<String>, Vec<Row>) = rows.filter(|(code, _)| says(code)).unzip();
    let indentation = |code: &String| code.len() - code.trim_start().len();
    let least = codes.iter().filter(|code| !code.is_empty()).map(indentation).min().unwrap_or(0);
    let text = |(code, row): (&String, &Row)| {
        let short: String = code.chars().skip(least).take(LONGEST).collect();
        format!("{:>3}  {short}", row.line)
    };
    let texts: Vec<String> = codes.iter().zip(&rows).map(text).collect();
    svg(&format!("{title}: the first {} lanes", subject.width), subject.width, &rows, &texts)
}

/// What stands on the line of a row, without comments.
fn code(row: &Row, sources: &mut Sources) -> String {
    let lines = sources.lines(&row.file);
    let line = lines.and_then(|lines| lines.get(row.line as usize - 1)).map_or("", String::as_str);
    let code = line.split("/*").next().unwrap_or(line).split("//").next().unwrap_or(line);
    code.trim_end().to_owned()
}

fn svg(title: &str, lanes: u32, rows: &[Row], texts: &[String]) -> String {
    let drawn = rows.len().min(MANY);
    let letters = texts[..drawn].iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let x = |lane: u32| LEFT + LETTER * (letters + 2) + ROW * lane as usize;
    let y = |row: usize| TOP + ROW * row;
    let more = usize::from(rows.len() > drawn);
    let (width, height) = ((x(lanes) + LEFT).max(LEFT * 2 + LETTER * title.len()), y(drawn + more) + LEFT);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"monospace\" font-size=\"12\">\n<rect width=\"{width}\" height=\"{height}\" \
         fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"16\" font-family=\"sans-serif\" font-size=\"13\">{}</text>\n",
        escape(title)
    );
    for lane in 0..lanes {
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" font-size=\"9\" text-anchor=\"middle\">{lane}</text>",
            x(lane) + ROW / 2,
            TOP - 4
        );
    }
    for (at, (row, text)) in rows.iter().zip(texts).take(drawn).enumerate() {
        let _ = writeln!(
            out,
            "<text x=\"{LEFT}\" y=\"{}\" xml:space=\"preserve\">{}</text>",
            y(at) + 13,
            escape(text)
        );
        for lane in 0..lanes {
            let fill = if row.active.contains(&lane) { "#2f6db5" } else { "#e6ebf0" };
            let side = ROW - 3;
            let _ = writeln!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"{side}\" height=\"{side}\" fill=\"{fill}\"/>",
                x(lane) + 1,
                y(at) + 1
            );
        }
    }
    if more > 0 {
        let _ = writeln!(
            out,
            "<text x=\"{LEFT}\" y=\"{}\">{} more rows</text>",
            y(drawn) + 13,
            rows.len() - drawn
        );
    }
    out + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_lanes_have_a_colour_of_their_own_and_long_runs_are_cut() {
        let row = |line, active: &[u32]| Row { file: "f.c".to_owned(), line, active: active.to_vec() };
        let rows: Vec<Row> = (0..70).map(|k| row(k + 1, if k == 0 { &[0, 1] } else { &[1] })).collect();
        let texts: Vec<String> = rows.iter().map(|row| format!("{:>3}  a < b", row.line)).collect();
        let svg = svg("f: the first 2 lanes", 2, &rows, &texts);
        assert_eq!(svg.matches("#2f6db5").count(), MANY + 1);
        assert_eq!(svg.matches("#e6ebf0").count(), MANY - 1);
        assert!(svg.contains("a &lt; b") && svg.contains("10 more rows"), "{svg}");
    }
}
