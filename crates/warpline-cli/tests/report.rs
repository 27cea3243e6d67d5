//! `warpline report`: one page on all loops and kernels of a project.

mod common;

use std::path::Path;
use std::process::Output;

use common::{command, has_clang, stderr, stdout, warpline};

const GOOD: &str = "void scale(float *restrict y, const float *restrict x, int n) {
    for (int i = 0; i < n; i++)
        if (x[i] > 0) y[i] = FACTOR * x[i];
}
void order(float *y, int n) {
    for (int i = 1; i < n; i++)
        if (y[i] > 0) y[i] = y[i - 1];
}
";

/// A folder with a project: a source that needs a flag of the project, and one that cannot be read.
fn project() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("good.c"), GOOD).unwrap();
    std::fs::write(place.path().join("<b>bad.c"), "void f(void) { what }\n").unwrap();
    let entry = |file: &str| serde_json::json!({ "directory": place.path(), "file": file, "arguments": ["cc", "-DFACTOR=2", "-c", file] });
    let all = serde_json::json!([entry("good.c"), entry("<b>bad.c"), entry("good.c")]);
    std::fs::write(place.path().join("compile_commands.json"), all.to_string()).unwrap();
    place
}

fn run(place: &Path, arguments: &[&str]) -> Output {
    let all: Vec<&str> = ["report"].into_iter().chain(arguments.iter().copied()).collect();
    command(&all).current_dir(place).output().unwrap()
}

