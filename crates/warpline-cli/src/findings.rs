//! Findings as other programs take them: SARIF 2.1.0, annotations of GitHub's, and a gate that lets known ones pass.
//!
//! A finding has an identity that survives edits elsewhere: the rule, the function, the name of the file, and the text
//! of the source line, numbered among equals. Line numbers, names of values and folders, which change, have no part in
//! it; the file has, so that what is copied to another one is new there. A baseline is a file of identities, with a
//! few words each so that changes of the file can be read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use warpline::demangle;
use warpline_compile::error::{Error, Result};

use crate::acceptance::{Acceptances, Judged, Unmatched};
use crate::chain::{Place, Sources};
use crate::output;

/// The gate.
#[derive(Args, Default)]
#[command(next_help_heading = "Gate")]
pub struct GateOptions {
    /// Let pass what this file has, and exit with 1 if there is anything else
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write all that is found to this file, to be let pass from now on
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
}

impl GateOptions {
    /// Whether anything is compared or kept.
    pub(crate) fn is_used(&self) -> bool {
        self.baseline.is_some() || self.write_baseline.is_some()
    }
}

/// Something that was found.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// The rule: a word of [`RULES`].
    pub rule: &'static str,
    /// The function, as in the object file.
    pub function: String,
    /// What is so.
    pub text: String,
    /// Where.
    pub place: Option<Place>,
    /// What leads there, from the finding on.
    pub chain: Vec<(Option<Place>, String)>,
    /// Whether it only follows from another one.
    pub follows: bool,
}

/// The rules, and what they are about.
const RULES: [(&str, &str); 8] = [
    ("divergent-branch", "Lanes take different ways at this branch"),
    ("divergent-loop", "Lanes leave this loop in different iterations"),
    ("secret-branch", "A branch depends on a secret"),
    ("secret-address", "An address depends on a secret"),
    ("secret-operand", "An operand of an instruction whose time varies depends on a secret"),
    ("secret-call", "A secret goes to a function that is not known"),
    ("secret-selection", "A secret selects a value; a branch or not is left to the compiler"),
    (UNMATCHED, "A line of the source accepts a finding that there is not"),
];

/// The rule of lines that accept what is not found.
const UNMATCHED: &str = "unmatched-accept";

/// A finding in a baseline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Known {
    identity: String,
    rule: String,
    function: String,
    file: String,
    line: String,
}

/// The version of baselines; those of version 1 knew no files.
const VERSION: u32 = 2;

/// A finding, its identity, and why the source says that it is none.
struct Entry {
    finding: Finding,
    known: Known,
    accepted: Option<String>,
}

/// Findings with their identities.
pub(crate) struct Findings {
    all: Vec<Entry>,
    /// The identities that a baseline has, if there is one.
    known: Option<BTreeSet<String>>,
    acceptances: Acceptances,
    unmatched: Vec<Unmatched>,
}

impl Findings {
    /// None yet, to be compared with a baseline if there is one.
    ///
    /// # Errors
    /// If the baseline cannot be read.
    pub(crate) fn new(gate: &GateOptions) -> Result<Findings> {
        let known = gate.baseline.as_deref().map(read).transpose()?;
        Ok(Findings { all: Vec::new(), known, acceptances: Acceptances::default(), unmatched: Vec::new() })
    }

    /// Adds findings about an input, and gives them identities. Returns for each why the source says that it is none
    /// (`//@ accept RULE: REASON`), if it does.
    ///
    /// # Errors
    /// If a source accepts something without a reason.
    pub(crate) fn add(
        &mut self,
        found: impl IntoIterator<Item = Finding>,
        sources: &mut Sources,
    ) -> Result<Vec<Option<String>>> {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        let mut reasons = Vec::new();
        for finding in found {
            let line = finding.place.as_ref().and_then(|place| line_of(sources, place)).unwrap_or_default();
            let file = finding.place.as_ref().map_or("", |place| file_name(&place.file)).to_owned();
            let key = format!("{}\0{}\0{file}\0{line}", finding.rule, finding.function);
            let count = counts.entry(key.clone()).or_default();
            *count += 1;
            let identity = format!("{:016x}", fingerprint(&format!("{key}\0{count}")));
            let (rule, function) = (finding.rule.to_owned(), finding.function.clone());
            let accepted = match &finding.place {
                Some(place) => self.acceptances.reason(sources, place, finding.rule)?,
                None => None,
            };
            reasons.push(accepted.clone());
            self.all.push(Entry { finding, known: Known { identity, rule, function, file, line }, accepted });
        }
        Ok(reasons)
    }

