//! README's chart is drawn from the table of measurements in `docs/kernels.md`: WARPLINE_BLESS=1 draws it anew.

use std::fmt::Write as _;

use warpline_testkit::programs_run::root;

/// The columns of the table that are drawn, what they are called, and their colours.
const BARS: [(&str, &str, &str); 4] = [
    ("gcc", "gcc -O3", "#b9b9b9"),
    ("clang", "clang -O3", "#7d8fa3"),
    ("ISPC", "ISPC (where the kernel is written for it, too)", "#3d9a50"),
    ("boscc", "warpline", "#e08a1e"),
];
const CPU: &str = "x86-64-v4";
const CHART: &str = "docs/speedups.svg";
/// Widths and heights in pixels.
const LEFT: f64 = 110.0;
const WIDTH: f64 = 860.0;
const BAR: f64 = 6.0;
const TOP: f64 = 66.0;

/// A kernel, with its speed-up in each of the columns that are drawn.
struct Row {
    name: String,
    speedups: [Option<f64>; BARS.len()],
}

/// The rows of the table for the CPU.
fn rows(page: &str) -> Vec<Row> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = page.lines().skip_while(|line| !line.starts_with("| kernel | cpu | W |"));
    let head = cells(lines.next().expect("there is a table"));
    let column = |name: &str| head.iter().position(|cell| cell == name);
    let columns = BARS.map(|(name, _, _)| column(name));
    let table = lines.skip(1).take_while(|line| line.starts_with('|')).map(cells);
    table
        .filter(|row| row[1] == CPU && row[0] != "geometric mean")
        .map(|row| Row {
            name: row[0].split('/').next().unwrap_or_default().to_owned(),
            speedups: columns.map(|at| row.get(at?)?.parse().ok()),
        })
        .collect()
}

fn chart(rows: &[Row]) -> String {
    // A column that the table does not have takes no room.
    let drawn: Vec<usize> =
        (0..BARS.len()).filter(|&k| rows.iter().any(|row| row.speedups[k].is_some())).collect();
    let step = BAR * drawn.len() as f64 + 7.0;
    let highest = rows.iter().flat_map(|row| row.speedups).flatten().fold(1.0, f64::max).ceil();
    let x = |speedup: f64| LEFT + (WIDTH - LEFT - 50.0) * speedup / highest;
    let (bottom, height) = (TOP + step * rows.len() as f64, TOP + step * rows.len() as f64 + 24.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n<text x=\"12\" \
         y=\"20\" font-size=\"14\">How many times as fast as scalar code (one core, AVX-512)</text>\n"
    );
    let mut at = 12.0;
    for &k in &drawn {
        let (_, label, colour) = BARS[k];
        let _ = writeln!(
            out,
            "<rect x=\"{at}\" y=\"34\" width=\"10\" height=\"10\" fill=\"{colour}\"/><text x=\"{}\" y=\"43\">{label}</text>",
            at + 14.0
        );
        at += 40.0 + 6.0 * label.len() as f64;
    }
    for tick in (0..=highest as u32).step_by(5).chain([1]) {
        let (at, colour) = (x(f64::from(tick)), if tick == 1 { "#555555" } else { "#dddddd" });
        let _ = writeln!(
            out,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{bottom}\" stroke=\"{colour}\"/><text x=\"{at:.1}\" y=\"{}\" \
             text-anchor=\"middle\">{tick}</text>",
            bottom + 15.0
        );
    }
    for (number, row) in rows.iter().enumerate() {
        let top = TOP + step * number as f64 + 3.0;
        let middle = top + (step - 7.0) / 2.0 + 4.0;
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            row.name
        );
        for (place, &k) in drawn.iter().enumerate() {
            let Some(speedup) = row.speedups[k] else { continue };
            let y = top + BAR * place as f64;
            let _ = writeln!(
                out,
                "<rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{}\" fill=\"{}\"/>",
                x(speedup) - LEFT,
                BAR - 1.0,
                BARS[k].2
            );
            if BARS[k].0 == "boscc" {
                let _ = writeln!(
                    out,
                    "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"9\">{speedup}</text>",
                    x(speedup) + 4.0,
                    y + BAR
                );
            }
        }
    }
    out + "</svg>\n"
}

#[test]
fn readmes_chart_shows_what_was_measured() {
    let page = std::fs::read_to_string(root().join("docs/kernels.md")).unwrap();
    let rows = rows(&page);
    assert!(rows.len() >= 22, "{} kernels", rows.len());
    for (k, least) in [(0, 22), (1, 15), (2, 8), (3, 22)] {
        let measured = rows.iter().filter(|row| row.speedups[k].is_some()).count();
        assert!(measured >= least, "{}: only {measured}", BARS[k].0);
    }
    let (path, chart) = (root().join(CHART), chart(&rows));
    if std::env::var_os("WARPLINE_BLESS").is_some() {
        std::fs::write(&path, &chart).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap_or_default() == chart,
        "{CHART} is old: WARPLINE_BLESS=1 draws it"
    );
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains(CHART), "README has the chart");
}
