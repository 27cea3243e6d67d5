//! The tables of paper 5, and what we add to them.

use super::measure::{File, Phis, Procedure, SMALL, Sums, Times, percent_more};
use super::paper;
use warpline_cli::table::{Table, quotient, ratio};

/// A row of Tables 2 to 4: a file, or all files of a program.
pub(super) struct Row<'a> {
    /// Its name.
    pub name: String,
    /// Lines of its source, where they are known.
    pub lines: Option<usize>,
    /// Its functions.
    pub procedures: Vec<&'a Procedure>,
    /// Sums over them.
    pub sums: Sums,
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |v| format!("{v:.2}"))
}

fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = values.flatten().collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

/// Milliseconds with three places.
fn millis(nanos: f64) -> String {
    format!("{:.3}", nanos / 1e6)
}

/// Table 2: sizes.
pub(super) fn sizes(rows: &[Row]) -> Table {
    let mut table = Table::new(1, &["program", "KLOC", "nCFG", "nVars", "#Proc"]);
    let mut cells = |name: &str, lines: Option<usize>, sums: &Sums| {
        let lines = lines.map_or_else(|| "–".to_owned(), |n| format!("{:.1}", n as f64 / 1000.0));
        let counts = [sums.blocks, sums.variables, sums.functions].map(|n| n.to_string());
        table.row([name.to_owned(), lines].into_iter().chain(counts).collect());
    };
    for row in rows {
        cells(&row.name, row.lines, &row.sums);
    }
    let all = Sums::of(rows.iter().flat_map(|r| r.procedures.iter().copied()));
    cells("total", rows.iter().map(|r| r.lines).sum(), &all);
    table
}

/// Table 3: counts of φs.
pub(super) fn counts(rows: &[Row]) -> Table {
    let headings = ["program", "φ_RD", "φ_DF", "φ_RDE", "φ_DFE", "%φ-sup", "%φ-supE"];
    let mut table = Table::new(1, &headings);
    let mut row = |name: &str, counts: [usize; 4], shares: [Option<f64>; 2]| {
        let counts = counts.map(|n| n.to_string());
        table.row([name.to_owned()].into_iter().chain(counts).chain(shares.map(percent)).collect());
    };
    let four = |phis: &Phis| {
        let Phis { reaching_definitions: rd, dominance_frontier: df, .. } = *phis;
        [rd, df, phis.reaching_definitions_exit, phis.dominance_frontier_exit]
    };
    let both = |phis: &Phis| [phis.superfluous(), phis.superfluous_without_exit()];
    for r in rows {
        row(&r.name, four(&r.sums.phis), both(&r.sums.phis));
    }
    let all = Sums::of(rows.iter().flat_map(|r| r.procedures.iter().copied()));
    row("all together", four(&all.phis), both(&all.phis));
    for p in &paper::PROGRAMS {
        row(&format!("paper: {}", p.name), p.phis, p.superfluous.map(Some));
    }
    let averages = [0, 1].map(|i| mean(rows.iter().map(|r| both(&r.sums.phis)[i])));
    let blank = || vec![String::new(); 4];
    table.row([vec!["average".to_owned()], blank(), averages.map(percent).to_vec()].concat());
    let paper = paper::SUPERFLUOUS.map(|v| percent(Some(v))).to_vec();
    table.row([vec!["paper: average".to_owned()], blank(), paper].concat());
    table
}

/// φs by the other placements, in functions' own graphs; and what share of the superfluous φs of Table 3 are of
/// variables that a single block writes.
pub(super) fn prunings(rows: &[Row]) -> Table {
    let headings = [
        "program",
        "precise",
        "semi-pruned",
        "pruned",
        "pruned DF",
        "% more than pruned",
        "Braun et al.",
        "% sup. of single writes",
    ];
    let mut table = Table::new(1, &headings);
    let mut row = |name: &str, phis: &Phis| {
        table.row(vec![
            name.to_owned(),
            phis.precise.to_string(),
            phis.semi_pruned.to_string(),
            phis.pruned.to_string(),
            phis.pruned_dominance_frontier.to_string(),
            percent(percent_more(phis.pruned_dominance_frontier, phis.pruned)),
            phis.braun.to_string(),
            percent(quotient(
                phis.dominance_frontier_single as f64 * 100.0,
                (phis.dominance_frontier - phis.reaching_definitions) as f64,
            )),
        ]);
    };
    for r in rows {
        row(&r.name, &r.sums.phis);
    }
    row("all together", &Sums::of(rows.iter().flat_map(|r| r.procedures.iter().copied())).phis);
    table
}

