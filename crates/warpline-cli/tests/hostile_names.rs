//! Names that are more than names to a terminal, a C compiler, a browser, a pass pipeline or a file system, in all
//! places of an input that have names. Nothing of them comes through, and no file is written but those that were
//! asked for.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::{command, ok, stderr, stdout, warpline};
use warpline::printable::is_unsafe;

/// What names are made of.
const HOSTILE: [&str; 14] = [
    "k>,function(dot-cfg),internalize<preserve-gv=k",
    "k*/\n#error from a name\nint from_a_name = 1; /*",
    "k\u{1b}]0;title\u{7}\u{1b}[2J\r\u{8}\u{7f}",
    "k\u{9b}31m\u{202e}evil\u{200b}",
    "<script>from_a_name()</script>",
    "\"};from_a_name();//\\",
    "../../k/../x",
    "-o",
    "@k",
    "%s%n",
    "int",
    "k.x$y",
    "größe 数",
    "k\n0 mismatches",
];

/// A kernel whose function, parameters, blocks, structure, file and names for debuggers are called this.
fn module(name: &str) -> String {
    let quoted = |suffix: &str| -> String {
        let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b' ' | b'.' | b'/' | b'-' | b'<' | b'>');
        let text = format!("{name}{suffix}");
        text.bytes()
            .map(|c| if plain(c) { char::from(c).to_string() } else { format!("\\{c:02X}") })
            .collect()
    };
    let (f, i, p, entry, then, end) =
        (quoted(""), quoted("i"), quoted("p"), quoted("e"), quoted("t"), quoted("r"));
    let (structure, file, subprogram, value) = (quoted("s"), quoted(".c"), quoted("d"), quoted("v"));
    format!(
        "%\"{structure}\" = type {{ i32, i32 }}\n\
         define void @\"{f}\"(i32 %\"{i}\", ptr %\"{p}\") !dbg !4 {{\n\"{entry}\":\n\
         \x20 %\"{value}\" = getelementptr %\"{structure}\", ptr %\"{p}\", i32 %\"{i}\", i32 0, !dbg !5\n\
         \x20 %v = load i32, ptr %\"{value}\", !dbg !5\n  %c = icmp sgt i32 %v, 3, !dbg !5\n\
         \x20 br i1 %c, label %\"{then}\", label %\"{end}\", !dbg !5\n\"{then}\":\n\
         \x20 store i32 %\"{i}\", ptr %\"{value}\", !dbg !5\n  br label %\"{end}\", !dbg !5\n\"{end}\":\n  ret \
          void, !dbg !5\n}}\n\
         !llvm.dbg.cu = !{{!0}}\n!llvm.module.flags = !{{!2}}\n\
         !0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: LineTablesOnly)\n\
         !1 = !DIFile(filename: \"{file}\", directory: \"{file}\")\n!2 = !{{i32 2, !\"Debug Info Version\", i32 3}}\n\
         !3 = !DISubroutineType(types: !{{}})\n\
         !4 = distinct !DISubprogram(name: \"{subprogram}\", linkageName: \"{subprogram}\", scope: !1, file: \
          !1, line: 3, type: !3, unit: !0, \
         spFlags: DISPFlagDefinition)\n!5 = !DILocation(line: 4, column: 2, scope: !4)\n"
    )
}

