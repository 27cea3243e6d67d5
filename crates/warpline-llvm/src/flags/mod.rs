//! What users tell the compilers of their sources: which flags reach clang and rustc, and what becomes of the others.
//!
//! Flags of clang come from four places, the later ones prevailing: arguments within `$CLANG`, `$CPPFLAGS`, `$CFLAGS`
//! or `$CXXFLAGS` by language, an entry of `compile_commands.json`, and the command line. Each word is judged:
//!
//! - what would change what clang writes, or for which target, is refused by name on the command line; in the other
//!   places, which are about all of a project, it is left out;
//! - levels of optimization and of debug information are left out everywhere: the bitcode that is read is unoptimized
//!   and has line tables;
//! - instrumentation (sanitizers, coverage, profiles) is refused everywhere, or left out on request: its calls and
//!   counters are not for lanes;
//! - everything else is passed on in its order.

mod judge;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::input_kind::InputKind;
use judge::{Judgement, WITH_PATH, judge};

pub use judge::takes_value;

/// What the compilers of a source are told by the user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerFlags {
    /// Flags for clang from the command line.
    pub clang: Vec<OsString>,
    /// Flags for clang from the project's own build, `compile_commands.json`.
    pub project: Vec<OsString>,
    /// Arguments of rustc.
    pub rustc: Vec<OsString>,
    /// Whether cargo compiles a source in Rust with the crate that it is a module of, for it is not complete alone.
    pub package: bool,
    /// Whether flags that ask for instrumentation are left out instead of refused.
    pub strip_instrumentation: bool,
    /// Which files are to be listed that a source is made of.
    pub dependencies: Dependencies,
    /// Whether variables and types are described, for reports.
    pub variables: bool,
}

/// Which of the files that a source is made of are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dependencies {
    /// None.
    #[default]
    None,
    /// All but headers of the system.
    User,
    /// All.
    All,
}

/// Flags that are left to pass on, and what is to be said of the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) flags: Vec<OsString>,
    pub(crate) notes: Vec<String>,
}

/// Where a flag stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin<'a> {
    /// On the command line.
    Command,
    /// In a variable of the environment, or in a file of the project.
    Project(&'a str),
}

impl Origin<'_> {
    /// How messages begin.
    fn prefix(self) -> String {
        match self {
            Origin::Command => String::new(),
            Origin::Project(name) => format!("{name}: "),
        }
    }
}

impl CompilerFlags {
    /// The flags for clang and a source of this kind, from all places.
    ///
    /// # Errors
    /// [`Error::Flag`] for one that is refused, or a variable with an open quote.
    pub(crate) fn for_clang(&self, kind: InputKind) -> Result<Judged> {
        let mut judged = Judged::default();
        let variables: &[&str] = match kind {
            InputKind::C => &["CPPFLAGS", "CFLAGS"],
            InputKind::Cpp => &["CPPFLAGS", "CXXFLAGS"],
            _ => &[],
        };
        for name in variables {
            let text = std::env::var_os(name).unwrap_or_default();
            let words =
                split_words(&text).map_err(|reason| Error::Flag { message: format!("{name}: {reason}") })?;
            self.add(&mut judged, &words, Origin::Project(name))?;
        }
        self.add(&mut judged, &self.project, Origin::Project("compile_commands.json"))?;
        self.add(&mut judged, &self.clang, Origin::Command)?;
        Ok(judged)
    }

    /// The flags for a source in OpenCL C that say what machine its code is for, such as `-mno-sse4.2`.
    ///
    /// # Errors
    /// As [`for_clang`](Self::for_clang).
    pub(crate) fn for_machine(&self) -> Result<Vec<OsString>> {
        let flags = self.for_clang(InputKind::OpenCl)?.flags;
        let mut machine = Vec::new();
        let mut words = flags.into_iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            // A value belongs to its flag, whatever it looks like.
            if takes_value(&text) {
                words.next();
            } else if text.starts_with("-m") {
                machine.push(word);
            }
        }
        Ok(machine)
    }

    /// The arguments of rustc, with paths that are not relative to any folder, and the edition that they name.
    ///
    /// # Errors
    /// [`Error::Flag`] for one that is refused.
    pub(crate) fn for_rustc(&self) -> Result<(Judged, Option<String>)> {
        judge::rustc(&self.rustc, self.strip_instrumentation)
    }

    fn add(&self, judged: &mut Judged, words: &[OsString], origin: Origin<'_>) -> Result<()> {
        let refused = |message: String| Error::Flag { message: format!("{}{message}", origin.prefix()) };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            let value = match takes_value(&text) {
                true => {
                    Some(words.next().ok_or_else(|| refused(format!("`{text}` wants a value behind it")))?)
                }
                false => None,
            };
            match (judge(&text, value.map(|value| value.to_string_lossy()).as_deref()), origin) {
                (Judgement::Pass, _) => judged.flags.extend([word].into_iter().chain(value).cloned()),
                (Judgement::LeaveOut, _) | (Judgement::Refuse(_), Origin::Project(_)) => {}
                (Judgement::Note(note), _) => {
                    judged.notes.push(format!("warning: {}`{text}`: {note}", origin.prefix()));
                }
                (Judgement::Replace(other), _) => judged.flags.push(other.into()),
                (Judgement::Instruments, _) if self.strip_instrumentation => {}
                (Judgement::Instruments, _) => return Err(refused(instruments(&text))),
                (Judgement::Refuse(reason), Origin::Command) => {
                    return Err(refused(format!("`{text}`: {reason}")));
                }
            }
        }
        Ok(())
    }
}

