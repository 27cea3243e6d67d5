//! OpenMP's directives, as they stand in a source behind clang's preprocessor.
//!
//! clang's IR says less than the source: `safelen` leaves no trace that differs from `simdlen`'s, and with
//! `-fopenmp-simd` neither `atomic` nor
//! `ordered` leaves any. With `-fopenmp` these do, but so do the directives for threads. So directives are read from
//! what the preprocessor writes, where comments, continued lines, macros, conditions and `_Pragma` are dealt with
//! ([`read()`]); loops that clang marks say in which line their directive stands ([`crate::MarkedLoop`]). And where
//! directives need more than `-fopenmp-simd`, that text is compiled with `-fopenmp`, after all that is for threads
//! has been taken out of it (`text`).

mod blocks;
mod text;

use std::collections::BTreeMap;

pub use blocks::is_ordered_block;
pub(crate) use text::for_lanes;

/// A clause of a directive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clause {
    /// Its name.
    pub name: String,
    /// What stands in its parentheses, if it has any.
    pub argument: Option<String>,
}

impl Clause {
    /// The clause as it is written.
    pub fn text(&self) -> String {
        match &self.argument {
            Some(argument) => format!("{}({argument})", self.name),
            None => self.name.clone(),
        }
    }
}

/// A directive of OpenMP, or one of clang's that promises that a loop's iterations do not depend on each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Directive {
    /// The file that it is in, as the compiler calls it.
    pub file: String,
    /// The line, from 1; that of the macro's use where a macro has it.
    pub line: u32,
    /// The line that it ends in.
    pub last: u32,
    /// Its words, such as `parallel for simd`; `clang loop` for clang's.
    pub name: String,
    /// Its clauses.
    pub clauses: Vec<Clause>,
    /// The statement that follows, up to a few thousand characters.
    pub statement: String,
}

impl Directive {
    /// Whether it is about a loop whose iterations are executed side by side.
    pub fn is_simd_loop(&self) -> bool {
        let mut words = self.name.split(' ');
        words.next().is_some_and(|first| !matches!(first, "declare" | "ordered" | "begin" | "end"))
            && self.name.split(' ').any(|word| word == "simd")
    }

    /// Whether it is clang's promise that iterations do not depend on each other.
    pub fn is_promise_of_clang(&self) -> bool {
        self.name == CLANG_LOOP && self.clauses.iter().any(|c| c.text() == "vectorize(assume_safety)")
    }

    /// The clauses of a name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Clause> {
        self.clauses.iter().filter(move |clause| clause.name == name)
    }
}

const CLANG_LOOP: &str = "clang loop";

/// How much of the statement behind a directive is kept.
const STATEMENT: usize = 4096;

/// Reads the directives in preprocessed text.
pub fn read(preprocessed: &str) -> Vec<Directive> {
    let lines: Vec<&str> = preprocessed.lines().collect();
    let (mut file, mut line) = (String::new(), 1);
    let mut found = Vec::new();
    for (i, text) in lines.iter().enumerate() {
        if let Some((number, name)) = marker(text) {
            (line, file) = (number, name);
            continue;
        }
        if let Some((name, rest)) = pragma(text) {
            // A macro's directive gets a line of its own, and what follows is in the macro's again.
            let next = lines.get(i + 1).and_then(|next| marker(next));
            let at = next.filter(|(number, other)| *number <= line && *other == file);
            let at = at.map_or(line, |(number, _)| number);
            let clauses = clauses(rest);
            let statement = statement(&lines[i + 1..]);
            found.push(Directive { file: file.clone(), line: at, last: at, name, clauses, statement });
        }
        line = line.saturating_add(1);
    }
    found
}

