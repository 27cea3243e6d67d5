//! What a source says of findings: `//@ accept RULE: REASON`, at the end of a line or in the comments before it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use warpline::ir::{Function, Module};
use warpline_compile::directives;
use warpline_compile::error::{Error, Result};

use crate::chain::{Place, Sources};

/// Lines of source files that were judged, from the first to the last one of a function, by file.
#[derive(Default)]
pub(crate) struct Judged(BTreeMap<String, Vec<(u32, u32)>>);

impl Judged {
    /// Adds the lines of a function.
    pub(crate) fn add(&mut self, module: &Module, func: &Function) {
        let insts = func.layout.iter().flat_map(|&b| func.block_insts(b));
        let places = insts.filter_map(|inst| Place::of(module, func, func.insts[inst].loc.expand()));
        let mut lines: BTreeMap<String, (u32, u32)> = BTreeMap::new();
        for place in places.filter(|place| place.line > 0) {
            let (first, last) = lines.entry(place.file).or_insert((place.line, place.line));
            (*first, *last) = ((*first).min(place.line), (*last).max(place.line));
        }
        lines.into_iter().for_each(|(file, lines)| self.0.entry(file).or_default().push(lines));
    }
}

/// A line that accepts what is not found.
#[derive(Clone, Debug)]
pub(crate) struct Unmatched {
    /// The line.
    pub place: Place,
    /// What is wrong with it.
    pub text: String,
}

impl Unmatched {
    /// As a line for people.
    pub(crate) fn describe(&self) -> String {
        format!("{}: unmatched `accept`: {}\n", self.place.short(), self.text)
    }
}

/// Which lines of sources accepted something.
#[derive(Default)]
pub(crate) struct Acceptances {
    /// Names of files, and lines.
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
            self.used.insert((name(&place.file).to_owned(), line));
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
        for (file, ranges) in &judged.0 {
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
                    && !self.used.contains(&(name(file).to_owned(), line))
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

/// The name of a file without its folder: reports do not all say the folder.
fn name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
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
