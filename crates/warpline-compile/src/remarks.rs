//! Why code is not as fast as one might think, in the words of the source: warnings about what stays scalar, and
//! performance remarks by source line, as lines for people and as optimization records of LLVM.

use std::fmt::Write as _;

use warpline_ir::Place;
use warpline_ir::printable::{is_unsafe, line};
use warpline_vectorize::width::remarks::{Kind, Name, Remark};
use warpline_vectorize::width::{Burden, Choice, Estimate, What};

use crate::error::Error;

/// The remarks about a kernel or a loop.
#[derive(Clone, PartialEq, Debug)]
pub struct Remarked {
    /// The function, as in the object file.
    pub function: String,
    /// The CPU that code was made for.
    pub cpu: String,
    /// The number of lanes.
    pub lanes: u32,
    /// Whether it stays scalar, so that remarks are about what vector code would do.
    pub scalar: bool,
    /// What it is expected to take, if that is known.
    pub estimate: Option<Estimate>,
    /// What is to be said, the costliest first.
    pub remarks: Vec<Remark>,
    /// Where it begins.
    begin: Option<Place>,
}

impl Remarked {
    /// A kernel or loop that begins at a place, of which nothing is said yet.
    #[must_use]
    pub fn new(function: &str, cpu: &str, lanes: u32, begin: Option<Place>) -> Remarked {
        let (function, cpu) = (function.to_owned(), cpu.to_owned());
        Remarked { function, cpu, lanes, scalar: false, estimate: None, remarks: Vec::new(), begin }
    }

    /// Where it begins, if that is known.
    #[must_use]
    pub fn begin(&self) -> Option<&Place> {
        self.begin.as_ref()
    }

    /// A kernel or loop that cannot be vectorized, for this reason.
    #[must_use]
    pub fn refused(function: &str, begin: Option<Place>, reason: &Error) -> Remarked {
        let mut all = Remarked::new(function, "", 1, begin);
        all.remarks.push(Remark::new(Kind::Missed, Name::Refused, all.begin.clone(), reason.to_string()));
        all
    }

    /// The remarks that were made of the estimate, if any, with those on the number of lanes in front.
    #[must_use]
    pub fn with(
        mut self,
        chosen: Option<&Choice>,
        estimate: Option<&Estimate>,
        remarks: &[Remark],
    ) -> Remarked {
        if remarks.is_empty() {
            return self;
        }
        self.estimate = estimate.cloned();
        let because = chosen.map_or_else(|| "as asked for".to_owned(), ToString::to_string);
        let width = format!("{} lanes for {}: {because}", self.lanes, line(&self.cpu));
        let vectorized = format!("vectorized with {} lanes for {}", self.lanes, line(&self.cpu));
        let begin = || self.begin.clone();
        let first = [
            Remark::new(Kind::Passed, Name::Vectorized, begin(), vectorized),
            Remark::new(Kind::Analysis, Name::Width, begin(), width),
        ];
        self.remarks = first.into_iter().chain(remarks.iter().cloned()).collect();
        self
    }

    /// Notes that scalar code is what comes out.
    pub(crate) fn stays_scalar(&mut self, why: &str) {
        if let Some(first) = self.remarks.first_mut() {
            *first = Remark::new(Kind::Missed, Name::ScalarLoop, self.begin.clone(), why.to_owned());
        }
        self.scalar = true;
    }

    /// Whether there are remarks about costs and none has a line: there is no debug information.
    #[must_use]
    pub fn lacks_lines(&self) -> bool {
        let mut costs = self.remarks.iter().filter(|remark| remark.name != Name::Refused).peekable();
        costs.peek().is_some() && costs.all(|remark| remark.place.is_none())
    }

    /// The costliest remark about what is missed for each of the worst lines, of vector code only.
    pub fn worst(&self) -> impl Iterator<Item = &Remark> {
        let mut lines: Vec<Option<(&str, u32)>> = Vec::new();
        let missed = |one: &&Remark| one.kind == Kind::Missed && one.share() >= NOTABLE;
        self.remarks.iter().filter(|_| !self.scalar).filter(missed).filter(move |remark| {
            let line = remark.place.as_ref().map(|place| (place.file.as_str(), place.line));
            let is_new = line.is_none() || !lines.contains(&line);
            lines.push(line);
            is_new
        })
    }

    /// What is worth a warning where nothing else is said: that it stays scalar, or the worst lines.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let scalar = self.remarks.iter().filter(|one| one.name == Name::ScalarLoop);
        scalar.chain(self.worst().take(SHOWN)).map(|one| self.describe(one)).collect()
    }

    /// A remark as a line: where, what, how much of the time, and what to change.
    #[must_use]
    pub fn describe(&self, remark: &Remark) -> String {
        let place = remark.place.as_ref().map_or_else(|| line(&self.function).into_owned(), Place::short);
        let cost = remark.cost.map_or_else(String::new, |cost| {
            format!(" ({:.0} % of the expected time, {:.1} cycles a lane)", 100.0 * cost.share, cost.lane)
        });
        let advice = remark.advice.map_or_else(String::new, |advice| format!("; {advice}"));
        format!("{place}: {}{cost}{advice}", remark.message)
    }
}

/// How many lines are shown unless all are wanted.
pub const SHOWN: usize = 3;

/// The worst lines of several kernels and loops.
#[must_use]
pub fn worst(all: &[Remarked]) -> Vec<String> {
    let mut found: Vec<(f64, String)> =
        all.iter().flat_map(|one| one.worst().map(|remark| (remark.share(), one.describe(remark)))).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    // A loop that was expanded inline several times says the same as often.
    found.dedup_by(|a, b| a.1 == b.1);
    found.truncate(SHOWN);
    found.into_iter().map(|(_, text)| text).collect()
}

