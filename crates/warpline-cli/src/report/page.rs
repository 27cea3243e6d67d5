//! The page: totals, a table of all loops and kernels, and a section on each.
//!
//! It refers to nothing outside it. Names and texts of inputs can contain anything, and are escaped where they become
//! HTML; the script finds them in the table.

use std::fmt::Write as _;

use warpline::uniformity::report::FunctionReport;

use super::entry::{Entry, Line, State};
use super::{Counts, File, count, short};
use crate::html::{HEAD, STYLE, escape};

/// The page of some inputs.
pub(super) fn page(files: &[File]) -> String {
    let Counts { vector, scalar, refused, unread } = count(files);
    let mut rows = String::new();
    let mut sections = String::new();
    for (number, file) in files.iter().enumerate() {
        match &file.found {
            Ok(entries) => {
                for (at, entry) in entries.iter().enumerate() {
                    let id = format!("e{number}-{at}");
                    rows += &row(&id, entry);
                    sections += &section(&id, entry);
                }
            }
            Err(reason) => {
                let (path, reason) = (escape(&short(&file.path)), escape(&reason.to_string()));
                let _ = writeln!(
                    rows,
                    "<tr data-state=\"failed\"><td class=\"place\">{path}</td><td></td><td><span class=\"state failed\">not \
                     read</span></td><td class=\"number\" data-key=\"0\"></td><td></td><td>{reason}</td></tr>"
                );
            }
        }
    }
    let failed = if unread > 0 { check("failed", "not read", unread) } else { String::new() };
    format!(
        "{HEAD}<title>warpline: loops and kernels</title>\n<style>\n{STYLE}{}</style>\n</head>\n\
         <body>\n<h1>Loops and kernels</h1>\n<p>What becomes of each, what it is expected to gain, and why not more. A \
         click on a place leads to what each line costs and to what diverges.</p>\n<div class=\"tools\"><input \
         id=\"search\" type=\"search\" placeholder=\"file, function, reason …\" aria-label=\"search\">{}{}{}{failed}</div>\n\
         <table>\n<thead><tr><th>place</th><th>function</th><th>becomes</th><th class=\"number\">expected \
         gain</th><th>diverges</th><th>why not more</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n\
         {sections}<script>\n{}</script>\n</body>\n</html>\n",
        include_str!("page.css"),
        check("vector", "vector code", vector),
        check("scalar", "stays scalar", scalar),
        check("refused", "cannot be vectorized", refused),
        include_str!("page.js"),
    )
}

fn check(state: &str, name: &str, count: usize) -> String {
    format!(
        "<label><input type=\"checkbox\" data-state=\"{state}\" checked> <span class=\"state {state}\">{name}: \
         {count}</span></label>"
    )
}

fn row(id: &str, entry: &Entry) -> String {
    let state = entry.state.name();
    let becomes = match &entry.state {
        State::Vector { lanes } => format!("{lanes} lanes"),
        State::Scalar => "scalar".to_owned(),
        State::Refused => "as it is".to_owned(),
    };
    let gain = gain(entry);
    let shown = gain.map_or_else(String::new, |gain| format!("{gain:.1}×"));
    let (branches, loops) = entry.divergence.as_ref().map_or((0, 0), counted);
    let diverges = match (&entry.divergence, branches, loops) {
        (None, ..) => String::new(),
        (Some(_), 0, 0) => "nothing".to_owned(),
        (Some(_), branches, loops) => {
            let some = [(branches, "branch", "branches"), (loops, "loop", "loops")];
            let some = some.iter().filter(|(n, ..)| *n > 0).map(|(n, one, many)| match n {
                1 => format!("1 {one}"),
                n => format!("{n} {many}"),
            });
            some.collect::<Vec<_>>().join(", ")
        }
    };
    let place = if entry.place.is_empty() { "?" } else { &entry.place };
    format!(
        "<tr data-state=\"{state}\"><td class=\"place\"><a href=\"#{id}\">{}</a></td><td \
         class=\"function\">{}</td><td><span class=\"state {state}\">{becomes}</span></td><td class=\"number\" \
         data-key=\"{:.3}\">{shown}</td><td>{diverges}</td><td>{}</td></tr>\n",
        escape(place),
        escape(&entry.function),
        gain.unwrap_or(0.0),
        prose(&entry.why),
    )
}