/// Moves directives of several lines to where they begin: the preprocessor puts them into a later line. `source`
/// reads a file.
pub(crate) fn find_beginnings(directives: &mut [Directive], source: impl Fn(&str) -> Option<Vec<u8>>) {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for directive in directives {
        let lines = files.entry(directive.file.clone()).or_insert_with(|| {
            let bytes = source(&directive.file).unwrap_or_default();
            String::from_utf8_lossy(&bytes).lines().map(|line| line.trim().to_owned()).collect()
        });
        // The line with this number, from 1.
        let line = |number: usize| number.checked_sub(1).and_then(|at| lines.get(at));
        let continues = |number: usize| line(number).is_some_and(|line| line.ends_with('\\'));
        let (mut first, mut last) = (directive.line as usize, directive.line as usize);
        while first > 0 && continues(first - 1) {
            first -= 1;
        }
        while continues(last) {
            last += 1;
        }
        if line(first).is_some_and(|line| line.starts_with('#') && !line.contains("define")) {
            (directive.line, directive.last) = (first as u32, last as u32);
        }
    }
}

/// What a line marker says: the number of the next line and its file.
fn marker(line: &str) -> Option<(u32, String)> {
    let rest = line.strip_prefix("# ").or_else(|| line.strip_prefix("#line "))?;
    let (number, rest) = rest.split_once(' ')?;
    let name = rest.trim().strip_prefix('"')?;
    let end = name.rfind('"')?;
    Some((number.parse().ok()?, name[..end].replace("\\\\", "\\").replace("\\\"", "\"")))
}

/// The directive of a line, and what follows its name.
fn pragma(line: &str) -> Option<(String, &str)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("pragma")?;
    let rest = rest.strip_prefix(char::is_whitespace)?.trim_start();
    if let Some(rest) = word(rest, "clang") {
        return Some((CLANG_LOOP.to_owned(), word(rest, "loop")?));
    }
    let mut rest = word(rest, "omp")?;
    let mut name = String::new();
    while let Some((next, behind)) = identifier(rest) {
        let calls = behind.trim_start().starts_with('(');
        if !name.is_empty() && (calls || !continues(&name, next)) {
            break;
        }
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(next);
        rest = behind.trim_start();
        if calls {
            break;
        }
    }
    (!name.is_empty()).then_some((name, rest))
}

/// Whether a word belongs to a directive's name of which others have been read.
fn continues(name: &str, word: &str) -> bool {
    let first = name.split(' ').next().unwrap_or_default();
    match first {
        "declare" | "begin" | "end" | "target" if name == first => true,
        "parallel" | "for" | "distribute" | "teams" | "target" | "taskloop" | "master" | "masked" => {
            const LOOPS: [&str; 10] = [
                "parallel",
                "for",
                "simd",
                "distribute",
                "teams",
                "taskloop",
                "master",
                "masked",
                "loop",
                "sections",
            ];
            LOOPS.contains(&word)
        }
        "cancellation" => word == "point",
        "begin" | "end" => matches!(name, "begin declare" | "end declare"),
        _ => false,
    }
}

/// What follows a word, if text begins with it.
fn word<'a>(text: &'a str, wanted: &str) -> Option<&'a str> {
    let (found, rest) = identifier(text)?;
    (found == wanted).then(|| rest.trim_start())
}

/// The identifier that text begins with, and what follows.
fn identifier(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    (end > 0 && !text.starts_with(|c: char| c.is_ascii_digit())).then(|| text.split_at(end))
}

/// The clauses in the text behind a directive's name. What cannot be read as one becomes one with that text as its
/// name.
fn clauses(text: &str) -> Vec<Clause> {
    let mut found = Vec::new();
    let mut rest = text.trim_start_matches([' ', '\t', ',']);
    while !rest.is_empty() {
        let Some((name, behind)) = identifier(rest) else {
            let whole = Clause { name: rest.trim().to_owned(), argument: None };
            found.push(whole);
            break;
        };
        let argument = behind.trim_start().strip_prefix('(');
        let closed = argument.map(|inside| (inside, closing(inside)));
        let (argument, behind) = match closed {
            Some((inside, Some(end))) => (Some(inside[..end].trim().to_owned()), &inside[end + 1..]),
            Some((inside, None)) => (Some(inside.trim().to_owned()), ""),
            None => (None, behind),
        };
        found.push(Clause { name: name.to_owned(), argument });
        rest = behind.trim_start_matches([' ', '\t', ',']);
    }
    found
}