    /// Looks for lines that accept what was not found, of the rules that begin so. All findings of the lines that were
    /// judged must have been added.
    pub(crate) fn find_unmatched(&mut self, sources: &mut Sources, judged: &Judged, prefix: &str) {
        let known: Vec<&str> = RULES.iter().map(|&(id, _)| id).filter(|&id| id != UNMATCHED).collect();
        let rules: Vec<&str> = known.iter().copied().filter(|rule| rule.starts_with(prefix)).collect();
        self.unmatched.extend(self.acceptances.unmatched(sources, judged, &known, &rules));
    }

    /// The lines that accept what was not found.
    pub(crate) fn unmatched(&self) -> &[Unmatched] {
        &self.unmatched
    }

    /// Those that neither a baseline has nor the source accepts.
    pub(crate) fn new_ones(&self) -> impl Iterator<Item = &Finding> {
        let new = self.all.iter().filter(|one| one.accepted.is_none() && self.is_new(&one.known));
        new.map(|one| &one.finding)
    }

    /// Whether there is a baseline, so that anything new is to be reported as such.
    pub(crate) fn is_gated(&self) -> bool {
        self.known.is_some()
    }

    fn is_new(&self, one: &Known) -> bool {
        self.known.as_ref().is_none_or(|known| !known.contains(&one.identity))
    }

    /// Writes the baseline that is asked for.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn keep(&self, gate: &GateOptions) -> Result<()> {
        let Some(path) = &gate.write_baseline else { return Ok(()) };
        let all: BTreeSet<&Known> =
            self.all.iter().filter(|one| one.accepted.is_none()).map(|one| &one.known).collect();
        output::deliver(Some(path), &pretty(&json!({ "version": VERSION, "findings": all })))
    }

    /// A line about new findings, and one for each, for people.
    pub(crate) fn gate_text(&self) -> String {
        let new: Vec<&Finding> = self.new_ones().collect();
        let known = self.all.iter().filter(|one| one.accepted.is_none()).count() - new.len();
        let mut text = format!("{} new, {known} as the baseline has them\n", new.len());
        for finding in new {
            let place = finding.place.as_ref().map_or(String::new(), |place| format!("{}: ", place.short()));
            text +=
                &format!("  {place}{}: {} in {}\n", finding.rule, finding.text, demangle(&finding.function));
        }
        text
    }

    /// SARIF 2.1.0: the chain of a finding is a code flow, and its steps are related locations.
    pub(crate) fn sarif(&self) -> String {
        let rules: Vec<Value> = RULES
            .iter()
            .map(|(id, about)| json!({ "id": id, "shortDescription": { "text": about } }))
            .collect();
        let unmatched = self.unmatched.iter().map(|line| {
            json!({
                "ruleId": UNMATCHED,
                "level": "note",
                "message": { "text": line.text },
                "locations": [location(&line.place, None)],
            })
        });
        let results: Vec<Value> = self.all.iter().map(|one| self.result(one)).chain(unmatched).collect();
        pretty(&json!({
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "warpline", "version": env!("CARGO_PKG_VERSION"), "rules": rules,
                } },
                "columnKind": "unicodeCodePoints",
                "results": results,
            }],
        }))
    }

    fn result(&self, Entry { finding, known, accepted }: &Entry) -> Value {
        let steps: Vec<Value> = finding
            .chain
            .iter()
            .filter_map(|(place, text)| Some(location(place.as_ref()?, Some(text))))
            .collect();
        let mut value = json!({
            "ruleId": finding.rule,
            "level": if finding.follows { "note" } else { "warning" },
            "message": { "text": format!("{} (in {})", finding.text, demangle(&finding.function)) },
            "locations": finding.place.iter().map(|place| location(place, None)).collect::<Vec<_>>(),
            "partialFingerprints": { "warpline/v2": known.identity },
        });
        if let Some(reason) = accepted {
            value["suppressions"] = json!([{ "kind": "inSource", "justification": reason }]);
        }
        if self.is_gated() {
            value["baselineState"] = json!(if self.is_new(known) { "new" } else { "unchanged" });
        }
        if !steps.is_empty() {
            // A list of different ones, unlike the steps of the code flow.
            let mut related: Vec<Value> = Vec::new();
            for step in &steps {
                if !related.contains(step) {
                    related.push(step.clone());
                }
            }
            value["relatedLocations"] = related.into();
            let steps: Vec<Value> = steps.into_iter().map(|step| json!({ "location": step })).collect();
            value["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
        }
        value
    }

    /// Commands by which a job of GitHub's annotates the lines of a change; of findings that are not known.
    pub(crate) fn github(&self) -> String {
        let escaped = |text: &str, more: bool| {
            let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
            if more { text.replace(':', "%3A").replace(',', "%2C") } else { text }
        };
        let line = |finding: &Finding| {
            let at = finding.place.as_ref().map_or(String::new(), |place| {
                let column = if place.column > 0 { format!(",col={}", place.column) } else { String::new() };
                format!("file={},line={}{column},", escaped(&place.file, true), place.line)
            });
            let title = format!("{at}title=warpline {}", finding.rule);
            let level = if finding.follows { "notice" } else { "warning" };
            format!(
                "::{level} {title}::{} (in {})\n",
                escaped(&finding.text, false),
                demangle(&finding.function)
            )
        };
        let unmatched = self.unmatched.iter().map(|one| {
            let (file, line) = (escaped(&one.place.file, true), one.place.line);
            format!(
                "::notice file={file},line={line},title=warpline {UNMATCHED}::{}\n",
                escaped(&one.text, false)
            )
        });
        self.new_ones().map(line).chain(unmatched).collect()
    }
}

