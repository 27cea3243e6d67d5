//! Flags of clang among the words of a command line, which clap cannot read: they become options that it can.
//!
//! On verbs that read sources,
//!
//! - words that begin with one of `BEGINNINGS` (`-I`, `-D`, `-f` …) or are one of `WHOLE` become `--clang-arg=…`, with
//!   the next word where the flag has its value there (`-I DIR`);
//! - `-MD` and `-MMD` become `--dependencies=…`, `-MF FILE` `--dependency-file=FILE`, `-MT TARGET`
//!   `--dependency-target=TARGET`;
//! - all words behind `--` become `--clang-arg=…`, unless no input stands before it: then they are inputs, whatever
//!   they look like.
//!
//! Our own short options are `-o`, `-v`, `-q`, `-p`, `-j`, `-y`, `-L`, `-h` and `-V`; where clang has such a flag, too, the word is
//! ours: `-o` and `-p DIR` (of which `-pedantic` and `-pthread` are no forms), and `-v`. `-L` is rustc's.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use warpline_llvm::flags::takes_value;

/// The verbs that read sources.
const VERBS: [&str; 10] =
    ["vectorize", "run", "analyze", "explain", "constant-time", "lint", "ssa", "ssi", "init", "report"];

/// Beginnings of words that are for clang.
const BEGINNINGS: [&str; 16] = [
    "-I",
    "-D",
    "-U",
    "-i",
    "-std=",
    "-f",
    "-m",
    "-W",
    "-O",
    "-cl-",
    "-nostd",
    "--sysroot=",
    "-g",
    "-x",
    "--target=",
    "-save-temps",
];

/// Whole words that are for clang. What would break the pipeline is among them, so that it is refused by name.
const WHOLE: [&str; 16] = [
    "-w",
    "-ansi",
    "-pedantic",
    "-pedantic-errors",
    "-pthread",
    "-pg",
    "--coverage",
    "-c",
    "-S",
    "-E",
    "-emit-llvm",
    "-M",
    "-MM",
    "-Xclang",
    "-target",
    "-arch",
];

/// Flags of clang about dependencies that have options of ours in their place.
const DEPENDENCIES: [(&str, &str); 3] =
    [("-MF", "--dependency-file="), ("-MT", "--dependency-target="), ("-MQ", "--dependency-target=")];

/// A command line as clap reads it.
pub(crate) struct Words {
    /// The words before `--`.
    own: Vec<OsString>,
    /// The words behind it.
    behind: Option<Vec<OsString>>,
}

/// Takes the flags of clang out of a command line.
pub(crate) fn split(words: &[OsString]) -> Words {
    let is_verb = |word: &OsString| VERBS.iter().any(|verb| word == verb);
    let Some(verb) = words.iter().position(is_verb) else {
        return Words { own: words.to_vec(), behind: None };
    };
    let mut words = words.iter().cloned();
    let mut own: Vec<OsString> = words.by_ref().take(verb + 1).collect();
    let mut behind = None;
    while let Some(word) = words.next() {
        if word == "--" {
            behind = Some(words.by_ref().collect());
            break;
        }
        let text = word.to_string_lossy().into_owned();
        let dependency = DEPENDENCIES.iter().find(|(flag, _)| text.starts_with(flag));
        match (&*text, dependency) {
            ("-MD", _) => own.push("--dependencies=all".into()),
            ("-MMD", _) => own.push("--dependencies=user".into()),
            (_, Some((flag, option))) => {
                let mut joined = OsString::from(option);
                match text.len() == flag.len() {
                    true => joined.push(words.next().unwrap_or_default()),
                    false => joined.push(std::ffi::OsStr::from_bytes(&word.as_bytes()[flag.len()..])),
                }
                own.push(joined);
            }
            _ if is_for_clang(&text) => {
                let value = takes_value(&text).then(|| words.next()).flatten();
                own.extend([word].into_iter().chain(value).map(clang_arg));
            }
            _ => own.push(word),
        }
    }
    Words { own, behind }
}

fn is_for_clang(word: &str) -> bool {
    WHOLE.contains(&word) || BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
}

fn clang_arg(word: OsString) -> OsString {
    let mut option = OsString::from("--clang-arg=");
    option.push(word);
    option
}

impl Words {
    /// The words, those behind `--` as flags of clang.
    pub(crate) fn with_flags(&self) -> Vec<OsString> {
        self.own.iter().cloned().chain(self.behind.iter().flatten().cloned().map(clang_arg)).collect()
    }

    /// The words, those behind `--` as inputs; none if there are no such words.
    pub(crate) fn with_inputs(&self) -> Option<Vec<OsString>> {
        let behind = self.behind.as_ref().filter(|behind| !behind.is_empty())?;
        Some(self.own.iter().cloned().chain(["--".into()]).chain(behind.iter().cloned()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &str) -> Words {
        split(&words.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    fn text(words: &[OsString]) -> String {
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn flags_of_clang_become_options() {
        let flags = "-Ia -I b -DX=1 -std=c11 -ffast-math -mavx2 -O3 -include c.h -Wall -pthread";
        let words = of(&format!("warpline run {flags} k.c -v -p build -o x"));
        let expected: Vec<String> = flags.split(' ').map(|flag| format!("--clang-arg={flag}")).collect();
        assert_eq!(
            text(&words.with_flags()),
            format!("warpline run {} k.c -v -p build -o x", expected.join(" "))
        );
        assert!(words.with_inputs().is_none());
    }

    #[test]
    fn words_behind_two_dashes_are_flags_or_inputs() {
        let words = of("warpline --memory 1GiB analyze k.c -- --target=x -c");
        assert_eq!(
            text(&words.with_flags()),
            "warpline --memory 1GiB analyze k.c --clang-arg=--target=x --clang-arg=-c"
        );
        assert_eq!(
            text(&words.with_inputs().unwrap()),
            "warpline --memory 1GiB analyze k.c -- --target=x -c"
        );
    }

    #[test]
    fn dependencies_have_options_of_ours() {
        let words = of("warpline vectorize k.c -MD -MF k.d -MTk.o -o k.o");
        let expected =
            "warpline vectorize k.c --dependencies=all --dependency-file=k.d --dependency-target=k.o -o k.o";
        assert_eq!(text(&words.with_flags()), expected);
    }

    #[test]
    fn verbs_that_read_no_sources_keep_their_words() {
        assert_eq!(text(&of("warpline opt -Dx -- -fy").with_flags()), "warpline opt -Dx -- -fy");
    }

    #[test]
    fn split_words_stay_what_they_are() {
        let once = of("warpline run k.c -DX -- -c").with_flags();
        assert_eq!(split(&once).with_flags(), once);
    }
}
