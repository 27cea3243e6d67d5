//! Modules of a crate build on each other in one direction: no circle leads from a folder back to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The Rust files below a folder that are no tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            found.extend(sources(&path));
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
    found
}

/// Code without comments and without the tests at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a text");
    let text = text.split("#[cfg(test)]\nmod tests {").next().expect("a part");
    text.lines().map(|line| line.split("//").next().expect("a part")).collect::<Vec<_>>().join("\n")
}

/// The first names of what follows a prefix: `a` of `a::b`, `a` and `c` of `{a::b, c}`.
fn names_behind<'t>(text: &'t str, prefix: &str) -> Vec<&'t str> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices(prefix) {
        let before = text[..at].chars().next_back().unwrap_or(' ');
        if before.is_alphanumeric() || before == '_' || before == ':' {
            continue;
        }
        let rest = &text[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(list) => {
                let (mut depth, mut begins) = (0, true);
                for (k, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => begins = true,
                        c if begins && !c.is_whitespace() => {
                            names.push(first_word(&list[k..]));
                            begins = false;
                        }
                        _ => {}
                    }
                }
            }
            None => names.push(first_word(rest)),
        }
    }
    names
}

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Which modules at the top of a crate name which others.
fn uses(src: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let top = |path: &Path| {
        let first = path.strip_prefix(src).expect("below").iter().next().expect("a name");
        first.to_string_lossy().trim_end_matches(".rs").to_owned()
    };
    let files: Vec<PathBuf> =
        sources(src).into_iter().filter(|f| top(f) != "lib" && top(f) != "main").collect();
    let modules: BTreeSet<String> = files.iter().map(|f| top(f)).collect();
    // Names that the crate has at its top are those of the module that they come from.
    let root = ["lib.rs", "main.rs"].map(|name| src.join(name)).into_iter().find(|path| path.is_file());
    let root = code(&root.expect("a crate has a root"));
    let mut exported: BTreeMap<&str, &str> = BTreeMap::new();
    for line in root.split(';').filter_map(|item| item.split("use ").nth(1)) {
        if let Some((module, rest)) = line.split_once("::") {
            let listed = rest.trim_start_matches('{').trim_end_matches('}');
            listed.split(',').for_each(|name| {
                exported.insert(first_word(name.trim()), module);
            });
        }
    }
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in &files {
        let below = file.strip_prefix(src).expect("below").iter().count();
        let ups = if file.ends_with("mod.rs") { below - 1 } else { below };
        let text = code(file);
        for prefix in ["crate::".to_owned(), "super::".repeat(ups)] {
            for name in names_behind(&text, &prefix) {
                let module = if modules.contains(name) { Some(name) } else { exported.get(name).copied() };
                if let Some(module) = module.filter(|m| modules.contains(*m) && **m != top(file)) {
                    found.entry(top(file)).or_default().insert(module.to_owned());
                }
            }
        }
    }
    found
}

/// A way from a module back to it.
fn circle(uses: &BTreeMap<String, BTreeSet<String>>, from: &str) -> Option<Vec<String>> {
    let mut came: BTreeMap<&str, &str> = BTreeMap::new();
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        for next in uses.get(at).into_iter().flatten() {
            if next == from {
                let mut way = vec![from.to_owned()];
                let mut back = at;
                while back != from {
                    way.push(back.to_owned());
                    back = came[back];
                }
                way.push(from.to_owned());
                way.reverse();
                return Some(way);
            }
            if !came.contains_key(next.as_str()) {
                came.insert(next, at);
                work.push(next);
            }
        }
    }
    None
}

#[test]
fn no_circle_of_modules_goes_through_a_folder() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of the crates");
    let mut looked_at = 0;
    for entry in fs::read_dir(crates).expect("the crates are there") {
        let src = entry.expect("an entry").path().join("src");
        let uses = uses(&src);
        let folders = uses.keys().filter(|name| src.join(name).is_dir());
        for folder in folders {
            looked_at += 1;
            assert_eq!(circle(&uses, folder), None, "in {}", src.display());
        }
    }
    assert!(looked_at > 20, "only {looked_at} folders were found");
}

#[test]
fn names_are_found_behind_prefixes() {
    let text = "use crate::{a::b, c::{d, e}, f};\nlet x = crate::g::h;\nother_crate::i";
    assert_eq!(names_behind(text, "crate::"), ["a", "c", "f", "g"]);
}

#[test]
fn circles_are_found() {
    let one = |to: &[&str]| to.iter().map(|&s| s.to_owned()).collect::<BTreeSet<_>>();
    let uses = BTreeMap::from([
        ("a".to_owned(), one(&["b"])),
        ("b".to_owned(), one(&["c", "a"])),
        ("d".to_owned(), one(&["a"])),
    ]);
    assert_eq!(circle(&uses, "a"), Some(vec!["a".to_owned(), "b".to_owned(), "a".to_owned()]));
    assert_eq!(circle(&uses, "d"), None);
}