/// Remarks as optimization records of LLVM, in YAML: what `opt-viewer` and `llvm-remarkutil` read.
#[must_use]
pub fn optimization_records(all: &[Remarked]) -> String {
    let mut text = String::new();
    for one in all {
        one.remarks.iter().for_each(|remark| one.record(remark, &mut text));
    }
    text
}

impl Remarked {
    /// Writes a record. The values of its arguments, one behind the other, are its message.
    fn record(&self, remark: &Remark, text: &mut String) {
        // Strings can always be written to.
        let _ = writeln!(text, "--- !{}\nPass:            warpline", remark.kind.name());
        let _ = writeln!(text, "Name:            {}", remark.name.name());
        if let Some(Place { file, line, column }) = &remark.place {
            let file = quoted(file);
            let _ = writeln!(text, "DebugLoc:        {{ File: {file}, Line: {line}, Column: {column} }}");
        }
        let _ = writeln!(text, "Function:        {}\nArgs:", quoted(&self.function));
        let mut argument = |key: &str, value: &str| {
            let _ = writeln!(text, "  - {key}: {}", quoted(value));
        };
        argument("String", &remark.message);
        if let Some(cost) = remark.cost {
            argument("String", " (");
            argument("Share", &format!("{:.1}", 100.0 * cost.share));
            argument("String", " % of the expected time, ");
            argument("CyclesPerLane", &format!("{:.2}", cost.lane));
            argument("String", " cycles a lane, ");
            argument("CyclesPerVector", &format!("{:.2}", cost.vector));
            argument("String", " a vector of ");
            argument("Lanes", &self.lanes.to_string());
            argument("String", ")");
        }
        if let Some(advice) = remark.advice {
            argument("String", "; ");
            argument("Advice", advice);
        }
        text.push_str("...\n");
    }
}

/// A string of YAML, whatever is in it.
fn quoted(text: &str) -> String {
    if !text.chars().any(|c| is_unsafe(c) || c.is_control()) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if is_unsafe(c) || c.is_control() => {
                // As before, strings can be written to.
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

/// What the time of vector code is spent on, at a place.
#[derive(Clone, PartialEq, Debug)]
pub struct Reason {
    /// What is done.
    pub what: What,
    /// Where, as `file:line`, if that is known.
    pub place: Option<String>,
    /// Its part of all operations, from 0 to 1.
    pub share: f64,
}

/// What takes less of the time is no reason.
const NOTABLE: f64 = 0.1;

impl Reason {
    /// The heaviest reason that there is something to say about.
    #[must_use]
    pub fn of(estimate: &Estimate) -> Option<Reason> {
        Reason::all(estimate).into_iter().next()
    }

    /// All reasons that there is something to say about, the heaviest first.
    #[must_use]
    pub fn all(estimate: &Estimate) -> Vec<Reason> {
        let notable = |one: &&Burden| one.what.advice().is_some() && one.share >= NOTABLE;
        estimate.burdens.iter().filter(notable).map(Reason::of_burden).collect()
    }

    fn of_burden(burden: &Burden) -> Reason {
        Reason { what: burden.what, place: burden.place.as_ref().map(Place::short), share: burden.share }
    }

    /// What it is, where, and how much: `gathers in a.c:7 (60 %)`.
    #[must_use]
    pub fn describe(&self) -> String {
        let place = self.place.as_ref().map(|place| format!(" in {place}")).unwrap_or_default();
        format!("{}{place} ({:.0} %)", self.what.describe(), 100.0 * self.share)
    }
}

/// Why something stays scalar, as a warning: `subject` is the loop or the range. What would change that is taken from
/// the remarks, if there are any.
#[must_use]
pub fn stays_scalar(subject: &str, lanes: u32, estimate: &Estimate, remarks: &[Remark]) -> String {
    let reason = Reason::of(estimate);
    let of_line = |reason: &Reason| {
        let missed = remarks.iter().filter(|one| one.kind == Kind::Missed && one.advice.is_some());
        let mut here = missed.filter(|one| one.place.as_ref().map(Place::short) == reason.place);
        here.next().and_then(|one| one.advice)
    };
    let scalar = estimate.scalar.unwrap_or_default();
    let spent =
        reason.as_ref().map(|reason| format!(", most of it for {}", reason.describe())).unwrap_or_default();
    let advice = reason.and_then(|reason| of_line(&reason).or_else(|| reason.what.advice()));
    let advice = advice.map(|advice| format!("{advice}; ")).unwrap_or_default();
    format!(
        "{subject} stays scalar: {lanes} lanes are expected to take {:.1} times as long{spent}; {advice}--width makes \
         vectors all the same",
        estimate.vector / scalar.max(f64::MIN_POSITIVE)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_records_are_quoted_whatever_is_in_them() {
        assert_eq!(quoted("it's: {a} # b"), "'it''s: {a} # b'");
        assert_eq!(quoted("a\n\"b\\c"), "\"a\\U0000000A\\\"b\\\\c\"");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_record_without_a_line_has_no_place() {
        let remark = Remark::new(Kind::Missed, Name::Gather, None, "a gather".to_owned());
        let one = Remarked { remarks: vec![remark], ..Remarked::new("f", "haswell", 8, None) };
        let expected = "--- !Missed\nPass:            warpline\nName:            Gather\nFunction:        'f'\n\
                        Args:\n  - String: 'a gather'\n...\n";
        assert_eq!(optimization_records(&[one]), expected);
    }
}