/// Text in which what stands between backquotes is code.
fn prose(text: &str) -> String {
    let parts: Vec<String> = text.split('`').map(escape).collect();
    // One without a second is none.
    if parts.len().is_multiple_of(2) {
        return escape(text);
    }
    let part = |(at, part): (usize, &String)| {
        if at % 2 == 0 { part.clone() } else { format!("<code>{part}</code>") }
    };
    parts.iter().enumerate().map(part).collect()
}

/// How many times as fast as scalar code vector code is expected to be.
fn gain(entry: &Entry) -> Option<f64> {
    let cycles = entry.cycles.as_ref()?;
    let gain = cycles.scalar? / cycles.vector;
    gain.is_finite().then_some(gain)
}

/// How many branches and loops diverge.
fn counted(of: &FunctionReport) -> (usize, usize) {
    let loops = of.cycles.iter().filter(|cycle| cycle.divergent_exit).count();
    (of.divergent.branches.len(), loops)
}

fn section(id: &str, entry: &Entry) -> String {
    let mut text = format!(
        "<details id=\"{id}\"><summary>{} {}</summary>\n",
        escape(&entry.place),
        escape(&entry.function)
    );
    if let Some(cycles) = &entry.cycles {
        let scalar = cycles.scalar.map_or_else(String::new, |scalar| format!("; as scalar code {scalar:.1}"));
        let _ = writeln!(text, "<p>Expected: {:.1} cycles a lane{scalar}.</p>", cycles.vector);
    }
    if let Some(reason) = &entry.reason {
        let _ = writeln!(text, "<p>{}</p>", prose(reason));
    }
    text += &list("Where the time goes", entry.remarks.iter().map(String::as_str));
    text += &costs(&entry.lines);
    if let Some(of) = &entry.divergence {
        let _ = writeln!(text, "<h3>What differs between lanes</h3>\n<p>{}</p>", escape(&of.shares()));
        let reasons: Vec<String> = of
            .reasons
            .iter()
            .map(|reason| {
                let place = reason.location.as_ref().map_or_else(String::new, |place| format!("{place}: "));
                format!("{place}{} {}", reason.kind, reason.text)
            })
            .collect();
        text += &list("Why", reasons.iter().map(String::as_str));
    }
    let _ = writeln!(text, "<h3>More</h3>\n<pre>{}</pre>\n</details>", escape(&entry.command));
    text
}

fn list<'a>(title: &str, items: impl Iterator<Item = &'a str>) -> String {
    let items: String = items.map(|item| format!("<li>{}</li>\n", prose(item))).collect();
    if items.is_empty() { items } else { format!("<h3>{title}</h3>\n<ul>\n{items}</ul>\n") }
}

fn costs(lines: &[Line]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let row = |line: &Line| {
        format!(
            "<tr><td class=\"place\">{}</td><td class=\"number\">{:.0} %</td><td><span class=\"bar\" \
             style=\"width:{:.0}px\"></span></td><td class=\"number\">{:.2}</td><td><code>{}</code> {}</td></tr>\n",
            escape(&line.place),
            100.0 * line.share,
            120.0 * line.share,
            line.lane,
            escape(&line.source),
            prose(&line.what),
        )
    };
    format!(
        "<h3>What lines cost</h3>\n<div><table><thead><tr><th>line</th><th class=\"number\">share</th><th></th><th \
         class=\"number\">cycles a lane</th><th>what</th></tr></thead><tbody>\n{}</tbody></table></div>\n",
        lines.iter().map(row).collect::<String>()
    )
}