/// How many procedures take at most twice, at most five times, and longer than by dominance frontiers.
fn buckets(procedures: &[&Procedure], of: impl Fn(&Times) -> f64) -> [usize; 3] {
    let mut counts = [0; 3];
    for p in procedures {
        let times = of(&p.time_ns) / p.time_ns.cytron;
        counts[if times <= 2.0 { 0 } else { usize::from(times > 5.0) + 1 }] += 1;
    }
    counts
}

/// Table 4: how many procedures take how many times as long as by the dominance frontiers of Cytron et al.
pub(super) fn shares(rows: &[Row], title: &str, of: impl Fn(&Times) -> f64 + Copy) -> Table {
    let mut table = Table::new(1, &[title, "P_2", "P_5", "P_5M", "%P_2", "%P_5", "%P_5M"]);
    let mut row = |name: &str, counts: [usize; 3]| {
        let all = counts.iter().sum::<usize>() as f64;
        let shares = counts.map(|n| percent((all > 0.0).then(|| n as f64 / all * 100.0)));
        table.row([name.to_owned()].into_iter().chain(counts.map(|n| n.to_string())).chain(shares).collect());
    };
    let mut all = [0; 3];
    for r in rows {
        let counts = buckets(&r.procedures, of);
        all.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
        row(&r.name, counts);
    }
    row("all together", all);
    for p in &paper::PROGRAMS {
        row(&format!("paper: {}", p.name), p.procedures);
    }
    let average = paper::SHARES.map(|v| percent(Some(v)));
    table.row([vec!["paper: all together".to_owned()], vec![String::new(); 3], average.to_vec()].concat());
    table
}

/// The precise placement beside the fastest of the baselines with which it can be compared, on procedures that are
/// not small.
pub(super) fn worst(rows: &[Row], title: &str, of: impl Fn(&Times) -> (f64, f64)) -> Table {
    let mut table = Table::new(1, &[title, "#Proc", "≤ 1.1", "≤ 2", "> 2", "% ≤ 2", "worst", "its blocks"]);
    let mut row = |name: &str, procedures: &[&Procedure]| {
        let ratio_of = |p: &Procedure| quotient(of(&p.time_ns).0, of(&p.time_ns).1).unwrap_or(1.0);
        let large: Vec<&Procedure> = procedures.iter().copied().filter(|p| p.blocks > SMALL).collect();
        let within = |bound: f64| large.iter().filter(|p| ratio_of(p) <= bound).count();
        let worst = large.iter().max_by(|a, b| ratio_of(a).total_cmp(&ratio_of(b)));
        table.row(vec![
            name.to_owned(),
            large.len().to_string(),
            within(1.1).to_string(),
            within(2.0).to_string(),
            (large.len() - within(2.0)).to_string(),
            percent(quotient(within(2.0) as f64 * 100.0, large.len() as f64)),
            ratio(worst.map(|p| ratio_of(p))),
            worst.map_or_else(String::new, |p| format!("{} ({})", p.blocks, p.name)),
        ]);
    };
    for r in rows {
        row(&r.name, &r.procedures);
    }
    row("all together", &rows.iter().flat_map(|r| r.procedures.iter().copied()).collect::<Vec<_>>());
    table
}

