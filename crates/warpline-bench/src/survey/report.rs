//! The tables of the survey.

use std::fmt::Write as _;

use serde::Serialize;

use super::measure::{Measured, Row};
use super::model::{self, Agreement};
use warpline_cli::table::{Table, geometric_mean, ratio};

/// What tables begin with.
const HEAD: &str = "# Results of the survey

Printed by `warpline-bench survey`. Speed-ups over scalar code (O3 without vectorizers): medians of paired ratios. What
the columns are says [the page about it](survey.md).
";
/// Below this, with the whole interval, a row is slower than scalar code.
const SLOWER: f64 = 0.97;
/// Below this it is much slower.
const MUCH_SLOWER: f64 = 0.93;
/// A row is behind other compilers if it is below this share of the best of them.
const BEHIND: f64 = 0.9;
/// A row is far from what is written by hand below this share of its speed.
const HALF: f64 = 0.5;
/// The number of lanes is well chosen if the time is not above this, the best being 1.
const WELL_CHOSEN: f64 = 1.1;

/// What the rows of one CPU add up to.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub cpu: String,
    pub rows: usize,
    pub failed: usize,
    pub refused: usize,
    /// Of speed-ups over scalar code.
    pub geometric_mean: Option<f64>,
    pub slower: Vec<String>,
    pub much_slower: Vec<String>,
    pub behind: Vec<String>,
    /// Of the shares of the speed of what is written by hand, and the rows that have less than half of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_of_hand: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub below_half_of_hand: Vec<String>,
    /// The share of rows for which auto takes at most a tenth longer than the best number of lanes.
    pub well_chosen: Option<f64>,
    pub worst_choice: Option<(String, f64)>,
    /// How expectations stand to times in each half of the functions.
    pub model: [Agreement; 2],
}

impl Summary {
    fn of(cpu: &str, rows: &[&Row]) -> Summary {
        let named = |holds: &dyn Fn(&Row) -> bool| {
            rows.iter().filter(|r| holds(r)).map(|r| r.row.clone()).collect::<Vec<_>>()
        };
        let choices: Vec<(String, f64)> =
            rows.iter().filter_map(|r| Some((r.row.clone(), r.auto_over_best()?))).collect();
        let well = choices.iter().filter(|(_, over)| *over <= WELL_CHOSEN).count();
        Summary {
            cpu: cpu.to_owned(),
            rows: rows.len(),
            failed: rows.iter().filter(|r| r.failed.is_some()).count(),
            refused: rows.iter().filter(|r| r.auto.refused.is_some()).count(),
            geometric_mean: geometric_mean(rows.iter().map(|r| r.auto_speedup())),
            slower: named(&|r| r.auto.speedup.is_some_and(|s| s.high < SLOWER)),
            much_slower: named(&|r| r.auto_speedup().is_some_and(|s| s < MUCH_SLOWER)),
            behind: named(&|r| {
                let both = r.auto_speedup().zip(r.best_other());
                both.is_some_and(|(auto, other)| auto < BEHIND * other)
            }),
            share_of_hand: geometric_mean(rows.iter().filter_map(|r| r.share()).map(Some)),
            below_half_of_hand: named(&|r| r.share().is_some_and(|share| share < HALF)),
            well_chosen: (!choices.is_empty()).then(|| well as f64 / choices.len() as f64),
            worst_choice: choices.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)),
            model: model::halves(rows),
        }
    }
}

/// The CPUs of rows, in order.
pub(super) fn cpus(rows: &[Row]) -> Vec<&str> {
    let mut cpus: Vec<&str> = Vec::new();
    for row in rows {
        if !cpus.contains(&row.cpu.as_str()) {
            cpus.push(&row.cpu);
        }
    }
    cpus
}

/// One for each CPU.
pub(super) fn summaries(rows: &[Row]) -> Vec<Summary> {
    let of = |cpu: &str| Summary::of(cpu, &rows.iter().filter(|r| r.cpu == cpu).collect::<Vec<_>>());
    cpus(rows).into_iter().map(of).collect()
}

/// What is wrong with what warpline makes, one line each: results, and defects.
pub(super) fn wrong(rows: &[Row]) -> Vec<String> {
    let is_defect = |m: &Measured| {
        let by_signal = m.refused.as_deref().is_some_and(|reason| reason.starts_with("ended by a signal"));
        m.exit == Some(3) || by_signal
    };
    let told = |m: &Measured| match (&m.wrong, &m.refused) {
        (Some(wrong), _) => Some(wrong.clone()),
        (None, Some(reason)) if is_defect(m) => Some(format!("a defect: {reason}")),
        _ => None,
    };
    lines_about(rows, |name, m| is_ours(name).then(|| told(m)).flatten())
}

/// Results of other compilers that differ: their defects, or promises in the files that do not hold.
pub(super) fn others(rows: &[Row]) -> Vec<String> {
    lines_about(rows, |name, m| m.wrong.clone().filter(|_| !is_ours(name)))
}

fn is_ours(variant: &str) -> bool {
    !["scalar", "clang", "omp", "gcc", "hand"].contains(&variant)
}

fn lines_about(rows: &[Row], told: impl Fn(&str, &Measured) -> Option<String>) -> Vec<String> {
    let line = |row: &Row, name: String, m: &Measured| {
        told(&name, m).map(|what| format!("{} on {}, {name}: {what}", row.row, row.cpu))
    };
    rows.iter().flat_map(|row| row.variants().filter_map(|(name, m)| line(row, name, m))).collect()
}