#[track_caller]
fn is_printable(output: &Output) {
    for text in [stdout(output), stderr(output)] {
        let found = text.chars().find(|&c| is_unsafe(c) && c != '\n' && c != '\t');
        assert!(found.is_none(), "{found:?} in {text:?}");
    }
    let code = output.status.code();
    assert!(code.is_some_and(|code| code <= 2), "{code:?}: {}", stderr(output));
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Compiles a header as C and as C++, if there are compilers.
fn compiles(folder: &Path, header: &str) {
    for (compiler, language) in [("cc", "c"), ("c++", "c++")] {
        let checked = Command::new(compiler)
            .args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", language])
            .args(cfg!(target_arch = "x86_64").then_some("-mavx"))
            .arg(header)
            .current_dir(folder)
            .output();
        match checked {
            Ok(output) => {
                let text = std::fs::read_to_string(folder.join(header)).unwrap();
                assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
            }
            Err(_) => eprintln!("skipped in part: there is no {compiler}"),
        }
    }
}

#[test]
fn names_reach_no_terminal_no_browser_and_no_file() {
    for name in HOSTILE {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::fs::write(path.join("k.ll"), module(name)).unwrap();
        let run = |arguments: &[&str]| {
            let output = command(arguments).current_dir(path).output().unwrap();
            is_printable(&output);
            assert_eq!(names(path), ["k.ll"], "{arguments:?} for {name:?}");
            output
        };
        run(&["analyze", "k.ll"]);
        run(&["analyze", "k.ll", "--format", "llvm"]);
        run(&["lint", "k.ll", "--client", "ranges"]);
        run(&["explain", "k.ll", "--line", "4"]);
        run(&["ssa", "k.ll"]);
        run(&["ssi", "k.ll", "--strategy", "ssi"]);
        run(&["analyze", "k.ll", "--function", "no such function"]);
        run(&["vectorize", "k.ll", "--args", "uniform,uniform", "-o", "-"]);
        run(&["run", "k.ll", "--args", "index,uniform", "--range", "0..4", "--bind", "x=1"]);
        for verb in
            [&["analyze", "k.ll"][..], &["explain", "k.ll", "--line", "4"], &["ssa", "k.ll", "--stats"]]
        {
            let output = run(&[verb, &["--format", "json"]].concat());
            let value: serde_json::Value = serde_json::from_str(&ok(&output)).unwrap();
            if verb[0] == "analyze" {
                assert_eq!(value["functions"][0]["name"], name);
            }
        }
        let page = ok(&run(&["analyze", "k.ll", "--format", "html"]));
        assert_eq!(page.matches("<script").count(), 2, "{name:?}");
        let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
        serde_json::from_str::<serde_json::Value>(data).unwrap();
    }
}

#[test]
fn names_in_headers_and_code_stay_names() {
    for name in HOSTILE {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::fs::write(path.join("k.ll"), module(name)).unwrap();
        for (object, more) in [
            ("k.o", &["--width", "8"][..]),
            ("k.s", &["--mask"]),
            ("k.ll.bc", &[]),
            ("m.o", &["--cpu", "x86-64,x86-64-v3"]),
        ] {
            let mut all =
                vec!["vectorize", "k.ll", "--args", "index,uniform", "-o", object, "--header", "k.h"];
            all.extend(more);
            let output = command(&all).current_dir(path).output().unwrap();
            is_printable(&output);
            ok(&output);
            assert_eq!(
                names(path),
                [object.to_owned(), "k.h".to_owned(), "k.ll".to_owned()]
                    .into_iter()
                    .collect::<std::collections::BTreeSet<_>>()
                    .into_iter()
                    .collect::<Vec<_>>()
            );
            let header = std::fs::read_to_string(path.join("k.h")).unwrap();
            assert!(!header.contains("\n#error") && !header.contains("\nint from"), "{header}");
            compiles(path, "k.h");
            std::fs::remove_file(path.join(object)).unwrap();
            std::fs::remove_file(path.join("k.h")).unwrap();
        }
    }
}

#[test]
fn names_of_files_stay_names() {
    let text = module("k");
    for name in HOSTILE.iter().filter(|name| !name.contains('/')) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let (input, object, header) = (format!("{name}.ll"), format!("{name}.o"), format!("{name}.h"));
        std::fs::write(path.join(&input), &text).unwrap();
        let run = |arguments: &[&str]| {
            let output = command(arguments).current_dir(path).output().unwrap();
            is_printable(&output);
            output
        };
        ok(&run(&["analyze", "--", &input]));
        ok(&run(&["explain", "--line", "4", "--", &input]));
        run(&["analyze", "--", &format!("{name}.txt")]);
        run(&["analyze", "--", &format!("no {name}.ll")]);
        run(&["analyze", &format!("--{name}"), &input]);
        let options = ["--args=index,uniform", &format!("-o{object}"), &format!("--header={header}")];
        ok(&run(&["vectorize", options[0], options[1], options[2], "--", &input]));
        let mut expected = vec![input, object, header.clone()];
        expected.sort();
        assert_eq!(names(path), expected);
        std::fs::rename(path.join(header), path.join("k.h")).unwrap();
        compiles(path, "k.h");
    }
}

#[test]
fn source_lines_and_messages_of_compilers_are_written_out() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let escape = "\u{1b}]0;title\u{7}\u{202e}";
    write(
        "k.rs",
        "//@ args i=index\n#[unsafe(no_mangle)]\npub extern \"C\" fn k(i: i32) -> i32 {\n    \
         if i > 3 { 1 } else { i } /* \u{1b}]0;t\u{7} */\n}\n",
    );
    write("wrong.rs", &format!("fn k() {{ \"{escape}\" }}\n"));
    write("wrong.ll", &format!("define void @f() {{ {escape} }}\n"));
    write("wrong.c", &format!("int k(void) {{ return {escape}; }}\n"));
    for arguments in [
        &["explain", "k.rs", "--line", "4"][..],
        &["analyze", "wrong.rs"],
        &["analyze", "wrong.ll"],
        &["analyze", "wrong.c"],
    ] {
        is_printable(&command(arguments).current_dir(folder.path()).output().unwrap());
    }
    is_printable(&warpline(&["analyze", "--no-such-option\u{1b}[2J"]));
    is_printable(&warpline(&["no such verb \u{1b}[2J"]));
}
