//! Directives: facts about a kernel in comment lines of its source.
//!
//! A directive is a line that begins with `//@` or `;@` (after blanks): a keyword and its value.
//!
//! ```text
//! //@ function NAME               the function; by default the next one in the file
//! //@ args i=index, out=uniform   shapes of the parameters
//! //@ rust fn f(i: i32, x: &f32)  the kernel as Rust sees it, in C: see `signature`
//! //@ returns uniform             shape of the result
//! //@ range 0..65536              the indices of a run
//! //@ bind out=f32[65536]=zero    what a run passes for a parameter
//! //@ width 8                     the number of lanes
//! //@ boscc on                   where branches skip code without an active lane: off, on or auto
//! //@ tolerance ulp=8, abs=1e-6   how far results may be off those with the C library's mathematics
//! //@ lane-insensitive            with lane operations or not, the result is that of the scalar program
//! //@ racy                        lanes are threads, and whatever their races do is accepted
//! //@ warp 32                     work-items execute one statement after the other in warps of so many
//! //@ uniform-barriers            all work-items of a group come to the same barriers
//! //@ exclusive out               nobody else accesses what `out` points to meanwhile: see `exclusive`
//! //@ secret ctx->key             what `constant-time` takes for secret
//! //@ public out                  memory that is public whatever is written to it
//! ```
//!
//! One directive is about a loop, which begins in the next line of code:
//!
//! ```text
//! //@ loop                        a loop to be vectorized within its function, with the result of the scalar one
//! //@ loop independent            the same; no iterations conflict in memory where that cannot be decided
//! //@ loop safelen 4              the same for any 4 consecutive iterations: no more are executed at once
//! //@ loop any-order width 8      floating-point numbers may be combined in any order; the number of lanes
//! ```
//!
//! One is about a finding in the next line of code, or in the line that it ends:
//!
//! ```text
//! //@ accept secret-branch: the length is public     a finding that is none, and why
//! ```
//!
//! Directives with nothing but comments, blank lines and attributes between them are about one function. The attribute
//! `warpline_lanes::kernel` stands for `args`.

use std::path::Path;

use warpline_vectorize::{Boscc, Coherence, Contract};

use crate::asked::Asked;
use crate::error::{Error, Result};
use crate::package;
use crate::signature::{self, Signature};
use crate::spec::{self, Bind, Tolerance};
use warpline_llvm::did_you_mean;

/// A value and the line that it stands in.
#[derive(Clone, Debug, PartialEq)]
pub struct At<T> {
    /// The line, from 1.
    pub line: u32,
    /// The value.
    pub value: T,
}

/// The directives about one function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directives {
    /// The first line.
    pub line: u32,
    /// The function's name, if it could be made out.
    pub function: Option<String>,
    /// The list of shapes.
    pub args: Option<At<String>>,
    /// The shape of the result.
    pub returns: Option<At<String>>,
    /// The indices of a run.
    pub range: Option<(i64, i64)>,
    /// What a run passes.
    pub binds: Vec<At<Bind>>,
    /// The number of lanes.
    pub width: Option<spec::Width>,
    /// Where branches skip code without an active lane.
    pub boscc: Option<Boscc>,
    /// For which loops code is made for iterations in which lanes agree.
    pub coherence: Option<Coherence>,
    /// The largest error of vector math functions, in units in the last place.
    pub math_ulp: Option<u32>,
    /// How far results may be off.
    pub tolerance: Option<Tolerance>,
    /// Whether the scalar program is a reference in spite of lane operations and races.
    pub lane_insensitive: bool,
    /// Whether lanes are threads whose races are accepted.
    pub racy: bool,
    /// How many lanes the warps have that its author had in mind.
    pub warp: Option<u32>,
    /// Whether all work-items of a group come to the same barriers, whatever can be seen.
    pub uniform_barriers: bool,
    /// The parameters to whose memory the function has [exclusive access](crate::exclusive).
    pub exclusive: Option<At<String>>,
    /// What is secret in it, for `constant-time`.
    pub secret: Vec<At<String>>,
    /// What is public in it whatever is written there.
    pub public: Vec<At<String>>,
    /// Whether it is a kernel of which a safe function of Rust is made.
    pub is_safe: bool,
    /// Whether rustc has compiled it with the rest of its crate.
    pub with_crate: bool,
}

