//! The files that an output depends on, as a rule of make.

use std::path::{Path, PathBuf};

use crate::cli::VectorizeOptions;
use crate::error::{Error, Result};
use crate::output::{self, Outputs};

/// Adds the rule to what is written, if it is asked for.
///
/// # Errors
/// If it cannot be written, or would name standard output.
pub(crate) fn add(outputs: &mut Outputs, options: &VectorizeOptions, files: &[PathBuf]) -> Result<()> {
    let Some(path) = options.dependency_file() else { return Ok(()) };
    let targets = match &options.dependencies.dependency_target[..] {
        [] if output::is_stdout(&options.output) => {
            return Err(Error::option(
                "-MD",
                "standard output is nothing that a rule can make; say -MT TARGET",
            ));
        }
        [] => options.outputs().map(escaped).collect(),
        given => given.to_vec(),
    };
    let files: Vec<PathBuf> = files.iter().chain(&options.kernel.profile).cloned().collect();
    outputs.add(&path, rule(&targets, &files).as_bytes())
}

/// A rule: these targets depend on these files, each once.
fn rule(targets: &[String], files: &[PathBuf]) -> String {
    let mut text = targets.join(" ") + ":";
    for (k, file) in files.iter().enumerate() {
        if !files[..k].contains(file) {
            text += &format!(" \\\n  {}", escaped(file));
        }
    }
    text + "\n"
}

/// A path as make and ninja read it.
fn escaped(path: impl AsRef<Path>) -> String {
    let mut text = String::new();
    for c in path.as_ref().to_string_lossy().chars() {
        match c {
            ' ' | '#' => text.extend(['\\', c]),
            '$' => text += "$$",
            _ => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_names_each_file_once() {
        let files = ["k.c", "a b.h", "k.c", "$x#.h"].map(PathBuf::from);
        let rule = rule(&["k.o".to_owned(), "k.h".to_owned()], &files);
        assert_eq!(rule, "k.o k.h: \\\n  k.c \\\n  a\\ b.h \\\n  $$x\\#.h\n");
    }
}
