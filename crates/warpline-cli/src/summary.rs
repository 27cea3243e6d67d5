//! What `vectorize` and `run` print for people: three lines, or everything.
//!
//! The three lines say what was done, how fast it is or what to watch, and where to read more.

use serde_json::{Value, json};
use warpline::printable::line;
use warpline::vectorize::Elementary;
use warpline::vectorize::counts::Counts;
use warpline::vectorize::width::Estimate;
use warpline_compile::libmvec::MAX_ULP;

use crate::cli::ReportOptions;
use crate::kernel::Kernel;

/// What is said about a command's work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    /// What was done, as a sentence without an end.
    pub done: String,
    /// How good it is, or what came of it; empty if nothing became vector code.
    pub result: String,
    /// What it was tried with, if that was a guess.
    pub note: Option<String>,
    /// What the user should know whatever else is shown.
    pub warnings: Vec<String>,
    /// What is wrong; shown even where a report is not wanted.
    pub findings: Vec<String>,
    /// Everything else, a line each.
    pub details: Vec<String>,
    /// A command that explains more than the details do.
    pub explain: Option<String>,
}

impl Summary {
    /// The text for people, as long as they want it.
    pub(crate) fn text(&self, options: &ReportOptions) -> String {
        let mut lines = Vec::new();
        let warning = |w: &String| format!("  warning: {}", line(w));
        if !options.quiet {
            lines.push(self.done.clone());
            if !self.result.is_empty() {
                lines.push(format!("  {}", self.result));
            }
            lines.extend(self.note.iter().map(|note| format!("  {}", line(note))));
        }
        if options.verbose {
            lines.extend(self.warnings.iter().map(warning));
            lines.extend(self.details.iter().map(|detail| format!("  {detail}")));
        } else if !options.quiet {
            lines.extend(self.warnings.first().map(warning));
        }
        lines.extend(self.findings.iter().map(|finding| format!("  {finding}")));
        if !options.quiet && !options.verbose {
            lines.push(self.more());
        }
        lines.into_iter().map(|line| line + "\n").collect()
    }

    /// Where there is more to read.
    fn more(&self) -> String {
        let hidden = self.warnings.len().saturating_sub(1);
        let warnings = match hidden {
            0 => String::new(),
            1 => " and 1 more warning".to_owned(),
            n => format!(" and {n} more warnings"),
        };
        let explain = self.explain.iter().map(|command| format!("; why it diverges: {command}"));
        format!("  details{warnings}: -v{}", explain.collect::<String>())
    }
}

/// What became of branches, loops and masks, in a line.
pub(crate) fn shares(counts: &Counts) -> String {
    let Counts { branches: b, loops: l, masks: m, .. } = counts;
    let branches = b.divergent + b.uniform_kept + b.uniform_lost;
    let (loops, accesses) = (l.uniform + l.divergent, m.always + m.uniform + m.varying);
    let masked = match accesses {
        0 => String::new(),
        _ => format!("; masked: {} of {accesses} loads and stores", m.varying),
    };
    if b.divergent + l.divergent == 0 {
        return format!("nothing diverges{masked}");
    }
    format!("divergent: {} of {branches} branches, {} of {loops} loops{masked}", b.divergent, l.divergent)
}

/// Details about a kernel: why it has its vectorization factor, if that was left to us, and its [`counts`].
pub(crate) fn details(kernel: &Kernel, counted: &Counts) -> Vec<String> {
    let chosen = kernel.chosen.as_ref().map(|choice| format!("width auto: {choice}"));
    chosen.into_iter().chain(counts(counted)).collect()
}

/// What an index or an iteration is expected to take, as data.
pub(crate) fn cycles(estimate: &Estimate) -> Value {
    json!({ "scalar": estimate.scalar, "vector": estimate.vector })
}

/// What became of branches, loops, exits and masks (paper 3, Table 1), and how many any-lane branches there are, as
/// lines for people.
pub(crate) fn counts(counts: &Counts) -> Vec<String> {
    let Counts { branches: b, loops: l, exits: e, masks: m, boscc: t, coherent, guards } = counts;
    let mut lines = vec![
        format!(
            "branches: {} divergent, {} uniform kept, {} uniform folded; loops: {} uniform, {} divergent",
            b.divergent, b.uniform_kept, b.uniform_lost, l.uniform, l.divergent
        ),
        format!(
            "exits of divergent loops: {} uniform, {} divergent; masks of loads and stores: {} true, {} uniform, {} \
             varying",
            e.uniform, e.divergent, m.always, m.uniform, m.varying
        ),
        format!("any-lane branches: {} mandatory, {} BOSCC", t.mandatory, t.chosen),
    ];
    lines.extend(match coherent {
        0 => None,
        1 => Some("1 loop has a coherent path".to_owned()),
        n => Some(format!("{n} loops have coherent paths")),
    });
    lines.extend(match guards {
        0 => None,
        1 => Some("1 guard has a path for when all lanes pass".to_owned()),
        n => Some(format!("{n} guards have paths for when all lanes pass")),
    });
    lines
}

/// What vector mathematics of limited accuracy comes from, and what it is linked with.
pub(crate) fn mathematics(libraries: &[&str]) -> String {
    if libraries.is_empty() {
        return format!("mathematics is inline (errors up to {} ulp)", Elementary::LARGEST_ULP);
    }
    let described = |library: &&str| match *library {
        "mvec" => format!("glibc's libmvec (errors up to {MAX_ULP} ulp)"),
        _ => "SLEEF (errors up to 1.5 ulp)".to_owned(),
    };
    let flags: Vec<String> = libraries.iter().map(|library| format!("-l{library}")).collect();
    let words: Vec<String> = libraries.iter().map(described).collect();
    format!("calls vector functions of {}: link with {} -lm", words.join(" and "), flags.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Format;

    fn shown(summary: &Summary, verbose: bool, quiet: bool) -> String {
        summary.text(&ReportOptions { verbose, quiet, format: Format::Text })
    }

    #[test]
    fn people_get_three_lines_unless_they_ask_for_more_or_less() {
        let summary = Summary {
            done: "f: vectorized".into(),
            result: "twice as fast".into(),
            details: vec!["branches".into(), "masks".into()],
            explain: Some("warpline explain f.c --line 3".into()),
            ..Summary::default()
        };
        let usual =
            "f: vectorized\n  twice as fast\n  details: -v; why it diverges: warpline explain f.c --line 3\n";
        assert_eq!(shown(&summary, false, false), usual);
        assert_eq!(shown(&summary, true, false), "f: vectorized\n  twice as fast\n  branches\n  masks\n");
        assert_eq!(shown(&summary, false, true), "");
    }

    #[test]
    fn the_first_warning_and_all_findings_are_always_shown() {
        let summary = Summary {
            warnings: vec!["first".into(), "second".into()],
            findings: vec!["race".into()],
            ..Summary::default()
        };
        let usual = shown(&summary, false, false);
        assert!(usual.contains("  warning: first\n  race\n  details and 1 more warning: -v\n"), "{usual}");
        assert!(shown(&summary, true, false).contains("warning: second"));
        assert_eq!(shown(&summary, false, true), "  race\n");
    }
}