impl Directives {
    /// Whether they say what is secret and nothing else.
    fn is_about_secrets_alone(&self) -> bool {
        let (line, function) = (self.line, self.function.clone());
        let (secret, public) = (self.secret.clone(), self.public.clone());
        let says_any = !secret.is_empty() || !public.is_empty();
        says_any && *self == Directives { line, function, secret, public, ..Directives::default() }
    }

    /// What memory that several lanes of the kernel access means. `racy`: races are accepted, whatever the source says.
    pub fn contract(&self, racy: bool) -> Contract {
        match (racy || self.racy, self.is_safe) {
            (true, _) => Contract::Racy,
            (_, true) => Contract::Sequential,
            _ => Contract::Threads,
        }
    }
}

/// How definitions look in the file.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Language {
    Rust,
    C,
    Llvm,
}

/// Reads the directives of a file; none for bitcode.
///
/// # Errors
/// If a directive is malformed.
pub fn read(path: &Path) -> Result<Vec<Directives>> {
    let mut groups = read_all(path)?;
    // What is secret makes no kernel of a function.
    groups.retain(|group| !group.is_about_secrets_alone());
    Ok(groups)
}

/// Reads the directives of a file, also of functions that are no kernels; none for bitcode.
///
/// # Errors
/// If a directive is malformed.
pub fn read_all(path: &Path) -> Result<Vec<Directives>> {
    let language = match path.extension().and_then(|e| e.to_str()) {
        Some("rs") => Language::Rust,
        Some("ll") => Language::Llvm,
        Some("bc") => return Ok(Vec::new()),
        _ => Language::C,
    };
    // The reader of the module has better words for a file that cannot be read.
    let Ok(bytes) = std::fs::read(path) else { return Ok(Vec::new()) };
    let mut groups = parse(&String::from_utf8_lossy(&bytes), language, path)?;
    let known = package::load::known(path);
    for kernel in signature::read(path)? {
        let Some(known) = &known else {
            add_marked(&mut groups, &kernel, path)?;
            continue;
        };
        // Of kernels that are compiled with their crate, the compiler knows more.
        if let Some(mark) = known.iter().find(|mark| mark.instance == kernel.instance) {
            add_marked(&mut groups, &kernel, path)?;
            if let Some(group) =
                groups.iter_mut().find(|group| group.function.as_ref() == Some(&mark.instance))
            {
                group.args = Some(At { line: kernel.line, value: mark.args.clone() });
                (group.is_safe, group.with_crate) = (mark.is_safe, true);
            }
        }
    }
    Ok(groups)
}

/// Adds what the source says of a kernel that it marks.
fn add_marked(groups: &mut Vec<Directives>, kernel: &Signature, path: &Path) -> Result<()> {
    let args = At { line: kernel.line, value: kernel.args() };
    let wrong = |message| Error::Directive { path: path.to_owned(), line: kernel.line, message };
    let asked = Asked::read(&kernel.options).map_err(wrong)?;
    let group = groups.iter_mut().find(|group| group.function.as_ref() == Some(&kernel.instance));
    let Some(group) = group else {
        groups.push(Directives {
            line: kernel.line,
            function: Some(kernel.instance.clone()),
            args: Some(args),
            racy: kernel.racy,
            is_safe: kernel.is_safe(),
            width: asked.width,
            boscc: asked.boscc,
            coherence: asked.coherence,
            math_ulp: asked.math_ulp,
            ..Directives::default()
        });
        return Ok(());
    };
    if let Some(given) = &group.args {
        let message = format!("the shapes of `{}` are given in line {}, too", kernel.instance, kernel.line);
        return Err(Error::Directive { path: path.to_owned(), line: given.line, message });
    }
    group.args = Some(args);
    group.racy |= kernel.racy;
    group.is_safe = kernel.is_safe();
    group.width = group.width.or(asked.width);
    group.boscc = group.boscc.or(asked.boscc);
    (group.coherence, group.math_ulp) = (asked.coherence, asked.math_ulp);
    Ok(())
}

/// A mark before a loop.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct LoopMark {
    /// The line of the mark, from 1.
    pub line: u32,
    /// The line in which the loop begins.
    pub at: u32,
    /// Whether the user promises that iterations do not conflict where that cannot be decided.
    pub independent: bool,
    /// How many consecutive iterations may be executed at once at most.
    pub safelen: Option<u32>,
    /// Whether floating-point numbers may be combined in any order.
    pub any_order: bool,
    /// The number of lanes.
    pub width: Option<spec::Width>,
}

