//! Findings for other programs: SARIF, annotations, and the gate by a baseline.

mod common;
#[path = "common/sarif.rs"]
mod sarif;

use std::path::PathBuf;
use std::process::Output;

use common::{command, has_clang, ok, stdout, warpline};
use serde_json::Value;

const SOURCE: &str = "int compare(const unsigned char *secret, const unsigned char *guess, int n) {
  for (int i = 0; i < n; i++)
    if (secret[i] != guess[i]) return 0;
  return 1;
}
";

struct Place(tempfile::TempDir);

impl Place {
    fn new(text: &str) -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        place.write(text);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, text: &str) {
        std::fs::write(self.path("a.c"), text).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        command(arguments).current_dir(self.0.path()).output().unwrap()
    }

    /// Checks for leaks of what `secret` points to.
    fn leaks(&self, more: &[&str]) -> Output {
        let all = ["constant-time", "a.c", "--secret", "*secret", "--function", "compare"];
        self.run(&all.iter().chain(more).copied().collect::<Vec<_>>())
    }
}

#[test]
fn sarif_has_rules_places_and_the_chain_as_a_code_flow() {
    if !has_clang() {
        return;
    }
    let place = Place::new(SOURCE);
    let made = place.leaks(&["--format", "sarif"]);
    assert_eq!(made.status.code(), Some(1));
    let log: Value = serde_json::from_str(&stdout(&made)).unwrap();
    sarif::check(&log).unwrap();
    let (run, result) = (&log["runs"][0], &log["runs"][0]["results"][0]);
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]), "{result}");
    assert_eq!(result["ruleId"], "secret-branch");
    let at = &result["locations"][0]["physicalLocation"];
    assert_eq!((&at["artifactLocation"]["uri"], &at["region"]["startLine"]), (&"a.c".into(), &3.into()));
    let flow = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
    let last = flow.last().unwrap()["location"]["message"]["text"].as_str().unwrap();
    assert!(last.contains("reads the secret memory behind %secret"), "{last}");
}

#[test]
fn known_leaks_pass_wherever_they_move_and_new_ones_do_not() {
    if !has_clang() {
        return;
    }
    let place = Place::new(SOURCE);
    assert_eq!(place.leaks(&["--write-baseline", "known.json"]).status.code(), Some(1));
    place.write(&format!("/* a line */\n\n{}", SOURCE.replace("    if", "        if")));
    let again = place.leaks(&["--baseline", "known.json"]);
    assert!(ok(&again).contains("0 new, 1 as the baseline has them"), "{}", stdout(&again));
    place.write(&SOURCE.replace("return 1", "return secret[0] ? 7 / secret[0] : 1"));
    let worse = place.leaks(&["--baseline", "known.json"]);
    assert_eq!(worse.status.code(), Some(1));
    assert!(stdout(&worse).contains(" new, 1 as the baseline has them"), "{}", stdout(&worse));
    let log: Value =
        serde_json::from_str(&stdout(&place.leaks(&["--baseline", "known.json", "--format", "sarif"])))
            .unwrap();
    sarif::check(&log).unwrap();
    let states: Vec<&str> = log["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["baselineState"].as_str().unwrap())
        .collect();
    assert!(states.contains(&"new") && states.contains(&"unchanged"), "{states:?}");
}

#[test]
fn what_is_copied_to_another_file_is_new_there() {
    if !has_clang() {
        return;
    }
    let place = Place::new(SOURCE);
    place.leaks(&["--write-baseline", "known.json"]);
    std::fs::create_dir(place.path("elsewhere")).unwrap();
    for (file, code) in [("b.c", 1), ("elsewhere/a.c", 0)] {
        std::fs::write(place.path(file), SOURCE).unwrap();
        let args = [
            "constant-time",
            file,
            "--secret",
            "*secret",
            "--function",
            "compare",
            "--baseline",
            "known.json",
        ];
        assert_eq!(place.run(&args).status.code(), Some(code), "{file}");
    }
}

#[test]
fn divergence_is_gated_only_with_a_baseline() {
    if !has_clang() {
        return;
    }
    let kernel = "//@ args i=index\nvoid f(int i, int *x, int n) {\n  if (x[i] > n)\n    x[i] = 0;\n}\n";
    let place = Place::new(kernel);
    let text = ok(&place.run(&["analyze", "a.c", "--format", "github"]));
    assert!(
        text.starts_with("::warning file=a.c,line=3,title=warpline divergent-branch::depends on %25"),
        "{text}"
    );
    let log = ok(&place.run(&["analyze", "a.c", "--format", "sarif"]));
    sarif::check(&serde_json::from_str(&log).unwrap()).unwrap();
    ok(&place.run(&["analyze", "a.c", "--write-baseline", "known.json"]));
    ok(&place.run(&["analyze", "a.c", "--baseline", "known.json"]));
    place.write(&kernel.replace("= 0;", "= 0;\n  while (x[i] < n) x[i] += i + 1;"));
    let more = place.run(&["analyze", "a.c", "--baseline", "known.json"]);
    assert_eq!(more.status.code(), Some(1));
    assert!(stdout(&more).contains("divergent-loop: lanes leave the loop"), "{}", stdout(&more));
    // Lines that accept what is not found are said here, too.
    let accepting = "    //@ accept divergent-branch, divergent-loop: one is there\n    x[i] = 0; \
                     //@ accept divergent-branch: none is there";
    let accepted = kernel.replace("  if (x[i] > n)", "  if (x[i] > n) //@ accept divergent-branch: known");
    place.write(&accepted.replace("    x[i] = 0;", accepting));
    let text = ok(&place.run(&["analyze", "a.c", "--baseline", "known.json"]));
    assert!(text.contains("a.c:4: unmatched `accept`: it accepts divergent-branch, which"), "{text}");
    assert!(text.contains("a.c:5: unmatched `accept`") && !text.contains("a.c:3: unmatched"), "{text}");
    // Less is no finding.
    place.write(&kernel.replace("  if (x[i] > n)\n", ""));
    ok(&place.run(&["analyze", "a.c", "--baseline", "known.json"]));
}

#[test]
fn lines_that_accept_what_is_not_found_are_reported() {
    if !has_clang() {
        return;
    }
    let accepting = "int compare(const unsigned char *secret, int n) {
  //@ accept secret-branch: the first byte is public
  if (secret[0]) return 1;
  //@ accept secret-address: there is none
  n += 2; //@ accept secret-brnch: misspelt
  return n;
}
int other(int n) {
  return n; //@ accept secret-branch: not looked at
}
";
    let place = Place::new(accepting);
    let text = ok(&place.leaks(&[]));
    assert!(text.contains("accepted: a.c:3: branch: the first byte is public"), "{text}");
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("unmatched")).collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert_eq!(lines[0], "a.c:4: unmatched `accept`: it accepts secret-address, which is not found there");
    assert!(lines[1].starts_with("a.c:5: unmatched `accept`: there is no rule `secret-brnch`;"), "{text}");
    let log: Value = serde_json::from_str(&ok(&place.leaks(&["--format", "sarif"]))).unwrap();
    sarif::check(&log).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let rules: Vec<&Value> = results.iter().map(|result| &result["ruleId"]).collect();
    assert_eq!(rules, ["secret-branch", "unmatched-accept", "unmatched-accept"]);
    assert_eq!(results[0]["suppressions"][0]["justification"], "the first byte is public");
    let report: Value = serde_json::from_str(&ok(&place.leaks(&["--format", "json"]))).unwrap();
    assert_eq!(report["unmatched"][0]["location"]["line"], 4, "{report:#}");
    let github = ok(&place.leaks(&["--format", "github"]));
    assert!(github.starts_with("::notice file=a.c,line=4,title=warpline unmatched-accept::it"), "{github}");
}

