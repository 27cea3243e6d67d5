//! Every public function says what it costs.

use std::fs;
use std::path::{Path, PathBuf};

/// How a cost is said.
const WORDS: [&str; 9] = [
    "O(",
    "akes time",
    "as many steps",
    "as much time",
    "inear",
    "uadratic",
    "The height",
    "As [",
    "As that",
];

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the crate's sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn every_public_function_says_what_it_costs() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let (mut functions, mut silent) = (0, Vec::new());
    for path in files {
        let text = fs::read_to_string(&path).expect("a source");
        let mut doc = String::new();
        for line in text.lines().take_while(|l| !l.starts_with("#[cfg(test)]")) {
            let line = line.trim();
            if let Some(said) = line.strip_prefix("///") {
                doc += said;
            } else if line.starts_with("pub fn ") || line.starts_with("pub const fn ") {
                functions += 1;
                if !doc.is_empty() && !WORDS.iter().any(|w| doc.contains(w)) {
                    silent.push(format!("{}: {line}", path.display()));
                }
                doc.clear();
            } else if !line.starts_with("#[") {
                doc.clear();
            }
        }
    }
    assert!(functions > 250, "{functions} public functions were found");
    assert!(silent.is_empty(), "no cost is said of\n{}", silent.join("\n"));
}
