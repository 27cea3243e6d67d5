//! `warpline ssa`.

mod common;

use common::{Place, ok, stderr, stdout, warpline};

const PROGRAM: &str = include_str!("../../../filetests/llvm/branches.ll");

fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&ok(&warpline(arguments))).unwrap()
}

fn keys(value: &serde_json::Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn statistics_have_the_documented_keys_and_are_of_all_inputs_together() {
    let place = Place::new(PROGRAM);
    let program = place.program();
    let one = json(&["ssa", &program, "--stats", "--format", "json"]);
    assert_eq!(keys(&one), ["schema_version", "functions", "blocks", "variables", "phis", "time_ns"]);
    for part in ["phis", "time_ns"] {
        let named = keys(&one[part]);
        for key in ["reaching_definitions", "precise", "dominance_frontier", "pruned"] {
            assert!(named.contains(&key), "{part}: {named:?}");
        }
        assert_eq!(named, keys(&one["phis"]));
        assert!(one[part].as_object().unwrap().values().all(serde_json::Value::is_u64), "{one}");
    }
    assert_eq!((one["functions"].as_u64(), one["blocks"].as_u64()), (Some(2), Some(7)));
    assert_eq!(one["variables"].as_u64(), Some(3));
    let two = json(&["ssa", &program, &program, "--stats", "--format", "json"]);
    for key in ["functions", "blocks", "variables"] {
        assert_eq!(two[key].as_u64(), one[key].as_u64().map(|n| 2 * n), "{key}");
    }
    assert_eq!(two["phis"]["precise"], 2);
}

#[test]
fn precise_placement_has_one_phi_where_dominance_frontiers_have_two_and_the_entry_choice_takes_it_back() {
    let place = Place::new(PROGRAM);
    let phis =
        |entry: &str| json(&["ssa", &place.program(), "--stats", "--entry", entry, "--format", "json"]);
    let of = |report: &serde_json::Value, key: &str| report["phis"][key].as_u64().unwrap();
    let report = phis("parameters");
    for (key, count) in
        [("reaching_definitions", 1), ("precise", 1), ("dominance_frontier", 2), ("pruned", 1), ("braun", 2)]
    {
        assert_eq!(of(&report, key), count, "{key}: {report}");
    }
    let report = phis("all");
    for key in ["reaching_definitions", "precise", "dominance_frontier", "pruned"] {
        assert_eq!(of(&report, key), 2, "{key}: {report}");
    }
}

#[test]
fn statistics_by_function_are_there_when_asked_for() {
    let place = Place::new(PROGRAM);
    let report = json(&["ssa", &place.program(), "--stats", "--by-function", "--format", "json"]);
    let list = report["by_function"].as_array().unwrap();
    let names: Vec<_> =
        list.iter().map(|f| (f["name"].as_str().unwrap(), f["blocks"].as_u64().unwrap())).collect();
    assert_eq!(names, [("f", 4), ("g", 3)]);
    let text = ok(&warpline(&["ssa", &place.program(), "--stats", "--by-function"]));
    assert!(text.starts_with("2 functions: 7 blocks, 3 variables\n"), "{text}");
    assert!(text.contains("function g: 3 blocks, 1 variables\n"), "{text}");
}

#[test]
fn the_text_of_functions_in_ssa_form_has_the_phis_of_the_chosen_placement() {
    let place = Place::new(PROGRAM);
    let phis = |more: &[&str]| {
        let program = place.program();
        let arguments = [&["ssa", &program, "--function", "f"], more].concat();
        let text = ok(&warpline(&arguments));
        assert!(text.starts_with("func @f("), "{text}");
        assert!(!text.contains("read $") && !text.contains("write $"), "{text}");
        text.matches(" = phi").count()
    };
    assert_eq!(phis(&[]), 1);
    assert_eq!(phis(&["--placement", "reaching-definitions"]), 1);
    assert_eq!(phis(&["--placement", "dominance-frontier"]), 2);
    assert_eq!(phis(&["--entry", "all"]), 2);
    assert_eq!(phis(&["--strict"]), 2);
    assert_eq!(phis(&["--pruned", "--strict"]), 2);
}

#[test]
fn the_text_of_a_module_reads_back_and_names_each_of_several_inputs() {
    let place = Place::new(PROGRAM);
    let program = place.program();
    let text = ok(&warpline(&["ssa", &program, "--strict"]));
    let module = warpline::text::parse_module(&text).expect("the text form reads back");
    assert_eq!(warpline::text::print_module(&module), text);
    assert!(text.contains("alloca"), "what gets away stays memory: {text}");
    let both = ok(&warpline(&["ssa", &program, &program, "--strict"]));
    assert_eq!(both.lines().filter(|line| *line == format!("; {program}")).count(), 2);
}

#[test]
fn reports_for_programs_say_what_became_of_variables_memory_and_phis() {
    let place = Place::new(PROGRAM);
    let report = json(&["ssa", &place.program(), "--strict", "--format", "json"]);
    let f = &report["inputs"][0]["functions"][0];
    assert_eq!((f["name"].as_str(), f["variables"].as_array().unwrap().len()), (Some("f"), 2));
    let memory = f["memory"][0].as_str().unwrap();
    assert!(memory.contains("away") && memory.contains("passed to a call"), "{memory}");
    let phi = f["phis"].as_array().unwrap().iter().find(|phi| phi["variable"] == "y").unwrap();
    assert_eq!(phi["block"], "join");
    let mut operands: Vec<_> = phi["operands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| (o["from"].as_str().unwrap(), o["value"].as_str().unwrap()))
        .collect();
    operands.sort_unstable();
    assert_eq!(operands, [("left", "%n"), ("right", "i32 undef")]);
}

const LOOP: &str = "define i32 @l(i32 %n) {
entry:
  %i = alloca i32, align 4
  store i32 0, ptr %i, align 4
  br label %head
head:
  %a = load i32, ptr %i, align 4
  %b = add i32 %a, 1
  store i32 %b, ptr %i, align 4
  %more = icmp slt i32 %b, %n
  br i1 %more, label %head, label %out
out:
  %r = load i32, ptr %i, align 4
  ret i32 %r
}
";

#[test]
fn loop_closed_form_has_a_phi_where_a_value_leaves_the_loop_and_is_refused_where_it_is_not_strict() {
    let place = Place::new(PROGRAM);
    let file = place.file("loop.ll", LOOP);
    let phis = |more: &[&str]| ok(&warpline(&[&["ssa", &file], more].concat())).matches(" = phi").count();
    assert_eq!(phis(&["--strict"]), 1);
    assert_eq!(phis(&["--strict", "--loop-closed"]), 2);
    assert_eq!(phis(&["--entry", "all", "--pruned", "--loop-closed"]), 2);
    let output = warpline(&["ssa", &file, "--loop-closed"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("add --strict"), "{}", stderr(&output));
}

#[test]
fn llvms_form_is_a_module_that_reads_back() {
    let place = Place::new(PROGRAM);
    let out = place.path("out.ll");
    let program = place.program();
    let arguments =
        ["ssa", &program, "--strict", "--pruned", "--format", "llvm", "-o", out.to_str().unwrap()];
    assert_eq!(ok(&warpline(&arguments)), "");
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.contains("phi i32 [ 1, %left ], [ 2, %right ]"), "{text}");
    assert!(text.contains("phi i32 [ %n, %left ], [ undef, %right ]"), "{text}");
    assert!(!text.contains("load i32"), "{text}");
    // It is in the form already.
    let again = json(&["ssa", out.to_str().unwrap(), "--stats", "--format", "json"]);
    assert_eq!(again["variables"], 0);
    assert_eq!(again["blocks"], 7);
}

#[test]
fn llvms_form_of_what_is_not_strict_is_refused_and_nothing_is_written() {
    let place = Place::new(PROGRAM);
    let (program, out) = (place.program(), place.path("out.ll"));
    let refused = |more: &[&str], words: &[&str]| {
        let arguments = [&["ssa", &program, "--format", "llvm", "-o", out.to_str().unwrap()], more].concat();
        let output = warpline(&arguments);
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
        for word in words {
            assert!(stderr(&output).contains(word), "`{word}` is not in: {}", stderr(&output));
        }
        assert!(!out.exists() && stdout(&output).is_empty());
    };
    refused(&[], &["--format llvm", "add --strict"]);
    refused(&["--strict", &program], &["--format llvm", "one input"]);
    refused(&["--stats"], &["--format llvm", "text or json"]);
    refused(&["--uninitialized"], &["--format llvm", "text or json"]);
    refused(&["--strict", "--function", "h"], &["no function `h`", "did you mean `f`"]);
}

#[test]
fn options_that_exclude_each_other_and_unreadable_inputs_are_refused() {
    let place = Place::new(PROGRAM);
    let program = place.program();
    let refused = |arguments: &[&str], word: &str| {
        let output = warpline(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(word), "`{word}` is not in: {}", stderr(&output));
        assert_eq!(stdout(&output), "");
    };
    refused(&["ssa", &program, "--pruned", "--minimal"], "cannot be used with");
    refused(&["ssa", &program, "--stats", "--uninitialized"], "cannot be used with");
    refused(&["ssa", &program, "--stats", "--pruned"], "cannot be used with");
    refused(&["ssa", &program, "--by-function"], "--stats");
    refused(&["ssa", &program, "nowhere.ll", "--stats"], "nowhere.ll");
    let broken = place.file("broken.ll", "define i32 @f( {\n");
    refused(&["ssa", &program, &broken], "broken.ll");
}

#[test]
fn reads_of_what_is_not_written_are_findings_with_their_lines() {
    let place = Place::new(PROGRAM);
    let output = warpline(&["ssa", &place.program(), "--uninitialized", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{report}");
    let finding = &findings[0];
    assert_eq!((&finding["function"], &finding["variable"]), (&"f".into(), &"y".into()));
    assert_eq!((&finding["certain"], &finding["block"]), (&false.into(), &"join".into()));
    assert_eq!(finding["path"].as_array().unwrap(), &["entry", "right", "join"]);
    let clean = warpline(&["ssa", &place.program(), "--uninitialized", "--function", "g"]);
    assert_eq!(
        ok(&clean),
        "0 reads of what is never written, 0 of what may not be written, in 1 functions\n"
    );
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang for C");
        return;
    }
    let source = place.file(
        "maybe.c",
        "int f(int c, int d) {\n  int x, y;\n  if (c)\n    x = d;\n  return x +\n    y;\n}\n",
    );
    let output = warpline(&["ssa", &source, "--uninitialized"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("maybe.c:5:10: `x` may be read before it is written, in `f`, by "), "{text}");
    assert!(text.contains("maybe.c:6:5: `y` is read and never written before, in `f`\n"), "{text}");
    assert!(
        text.ends_with("1 reads of what is never written, 1 of what may not be written, in 1 functions\n")
    );
}

#[test]
fn sources_are_compiled_without_optimisation_so_that_there_are_variables() {
    let place = Place::new(PROGRAM);
    let rust = place.file(
        "k.rs",
        "#[unsafe(no_mangle)]\npub extern \"C\" fn k(a: u32) -> u32 {\n    let mut s \
     = 0u32;\n    \
                                   let mut i = 0u32;\n    while i < a {\n        s ^= i;\n        i = \
                                    i.wrapping_add(3);\n    }\n    s\n}\n",
    );
    let report = json(&["ssa", &rust, "--function", "k", "--stats", "--format", "json"]);
    assert!(report["variables"].as_u64().unwrap() >= 2, "{report}");
    assert!(report["phis"]["pruned"].as_u64().unwrap() >= 2, "{report}");
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang for C");
        return;
    }
    let c = place.file(
        "k.c",
        "int k(int a) {\n  int s = 0;\n  for (int i = 0; i < a; i += 3) s ^= i;\n  return s;\n}\n",
    );
    let report = json(&["ssa", &c, "--stats", "--format", "json"]);
    assert_eq!((&report["functions"], &report["phis"]["pruned"]), (&1.into(), &2.into()), "{report}");
}
