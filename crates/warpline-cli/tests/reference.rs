//! The reference: its pages say all that the program has, no less.

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{command, ok, stderr, stdout, warpline};
use serde_json::Value;
use warpline_testkit::programs_run::root;

const SOURCE: &str = "void f(float *restrict y, const float *restrict x, const int *restrict p, int n) {
    for (int i = 0; i < n; i++)
        if (x[i] > 0) y[i] = x[p[i]];
}
float sum(float *y, int n) {
    float s = 0;
    for (int i = 0; i < n; i++) s += y[i];
    return s;
}
int eq(const char *key, const char *b, int n) {
    for (int i = 0; i < n; i++)
        if (key[i] != b[i]) return 0;
    return 1;
}
";

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join("docs/reference").join(name)).unwrap()
}

#[test]
fn the_page_of_options_is_the_one_that_the_program_writes() {
    let made = ok(&warpline(&["man", "--format", "markdown"]));
    let path = root().join("docs/reference/options.md");
    if std::env::var_os("WARPLINE_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert!(page("options.md") == made, "WARPLINE_BLESS=1 brings docs/reference/options.md up to date");
    assert!(made.lines().all(|line| line.chars().count() <= 120));
}

#[test]
fn every_directive_has_a_row() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("k.c");
    std::fs::write(&path, "//@ nothing\nvoid f(int *p) { *p = 1; }\n").unwrap();
    let output = warpline(&["vectorize", path.to_str().unwrap(), "-o", "-"]);
    let said = stderr(&output);
    let known = said.rsplit("here are ").next().unwrap().trim();
    let names: Vec<&str> = known.split(", ").collect();
    assert!(names.len() > 8, "{said}");
    let page = page("directives.md");
    for name in names.into_iter().chain(["loop independent", "loop safelen", "loop any-order", "loop width"])
    {
        assert!(page.contains(&format!("| `//@ {name}")), "{name}");
    }
}

/// The names of all members, but for those of objects whose members are names themselves.
fn members(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(all) => {
            for (name, value) in all {
                found.insert(name.clone());
                if !matches!(name.as_str(), "recipes" | "report") {
                    members(value, found);
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|one| members(one, found)),
        _ => {}
    }
}

fn json(folder: &Path, words: &str) -> Value {
    let words: Vec<&str> = words.split(' ').chain(["--format", "json"]).collect();
    let output = command(&words).current_dir(folder).output().unwrap();
    serde_json::from_str(&stdout(&output)).unwrap_or_else(|e| panic!("{words:?}: {e}: {}", stderr(&output)))
}

#[test]
fn every_member_of_reports_in_json_is_described() {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("l.c"), SOURCE).unwrap();
    let kernel = "//@ args i=index\n//@ range 0..100\n//@ bind y=f32[100]=random\nvoid k(int i, float *y) { if (y[i] > 0) y[i] += 1; }\n";
    std::fs::write(place.path().join("k.c"), kernel).unwrap();
    let verbs = [
        "vectorize k.c -o k.o",
        "vectorize l.c -o l.o",
        "vectorize l.c -o l.o --cpu haswell,x86-64-v4",
        "run k.c",
        "run l.c --function f --bind n=100 --bind x=f32[100]=random --bind y=f32[100]=random --bind p=i32[100]=0..99",
        "analyze l.c",
        "analyze l.c --cost=x86-64-v3",
        "explain l.c --function f --line 3",
        "constant-time l.c --function eq --secret key",
        "lint l.c --client null-pointers",
        "ssa l.c",
        "report l.c -o -",
        "doctor",
    ];
    let page = page("json.md");
    for words in verbs {
        let mut found = BTreeSet::new();
        members(&json(place.path(), words), &mut found);
        assert!(!found.is_empty(), "{words}");
        let missing: Vec<&String> =
            found.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
        assert!(missing.is_empty(), "`{words}` has members that docs/reference/json.md lacks: {missing:?}");
    }
}
