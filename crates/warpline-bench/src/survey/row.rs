//! What a file of the survey says of its function: `survey:` lines in comments.
//!
//! Items stand between semicolons. Parameters are named in the order of the function's:
//!
//! * `NAME TYPE = VALUE`, a number. `VALUE | VALUE` makes a row for each value; of several such parameters each row
//!   takes the values at its place.
//! * `NAME TYPE[LENGTH] CONTENT`, an array; `&TYPE[LENGTH]` is a slice of Rust. The content is one of: nothing or
//!   `zero`, `random` (all values of an integer, or 0 to 1), `bits` (all patterns of bits: infinities and what is no
//!   number among them), `in LOW..HIGH`, `below LENGTH`, `sorted in LOW..HIGH`, `permutation`, `index` (0, 1, 2 and so
//!   on).
//! * `let NAME = VALUE`, a number that other items use, and no parameter.
//! * `range END` and `ndrange X [Y]`: the indices of a kernel.
//! * `-> TYPE`: what a function returns.
//! * `tolerance NUMBER`: how far floating-point results may be from the scalar ones, relative to the larger of 1 and
//!   the value. Without it they are compared bit for bit.
//! * `omp CLAUSES`: what stands behind `#pragma omp simd`. `omp no`: iterations depend on each other, so the promise
//!   would be a lie.
//!
//! Lengths and values are sums and products of numbers and of names that stand before them.

use std::path::{Path, PathBuf};

use warpline_compile::error::{Error, Result};

use super::items::{Content, Elem, Item, Kind, Language};
use crate::files::stem;

