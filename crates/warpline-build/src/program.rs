//! Building by an installed program: the build script starts `warpline`, which does all that it would do itself, in the
//! same folder and with the same variables of cargo. What is to be built is said by words `KEY=VALUE`.

use crate::{Builder, Choice};

/// The first word of such a command line; no verb for people.
pub const VERB: &str = "build-script";

/// The words for what a build script asks for.
#[cfg_attr(
    feature = "compile",
    cfg_attr(not(test), expect(dead_code, reason = "the other side writes them"))
)]
fn words(builder: &Builder, name: &str, script: &std::path::Path) -> Vec<std::ffi::OsString> {
    let Builder { sources, parts, cpus, width, math_ulp, boscc, coherence, remarks, prebuilt, script: _ } =
        builder;
    let mut words = Vec::new();
    let mut add = |key: &str, value: &std::ffi::OsStr| {
        let mut word = std::ffi::OsString::from(format!("{key}="));
        word.push(value);
        words.push(word);
    };
    add("name", name.as_ref());
    add("script", script.as_os_str());
    sources.iter().for_each(|path| add("source", path.as_os_str()));
    parts.iter().for_each(|path| add("part", path.as_os_str()));
    cpus.iter().flatten().for_each(|cpu| add("cpu", cpu.as_ref()));
    width.iter().for_each(|width| add("width", width.to_string().as_ref()));
    add("math-ulp", math_ulp.to_string().as_ref());
    add("boscc", word(*boscc).as_ref());
    add("coherence", word(*coherence).as_ref());
    add("remarks", if *remarks { "on" } else { "off" }.as_ref());
    prebuilt.iter().for_each(|folder| add("prebuilt", folder.as_os_str()));
    words
}

fn word(choice: Choice) -> &'static str {
    match choice {
        Choice::Off => "off",
        Choice::On => "on",
        Choice::Auto => "auto",
    }
}

#[cfg(not(feature = "compile"))]
pub(crate) use client::build;

/// The side of the build script.
#[cfg(not(feature = "compile"))]
mod client {
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    use crate::Builder;
    use crate::error::{Error, Result};
    use crate::files::Project;

    /// Has an installed program build; `why` says why what is prebuilt cannot be used.
    pub(crate) fn build(builder: &Builder, project: &Project, why: &str) -> Result<()> {
        let missing = |program: String| Error::NotPrebuilt {
            target: project.target.clone(),
            why: why.to_owned(),
            program,
        };
        let program = find().ok_or_else(|| missing("there is no `warpline` on the path".to_owned()))?;
        check_version(&program).map_err(missing)?;
        println!("cargo:rerun-if-changed={}", program.display());
        let ran = Command::new(&program)
            .arg(super::VERB)
            .args(super::words(builder, &project.name, &project.script))
            .stdin(Stdio::null())
            .stdout(Stdio::inherit())
            .stderr(Stdio::piped())
            .output()
            .map_err(|error| Error::io("cannot start", &program, &error))?;
        let said = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
        match ran.status.success() {
            true if said.is_empty() => Ok(()),
            true => {
                eprintln!("{said}");
                Ok(())
            }
            false if said.is_empty() => {
                Err(Error::Program { message: format!("{} ended by {}", program.display(), ran.status) })
            }
            false => Err(Error::Program { message: said }),
        }
    }

    /// The program that `$WARPLINE_WORKER` names, or that is on the path.
    fn find() -> Option<PathBuf> {
        if let Some(named) = std::env::var_os("WARPLINE_WORKER") {
            return Some(named.into());
        }
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join("warpline")).find(|program| program.is_file())
    }

    /// Whether a program is of the version of this crate; else what is wrong.
    fn check_version(program: &Path) -> std::result::Result<(), String> {
        let own = env!("CARGO_PKG_VERSION");
        let asked = Command::new(program).args(["--print", "version"]).stdin(Stdio::null()).output();
        let asked = asked.map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
        match String::from_utf8_lossy(&asked.stdout).trim() {
            found if found == own => Ok(()),
            "" => Err(format!("{} does not say its version", program.display())),
            found => Err(format!("{} is of version {found}, and {own} is needed", program.display())),
        }
    }
}

/// The side of the program: builds what the words behind [`VERB`] ask for, with lines for cargo on standard output.
///
/// # Errors
/// Those of [`Builder::build`], or if the words are none of a build script.
#[cfg(feature = "compile")]
pub fn serve(words: &[std::ffi::OsString]) -> crate::Result<()> {
    let (builder, name) = read(words)?;
    builder.build(&name)
}

/// What words ask for, and the library's name.
#[cfg(feature = "compile")]
fn read(words: &[std::ffi::OsString]) -> crate::Result<(Builder, String)> {
    use std::os::unix::ffi::OsStrExt as _;
    let (mut builder, mut name, mut cpus) = (Builder::new(), String::new(), Vec::new());
    for word in words {
        let wrong = || crate::Error::Option {
            message: format!("`{}` is nothing that a build script says", word.to_string_lossy()),
        };
        let at = word.as_bytes().iter().position(|&byte| byte == b'=').ok_or_else(wrong)?;
        let (key, value) = word.as_bytes().split_at(at);
        let value = std::ffi::OsStr::from_bytes(&value[1..]);
        let text = || value.to_str().ok_or_else(wrong);
        let number = || text()?.parse::<u32>().map_err(|_| wrong());
        builder = match key {
            b"name" => {
                name = text()?.to_owned();
                builder
            }
            b"cpu" => {
                cpus.push(text()?.to_owned());
                builder
            }
            b"script" => Builder { script: Some(value.into()), ..builder },
            b"source" => builder.source(value),
            b"part" => builder.part(value),
            b"width" => builder.width(number()?),
            b"math-ulp" => builder.math_ulp(number()?),
            b"boscc" => builder.boscc(choice(text()?).ok_or_else(wrong)?),
            b"coherence" => builder.coherence(choice(text()?).ok_or_else(wrong)?),
            b"remarks" => builder.remarks(value == "on"),
            b"prebuilt" => builder.prebuilt(value),
            _ => return Err(wrong()),
        };
    }
    Ok((if cpus.is_empty() { builder } else { builder.cpus(cpus) }, name))
}

#[cfg(feature = "compile")]
fn choice(text: &str) -> Option<Choice> {
    [Choice::Off, Choice::On, Choice::Auto].into_iter().find(|choice| word(*choice) == text)
}

#[cfg(all(test, feature = "compile"))]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_says_is_what_the_program_reads() {
        let asked = Builder::new()
            .source("src/a = b.rs")
            .part("a.h")
            .cpus(["x86-64", "x86-64-v3"])
            .width(8)
            .math_ulp(1)
            .boscc(Choice::On)
            .coherence(Choice::Off)
            .remarks(true)
            .prebuilt("kept");
        let (read, name) = read(&words(&asked, "vector", "script".as_ref())).unwrap();
        let expected = Builder { script: Some("script".into()), ..asked };
        assert_eq!((format!("{read:?}"), name.as_str()), (format!("{expected:?}"), "vector"));
        assert!(super::read(&["nothing".into()]).is_err() && super::read(&["width=many".into()]).is_err());
    }
}