/// Writes a file below a folder.
fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_project_gets_one_page_on_all_of_its_loops_and_what_cannot_be_read_is_said() {
    if !has_clang() {
        return;
    }
    let place = project();
    let output = run(place.path(), &["-p", ".", "-o", "all.html", "--cpu", "x86-64-v3", "-j", "2"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(
        stdout(&output),
        "all.html: the loops and kernels of 2 inputs\n  vector code: 1; stay scalar, which is faster: 0; cannot be \
         vectorized: 1; cannot be read: 1 input\n"
    );
    assert!(stderr(&output).contains("bad.c:1:"), "{}", stderr(&output));
    let page = std::fs::read_to_string(place.path().join("all.html")).unwrap();
    for part in ["good.c:2</a>", "lanes</span>", "&lt;b&gt;bad.c", "depends on the load", "if (x[i] &gt; 0)"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<b>"), "{page}");
    for outside in ["http:", "https:", "src="] {
        assert!(!page.contains(outside), "{outside}");
    }
}

/// They are left in target/screenshots, for people to look at.
#[test]
fn screenshots_of_the_page_show_more_than_an_empty_window() {
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    let there = |browser: &&str| std::process::Command::new(browser).arg("--version").output().is_ok();
    let Some(browser) = browsers.into_iter().find(there).filter(|_| has_clang()) else {
        println!("skipped: there is no chromium, or no clang");
        return;
    };
    let place = project();
    run(place.path(), &["good.c", "-DFACTOR=3", "-o", "page.html", "--cpu", "x86-64-v3"]);
    std::fs::write(place.path().join("empty.html"), "<!doctype html>").unwrap();
    let pictures = warpline_testkit::programs_run::root().join("target/screenshots");
    std::fs::create_dir_all(&pictures).unwrap();
    let take = |page: &str, name: &str| {
        let picture = pictures.join(name);
        let mut command = std::process::Command::new(browser);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--window-size=1200,900",
        ]);
        command.arg(format!("--user-data-dir={}", place.path().join("profile").display()));
        command.arg(format!("--screenshot={}", picture.display()));
        let output = command.arg(format!("file://{}/{page}", place.path().display())).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        std::fs::metadata(picture).unwrap().len()
    };
    let empty = take("empty.html", "empty.png");
    for (page, name) in [("page.html", "report.png"), ("page.html#e0-0", "report-open.png")] {
        let taken = take(page, name);
        assert!(taken > 4 * empty, "{name}: {taken} bytes, an empty page {empty}");
    }
}

#[test]
fn the_same_is_there_as_data() {
    if !has_clang() {
        return;
    }
    let place = project();
    let arguments = ["good.c", "-DFACTOR=3", "--format", "json", "-o", "-", "--cpu", "x86-64-v3"];
    let output = run(place.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let data: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let entries = data["inputs"][0]["entries"].as_array().unwrap();
    let told: Vec<_> = entries.iter().map(|one| (one["place"].as_str(), one["state"].as_str())).collect();
    assert_eq!(told, [(Some("good.c:2"), Some("vector")), (Some("good.c:6"), Some("refused"))]);
    assert_eq!(entries[0]["divergence"]["divergent"]["branches"].as_array().map(Vec::len), Some(1), "{data}");
    assert!(entries[0]["cycles"]["vector"].as_f64().is_some_and(|cycles| cycles > 0.0), "{data}");
}

#[test]
fn what_is_missing_is_asked_for() {
    let place = tempfile::tempdir().unwrap();
    let nothing = warpline(&["report"]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(
        stderr(&nothing).contains("the folder of a compile_commands.json with -p"),
        "{}",
        stderr(&nothing)
    );
    let no_file = run(place.path(), &["-p", "."]);
    assert!(stderr(&no_file).contains("compile_commands.json"), "{}", stderr(&no_file));
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "nothing is written");
}

/// A build with gcc, by command lines and by lists of arguments, with flags that clang does not have, names with blanks,
/// assembly, and a source that does not compile.
#[test]
fn a_project_of_another_style_is_reported_as_far_as_it_can_be_read() {
    if !warpline_llvm::has_clang() {
        return eprintln!("skipped: there is no clang");
    }
    let place = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| put(place.path(), name, text);
    put("inc/cfg.h", "#ifndef SCALE\n#error SCALE must be set\n#endif\n");
    put(
        "src/audio.c",
        "#include \"cfg.h\"\nvoid mix(short *dst, const short *src, unsigned long n, float gain) {\n  for (unsigned long i = 0; i < n; \
         ++i) dst[i] += (short)(src[i] * gain * SCALE);\n}\nstruct list { struct list *next; int v; };\nint sum(const struct list *l) \
         {\n  int s = 0;\n  for (; l; l = l->next) s += l->v;\n  return s;\n}\n",
    );
    put(
        "src/two words.cpp",
        "#include \"cfg.h\"\nnamespace img {\ntemplate <class T> struct View { T *data; int w, h, stride; };\nvoid \
         threshold(View<float> v, float t) {\n  for (int y = 0; y < v.h; ++y)\n    for (int x = 0; x < v.w; ++x) {\n      float &p = \
         v.data[y * v.stride + x];\n      p = p > t ? 1.0f : 0.0f;\n    }\n}\n}\n",
    );
    put("src/broken.c", "#include \"does-not-exist.h\"\n");
    put("src/start.S", "nop\n");
    let build = place.path().join("build");
    let flags = "-DSCALE=2 -I../inc -O2 -std=gnu99 -fconserve-stack -fno-var-tracking-assignments -Wlogical-op -MD -MF x.d";
    let commands = serde_json::json!([
        { "directory": build, "command": format!("/usr/bin/gcc {flags} -o a.o -c ../src/audio.c"), "file": "../src/audio.c" },
        {
            "directory": build,
            "arguments": ["ccache", "g++", "-DSCALE=3", "-I", "../inc", "-fabi-version=11", "-c", "../src/two words.cpp"],
            "file": "../src/two words.cpp",
        },
        { "directory": build, "command": "gcc -c ../src/broken.c", "file": place.path().join("src/broken.c") },
        { "directory": build, "command": "gcc -c ../src/start.S", "file": "../src/start.S" },
    ]);
    put("build/compile_commands.json", &commands.to_string());
    let page = place.path().join("page.html");
    let made = command(&["report", "-p", "build", "-o", page.to_str().unwrap()])
        .current_dir(place.path())
        .output()
        .unwrap();
    let (said, errors) = (stdout(&made), stderr(&made));
    assert_eq!(made.status.code(), Some(2), "one source cannot be read: {said}{errors}");
    assert!(
        said.contains("cannot be read: 1 input") && errors.contains("does-not-exist.h"),
        "{said}{errors}"
    );
    assert!(errors.contains("`-fconserve-stack`: clang does not know it"), "{errors}");
    let page = std::fs::read_to_string(page).unwrap();
    for name in ["mix", "img::threshold", "sum", "two words.cpp"] {
        assert!(page.contains(name), "{name}");
    }
}

#[test]
fn a_folder_stands_for_the_sources_below_it_and_files_without_loops_are_in_order() {
    if !has_clang() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| put(place.path(), name, text);
    put("src/scale.c", &GOOD.replace("FACTOR", "2"));
    put("src/deep/er/table.c", "const int table[] = { 1, 2, 3 };\n");
    put("src/one.c", "int one(int x) { return x + 1; }\n");
    put("src/two.c", "int one(int x) { return x + 1; }\nint two(int x) { return x + 2; }\n");
    put("src/notes.txt", "what is no source is left out");
    put("src/.hidden/bad.c", "what?\n");
    put("src/target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
    put("src/target/bad.c", "what?\n");
    std::os::unix::fs::symlink("..", place.path().join("src/deep/back")).unwrap();
    let output = run(place.path(), &["src", "--cpu", "x86-64-v3"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let expected = "warpline-report.html: the loops and kernels of 4 inputs\n  vector code: 1; stay scalar, which is \
                    faster: 0; cannot be vectorized: 1\n";
    assert_eq!(stdout(&output), expected);

    // Of what a compiler says, the terminal has a line, and the page all.
    put("more/bad.c", "#include <nothing.h>\nint one(void) { what }\n");
    let output = run(place.path(), &["src", "more", "-o", "bad.html"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.starts_with(
            "error: more/bad.c: more/bad.c:1:10: fatal error: 'nothing.h' file not found (flags of"
        ),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    let page = std::fs::read_to_string(place.path().join("bad.html")).unwrap();
    assert!(page.contains("1 error generated"), "{page}");

    put("empty/notes.txt", "nothing");
    let output = run(place.path(), &["empty"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("empty: there is no source"), "{}", stderr(&output));
}

#[test]
fn a_loop_of_a_header_is_told_once() {
    if !has_clang() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| put(place.path(), name, text);
    put(
        "include/shared.h",
        "static __attribute__((noinline)) void twice(int *x, int n) {\n    for (int i = 0; i < n; i++) x[i] *= 2;\n}\n",
    );
    for name in ["one", "two"] {
        let text = format!("#include \"shared.h\"\nvoid {name}(int *x) {{ twice(x, 1000); }}\n");
        put(&format!("src/{name}.c"), &text);
    }
    let output = run(place.path(), &["src", "-Iinclude", "--cpu", "x86-64-v3"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("2 inputs\n  vector code: 1;"), "{}", stdout(&output));
}
