//! The words of the field: prose and messages say what compiler engineers say.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use warpline_testkit::programs_run::root;

/// The page that has the words of the field, and those that stand in their place nowhere else.
fn glossary() -> PathBuf {
    root().join("docs/reference/glossary.md")
}

/// What was said once, and what the field says.
fn phrases() -> &'static [(String, String)] {
    static PHRASES: OnceLock<Vec<(String, String)>> = OnceLock::new();
    PHRASES.get_or_init(|| {
        let page = std::fs::read_to_string(glossary()).unwrap();
        let (_, table) = page.split_once("| Not | But |\n|---|---|\n").expect("it has them");
        let row = |line: &str| {
            let (not, but) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
            Some((not.to_owned(), but.to_owned()))
        };
        let all: Vec<_> = table.lines().map_while(row).collect();
        assert!(all.len() >= 26, "{all:?}");
        all
    })
}

fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
}

/// The strings of a source that are not in comments: what a program may print.
fn strings(source: &str) -> String {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let text = lines.collect::<Vec<_>>().join("\n").replace("\\\n", "").replace("\\\"", "'");
    let parts = text.split('"').enumerate().filter(|(at, _)| at % 2 == 1).map(|(_, part)| part);
    let words = parts.flat_map(str::split_whitespace);
    words.collect::<Vec<_>>().join(" ")
}

fn complaints(path: &Path, text: &str) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let said = phrases().iter().filter(|(phrase, _)| {
        let mut at = text.match_indices(phrase.as_str());
        at.any(|(at, _)| {
            let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !letter(text[..at].chars().next_back()) && !letter(text[at + phrase.len()..].chars().next())
        })
    });
    said.map(|(phrase, word)| format!("{}: `{phrase}`; the field says: {word}", path.display())).collect()
}

#[test]
fn prose_uses_the_words_of_the_field() {
    let mut pages =
        vec![root().join("README.md"), root().join("ARCHITECTURE.md"), root().join("CONTRIBUTING.md")];
    files(&root().join("docs"), "md", &mut pages);
    pages.retain(|page| *page != glossary());
    let of = |path: &PathBuf| complaints(path, &std::fs::read_to_string(path).unwrap());
    let found: Vec<String> = pages.iter().flat_map(of).collect();
    assert!(pages.len() > 30);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn messages_use_the_words_of_the_field() {
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let crate_folder = entry.unwrap().path();
        // What only tests print is for us.
        if !crate_folder.ends_with("warpline-testkit") {
            files(&crate_folder.join("src"), "rs", &mut sources);
        }
    }
    files(&root().join("python"), "py", &mut sources);
    assert!(sources.len() > 500, "only {} sources", sources.len());
    let of = |path: &PathBuf| {
        let is_test = path.file_name().is_some_and(|name| name == "tests.rs");
        if is_test { Vec::new() } else { complaints(path, &strings(&std::fs::read_to_string(path).unwrap())) }
    };
    let found: Vec<String> = sources.iter().flat_map(of).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_phrase_is_found_in_messages_and_not_in_comments_or_within_words() {
    let source = "// given up\nfn f() { print(\"it was given \\\n        up\"); }\n#[cfg(test)]\nmod tests { \"is told\" }";
    assert_eq!(complaints(Path::new("x.rs"), &strings(source)).len(), 1);
    assert!(complaints(Path::new("x.md"), "this told, apart at").is_empty());
}