/// A function of the survey.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// The name of function and file.
    pub name: String,
    pub path: PathBuf,
    pub text: String,
    pub language: Language,
    pub kind: Kind,
    pub items: Vec<Item>,
    pub returns: Option<Elem>,
    pub tolerance: Option<f64>,
    /// Clauses of `#pragma omp simd`; none if it would be a lie.
    pub omp: Option<String>,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or if its header is missing or makes no sense.
    pub(super) fn read(path: &Path) -> Result<Source> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::input(path, e.to_string()))?;
        Source::parse(path, text).map_err(|reason| Error::input(path, reason))
    }

    fn parse(path: &Path, text: String) -> std::result::Result<Source, String> {
        let language = match path.extension().and_then(|e| e.to_str()) {
            Some("c") => Language::C,
            Some("rs") => Language::Rust,
            Some("cl") => Language::OpenCl,
            _ => return Err("the survey reads .c, .rs and .cl".to_owned()),
        };
        let (name, kind) = (stem(path), Kind::Loop);
        let mut source = Source {
            name,
            path: path.to_owned(),
            text: String::new(),
            language,
            kind,
            items: Vec::new(),
            returns: None,
            tolerance: None,
            omp: Some(String::new()),
        };
        let lines =
            text.lines().filter_map(|line| line.trim().strip_prefix("//")?.trim().strip_prefix("survey:"));
        let mut any = false;
        for item in lines.flat_map(|line| line.split(';')).map(str::trim).filter(|item| !item.is_empty()) {
            source.add(item).map_err(|reason| format!("survey: `{item}`: {reason}"))?;
            any = true;
        }
        if !any {
            return Err("there is no line `// survey: …` that describes the arguments".to_owned());
        }
        match (language, &source.kind) {
            (Language::OpenCl, Kind::NdRange(..)) | (Language::Rust, Kind::Range(_)) => {}
            (Language::C | Language::Rust, Kind::Loop) if text.contains("//@ loop") => {}
            (Language::C, _) => return Err("there is no loop with the mark `//@ loop`".to_owned()),
            (Language::Rust, _) => return Err("there is neither `//@ loop` nor a `range`".to_owned()),
            (Language::OpenCl, _) => return Err("there is no `ndrange`".to_owned()),
        }
        let counts: Vec<usize> = source.counts().filter(|&n| n > 1).collect();
        if counts.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err("survey: numbers with several values have the same number of them".to_owned());
        }
        if !text.contains(&format!("{}(", source.name)) {
            return Err(format!("there is no function with the file's name, `{}`", source.name));
        }
        Ok(Source { text, ..source })
    }

    fn add(&mut self, item: &str) -> std::result::Result<(), String> {
        let (first, rest) = item.split_once(char::is_whitespace).unwrap_or((item, ""));
        let rest = rest.trim();
        match first {
            "->" => self.returns = Some(Elem::parse(rest).ok_or("unknown type")?),
            "tolerance" => self.tolerance = Some(rest.parse().map_err(|_| "no number")?),
            "omp" => self.omp = (rest != "no").then(|| rest.to_owned()),
            "range" => self.kind = Kind::Range(self.expression(rest)?),
            "ndrange" => {
                let (x, y) = rest.split_once(char::is_whitespace).unwrap_or((rest, "1"));
                self.kind = Kind::NdRange(self.expression(x)?, self.expression(y)?);
            }
            "let" => {
                let (name, values) = rest.split_once('=').ok_or("a name, `=` and values are expected")?;
                self.number(name, None, values)?;
            }
            name => match (rest.split_once('='), rest.split_once('[')) {
                (Some((elem, values)), _) => {
                    let elem = Elem::parse(elem.trim()).ok_or("unknown type")?;
                    self.number(name, Some(elem), values)?;
                }
                (None, Some((elem, rest))) => self.array(name, elem, rest)?,
                (None, None) => return Err("neither a number nor an array".to_owned()),
            },
        }
        Ok(())
    }

    fn number(&mut self, name: &str, elem: Option<Elem>, values: &str) -> std::result::Result<(), String> {
        let values =
            values.split('|').map(|value| self.expression(value)).collect::<std::result::Result<_, _>>()?;
        self.push(Item::Number { name: name.trim().to_owned(), elem, values })
    }

    fn array(&mut self, name: &str, elem: &str, rest: &str) -> std::result::Result<(), String> {
        let elem = elem.trim();
        let (slice, elem) = elem.strip_prefix('&').map_or((false, elem), |elem| (true, elem));
        let elem = Elem::parse(elem).ok_or("unknown type")?;
        let (length, content) = rest.split_once(']').ok_or("`]` is missing")?;
        let (kind, what) = content.trim().split_once(char::is_whitespace).unwrap_or((content.trim(), ""));
        let bounds = |what: &str| {
            let (low, high) = what.split_once("..").ok_or("bounds `LOW..HIGH` are expected")?;
            Ok::<_, String>((self.expression(low)?, self.expression(high)?))
        };
        let content = match kind {
            "" | "zero" => Content::Zero,
            "random" => Content::Random,
            "bits" => Content::Bits,
            "permutation" => Content::Permutation,
            "index" => Content::Index,
            "below" => Content::In("0".to_owned(), self.expression(what)?),
            "in" => bounds(what).map(|(low, high)| Content::In(low, high))?,
            "sorted" => {
                let what = what.trim_start().strip_prefix("in").ok_or("`sorted in` is expected")?;
                bounds(what).map(|(low, high)| Content::Sorted(low, high))?
            }
            _ => return Err(format!("unknown content `{kind}`")),
        };
        let length = self.expression(length)?;
        self.push(Item::Array { name: name.to_owned(), elem, length, content, slice })
    }

    fn push(&mut self, item: Item) -> std::result::Result<(), String> {
        let name = item.name();
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !starts || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("`{name}` is no name"));
        }
        if self.items.iter().any(|known| known.name() == name) {
            return Err(format!("`{name}` is there twice"));
        }
        self.items.push(item);
        Ok(())
    }

    /// A sum or product of numbers and names that are known, as text of the driver.
    fn expression(&self, text: &str) -> std::result::Result<String, String> {
        let text = text.trim();
        let mut made = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(length.max(first.len_utf8()));
            rest = behind;
            let is_name = |i: &Item| matches!(i, Item::Number { name, .. } if name == word);
            // The exponent of `1e-5` is a word of its own.
            let number = word.strip_suffix('e').unwrap_or(word);
            if self.items.iter().any(is_name) {
                made.push_str(&name_in_c(word));
            } else if "+-*/() ".contains(word) || (first.is_ascii_digit() && number.parse::<f64>().is_ok()) {
                made.push_str(word);
            } else {
                return Err(format!("`{word}` is no number and no number's name"));
            }
        }
        match text.is_empty() {
            true => Err("a value is missing".to_owned()),
            false => Ok(made),
        }
    }

    fn counts(&self) -> impl Iterator<Item = usize> {
        self.items.iter().map(|item| match item {
            Item::Number { values, .. } => values.len(),
            Item::Array { .. } => 1,
        })
    }

    /// The file with what somebody has written by hand for a CPU, if there is one: it stands in a folder `avx2` beside
    /// the function's own file, and is called as that is.
    pub(super) fn by_hand(&self, cpu: &str) -> Option<PathBuf> {
        let serves = matches!(cpu, "x86-64-v3" | "x86-64-v4") && self.language == Language::C;
        let path = self.path.parent()?.join("avx2").join(format!("{}.c", self.name));
        (serves && path.is_file()).then_some(path)
    }

    /// The rows: the number of each, and what tells it from the others.
    pub(super) fn rows(&self) -> Vec<(usize, String)> {
        let count = self.counts().max().unwrap_or(1);
        let label = |at: usize| {
            let varied = self.items.iter().find_map(|item| match item {
                Item::Number { name, values, .. } if values.len() > 1 => {
                    Some(format!(" {name}={}", values[at]))
                }
                _ => None,
            });
            format!("{}{}", self.name, varied.unwrap_or_default())
        };
        (0..count).map(|at| (at, label(at))).collect()
    }
}

