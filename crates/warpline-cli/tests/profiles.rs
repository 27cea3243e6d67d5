//! Profiles: what `run --profile-out` counts changes what `--profile` has chosen, and nothing else.

mod common;

use std::path::{Path, PathBuf};

use common::{ok, stderr, stdout, warpline};
use serde_json::Value;

/// Few elements are greater than the limit, and these take long.
const REFINE: &str = "//@ args i=index
//@ range 0..4096
//@ bind x=f32[4096]=0..1
//@ bind y=f32[4096]=zero
//@ bind limit=0.999
void refine(long i, const float *restrict x, float *restrict y, float limit) {
    float v = x[i];
    if (v > limit) {
        double d = v;
        for (int k = 0; k < 40; k++) d = d * d / (d + 1.5) + 0.25;
        v = (float)d;
    }
    y[i] = v * 2.0f;
}
";

/// A loop that goes round as often as a parameter says.
const SCALE: &str = "//@ bind n=5
//@ bind f=2.0
//@ bind from=f32[4096]=iota
//@ bind to=f32[4096]=zero
void scale(int n, float f, const float *restrict from, float *restrict to) {
    //@ loop
    for (int k = 0; k < n; k++) to[k] = from[k] * f + 1.0f;
}
";

struct Sources {
    folder: tempfile::TempDir,
}

