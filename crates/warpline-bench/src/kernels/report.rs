//! The tables of `bench kernels`.

use super::measure::Measurement;
use warpline_cli::table::{Table, geometric_mean, ratio};

/// For a terminal.
pub(super) fn text(all: &[Measurement]) -> String {
    tables(all, Table::text)
}

/// In Markdown.
pub(super) fn markdown(all: &[Measurement]) -> String {
    tables(all, Table::markdown)
}

fn tables(all: &[Measurement], print: impl Fn(&Table) -> String) -> String {
    format!(
        "Speed-ups over the scalar program after O3 (medians of processor time); lanes active in a block that \
         is executed, in per cent\n\n{}\n\
         Branches (divergent, uniform lost, uniform kept), loops and exits of divergent loops \
          (uniform/divergent), loads and stores by predicate \
         (true, uniform, varying), tests for speed, bytes of code, time to vectorize\n\n{}",
        print(&speeds(all)),
        print(&shapes(all)),
    )
}

/// The name of a kernel, with its data set.
pub(super) fn name(m: &Measurement) -> String {
    format!("{}/{}", m.kernel, m.data)
}

fn speeds(all: &[Measurement]) -> Table {
    let mut table = Table::new(
        2,
        &[
            "kernel",
            "cpu",
            "W",
            "scalar ms",
            "gcc",
            "clang",
            "full",
            "partial",
            "boscc",
            "ISPC",
            "by hand",
            "full %",
            "partial %",
            "boscc %",
            "mismatches",
        ],
    );
    for m in all {
        let percent = |share: f64| format!("{:.0}", 100.0 * share);
        table.row(vec![
            name(m),
            m.cpu.clone(),
            m.width.to_string(),
            format!("{:.2}", m.scalar_ns as f64 / 1e6),
            ratio(speedup(m, m.gcc_ns)),
            ratio(speedup(m, m.clang_ns)),
            m.full_ns.map_or_else(|| "> 20 × slower".to_owned(), |ns| ratio(speedup(m, Some(ns)))),
            ratio(speedup(m, Some(m.partial_ns))),
            ratio(speedup(m, Some(m.boscc_ns))),
            ratio(speedup(m, m.ispc_ns)),
            ratio(speedup(m, m.by_hand_ns)),
            m.utilization_full.map_or_else(|| "–".to_owned(), percent),
            percent(m.utilization),
            percent(m.utilization_boscc),
            m.mismatches.to_string(),
        ]);
    }
    let mut cpus: Vec<&str> = all.iter().map(|m| m.cpu.as_str()).collect();
    cpus.sort_unstable();
    cpus.dedup();
    for cpu in cpus {
        let of = |ns: fn(&Measurement) -> Option<u64>| {
            ratio(geometric_mean(all.iter().filter(|m| m.cpu == cpu).map(|m| speedup(m, ns(m)))))
        };
        let means = [
            of(|m| m.gcc_ns),
            of(|m| m.clang_ns),
            of(|m| m.full_ns),
            of(|m| Some(m.partial_ns)),
            of(|m| Some(m.boscc_ns)),
        ];
        let mut row = vec!["geometric mean".to_owned(), cpu.to_owned(), String::new(), String::new()];
        row.extend(means);
        row.extend(std::iter::repeat_n(String::new(), 5));
        table.row(row);
    }
    table
}

/// How many times as fast as the scalar program something is.
pub(super) fn speedup(m: &Measurement, ns: Option<u64>) -> Option<f64> {
    ns.filter(|&ns| ns > 0).map(|ns| m.scalar_ns as f64 / ns as f64)
}

fn shapes(all: &[Measurement]) -> Table {
    let mut table = Table::new(
        2,
        &[
            "kernel",
            "cpu",
            "div",
            "lost",
            "kept",
            "loops",
            "exits",
            "true",
            "uni",
            "var",
            "tests",
            "scalar B",
            "full B",
            "partial B",
            "boscc B",
            "ms",
        ],
    );
    for m in all {
        let (b, l, e, k, c) = (m.branches, m.loops, m.exits, m.masks, m.code);
        let mut row = vec![name(m), m.cpu.clone()];
        row.extend([b.divergent, b.uniform_lost, b.uniform_kept].map(|n| n.to_string()));
        row.extend([l, e].map(|n| format!("{}/{}", n.uniform, n.divergent)));
        row.extend([k.always, k.uniform, k.varying, m.boscc.chosen].map(|n| n.to_string()));
        row.extend([c.scalar, c.full, c.partial, c.boscc].map(|n| n.to_string()));
        row.push(format!("{:.1}", m.vectorize_ns as f64 / 1e6));
        table.row(row);
    }
    table
}
