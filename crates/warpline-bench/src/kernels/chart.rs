//! The speed-ups as a chart, as paper 3, Fig. 14 has them: for each CPU a row of kernels, each with a bar for each
//! variant, and below them the share of active lanes.

use std::fmt::Write as _;

use super::measure::Measurement;
use super::report::{name, speedup};
use warpline_cli::html::escape;

/// Names and colours of the variants.
const VARIANTS: [(&str, &str); 4] = [
    ("full if-conversion", "#b9b9b9"),
    ("partial linearization", "#2f6db5"),
    ("partial, BOSCC", "#e08a1e"),
    ("ISPC, where measured", "#3d9a50"),
];
/// Widths and heights in pixels.
const BAR: f64 = 9.0;
const GROUP: f64 = 42.0;
const LEFT: f64 = 46.0;
const PLOT: f64 = 190.0;
const SHARE: f64 = 60.0;
const LABELS: f64 = 92.0;
const TOP: f64 = 44.0;

/// The chart.
pub(super) fn svg(all: &[Measurement]) -> String {
    let mut cpus: Vec<&str> = Vec::new();
    for m in all {
        if !cpus.contains(&m.cpu.as_str()) {
            cpus.push(&m.cpu);
        }
    }
    let most = cpus.iter().map(|cpu| all.iter().filter(|m| m.cpu == *cpu).count()).max().unwrap_or(0);
    let width = (LEFT + GROUP * most as f64 + 20.0).max(640.0);
    let panel = TOP + PLOT + SHARE + LABELS;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {h}\" width=\"{width}\" height=\"{h}\" \
         font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"{width}\" height=\"{h}\" fill=\"white\"/>\n",
        h = panel * cpus.len() as f64 + 10.0
    );
    for (k, cpu) in cpus.iter().enumerate() {
        let of: Vec<&Measurement> = all.iter().filter(|m| m.cpu == *cpu).collect();
        let _ = writeln!(out, "<g transform=\"translate(0 {})\">", panel * k as f64);
        one_cpu(&mut out, cpu, &of, width);
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

fn one_cpu(out: &mut String, cpu: &str, all: &[&Measurement], width: f64) {
    let values = |m: &Measurement| {
        [m.full_ns, Some(m.partial_ns), Some(m.boscc_ns), m.ispc_ns].map(|ns| speedup(m, ns))
    };
    let highest = all.iter().flat_map(|m| values(m)).flatten().fold(1.0, f64::max).ceil();
    let y = |speedup: f64| TOP + PLOT * (1.0 - speedup / highest);
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"16\" font-size=\"13\">Speed-up over scalar O3, {}</text>",
        escape(cpu)
    );
    let with_ispc = all.iter().any(|m| m.ispc_ns.is_some());
    let shown = if with_ispc { VARIANTS.len() } else { VARIANTS.len() - 1 };
    for (k, (variant, colour)) in VARIANTS.iter().take(shown).enumerate() {
        let x = LEFT + 140.0 * k as f64;
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"24\" width=\"9\" height=\"9\" fill=\"{colour}\"/><text x=\"{}\" \
             y=\"32\">{variant}</text>",
            x + 13.0
        );
    }
    let step = (highest / 6.0).ceil();
    let mut line = 0.0;
    while line <= highest {
        let at = y(line);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{at}\" y2=\"{at}\" stroke=\"#dddddd\"/><text x=\"{}\" y=\"{}\" \
             text-anchor=\"end\">{line}</text>",
            width - 10.0,
            LEFT - 5.0,
            at + 4.0
        );
        line += step;
    }
    let one = y(1.0);
    let _ = writeln!(
        out,
        "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{one}\" y2=\"{one}\" stroke=\"#777777\"/>",
        width - 10.0
    );
    let base = TOP + PLOT + SHARE;
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">100 %</text><text x=\"{}\" y=\"{base}\" \
         text-anchor=\"end\">0 %</text>",
        LEFT - 5.0,
        base - SHARE + 20.0,
        LEFT - 5.0
    );
    for (k, m) in all.iter().enumerate() {
        let x = LEFT + 6.0 + GROUP * k as f64;
        let shares = [m.utilization_full, Some(m.utilization), Some(m.utilization_boscc), None];
        for (v, (speedup, share)) in values(m).into_iter().zip(shares).enumerate() {
            let (at, colour) = (x + BAR * v as f64, VARIANTS[v].1);
            match speedup {
                Some(s) => bar(out, at, y(s), TOP + PLOT, colour),
                // Other variants are measured everywhere.
                None if v == 0 => {
                    let _ = writeln!(out, "<text x=\"{at}\" y=\"{}\">*</text>", TOP + PLOT - 2.0);
                }
                None => {}
            }
            if let Some(share) = share {
                bar(out, at, base - (SHARE - 14.0) * share, base, colour);
            }
        }
        // The data set says nothing where there is one for each kernel.
        let several = all.iter().filter(|other| other.kernel == m.kernel).count() > 1;
        let label = if several { name(m) } else { m.kernel.clone() };
        let (tx, ty) = (x + 1.5 * BAR, base + 12.0);
        let _ = writeln!(
            out,
            "<text x=\"{tx}\" y=\"{ty}\" transform=\"rotate(-45 {tx} {ty})\" text-anchor=\"end\">{}</text>",
            escape(&label)
        );
    }
}

fn bar(out: &mut String, x: f64, top: f64, bottom: f64, colour: &str) {
    let _ = writeln!(
        out,
        "<rect x=\"{x}\" y=\"{top:.1}\" width=\"{}\" height=\"{:.1}\" fill=\"{colour}\"/>",
        BAR - 1.0,
        (bottom - top).max(0.0)
    );
}
