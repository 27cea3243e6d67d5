//! Tables for people.

use super::measure::{FORMS, Sums};
use super::solvers::{SIZES, Times};
use warpline_cli::table::{Table, quotient, ratio};

/// The paper's averages (Section 5), in per cent.
mod paper {
    /// Figure 11: time, of Singer's SSI: ABCD, conditional constants.
    pub(super) const TIME: [f64; 2] = [6.8, 4.1];
    /// Figure 12: time, of O1 and splitting.
    pub(super) const OF_O1: [f64; 2] = [1.48, 0.9];
    /// Figure 13: growth; Singer's SSI too.
    pub(super) const GROWTH: [f64; 3] = [2.75, 1.84, 17.6];
}

/// What must be reached: ratios to Singer's SSI in time and growth, and the share of O1 in per cent.
mod target {
    pub(super) const TIME: [f64; 2] = [30.0, 20.0];
    pub(super) const OF_O1: f64 = 1.5;
    pub(super) const GROWTH: f64 = 20.0;
}

/// The two clients that the paper measures.
const CLIENTS: [&str; 2] = ["abcd", "conditional-constants"];

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |v| format!("{:.2}", v * 100.0))
}

fn plain(value: f64) -> String {
    format!("{value:.2}")
}

/// Of Singer's time.
fn time(sums: &Sums, form: &str) -> Option<f64> {
    quotient(sums.cost(form).time_ns, sums.cost("singer").time_ns)
}

/// Of O1's time with the form's own.
fn share(sums: &Sums, form: &str) -> Option<f64> {
    let own = sums.cost(form).time_ns;
    quotient(own, sums.o1_time_ns + own).filter(|_| sums.o1_time_ns > 0.0)
}

/// Of all instructions.
fn grown(sums: &Sums, form: &str) -> Option<f64> {
    (sums.instructions > 0).then(|| sums.cost(form).added() as f64 / sums.instructions as f64)
}