/// The flags that clang says it does not know, among all that it says.
pub(crate) fn unknown(said: &str) -> Vec<&str> {
    let of = |line: &'static str| {
        said.lines().filter_map(move |text| text.split_once(line)?.1.split_once('\'')).map(|(flag, _)| flag)
    };
    of("error: unknown argument: '").chain(of("error: unknown argument '")).collect()
}

/// What is said of a flag that asks for instrumentation.
fn instruments(flag: &str) -> String {
    format!(
        "`{flag}`: instrumented code counts and checks once a call, not once a lane; leave it out, or say \
         --strip-instrumentation"
    )
}

/// The words of a variable, as a shell takes them apart: blanks separate, quotes and backslashes keep together.
///
/// # Errors
/// If a quote is not closed.
pub fn split_words(text: &OsStr) -> std::result::Result<Vec<OsString>, String> {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let mut words = Vec::new();
    let (mut word, mut begun, mut quote) = (Vec::new(), false, None);
    let mut bytes = text.as_bytes().iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (None, b' ' | b'\t' | b'\n') => {
                if begun {
                    words.push(OsString::from_vec(std::mem::take(&mut word)));
                }
                begun = false;
                continue;
            }
            (None, b'\'' | b'"') => quote = Some(byte),
            (Some(open), _) if byte == open => quote = None,
            (None, b'\\') => word.extend(bytes.next()),
            (Some(b'"'), b'\\') => match bytes.next() {
                Some(next @ (b'"' | b'\\' | b'$' | b'`')) => word.push(next),
                next => word.extend([b'\\'].into_iter().chain(next)),
            },
            _ => word.push(byte),
        }
        begun = true;
    }
    if let Some(open) = quote {
        return Err(format!("a quote is not closed: {}", char::from(open)));
    }
    if begun {
        words.push(OsString::from_vec(word));
    }
    Ok(words)
}

/// The files that a rule of make names behind the colon.
pub fn prerequisites(rule: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut word = String::new();
    let mut targets = true;
    let mut chars = rule.chars().peekable();
    let mut end = |word: &mut String, targets: &mut bool| {
        let done = std::mem::take(word);
        match *targets {
            true => *targets = !done.ends_with(':'),
            false if done.is_empty() => {}
            false => files.push(PathBuf::from(done)),
        }
    };
    while let Some(c) = chars.next() {
        match (c, chars.peek().copied()) {
            ('\\', Some('\n')) => {
                chars.next();
                end(&mut word, &mut targets);
            }
            ('\\', Some(next @ (' ' | '#'))) | ('$', Some(next @ '$')) => {
                chars.next();
                word.push(next);
            }
            // The rules that follow say of each file that nothing makes it.
            ('\n', _) if !targets || word.ends_with(':') => break,
            (' ' | '\t' | '\n', _) => end(&mut word, &mut targets),
            _ => word.push(c),
        }
    }
    end(&mut word, &mut targets);
    files
}