/// Sums of times, minimal or pruned, and how the precise placement compares with the fastest of the baselines.
pub(super) fn totals(rows: &[Row], pruned: bool) -> Table {
    let mut headings = vec!["ms", "precise", "Cytron", "Sreedhar–Gao", "Braun", "precise / fastest"];
    if !pruned {
        headings.extend(["T_RD", "T_RD / Cytron"]);
    }
    let mut table = Table::new(1, &headings);
    let mut row = |name: &str, t: &Times| {
        let (precise, cytron, sreedhar_gao, fastest) = match pruned {
            true => (t.precise_pruned, t.cytron_pruned, t.sreedhar_gao_pruned, t.pruned_baseline()),
            false => (t.precise, t.cytron, t.sreedhar_gao, t.baseline().min(t.braun)),
        };
        let mut cells = vec![name.to_owned()];
        cells.extend([precise, cytron, sreedhar_gao, t.braun].map(millis));
        cells.push(ratio(quotient(precise, fastest)));
        if !pruned {
            cells.extend([millis(t.reaching_definitions), ratio(quotient(t.reaching_definitions, cytron))]);
        }
        table.row(cells);
    };
    for r in rows {
        row(&r.name, &r.sums.time_ns);
    }
    row("total", &Sums::of(rows.iter().flat_map(|r| r.procedures.iter().copied())).time_ns);
    table
}

/// Table 5: what it costs, thing by thing, the largest first. Times are in microseconds.
fn costs(what: &str, mut things: Vec<(&str, Sums)>, most: usize) -> Table {
    let headings = [
        what,
        "nCFG",
        "nVars",
        "T_1",
        "T_Iter",
        "T_RD",
        "T_DF",
        "T_SG",
        "T_Braun",
        "T_precise",
        "φ_RD",
        "φ_DF",
        "%φ-sup",
    ];
    let mut table = Table::new(1, &headings);
    things.sort_by_key(|thing| std::cmp::Reverse(thing.1.blocks));
    for (name, sums) in things.iter().take(most) {
        let t = &sums.time_ns;
        let rest = (t.reaching_definitions - t.algorithm_1).max(0.0);
        let times =
            [t.algorithm_1, rest, t.reaching_definitions, t.cytron, t.sreedhar_gao, t.braun, t.precise];
        let phis = &sums.phis;
        let mut cells = vec![(*name).to_owned(), sums.blocks.to_string(), sums.variables.to_string()];
        cells.extend(times.map(|t| format!("{:.0}", t / 1e3)));
        cells.extend([phis.reaching_definitions, phis.dominance_frontier].map(|n| n.to_string()));
        cells.push(percent(phis.superfluous()));
        table.row(cells);
    }
    table
}

/// Table 5 by file, as in the paper.
pub(super) fn files(files: &[File], most: usize) -> Table {
    costs("file", files.iter().map(|f| (&*f.name, Sums::of(&f.procedures))).collect(), most)
}

/// Table 5 by function.
pub(super) fn functions(files: &[File], most: usize) -> Table {
    let all = files.iter().flat_map(|f| &f.procedures);
    costs("function", all.map(|p| (&*p.name, Sums::of([p]))).collect(), most)
}

/// The files of the paper's Table 5 that are among ours, with the paper's figures. None if there is none.
pub(super) fn beside_the_paper(files: &[File]) -> Option<Table> {
    let headings = [
        "file",
        "nCFG",
        "paper",
        "nVars",
        "paper",
        "φ_RD",
        "paper",
        "φ_DF",
        "paper",
        "%φ-sup",
        "paper",
        "T_RD / T_DF",
        "paper",
        "T_precise / T_DF",
    ];
    let mut table = Table::new(1, &headings);
    let mut any = false;
    for theirs in &paper::FILES {
        let is_it = |f: &&File| f.name == theirs.name || f.name.strip_prefix("perl-") == Some(theirs.name);
        let Some(ours) = files.iter().find(is_it) else { continue };
        any = true;
        let sums = Sums::of(&ours.procedures);
        let (phis, t) = (&sums.phis, &sums.time_ns);
        table.row(vec![
            theirs.name.to_owned(),
            sums.blocks.to_string(),
            theirs.size[0].to_string(),
            sums.variables.to_string(),
            theirs.size[1].to_string(),
            phis.reaching_definitions.to_string(),
            theirs.phis[0].to_string(),
            phis.dominance_frontier.to_string(),
            theirs.phis[1].to_string(),
            percent(phis.superfluous()),
            percent(percent_more(theirs.phis[1], theirs.phis[0])),
            ratio(quotient(t.reaching_definitions, t.cytron)),
            ratio(quotient(theirs.seconds[0], theirs.seconds[1])),
            ratio(quotient(t.precise, t.cytron)),
        ]);
    }
    any.then_some(table)
}