/// Where the parenthesis closes that was opened before text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The statement that lines begin with, roughly: up to the end of its block or to a semicolon outside of parentheses
/// and blocks.
fn statement(lines: &[&str]) -> String {
    let (mut text, mut round, mut curly) = (String::new(), 0i32, 0i32);
    for line in lines.iter().take(STATEMENT).filter(|line| !line.trim_start().starts_with('#')) {
        for c in line.chars() {
            text.push(c);
            match c {
                '(' => round += 1,
                ')' => round -= 1,
                '{' => curly += 1,
                '}' => curly -= 1,
                _ => {}
            }
            let ends = (c == ';' || c == '}') && round <= 0 && curly <= 0;
            if ends || text.len() >= STATEMENT {
                return text;
            }
        }
        text.push(' ');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &Directive) -> Vec<String> {
        of.clauses.iter().map(Clause::text).collect()
    }

    #[test]
    fn directives_end_where_their_clauses_begin() {
        let text = "# 7 \"a b.c\" 2\n\
                    #pragma omp parallel for simd reduction(+ : s), safelen ( (4) ) nowait ordered\n  for (;;) { x; }\n\
                    # pragma omp ordered simd\n{}\n#pragma omp atomic capture\nv = x++;\n#pragma omp for ordered\n\
                    #pragma clang loop vectorize(assume_safety) vectorize_width(8)\n\
                    #pragma omp critical (name) hint(1)\n#pragma once\n";
        let found = read(text);
        let heads: Vec<_> = found.iter().map(|d| (d.line, d.name.as_str())).collect();
        assert_eq!(
            heads,
            [
                (7, "parallel for simd"),
                (9, "ordered"),
                (11, "atomic"),
                (13, "for"),
                (14, "clang loop"),
                (15, "critical")
            ]
        );
        assert_eq!(found[0].file, "a b.c");
        assert_eq!(names(&found[0]), ["reduction(+ : s)", "safelen((4))", "nowait", "ordered"]);
        assert_eq!(names(&found[1]), ["simd"]);
        assert_eq!(found[0].statement.trim(), "for (;;) { x; }");
        assert!(found[0].is_simd_loop() && !found[1].is_simd_loop() && found[4].is_promise_of_clang());
    }

    #[test]
    fn directives_of_macros_are_in_the_line_of_the_macro() {
        let text = "# 4 \"k.c\"\nvoid f(int *x, int n) {\n#pragma omp simd simdlen(4)\n# 5 \"k.c\"\n  for (;;) ; \n\
                    #pragma omp simd\n# 5 \"k.c\"\n for (;;) ;\n#pragma omp simd\n# 20 \"k.c\"\n for (;;) ;\n";
        let lines: Vec<u32> = read(text).iter().map(|d| d.line).collect();
        assert_eq!(lines, [5, 5, 6]);
    }

    #[test]
    fn directives_of_several_lines_begin_with_the_first() {
        let source = "int x;\n#pragma omp \\\n  simd \\\n safelen(4)\nfor (;;);\n#pragma omp simd\n";
        let mut found =
            read("# 1 \"k.c\"\nint x;\n\n#pragma omp simd safelen(4)\n\nfor (;;);\n#pragma omp simd\n");
        find_beginnings(&mut found, |_| Some(source.as_bytes().to_vec()));
        assert_eq!(found.iter().map(|d| d.line).collect::<Vec<_>>(), [2, 6]);
    }

    #[test]
    fn what_is_no_clause_is_kept_as_it_stands() {
        let found = read("# 1 \"k.c\"\n#pragma omp simd + 3 foo(\n#pragma omp\n#pragma ompx simd\n");
        assert_eq!(found.len(), 1);
        assert_eq!(names(&found[0]), ["+ 3 foo("]);
        assert_eq!(found[0].statement, "");
    }
}