/// Makes relative paths in flags relative to `folder`, for a compiler that runs in another one.
pub fn in_folder(words: &[OsString], folder: &Path) -> Vec<OsString> {
    let mut out: Vec<OsString> = Vec::new();
    for word in words {
        let value_of_path = out.last().is_some_and(|last| WITH_PATH.iter().any(|flag| last == flag));
        let text = word.to_str();
        let joined = text.and_then(|text| {
            let flag = WITH_PATH.iter().find(|flag| text.len() > flag.len() && text.starts_with(**flag))?;
            let rest = &text[flag.len()..];
            let (flag, path) = match rest.strip_prefix('=') {
                Some(path) => (format!("{flag}="), path),
                None if flag.len() == 2 => ((*flag).to_owned(), rest),
                None => return None,
            };
            Some(OsString::from(flag + &folder.join(path).to_string_lossy()))
        });
        out.push(match (value_of_path, joined) {
            (true, _) => folder.join(word).into(),
            (false, Some(joined)) => joined,
            (false, None) => word.clone(),
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clang_does_not_know_is_found_in_what_it_says() {
        let said = "clang: error: unknown argument: '-fconserve-stack'\nclang: error: unknown argument '-fabi'; did you mean \
                    '-fab'?\nk.c:1:1: error: unknown type name 'x'\n";
        assert_eq!(unknown(said), ["-fconserve-stack", "-fabi"]);
    }

    fn words(text: &[&str]) -> Vec<OsString> {
        text.iter().map(OsString::from).collect()
    }

    fn of_command(flags: &[&str]) -> Result<Judged> {
        let flags = CompilerFlags { clang: words(flags), ..CompilerFlags::default() };
        let mut judged = Judged::default();
        flags.add(&mut judged, &flags.clang, Origin::Command)?;
        Ok(judged)
    }

    #[test]
    fn words_are_separated_as_a_shell_does_it() {
        let split = |text: &str| split_words(OsStr::new(text));
        assert_eq!(
            split(" -DA=1  -I'a b' \"-DS=\\\"x\\\"\" c\\ d '' "),
            Ok(words(&["-DA=1", "-Ia b", "-DS=\"x\"", "c d", ""]))
        );
        assert_eq!(split(""), Ok(Vec::new()));
        assert!(split("-D'x").unwrap_err().contains("not closed"));
    }

    #[test]
    fn flags_are_passed_on_in_order_and_levels_of_optimization_are_not() {
        let judged =
            of_command(&["-I", "a", "-O3", "-DX=1", "-g", "-ffast-math", "-include", "b.h", "-Ofast"])
                .unwrap();
        assert_eq!(
            judged.flags,
            words(&["-I", "a", "-DX=1", "-ffast-math", "-include", "b.h", "-ffast-math"])
        );
    }

    #[test]
    fn what_would_break_the_pipeline_is_refused_by_name() {
        for flag in
            ["-c", "-S", "-E", "-emit-llvm", "-flto", "-flto=thin", "-oout", "-xc++", "--target=arm", "-m32"]
        {
            let text = of_command(&[flag]).unwrap_err().to_string();
            assert!(text.starts_with(&format!("`{flag}`: ")), "{text}");
        }
        let text = of_command(&["-o", "x"]).unwrap_err().to_string();
        assert!(text.contains("before `--`"), "{text}");
        assert!(of_command(&["other.c"]).unwrap_err().to_string().contains("no flag"));
        assert!(of_command(&["-I"]).unwrap_err().to_string().contains("wants a value"));
    }

    #[test]
    fn instrumentation_is_refused_or_left_out() {
        for flag in
            ["-fsanitize=address", "--coverage", "-fprofile-instr-generate", "-fcoverage-mapping", "-pg"]
        {
            assert!(of_command(&[flag]).unwrap_err().to_string().contains("--strip-instrumentation"));
            let mut flags = CompilerFlags { strip_instrumentation: true, ..CompilerFlags::default() };
            flags.project = words(&[flag, "-DX"]);
            assert_eq!(flags.for_clang(InputKind::OpenCl).unwrap().flags, words(&["-DX"]));
        }
        assert_eq!(of_command(&["-fno-sanitize=all"]).unwrap().flags.len(), 1);
    }

    #[test]
    fn a_projects_flags_about_its_own_outputs_are_left_out() {
        let project = words(&["-c", "-o", "x.o", "-MD", "-MF", "x.d", "-flto=auto", "-Iinclude", "-fopenmp"]);
        let flags = CompilerFlags { project, ..CompilerFlags::default() };
        let judged = flags.for_clang(InputKind::OpenCl).unwrap();
        assert_eq!(judged.flags, words(&["-Iinclude"]));
        assert!(judged.notes[0].contains("-fopenmp"), "{:?}", judged.notes);
    }

    #[test]
    fn flags_for_the_machine_are_told_from_others_and_from_their_values() {
        let clang = words(&["-Imno", "-mno-sse4.2", "-D", "-mavx", "-march=haswell", "-ffast-math"]);
        let flags = CompilerFlags { clang, ..CompilerFlags::default() };
        assert_eq!(flags.for_machine().unwrap(), words(&["-mno-sse4.2", "-march=haswell"]));
    }

    #[test]
    fn rules_of_make_are_read_with_their_escapes() {
        let rule = "a.o: /x/k.c \\\n  /x/with\\ blank.h /x/$$d.h\n\n/x/k.c:\n";
        let files = ["/x/k.c", "/x/with blank.h", "/x/$d.h"].map(PathBuf::from);
        assert_eq!(prerequisites(rule), files);
        assert_eq!(prerequisites(""), Vec::<PathBuf>::new());
    }

    #[test]
    fn paths_are_those_of_the_projects_folder() {
        let flags = words(&[
            "-Iinc",
            "-I",
            "b",
            "-I/abs",
            "-isystem",
            "c",
            "--sysroot=r",
            "-DI=x",
            "-include",
            "p.h",
        ]);
        let expected = [
            "-I/p/inc",
            "-I",
            "/p/b",
            "-I/abs",
            "-isystem",
            "/p/c",
            "--sysroot=/p/r",
            "-DI=x",
            "-include",
            "/p/p.h",
        ];
        assert_eq!(in_folder(&flags, Path::new("/p")), words(&expected));
    }
}