/// The mean over programs, as the paper has it.
fn mean(rows: &[(String, Sums)], of: impl Fn(&Sums) -> Option<f64>) -> Option<f64> {
    let known: Vec<f64> = rows.iter().filter_map(|row| of(&row.1)).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

/// The paper's figures and ours.
pub(super) fn beside_the_paper(rows: &[(String, Sums)], total: &Sums) -> Table {
    let mut table = Table::new(1, &["per cent", "all together", "mean of lines", "paper", "to reach"]);
    let mut row =
        |name: String, of: &dyn Fn(&Sums) -> Option<f64>, paper: Option<f64>, target: Option<f64>| {
            let bound = target.map_or_else(String::new, |t| format!("≤ {t}"));
            let paper = paper.map_or_else(String::new, plain);
            table.row(vec![name, percent(of(total)), percent(mean(rows, of)), paper, bound]);
        };
    for (k, form) in CLIENTS.into_iter().enumerate() {
        row(
            format!("{form}: time, of Singer's SSI"),
            &|s| time(s, form),
            Some(paper::TIME[k]),
            Some(target::TIME[k]),
        );
    }
    for (k, form) in CLIENTS.into_iter().enumerate() {
        let of = |s: &Sums| share(s, form);
        row(format!("{form}: time, of O1 and splitting"), &of, Some(paper::OF_O1[k]), Some(target::OF_O1));
    }
    for (k, form) in CLIENTS.into_iter().chain(["singer"]).enumerate() {
        row(format!("{form}: growth"), &|s| grown(s, form), Some(paper::GROWTH[k]), None);
    }
    for (k, form) in CLIENTS.into_iter().enumerate() {
        let of = |s: &Sums| quotient(s.cost(form).added() as f64, s.cost("singer").added() as f64);
        let theirs = paper::GROWTH[k] / paper::GROWTH[2] * 100.0;
        row(format!("{form}: growth, of Singer's SSI's"), &of, Some(theirs), Some(target::GROWTH));
    }
    table
}

/// What each strategy costs on all programs together.
pub(super) fn strategies(total: &Sums) -> Table {
    let headings =
        ["strategy", "φs", "σs", "copies", "growth %", "ms", "% of Singer's", "ns per instruction"];
    let mut table = Table::new(1, &headings);
    for cost in &total.costs {
        table.row(vec![
            cost.form.to_owned(),
            cost.phis.to_string(),
            cost.sigmas.to_string(),
            cost.copies.to_string(),
            percent(grown(total, cost.form)),
            plain(cost.time_ns / 1e6),
            percent(time(total, cost.form)),
            plain(cost.time_ns / total.instructions.max(1) as f64),
        ]);
    }
    let millis = plain(total.program_time_ns / 1e6);
    let per_instruction = plain(total.program_time_ns / total.instructions.max(1) as f64);
    let singer = percent(quotient(total.program_time_ns, total.cost("singer").time_ns));
    let blank = || vec![String::new(); 4];
    let name = vec!["(collecting uses and definitions)".to_owned()];
    table.row([name, blank(), vec![millis, singer, per_instruction]].concat());
    table
}

fn by_form(
    rows: &[(String, Sums)],
    total: &Sums,
    first: (&str, &dyn Fn(&Sums) -> String),
    of: impl Fn(&Sums, &str) -> Option<f64>,
    paper: &[(&str, f64)],
) -> Table {
    let forms: Vec<&str> = FORMS.into_iter().filter(|&f| of(total, f).is_some()).collect();
    let mut table = Table::new(1, &[&["program", first.0][..], &forms].concat());
    let mut row = |name: &str, left: String, value: &dyn Fn(&str) -> Option<f64>| {
        let cells = forms.iter().map(|form| percent(value(form)));
        table.row([name.to_owned(), left].into_iter().chain(cells).collect());
    };
    for (name, sums) in rows {
        row(name, (first.1)(sums), &|form| of(sums, form));
    }
    row("all together", (first.1)(total), &|form| of(total, form));
    row("mean", String::new(), &|form| mean(rows, |sums| of(sums, form)));
    let theirs = |form: &str| paper.iter().find(|p| p.0 == form).map(|p| p.1 / 100.0);
    row("paper: mean", String::new(), &theirs);
    table
}

/// Figure 11.
pub(super) fn times(rows: &[(String, Sums)], total: &Sums) -> Table {
    let millis = |s: &Sums| plain(s.cost("singer").time_ns / 1e6);
    let paper = [(CLIENTS[0], paper::TIME[0]), (CLIENTS[1], paper::TIME[1]), ("singer", 100.0)];
    by_form(rows, total, ("Singer's ms", &millis), time, &paper)
}

/// Figure 12.
pub(super) fn of_o1(rows: &[(String, Sums)], total: &Sums) -> Table {
    let millis = |s: &Sums| plain(s.o1_time_ns / 1e6);
    let paper = [(CLIENTS[0], paper::OF_O1[0]), (CLIENTS[1], paper::OF_O1[1])];
    by_form(rows, total, ("O1 ms", &millis), share, &paper)
}

/// Figure 13.
pub(super) fn growth(rows: &[(String, Sums)], total: &Sums) -> Table {
    let instructions = |s: &Sums| s.instructions.to_string();
    let [abcd, constants, singer] = paper::GROWTH;
    let paper = [(CLIENTS[0], abcd), (CLIENTS[1], constants), ("singer", singer)];
    by_form(rows, total, ("instructions", &instructions), grown, &paper)
}

/// Sparse and dense solutions of all functions, together and by size.
pub(super) fn solvers(total: &Sums) -> Table {
    let mut headings = ["client", "sparse ms", "dense ms", "dense / sparse"].map(str::to_owned).to_vec();
    let bounds = [&[0][..], &SIZES].concat();
    headings.extend(bounds.iter().enumerate().map(|(k, from)| match bounds.get(k + 1) {
        Some(to) => format!("{from} to {} instructions", to - 1),
        None => format!("from {from}"),
    }));
    let mut table = Table::new(1, &headings.iter().map(String::as_str).collect::<Vec<_>>());
    let factor = |t: &Times| ratio(quotient(t.dense_ns, t.sparse_ns));
    for solved in &total.solvers {
        let all = solved.total();
        let mut cells = vec![
            solved.client.to_owned(),
            plain(all.sparse_ns / 1e6),
            plain(all.dense_ns / 1e6),
            factor(&all),
        ];
        cells.extend(solved.by_size.iter().map(factor));
        table.row(cells);
    }
    table
}

/// How many ways facts take where variables are written more than once.
pub(super) fn dependences(rows: &[(String, Sums)], total: &Sums) -> Table {
    let mut table = Table::new(1, &["", "edges of versions", "def-use chains", "chains / versions"]);
    let all = rows.iter().map(|(name, sums)| (name.as_str(), sums)).chain([("all together", total)]);
    for (name, Sums { dependences, .. }) in all {
        let share = quotient(dependences.def_use as f64, dependences.versions as f64);
        let cells = [dependences.versions, dependences.def_use].map(|n| n.to_string());
        table.row([vec![name.to_owned()], cells.to_vec(), vec![ratio(share)]].concat());
    }
    table
}
