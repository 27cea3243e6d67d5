//! What a source says of findings: `//@ accept RULE: REASON`, at the end of a line or in the comments before it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use warpline_compile::directives;
use warpline_compile::error::{Error, Result};

use crate::chain::{Place, Sources};

/// Lines of source files, from the first to the last one, by file.
pub(crate) type Judged = BTreeMap<String, Vec<(u32, u32)>>;

/// A line that accepts what is not found.
#[derive(Clone, Debug)]
pub(crate) struct Unmatched {
    /// The line.
    pub place: Place,
    /// What is wrong with it.
    pub text: String,
}

/// Which lines of sources accepted something.
#[derive(Default)]
pub(crate) struct Acceptances {
    used: BTreeSet<(String, u32)>,
}

impl Acceptances {
    /// Why the source says that a finding of this rule in a line is none.
    ///
    /// # Errors
    /// If it gives no reason.
    pub(crate) fn reason(
        &mut self,
        sources: &mut Sources,
        place: &Place,
        rule: &str,
    ) -> Result<Option<String>> {
        let Some(lines) = sources.lines(&place.file) else { return Ok(None) };
        let Some(own) = (place.line as usize).checked_sub(1).filter(|&at| at < lines.len()) else {
            return Ok(None);
        };
        let before = (0..own).rev().take_while(|&at| is_comment(&lines[at]));
        for at in std::iter::once(own).chain(before) {
            let Some((rules, reason)) = acceptance(&lines[at]) else { continue };
            if !rules.split(',').any(|one| one.trim() == rule) {
                continue;
            }
            let line = at as u32 + 1;
            if reason.is_empty() {
                let message =
                    format!("`accept {rule}` wants a reason: `//@ accept {rule}: the length is public`");
                return Err(Error::Directive { path: PathBuf::from(&place.file), line, message });
            }
            self.used.insert((place.file.clone(), line));
            return Ok(Some(reason.to_owned()));
        }
        Ok(None)
    }

    /// Lines that name rules there are not, and those for lines that were judged, by some of `rules`, that accepted
    /// nothing.
    pub(crate) fn unmatched(
        &self,
        sources: &mut Sources,
        judged: &Judged,
        known: &[&str],
        rules: &[&str],
    ) -> Vec<Unmatched> {
        let mut found = Vec::new();
        for (file, ranges) in judged {
            let Some(lines) = sources.lines(file) else { continue };
            for (at, text) in lines.iter().enumerate() {
                let Some((named, _)) = acceptance(text) else { continue };
                let line = at as u32 + 1;
                let mut named = named.split(',').map(str::trim);
                let about =
                    (at..lines.len()).find(|&i| !is_comment(&lines[i])).map_or(line, |i| i as u32 + 1);
                let is_judged = ranges.iter().any(|&(first, last)| (first..=last).contains(&about));
                let text = if let Some(unknown) = named.clone().find(|rule| !known.contains(rule)) {
                    format!("there is no rule `{unknown}`; they are {}", known.join(", "))
                } else if is_judged
                    && !self.used.contains(&(file.clone(), line))
                    && let Some(rule) = named.find(|rule| rules.contains(rule))
                {
                    format!("it accepts {rule}, which is not found there")
                } else {
                    continue;
                };
                found.push(Unmatched { place: Place { file: file.clone(), line, column: 0 }, text });
            }
        }
        found
    }
}

fn is_comment(line: &str) -> bool {
    ["//", ";"].iter().any(|begin| line.trim_start().starts_with(begin))
}

/// The rules and the reason of a line that accepts something.
fn acceptance(line: &str) -> Option<(&str, &str)> {
    let text = directives::acceptance(line)?;
    let (rules, reason) = text.split_once(':').unwrap_or((text, ""));
    Some((rules, reason.trim()))
}