impl Sources {
    fn new() -> Sources {
        Sources { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The profile of a run with these options.
    #[track_caller]
    fn profile(&self, source: &Path, name: &str, more: &[&str]) -> PathBuf {
        let path = self.path(name);
        let base = ["run", text(source), "-q", "--profile-out", text(&path)];
        ok(&warpline(&[&base[..], more].concat()));
        path
    }

    /// The report and the code for a CPU, with a profile if one is given.
    #[track_caller]
    fn vectorize(&self, source: &Path, profile: Option<&Path>) -> (Value, String) {
        let code = self.path("code.s");
        let base = ["vectorize", text(source), "--cpu", "x86-64-v3", "--remarks", "none", "--format", "json"];
        let profile = profile.map_or(Vec::new(), |path| vec!["--profile", text(path)]);
        let report = ok(&warpline(&[&base[..], &["-o", text(&code)], &profile].concat()));
        (serde_json::from_str(&report).unwrap(), std::fs::read_to_string(code).unwrap())
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_kernel_gets_another_number_of_lanes_by_how_often_lanes_take_a_branch() {
    let sources = Sources::new();
    let source = sources.write("refine.c", REFINE);
    let rarely = sources.profile(&source, "rarely.json", &[]);
    let often = sources.profile(&source, "often.json", &["--bind", "limit=0.1"]);
    let lanes = |profile: Option<&Path>| sources.vectorize(&source, profile).0["width"].as_u64().unwrap();
    assert_ne!(lanes(Some(&rarely)), lanes(Some(&often)));
    assert_eq!(lanes(Some(&often)), lanes(None));
}

#[test]
fn a_rule_for_make_names_the_profile() {
    let sources = Sources::new();
    let source = sources.write("refine.c", REFINE);
    let profile = sources.profile(&source, "p.json", &[]);
    let (code, rule) = (sources.path("code.o"), sources.path("code.d"));
    let base = ["vectorize", text(&source), "-q", "--profile", text(&profile), "-o", text(&code)];
    ok(&warpline(&[&base[..], &["--dependency-file", text(&rule)]].concat()));
    let rule = std::fs::read_to_string(rule).unwrap();
    assert!(rule.contains(text(&profile)) && rule.contains(text(&source)), "{rule}");
}

#[test]
fn a_loop_that_was_seen_to_end_soon_stays_scalar() {
    let sources = Sources::new();
    let source = sources.write("scale.c", SCALE);
    let stays = |profile: Option<&Path>| {
        let (report, _) = sources.vectorize(&source, profile);
        report["scalar"].as_array().unwrap().len()
    };
    let few = sources.profile(&source, "few.json", &[]);
    let many = sources.profile(&source, "many.json", &["--bind", "n=4000"]);
    assert_eq!([stays(None), stays(Some(&few)), stays(Some(&many))], [0, 1, 0]);
}

#[test]
fn results_with_a_profile_are_those_without() {
    let sources = Sources::new();
    let source = sources.write("refine.c", REFINE);
    let profile = sources.profile(&source, "p.json", &[]);
    for limit in ["limit=0.999", "limit=0.3"] {
        let report = ok(&warpline(&[
            "run",
            text(&source),
            "--bind",
            limit,
            "--profile",
            text(&profile),
            "--format",
            "json",
        ]));
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["mismatches"], 0, "{limit}");
    }
}

#[test]
fn the_profile_counts_lanes_groups_and_indices() {
    let sources = Sources::new();
    let source = sources.write("refine.c", REFINE);
    let path = sources.profile(&source, "p.json", &["--width", "8", "--range", "0..1000"]);
    let profile: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let refine = &profile["functions"][0];
    assert_eq!(
        (&refine["name"], &refine["ranges"], &refine["indices"]),
        (&"refine".into(), &1.into(), &1000.into())
    );
    let branch =
        refine["branches"].as_array().unwrap().iter().find(|b| b["line"] == 8).expect("the condition");
    assert_eq!((&branch["group"], &branch["came"]), (&8.into(), &125.into()));
    let sum =
        |key: &str| branch["edges"].as_array().unwrap().iter().map(|e| e[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("lanes"), 1000);
    assert!((125..250).contains(&sum("groups")), "{branch}");
}

#[test]
fn the_profile_of_code_that_has_changed_is_ignored_with_a_warning() {
    let sources = Sources::new();
    let source = sources.write("refine.c", REFINE);
    let profile = sources.profile(&source, "p.json", &[]);
    let code = sources.path("with.s");
    let vectorize = |source: &str| {
        let path = sources.write("refine.c", source);
        let base = ["vectorize", text(&path), "--cpu", "x86-64-v3", "--remarks", "none", "-o", text(&code)];
        let output = warpline(&[&base[..], &["--profile", text(&profile)]].concat());
        ok(&output);
        stderr(&output)
    };
    // Comments and names are not code.
    let renamed = format!("// A comment.\n{}", REFINE.replace("limit", "bound"));
    assert_eq!(vectorize(&renamed), "");
    let warnings = vectorize(&REFINE.replace("v > limit", "v < limit"));
    assert!(warnings.contains("the profile of `refine` belongs to other code"), "{warnings}");
    let with = std::fs::read_to_string(&code).unwrap();
    assert_eq!(sources.vectorize(&source, None).1, with);
}

#[test]
fn files_that_are_no_profiles_are_errors_that_name_them() {
    let sources = Sources::new();
    let source = sources.write("refine.c", REFINE);
    let missing = sources.path("missing.json");
    let broken = sources.write("broken.json", "{ \"warpline_profile\": 1, \"functions\": [ { } ] }");
    let foreign = sources.write("foreign.json", "[1, 2]");
    let code = sources.path("code.s");
    for (path, expected) in [
        (&missing, "No such file"),
        (&broken, "it is no profile: functions[0]: `name` is no text"),
        (&foreign, "it is no profile: there is no `warpline_profile`"),
    ] {
        let output = warpline(&["vectorize", text(&source), "-o", text(&code), "--profile", text(path)]);
        assert_eq!(output.status.code(), Some(2));
        let errors = stderr(&output);
        assert!(errors.contains(text(path)) && errors.contains(expected), "{errors}");
    }
}

#[test]
fn analyze_reads_profiles_for_costs() {
    let sources = Sources::new();
    let source = sources.write("refine.c", REFINE);
    let profile = sources.profile(&source, "p.json", &[]);
    let base = ["analyze", text(&source), "--cost=x86-64-v3"];
    let [without, with] =
        [&[][..], &["--profile", text(&profile)]].map(|more| stdout(&warpline(&[&base[..], more].concat())));
    assert_ne!(without, with);
}