/// JSON in a form that others have settled: with nothing in it but theirs.
fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

fn location(place: &Place, text: Option<&str>) -> Value {
    let mut value = json!({ "physicalLocation": { "artifactLocation": { "uri": uri(&place.file) } } });
    // Lines and columns count from 1; what has line 0 was made by a compiler.
    if place.line > 0 {
        value["physicalLocation"]["region"] = json!({ "startLine": place.line });
        if place.column > 0 {
            value["physicalLocation"]["region"]["startColumn"] = place.column.into();
        }
    }
    if let Some(text) = text {
        value["message"] = json!({ "text": text });
    }
    value
}

/// A path as a reference: what has a meaning there is written by its number.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let encoded = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    let path: String = path.bytes().map(encoded).collect();
    if path.starts_with('/') { format!("file://{path}") } else { path }
}

fn line_of(sources: &mut Sources, place: &Place) -> Option<String> {
    let line = sources.lines(&place.file)?.get(place.line.checked_sub(1)? as usize)?;
    Some(line.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn read(path: &Path) -> Result<BTreeSet<String>> {
    #[derive(Deserialize)]
    struct Baseline {
        version: u32,
        findings: Vec<Value>,
    }
    let wrong = |why: String| Error::option(format!("--baseline {}", path.display()), why);
    let bytes = std::fs::read(path).map_err(|e| wrong(e.to_string()))?;
    let read: Baseline = serde_json::from_slice(&bytes).map_err(|e| wrong(e.to_string()))?;
    match read.version {
        VERSION => {
            let identity = |known: Value| match serde_json::from_value::<Known>(known) {
                Ok(known) => Ok(known.identity),
                Err(e) => Err(wrong(e.to_string())),
            };
            read.findings.into_iter().map(identity).collect()
        }
        n => Err(wrong(format!(
            "it is of version {n}, and this program knows {VERSION}; write it anew with --write-baseline"
        ))),
    }
}

/// The last part of a path, whichever system wrote it.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// FNV-1a, which never changes.
fn fingerprint(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