/// Reads the marks before loops in a file; none in bitcode.
///
/// # Errors
/// If one is malformed, or no code follows.
pub fn read_loops(path: &Path) -> Result<Vec<LoopMark>> {
    if path.extension().is_some_and(|e| e == "bc") {
        return Ok(Vec::new());
    }
    // The reader of the module has better words for a file that cannot be read.
    std::fs::read(path).map_or(Ok(Vec::new()), |bytes| parse_loops(&String::from_utf8_lossy(&bytes), path))
}

fn parse_loops(text: &str, path: &Path) -> Result<Vec<LoopMark>> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut marks = Vec::new();
    for (i, raw) in lines.iter().enumerate() {
        let Some(words) = loop_mark(raw) else { continue };
        let wrong = |message: String| Error::Directive { path: path.to_owned(), line: i as u32 + 1, message };
        let code = lines.iter().skip(i + 1).position(|l| !is_between(l));
        let at = code.ok_or_else(|| wrong("no loop follows".to_owned()))? + i + 2;
        let mut mark = LoopMark {
            line: i as u32 + 1,
            at: at as u32,
            independent: false,
            safelen: None,
            any_order: false,
            width: None,
        };
        add_words(&mut mark, words).map_err(wrong)?;
        marks.push(mark);
    }
    Ok(marks)
}

/// Adds the words of a mark to it.
fn add_words(mark: &mut LoopMark, words: &str) -> std::result::Result<(), String> {
    let mut words = words.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "independent" => mark.independent = true,
            "any-order" => mark.any_order = true,
            "safelen" => {
                let number: Option<u32> = words.next().and_then(|number| number.parse().ok());
                let number = number.filter(|&n| n > 0);
                mark.safelen = Some(number.ok_or("`safelen` wants a number of iterations, 1 or more")?);
            }
            "width" => {
                mark.width = Some(words.next().ok_or("`width` wants a number of lanes")?.parse()?);
            }
            _ => {
                let near = did_you_mean(word, ["independent", "safelen", "any-order", "width"]);
                return Err(format!(
                    "`{word}` says nothing of a loop{near}: use independent, safelen N, any-order, width N"
                ));
            }
        }
    }
    Ok(())
}

/// What a line says of a loop, if it is a mark of one.
fn loop_mark(line: &str) -> Option<&str> {
    let directive = line.strip_prefix("//@").or_else(|| line.strip_prefix(";@"))?.trim();
    let rest = directive.strip_prefix("loop")?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some(rest)
}

/// What a line says of a finding: what stands behind the word `accept`.
pub fn acceptance(line: &str) -> Option<&str> {
    let at = line.find("//@").or_else(|| line.find(";@"))?;
    let directive = line[at..].trim_start_matches(['/', ';']).strip_prefix('@')?.trim();
    let rest = directive.strip_prefix("accept")?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim())
}

fn parse(text: &str, language: Language, path: &Path) -> Result<Vec<Directives>> {
    let mut groups: Vec<Directives> = Vec::new();
    let mut open = false;
    let lines: Vec<&str> = text.lines().collect();
    for (i, raw) in lines.iter().enumerate() {
        let text = raw.trim();
        if loop_mark(text).is_some() || acceptance(text).is_some() {
            continue;
        }
        let Some(directive) = text.strip_prefix("//@").or_else(|| text.strip_prefix(";@")) else {
            open &= is_between(text);
            continue;
        };
        if !open {
            groups.push(Directives { line: i as u32 + 1, ..Directives::default() });
            open = true;
        }
        if let Some(group) = groups.last_mut() {
            add(group, directive.trim(), i as u32 + 1).map_err(|message| Error::Directive {
                path: path.to_owned(),
                line: i as u32 + 1,
                message,
            })?;
        }
    }
    for group in &mut groups {
        if group.function.is_none() {
            group.function = next_function(&lines[group.line as usize..], language);
        }
    }
    Ok(groups)
}

/// All directives about functions.
const DIRECTIVES: [&str; 16] = [
    "function",
    "args",
    "rust",
    "returns",
    "range",
    "bind",
    "width",
    "boscc",
    "tolerance",
    "lane-insensitive",
    "racy",
    "warp",
    "uniform-barriers",
    "exclusive",
    "secret",
    "public",
];

/// Those that are read elsewhere: they stand before a loop, or in a line with a finding.
const ELSEWHERE: [&str; 2] = ["loop", "accept"];

