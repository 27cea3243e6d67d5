//! Explanations as data and as text: statements with their places, source lines and witness paths.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
pub(crate) use warpline::Place;
use warpline::ir::{Function, Module, Names};
use warpline::printable;
use warpline::uniformity::{Point, Step};

/// A statement of an explanation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub(crate) struct Statement {
    /// What is so.
    pub text: String,
    /// The value it is about.
    pub value: Option<String>,
    /// The block it is about.
    pub block: Option<String>,
    /// Where in the source.
    pub location: Option<Place>,
    /// Two paths that show it, or none.
    pub paths: Vec<Vec<Stop>>,
}

/// A block on a path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub(crate) struct Stop {
    /// The block.
    pub block: String,
    /// Where it begins in the source.
    pub location: Option<Place>,
    /// From here the path goes round a loop, any number of times, before the next block.
    pub rounds: bool,
}

impl Stop {
    /// What stands for blocks of a path that are left out.
    pub(crate) fn left_out(blocks: usize) -> Stop {
        Stop { block: format!("… ({blocks} blocks) …"), location: None, rounds: false }
    }
}

/// The steps of an explanation as data.
pub(crate) fn statements(module: &Module, func: &Function, names: &Names, steps: &[Step]) -> Vec<Statement> {
    let stop = |p: &Point| Stop {
        block: names.block(func, p.block),
        location: Place::of_block(module, func, p.block),
        rounds: p.rounds,
    };
    let statement = |s: &Step| Statement {
        text: s.text.clone(),
        value: s.value.map(|v| names.value(func, v)),
        block: s.block.map(|b| names.block(func, b)),
        location: Place::of(module, func, s.loc),
        paths: s.paths.iter().map(|path| path.iter().map(stop).collect()).collect(),
    };
    steps.iter().map(statement).collect()
}

/// Source files, as far as they are at hand.
pub struct Sources {
    folder: PathBuf,
    files: BTreeMap<String, Option<Vec<String>>>,
}

impl Sources {
    /// Sources of what was compiled to, or is, the file `input`.
    pub fn beside(input: &Path) -> Sources {
        let folder = input.parent().unwrap_or(Path::new("")).to_owned();
        Sources { folder, files: BTreeMap::new() }
    }

    /// The lines of a file: where it says it is, or beside the input.
    pub fn lines(&mut self, file: &str) -> Option<&[String]> {
        let folder = &self.folder;
        let read = || {
            let name = Path::new(file).file_name()?;
            let candidates = [PathBuf::from(file), folder.join(file), folder.join(name)];
            let bytes = candidates.iter().filter(|p| p.is_file()).find_map(|p| read_text(p))?;
            Some(String::from_utf8_lossy(&bytes).lines().map(|l| printable::text(l).into_owned()).collect())
        };
        self.files.entry(file.to_owned()).or_insert_with(read).as_deref()
    }

    /// The line of a place, with a mark under its column.
    fn excerpt(&mut self, place: &Place) -> Option<String> {
        let line = self.lines(&place.file)?.get(place.line as usize - 1)?.clone();
        let number = place.line.to_string();
        let mut text = format!("  {number} | {}\n", line.trim_end());
        if place.column > 0 {
            // Tabs stay tabs, so that the mark stands where the column is.
            let before = line.chars().take(place.column as usize - 1);
            let blank: String = before.map(|c| if c == '\t' { c } else { ' ' }).collect();
            let _ = writeln!(text, "  {} | {blank}^", " ".repeat(number.len()));
        }
        Some(text)
    }
}

/// The contents of a file that looks like text. An input may say that any file is its source.
fn read_text(path: &Path) -> Option<Vec<u8>> {
    const LARGEST: u64 = 1 << 24;
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= LARGEST && !bytes.contains(&0)).then_some(bytes)
}

/// Writes explanations as text. What was said before is not said again.
pub(crate) struct Writer<'s> {
    sources: &'s mut Sources,
    said: BTreeSet<Statement>,
}

impl<'s> Writer<'s> {
    /// A writer that has said nothing yet.
    pub(crate) fn new(sources: &'s mut Sources) -> Self {
        Writer { sources, said: BTreeSet::new() }
    }

    /// Writes a chain of statements; `word` says what the first one is.
    pub(crate) fn chain(&mut self, out: &mut String, word: &str, chain: &[Statement]) {
        let mut word = word;
        for statement in chain {
            if !self.said.insert(statement.clone()) {
                let _ = writeln!(out, "{}{word}: {}, as explained above", place(statement), statement.text);
                return;
            }
            self.statement(out, word, statement);
            word = "note";
        }
    }

    fn statement(&mut self, out: &mut String, word: &str, statement: &Statement) {
        let _ = writeln!(out, "{}{word}: {}", place(statement), statement.text);
        if let Some(excerpt) = statement.location.as_ref().and_then(|p| self.sources.excerpt(p)) {
            out.push_str(&excerpt);
        }
        for (path, name) in statement.paths.iter().zip(["one path:  ", "other path:"]) {
            let _ = writeln!(out, "    {name} {}", describe_path(path));
        }
    }
}

fn place(statement: &Statement) -> String {
    match &statement.location {
        Some(Place { file, line, column: 0 }) => format!("{}:{line}: ", printable::line(file)),
        Some(Place { file, line, column }) => format!("{}:{line}:{column}: ", printable::line(file)),
        None => String::new(),
    }
}

fn describe_path(path: &[Stop]) -> String {
    let mut text = String::new();
    for (i, stop) in path.iter().enumerate() {
        if i > 0 {
            let round = path[i - 1].rounds;
            text += if round { " → … round the loop … → " } else { " → " };
        }
        text += &stop.block;
        if let Some(place) = &stop.location {
            let _ = write!(text, " ({})", place.short());
        }
    }
    text
}