/// What a number is called in the driver, which has names of its own.
pub(super) fn name_in_c(name: &str) -> String {
    format!("arg_{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(header: &str) -> std::result::Result<Source, String> {
        Source::parse(Path::new("f.c"), format!("{header}\nvoid f(void) {{ //@ loop\n}}"))
    }

    #[test]
    fn a_header_names_parameters_in_order_and_makes_a_row_for_each_size() {
        let source = parse(
            "// survey: n i32 = 1000 | 7; x f32[2*n+1] in -1..1; k u8[n] below n\n\
             // survey: -> f64; omp no; tolerance 1e-5",
        )
        .unwrap();
        let names: Vec<&str> = source.items.iter().map(Item::name).collect();
        assert_eq!(names, ["n", "x", "k"]);
        let rows: Vec<String> = source.rows().into_iter().map(|(_, label)| label).collect();
        assert_eq!(rows, ["f n=1000", "f n=7"]);
        assert_eq!((source.omp, source.tolerance), (None, Some(1e-5)));
        assert_eq!(source.returns.map(|e| e.c), Some("double"));
    }

    #[test]
    fn headers_that_make_no_sense_are_refused_with_the_item() {
        for (header, told) in [
            ("", "there is no line `// survey: …`"),
            ("// survey: x f32[n]", "`n` is no number"),
            ("// survey: n i32 = 1; x f31[n]", "`x f31[n]`: unknown type"),
            ("// survey: n i32 = 1 | 2; m i32 = 1 | 2 | 3", "the same number of them"),
            ("// survey: n i32 = 1; n i32 = 1", "twice"),
            ("// survey: n i32 = system(1)", "`system` is no number"),
            ("// survey: n i32 = 4; x f32[n] sometimes", "unknown content"),
        ] {
            let reason = parse(header).unwrap_err();
            assert!(reason.contains(told), "{header}: {reason}");
        }
    }
}