/// In Markdown.
pub(super) fn markdown(rows: &[Row]) -> String {
    let mut text = HEAD.to_owned();
    for (cpu, summary) in cpus(rows).into_iter().zip(summaries(rows)) {
        let rows: Vec<&Row> = rows.iter().filter(|r| r.cpu == cpu).collect();
        let _ = write!(text, "\n## {cpu}\n\n{}\n{}", table(&rows).markdown(), lines(&summary));
        let _ = write!(text, "{}", reasons(&rows));
    }
    let (wrong, others) = (wrong(rows), others(rows));
    let _ = match wrong.is_empty() {
        true => writeln!(text, "\nNo wrong results."),
        false => writeln!(text, "\n**Wrong results:**\n\n* {}", wrong.join("\n* ")),
    };
    if !others.is_empty() {
        let _ = writeln!(text, "\nOther compilers' results that differ:\n\n* {}", others.join("\n* "));
    }
    text
}

fn table(rows: &[&Row]) -> Table {
    let with_hand = rows.iter().any(|row| row.hand.is_some());
    let mut head = vec!["row", "scalar ns", "clang", "omp", "gcc", "auto", "interval", "width"];
    head.extend(["best", "best width", "auto/best"]);
    if with_hand {
        head.extend(["hand", "share of hand"]);
    }
    let mut table = Table::new(1, &head);
    let speed = |m: &Measured| match (&m.wrong, m.speedup) {
        (Some(_), _) => "**wrong**".to_owned(),
        (None, speedup) => ratio(speedup.map(|s| s.median)),
    };
    for row in rows {
        let best = row.best();
        let (auto, interval) = match (&row.auto.refused, row.auto.speedup) {
            (Some(_), _) => ("refused".to_owned(), String::new()),
            (None, speedup) => {
                let interval = speedup.map(|s| format!("{:.2}–{:.2}", s.low, s.high));
                (speed(&row.auto), interval.unwrap_or_default())
            }
        };
        let mut cells = vec![
            row.row.clone(),
            row.scalar.ns.map_or_else(|| "–".to_owned(), |ns| format!("{ns:.1}")),
            speed(&row.clang),
            speed(&row.omp),
            speed(&row.gcc),
            auto,
            interval,
            lanes(&row.auto),
            ratio(best.and_then(|(_, m)| m.speedup).map(|s| s.median)),
            best.map_or_else(|| "–".to_owned(), |(w, _)| w.to_string()),
            ratio(row.auto_over_best()),
        ];
        if with_hand {
            cells.push(row.hand.as_ref().map_or_else(|| "–".to_owned(), speed));
            cells.push(percent(row.share()));
        }
        table.row(cells);
    }
    table
}

/// The numbers of lanes of the loops.
fn lanes(m: &Measured) -> String {
    let mut lanes = m.lanes.clone();
    lanes.dedup();
    match lanes.is_empty() {
        true => "–".to_owned(),
        false => lanes.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", 100.0 * share))
}

fn lines(s: &Summary) -> String {
    let list = |rows: &[String]| match rows.is_empty() {
        true => "none".to_owned(),
        false => format!("{}: {}", rows.len(), rows.join(", ")),
    };
    let well_chosen = percent(s.well_chosen);
    let [first, second] = s.model.map(|half| {
        format!(
            "{} of {} (rank correlation {})",
            percent(half.share()),
            half.pairs,
            ratio(half.rank_correlation)
        )
    });
    let worst =
        s.worst_choice.as_ref().map_or_else(|| "–".to_owned(), |(row, over)| format!("{over:.2} ({row})"));
    let of_hand = s.share_of_hand.map_or_else(String::new, |share| {
        let below = list(&s.below_half_of_hand);
        format!(
            "* geometric mean of the shares of hand-written speed: {}; below half: {below}\n",
            percent(Some(share))
        )
    });
    format!(
        "* rows: {}; refused: {}; not measured: {}\n\
         * geometric mean of auto: {}\n\
         * below {SLOWER} of scalar code (interval wholly below): {}\n\
         * below {MUCH_SLOWER}: {}\n\
         * below {BEHIND} of the best of clang, omp and gcc: {}\n\
         * auto within 10 % of the best number of lanes: {well_chosen}; worst: {worst}\n\
         * pairs of candidates a tenth or more apart that the model orders right: {first} in one half of the \
         functions, {second} in the other\n{of_hand}",
        s.rows,
        s.refused,
        s.failed,
        ratio(s.geometric_mean),
        list(&s.slower),
        list(&s.much_slower),
        list(&s.behind),
    )
}

/// Why rows are refused or not measured, and which columns are empty everywhere.
fn reasons(rows: &[&Row]) -> String {
    let mut text = String::new();
    for row in rows {
        if let Some(reason) = &row.failed {
            let _ = writeln!(text, "* {} is not measured: {}", row.row, reason.replace('\n', " "));
        }
        if let Some(reason) = &row.auto.refused {
            let exit =
                row.auto.exit.map_or_else(|| "no exit code".to_owned(), |code| format!("exit code {code}"));
            let _ = writeln!(text, "* {} is refused ({exit}): {reason}", row.row);
        }
    }
    for name in ["clang", "omp", "gcc"] {
        let all = rows.iter().flat_map(|r| r.variants()).filter(|(n, _)| n == name);
        let all: Vec<&Measured> = all.map(|(_, m)| m).collect();
        if let Some(first) = all.first()
            && all.iter().all(|m| m.ns.is_none())
        {
            let reason = first.refused.as_deref().unwrap_or("not measured");
            let _ = writeln!(text, "* {name} has no figures: {reason}");
        }
    }
    text
}