#[test]
fn logs_are_checked_by_the_rules_of_the_schema() {
    let message = serde_json::json!({ "text": "x" });
    let log = |result: Value| {
        let driver = serde_json::json!({ "name": "warpline", "rules": [{ "id": "a" }] });
        let runs = serde_json::json!([{ "tool": { "driver": driver }, "results": [result] }]);
        sarif::check(&serde_json::json!({ "version": "2.1.0", "runs": runs }))
    };
    assert_eq!(log(serde_json::json!({ "ruleId": "a", "message": message })), Ok(()));
    for (wrong, why) in [
        (serde_json::json!({ "ruleId": "a" }), "lacks message"),
        (serde_json::json!({ "ruleId": "b", "message": message }), "is not among the rules"),
        (serde_json::json!({ "ruleId": "a", "message": message, "level": "bad" }), "level is"),
        (serde_json::json!({ "ruleId": "a", "message": message, "line": 1 }), "may not have line"),
        (
            serde_json::json!({ "ruleId": "a", "message": message, "relatedLocations": [{}, {}] }),
            "relatedLocations is",
        ),
    ] {
        assert!(log(wrong).is_err_and(|error| error.contains(why)), "{why}");
    }
}

#[test]
fn what_is_no_baseline_is_refused() {
    let place = Place::new(SOURCE);
    std::fs::write(place.path("b.json"), "{\"version\": 9, \"findings\": []}").unwrap();
    let old = "{\"version\": 1, \"findings\": [{\"identity\": \"0\", \"rule\": \"r\"}]}";
    std::fs::write(place.path("old.json"), old).unwrap();
    for (file, word) in [
        ("missing.json", "No such file"),
        ("a.c", "expected"),
        ("b.json", "version 9"),
        ("old.json", "write it anew with --write-baseline"),
    ] {
        let path = place.path(file).display().to_string();
        let made = warpline(&["analyze", "filetests/uniformity/loops.wl", "--baseline", &path]);
        assert_eq!(made.status.code(), Some(2), "{file}");
        assert!(common::stderr(&made).contains(word), "{}", common::stderr(&made));
    }
}
