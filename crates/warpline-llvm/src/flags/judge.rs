//! What becomes of a flag.

use std::ffi::OsString;
use std::path::{Path, absolute};

use super::{Judged, instruments};
use crate::error::{Error, Result};

/// What becomes of a flag of clang.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judgement {
    /// clang gets it.
    Pass,
    /// It says nothing here.
    LeaveOut,
    /// It is left out, which the user should know.
    Note(&'static str),
    /// clang gets this instead.
    Replace(&'static str),
    /// It asks for instrumentation.
    Instruments,
    /// It would break what follows, for this reason.
    Refuse(&'static str),
}

/// Flags whose value is a path, which is relative to the folder that the compiler runs in. The value may be a word of
/// its own.
#[rustfmt::skip]
pub(super) const WITH_PATH: [&str; 12] = [
    "-I", "-include", "-isystem", "-iquote", "-idirafter", "-imacros",
    "-isysroot", "--sysroot", "-include-pch", "-cxx-isystem", "-F", "-iframework",
];

/// Other flags with a value in a word of its own.
#[rustfmt::skip]
const WITH_VALUE: [&str; 20] = [
    "-D", "-U", "-iprefix", "-iwithprefix", "-iwithprefixbefore", "-ivfsoverlay", "-B", "-resource-dir", "-Xclang",
    "-Xpreprocessor", "-mllvm", "--param", "-o", "-x", "-target", "-arch", "-MF", "-MT", "-MQ", "-MJ",
];

/// Whether a flag has its value in the next word.
pub fn takes_value(word: &str) -> bool {
    WITH_PATH.contains(&word) || WITH_VALUE.contains(&word)
}

const WRITES: &str = "it says what the compiler writes, which is bitcode for warpline: leave it out";
const TARGET: &str = "the target is warpline's --triple";
const LINKS: &str = "warpline makes machine code, which link-time optimization does not read: leave it out";
const OWN_FILES: &str = "it makes the compiler write files of its own: leave it out";

/// Flags that are refused, as whole words.
const REFUSED: [(&str, &str); 20] = [
    ("-c", WRITES),
    ("-S", WRITES),
    ("-E", WRITES),
    ("-emit-llvm", WRITES),
    ("-emit-ast", WRITES),
    ("-fsyntax-only", WRITES),
    ("--precompile", WRITES),
    ("-M", WRITES),
    ("-MM", WRITES),
    ("-###", WRITES),
    ("-cc1", WRITES),
    ("-target", TARGET),
    ("-arch", TARGET),
    ("-m32", TARGET),
    ("-m16", TARGET),
    ("-mx32", TARGET),
    ("-fwhole-program-vtables", LINKS),
    ("-ffat-lto-objects", LINKS),
    ("-ftime-trace", OWN_FILES),
    ("-MJ", OWN_FILES),
];

/// Beginnings of flags that are refused.
const REFUSED_BEGINNINGS: [(&str, &str); 9] = [
    ("-o", "the output is warpline's own -o, which stands before `--`"),
    ("-x", "the suffix of the input says which language it is"),
    ("--target=", TARGET),
    ("-flto", LINKS),
    ("-fthinlto", LINKS),
    ("-fembed-bitcode", LINKS),
    ("-save-temps", OWN_FILES),
    ("--save-temps", OWN_FILES),
    ("-M", "dependencies are written by -MD, -MMD, -MF and -MT before `--`"),
];

/// Beginnings of flags that ask for instrumentation.
const INSTRUMENTS: [&str; 14] = [
    "-fsanitize",
    "-fprofile-generate",
    "-fprofile-instr-generate",
    "-fcs-profile-generate",
    "-fprofile-arcs",
    "-fcoverage-mapping",
    "-ftest-coverage",
    "-finstrument-functions",
    "-fxray-instrument",
    "-fmemory-profile",
    "-fpatchable-function-entry",
    "-fcoverage-mcdc",
    "--coverage",
    "-coverage",
];

/// What becomes of a flag of clang with its value, if it has one.
pub(super) fn judge(word: &str, value: Option<&str>) -> Judgement {
    let begins = |beginning: &&str| word.starts_with(*beginning);
    if !word.starts_with('-') || word == "-" {
        return Judgement::Refuse(
            "it is no flag; inputs stand before `--`, and there is one at a time for a compiler",
        );
    }
    if let Some((_, reason)) = REFUSED.iter().find(|(flag, _)| *flag == word) {
        return Judgement::Refuse(reason);
    }
    if word == "-pg" || INSTRUMENTS.iter().any(begins) {
        return Judgement::Instruments;
    }
    match word {
        "-Ofast" => return Judgement::Replace("-ffast-math"),
        "-fopenmp-simd" | "-fno-openmp-simd" | "-fno-openmp" | "-fdiscard-value-names" => {
            return Judgement::LeaveOut;
        }
        "-Xclang" if value.is_some_and(|value| value.starts_with("-emit-") || value == "-o") => {
            return Judgement::Refuse(WRITES);
        }
        _ => {}
    }
    if word.starts_with("-fopenmp") {
        return Judgement::Note("what OpenMP says of lanes is compiled, threads are left out");
    }
    if let Some((_, reason)) = REFUSED_BEGINNINGS.iter().find(|(beginning, _)| begins(beginning)) {
        return Judgement::Refuse(reason);
    }
    let is_level = word.strip_prefix("-O").is_some_and(|level| level.len() <= 1);
    let is_debug = word.starts_with("-g") && !word.starts_with("-gcc-");
    // Colors are ours to choose.
    let is_color = ["-fdiagnostics-color", "-fcolor-diagnostics"].iter().any(begins);
    if is_level || is_debug || is_color || word.starts_with("-Wl,") {
        return Judgement::LeaveOut;
    }
    Judgement::Pass
}

/// Arguments of rustc that are refused, by their beginnings.
const REFUSED_BY_RUSTC: [(&str, &str); 9] = [
    ("--emit", WRITES),
    ("--print", WRITES),
    ("-o", WRITES),
    ("--out-dir", WRITES),
    ("--crate-type", "warpline compiles a library: leave it out"),
    ("--crate-name", "warpline names the crate: leave it out"),
    ("--target", TARGET),
    ("--test", "warpline compiles no tests: leave it out"),
    ("--error-format", "messages are for people: leave it out"),
];

/// Arguments of rustc that ask for instrumentation, without blanks and `=`.
const RUST_INSTRUMENTS: [&str; 4] = ["instrument-coverage", "profile-generate", "sanitizer", "instrument-"];

/// The arguments of rustc that are passed on, and the edition that they name.
pub(super) fn rustc(words: &[OsString], strip: bool) -> Result<(Judged, Option<String>)> {
    let (mut judged, mut edition) = (Judged::default(), None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if let Some((_, reason)) = REFUSED_BY_RUSTC.iter().find(|(beginning, _)| text.starts_with(beginning))
        {
            return Err(Error::Flag { message: format!("`{text}`: {reason}") });
        }
        let mut value = || {
            let wants = Error::Flag { message: format!("`{text}` wants a value behind it") };
            words.next().ok_or(wants)
        };
        if let Some(name) = text.strip_prefix("--edition=") {
            edition = Some(name.to_owned());
        } else if text == "--edition" {
            edition = Some(value()?.to_string_lossy().into_owned());
        } else if ["-C", "-Z", "--codegen"].contains(&&*text) {
            let setting = value()?.to_string_lossy();
            rust_setting(
                &mut judged,
                &format!("{text}{}{setting}", if text.len() > 2 { "=" } else { "" }),
                strip,
            )?;
        } else if ["-C", "-Z", "--codegen="].iter().any(|c| text.starts_with(c)) {
            rust_setting(&mut judged, &text, strip)?;
        } else if ["-L", "--extern"].contains(&&*text) {
            let path = with_absolute_path(&value()?.to_string_lossy());
            judged.flags.extend([word.clone(), path.into()]);
        } else if let Some(path) = text.strip_prefix("-L").or_else(|| text.strip_prefix("--extern=")) {
            let flag = if text.starts_with("-L") { "-L" } else { "--extern=" };
            judged.flags.push((flag.to_owned() + &with_absolute_path(path)).into());
        } else {
            judged.flags.push(word.clone());
        }
    }
    Ok((judged, edition))
}

/// Takes over a setting of rustc's code generation, unless it asks for instrumentation.
fn rust_setting(judged: &mut Judged, setting: &str, strip: bool) -> Result<()> {
    let is = |name: &&str| {
        setting.trim_start_matches(['-', 'C', 'Z']).trim_start_matches("codegen=").starts_with(*name)
    };
    match RUST_INSTRUMENTS.iter().any(is) {
        true if strip => {}
        true => return Err(Error::Flag { message: instruments(setting) }),
        false => judged.flags.push(setting.into()),
    }
    Ok(())
}

/// A folder or a library of rustc, `KIND=PATH` or `NAME=PATH` or `PATH`, with an absolute path: rustc runs elsewhere.
fn with_absolute_path(text: &str) -> String {
    let (name, path) = match text.split_once('=') {
        Some((name, path)) => (format!("{name}="), path),
        None if text.contains('/') || Path::new(text).is_dir() => (String::new(), text),
        None => return text.to_owned(),
    };
    match absolute(path) {
        Ok(path) => name + &path.to_string_lossy(),
        Err(_) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Result<(Vec<String>, Option<String>)> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let (judged, edition) = rustc(&words, false)?;
        Ok((judged.flags.iter().map(|flag| flag.to_string_lossy().into_owned()).collect(), edition))
    }

    #[test]
    fn rustc_gets_absolute_paths_and_one_edition() {
        let (flags, edition) =
            of(&["-L", "dependency=deps", "--extern=a=liba.rlib", "--cfg", "x", "--edition=2018"]).unwrap();
        assert_eq!(edition.as_deref(), Some("2018"));
        assert!(flags[1].starts_with("dependency=/") && flags[2].starts_with("--extern=a=/"), "{flags:?}");
        assert_eq!(flags[3..], ["--cfg", "x"]);
    }

    #[test]
    fn rustc_is_not_told_what_to_write_or_to_instrument() {
        for bad in [
            &["--emit=asm"][..],
            &["--crate-type", "bin"],
            &["-Cinstrument-coverage"],
            &["-Z", "sanitizer=address"],
            &["-C"],
        ] {
            assert!(of(bad).is_err(), "{bad:?}");
        }
        assert_eq!(of(&["-C", "target-cpu=native"]).unwrap().0, ["-Ctarget-cpu=native"]);
    }
}