/// Whether a line may stand between the directives of one function.
fn is_between(text: &str) -> bool {
    text.is_empty() || ["//", ";", "#", "/*", "*"].iter().any(|p| text.starts_with(p))
}

fn add(group: &mut Directives, directive: &str, line: u32) -> std::result::Result<(), String> {
    let (key, value) = match directive.split_once(char::is_whitespace) {
        Some((key, value)) => (key, value.trim()),
        None => (directive, ""),
    };
    let missing = |what: &str| format!("`{key}` wants {what}");
    let twice = |given: bool| if given { Err(format!("a second `{key}` for one function")) } else { Ok(()) };
    match key {
        "function" => {
            twice(group.function.is_some())?;
            if value.is_empty() || value.contains(char::is_whitespace) {
                return Err(missing("the name of a function"));
            }
            group.function = Some(value.to_owned());
        }
        "secret" | "public" => {
            if value.is_empty() {
                return Err(missing("parameters, members or global variables"));
            }
            let list = if key == "secret" { &mut group.secret } else { &mut group.public };
            list.push(At { line, value: value.to_owned() });
        }
        "args" => {
            twice(group.args.is_some())?;
            group.args = Some(At { line, value: value.to_owned() });
        }
        // What it says is read with the signatures of kernels.
        "rust" if !value.is_empty() => {}
        "rust" => return Err(missing("the head of a function in Rust")),
        "returns" => {
            twice(group.returns.is_some())?;
            group.returns = Some(At { line, value: value.to_owned() });
        }
        "exclusive" if value.is_empty() => return Err(missing("names of parameters")),
        "exclusive" => {
            twice(group.exclusive.is_some())?;
            group.exclusive = Some(At { line, value: value.to_owned() });
        }
        "range" => {
            twice(group.range.is_some())?;
            group.range = Some(spec::parse_range(value)?);
        }
        "bind" => group.binds.push(At { line, value: Bind::parse(value)? }),
        "width" => {
            twice(group.width.is_some())?;
            group.width = Some(value.parse()?);
        }
        "boscc" => {
            twice(group.boscc.is_some())?;
            group.boscc = Some(match value {
                "off" => Boscc::Off,
                "on" => Boscc::On,
                "auto" => Boscc::Auto,
                _ => return Err(format!("`{value}` is no choice for `boscc`: use off, on or auto")),
            });
        }
        "tolerance" => {
            twice(group.tolerance.is_some())?;
            group.tolerance = Some(value.parse()?);
        }
        "lane-insensitive" if value.is_empty() => group.lane_insensitive = true,
        "racy" if value.is_empty() => group.racy = true,
        "warp" => {
            twice(group.warp.is_some())?;
            let lanes = value.parse().ok().filter(|n: &u32| (2..=64).contains(n) && n.is_power_of_two());
            group.warp = Some(lanes.ok_or_else(|| missing("a power of two from 2 to 64"))?);
        }
        "uniform-barriers" if value.is_empty() => group.uniform_barriers = true,
        "lane-insensitive" | "racy" | "uniform-barriers" => return Err(format!("`{key}` has no value")),
        _ => {
            let near = did_you_mean(key, DIRECTIVES.into_iter().chain(ELSEWHERE));
            let known = [&DIRECTIVES[..], &ELSEWHERE[..]].concat().join(", ");
            return Err(format!(
                "unknown directive `{key}`{near}{}{known}",
                if near.is_empty() { "; there are " } else { " There are " }
            ));
        }
    }
    Ok(())
}

