//! The table about paper 1, Figure 5.

use serde::Serialize;
use warpline_testkit::reference::criteria::findings;

use warpline_cli::output;
use warpline_cli::table::Table;

/// One line, for programs.
#[derive(Serialize)]
struct Line {
    figure: &'static str,
    place: &'static str,
    criterion: &'static str,
    found: Option<Vec<&'static str>>,
    exact: Vec<&'static str>,
    verdict: &'static str,
}

/// The table for people.
pub(super) fn text() -> String {
    let mut table = Table::new(6, &["figure", "place", "criterion", "branches found", "exact", "verdict"]);
    let list = |conditions: &[&str]| match conditions {
        [] => "none".to_owned(),
        some => some.join(", "),
    };
    for f in findings() {
        table.row(vec![
            f.figure.to_owned(),
            f.place.to_owned(),
            f.criterion.name().to_owned(),
            f.found.as_deref().map_or_else(|| "–".to_owned(), list),
            list(&f.exact),
            f.verdict.name().to_owned(),
        ]);
    }
    "Which branches decide, on the graphs of paper 1, Figure 5\n\n".to_owned() + &table.text()
}

/// The table for programs.
pub(super) fn json() -> String {
    let lines: Vec<Line> = findings()
        .into_iter()
        .map(|f| Line {
            figure: f.figure,
            place: f.place,
            criterion: f.criterion.name(),
            found: f.found,
            exact: f.exact,
            verdict: f.verdict.name(),
        })
        .collect();
    output::json(&serde_json::json!({ "figure5": lines }))
}