/// The name of the next function that is defined in these lines, as far as one can tell without a parser.
fn next_function(lines: &[&str], language: Language) -> Option<String> {
    let code = || lines.iter().map(|l| l.trim()).filter(|l| !is_between(l));
    match language {
        Language::Rust => code()
            .find_map(|l| l.split_once("extern \"C\" fn ").map(|(_, rest)| rest))
            .or_else(|| code().find_map(|l| l.split_once("fn ").map(|(_, rest)| rest)))
            .map(leading_name),
        Language::C => code().find_map(|l| {
            l.match_indices('(')
                .map(|(at, _)| trailing_name(l[..at].trim_end()))
                .find(|name| !name.is_empty() && !name.starts_with("__"))
        }),
        Language::Llvm => {
            code().filter(|l| l.starts_with("define ")).find_map(|l| l.split_once('@')).map(|(_, rest)| {
                match rest.strip_prefix('"').and_then(|r| r.split_once('"')) {
                    Some((quoted, _)) => quoted.to_owned(),
                    None => rest.split('(').next().unwrap_or_default().to_owned(),
                }
            })
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn leading_name(text: &str) -> String {
    text.chars().take_while(|&c| is_name(c)).collect()
}

fn trailing_name(text: &str) -> String {
    let start =
        text.rfind(|c| !is_name(c)).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    text[start..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(text: &str, language: Language) -> Vec<Directives> {
        parse(text, language, Path::new("k")).unwrap()
    }

    #[test]
    fn directives_belong_to_the_next_function_of_the_file() {
        let rust = "//! Shows.\n//@ args i=index,out=uniform\n//@ range 0..64\n\n/// Doc.\n#[unsafe(no_mangle)]\n\
                    fn helper() {}\npub unsafe extern \"C\" fn kernel(i: i32, out: *mut f32) {\n";
        let found = groups(rust, Language::Rust);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].function.as_deref(), Some("kernel"));
        assert_eq!(found[0].range, Some((0, 64)));
        assert_eq!(found[0].args, Some(At { line: 2, value: "i=index,out=uniform".into() }));
        let c = "#include <math.h>\n//@ range 0..8\nstatic const int n = 3;\n__attribute__((noinline)) float \
         f(int i) {\n";
        assert_eq!(groups(c, Language::C)[0].function.as_deref(), Some("f"));
        let ll = ";@ width 8\ndefine dso_local void @\"a b\"(i32 %i) {\n";
        assert_eq!(groups(ll, Language::Llvm)[0].function.as_deref(), Some("a b"));
    }

    #[test]
    fn code_separates_the_directives_of_two_functions() {
        let text = "//@ range 0..8\nvoid f(int i) {}\n//@ range 0..9\n//@ function other\n//@ \
         lane-insensitive\nvoid g(int i) {}\n";
        let found = groups(text, Language::C);
        let names: Vec<_> = found.iter().map(|g| g.function.as_deref().unwrap()).collect();
        assert_eq!(names, ["f", "other"]);
        assert!(found[1].lane_insensitive && !found[0].lane_insensitive);
    }

    #[test]
    fn marks_of_loops_belong_to_the_next_line_of_code() {
        let text = "//@ bind n=4\nvoid f(int n) {\n  //@ loop any-order width 8\n  // why\n\n  for (;;) {\n    \
         //@ loop independent safelen 4\n    while (n) {}\n";
        let marks = parse_loops(text, Path::new("k.c")).unwrap();
        let width = Some(spec::Width::Lanes(8));
        assert_eq!(
            marks[0],
            LoopMark { line: 3, at: 6, independent: false, safelen: None, any_order: true, width }
        );
        assert_eq!(
            marks[1],
            LoopMark { line: 7, at: 8, independent: true, safelen: Some(4), any_order: false, width: None }
        );
        let found = groups(text, Language::C);
        assert_eq!((found.len(), found[0].function.as_deref()), (1, Some("f")));
        let wrong = parse_loops("//@ loop fast\nx\n", Path::new("k.c")).unwrap_err().to_string();
        assert_eq!(
            wrong,
            "k.c:1: `fast` says nothing of a loop: use independent, safelen N, any-order, width N"
        );
        assert!(parse_loops("//@ loop\n", Path::new("k.c")).is_err());
    }

    #[test]
    fn mistakes_are_named_with_file_and_line() {
        let message = |text: &str| parse(text, Language::Rust, Path::new("k.rs")).unwrap_err().to_string();
        assert_eq!(
            message("fn f() {}\n//@ rnage 0..4\n"),
            "k.rs:2: unknown directive `rnage`; did you mean `range`? There are function, args, rust, returns, \
             range, bind, width, boscc, tolerance, lane-insensitive, racy, warp, uniform-barriers, exclusive, \
             secret, public, loop, accept"
        );
        assert_eq!(message("//@ range 4\n"), "k.rs:1: `4` is no range: write A..B");
        assert_eq!(
            message("//@ boscc maybe\n"),
            "k.rs:1: `maybe` is no choice for `boscc`: use off, on or auto"
        );
        assert_eq!(message("//@ width 0\n"), "k.rs:1: width 0: use 1 to 64 lanes, or auto");
        assert_eq!(message("//@ width 4\n//@ width 8\n"), "k.rs:2: a second `width` for one function");
    }
}
