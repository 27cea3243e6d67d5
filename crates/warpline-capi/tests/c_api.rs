//! The library as programs in C and Python see it, and the header, which is what cbindgen makes of the sources.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::built;
use warpline_testkit::programs_run::root;

const HEADER: &str = "crates/warpline-capi/include/libwarpline.h";

fn run(mut command: Command, program: &Path) -> Output {
    command.env("WARPLINE_WORKER", program).output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_header_is_what_cbindgen_makes_of_the_sources() {
    let folder = root().join("crates/warpline-capi");
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    // With its modules.
    let made = cbindgen::Builder::new().with_config(config).with_src(folder.join("src/lib.rs"));
    let mut text = Vec::new();
    made.generate().unwrap().write(&mut text);
    let text = String::from_utf8(text).unwrap();
    let path = root().join(HEADER);
    if std::env::var_os("WARPLINE_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert!(std::fs::read_to_string(&path).unwrap_or_default() == text, "WARPLINE_BLESS=1 writes {HEADER}");
}

#[test]
fn a_program_in_c_compiles_and_calls_a_function_while_it_runs() {
    if !warpline_llvm::has_clang() {
        return eprintln!("skipped: there is no clang");
    }
    let (library, program) = (built().join("libwarpline.so"), built().join("warpline"));
    // With the sanitizer, where gcc has it: nothing is leaked, and nothing is used that was freed.
    for flags in [&[][..], &["-fsanitize=address"]] {
        compile_and_call(&library, &program, flags);
    }
}

fn compile_and_call(library: &Path, program: &Path, flags: &[&str]) {
    let Some(ran) = example("in_memory", library, program, flags, &[]) else { return };
    let said = text(&ran);
    assert!(ran.status.success(), "{said}");
    assert!(
        said.contains("hypotenuse: loop at source.c:2") && said.contains("1000 results are right"),
        "{said}"
    );
    assert!(said.contains("an error of kind 0"), "{said}");
}

/// What an example does; none if it cannot be compiled with these flags.
fn example(name: &str, library: &Path, program: &Path, flags: &[&str], arguments: &[&str]) -> Option<Output> {
    let (folder, capi) = (tempfile::tempdir().unwrap(), root().join("crates/warpline-capi"));
    let host = folder.path().join("host");
    let mut cc = Command::new("cc");
    cc.args(["-Wall", "-Wextra", "-Werror", "-Wno-pointer-arith"]);
    cc.arg(capi.join(format!("examples/{name}.c")));
    cc.arg("-I").arg(capi.join("include")).arg(library).arg("-o").arg(&host).args(flags);
    let made = match cc.output() {
        Ok(made) if made.status.success() || flags.is_empty() => made,
        Ok(_) => {
            eprintln!("skipped: cc has no sanitizer");
            return None;
        }
        Err(_) => {
            eprintln!("skipped: there is no cc");
            return None;
        }
    };
    assert!(made.status.success(), "{}", text(&made));
    let mut ran = Command::new(&host);
    ran.env("LD_LIBRARY_PATH", library.parent().unwrap()).args(arguments);
    Some(run(ran, program))
}

#[test]
fn a_program_in_c_learns_what_diverges_and_why() {
    if !warpline_llvm::has_clang() {
        return eprintln!("skipped: there is no clang");
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("k.c");
    std::fs::write(&source, "//@ args i=index\nvoid f(int i, int *p) {\n  if (p[i] > 0)\n    p[i] = 1;\n}\n")
        .unwrap();
    let (library, program) = (built().join("libwarpline.so"), built().join("warpline"));
    // With the sanitizer, where gcc has it, as above.
    for flags in [&[][..], &["-fsanitize=address"]] {
        let of =
            |line: &str| example("analysis", &library, &program, flags, &[source.to_str().unwrap(), line]);
        let Some(ran) = of("3") else { return };
        let said = text(&ran);
        assert!(ran.status.success(), "{said}");
        assert!(said.contains("\"functions\"") && said.contains("\"reasons\""), "{said}");
        assert!(said.contains("\"explanations\"") && said.contains("\"chain\""), "{said}");
        assert!(said.contains("language cobol: use c"), "{said}");
        let Some(ran) = of("1000") else { return };
        assert!(!ran.status.success() && text(&ran).contains("1000"), "{}", text(&ran));
    }
}

#[test]
fn a_package_for_python_calls_functions_of_c_on_arrays() {
    if !warpline_llvm::has_clang() {
        return eprintln!("skipped: there is no clang");
    }
    let (library, program) = (built().join("libwarpline.so"), built().join("warpline"));
    let Some((python, has_numpy)) = python() else { return eprintln!("skipped: there is no python3") };
    let mut tests = Command::new(&python);
    tests
        .arg("test_warpline.py")
        .current_dir(root().join("python"))
        .env("WARPLINE_LIBRARY", library.as_os_str());
    tests.env("PYTHONDONTWRITEBYTECODE", "1");
    let ran = run(tests, &program);
    assert!(ran.status.success(), "{}", text(&ran));
    assert!(text(&ran).contains("Ran 7 tests"), "{}", text(&ran));
    assert!(!has_numpy || !text(&ran).contains("skipped"), "{}", text(&ran));
    if has_numpy {
        let readme = std::fs::read_to_string(root().join("python/README.md")).unwrap();
        let block = readme.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let file = tempfile::NamedTempFile::with_suffix(".py").unwrap();
        std::fs::write(file.path(), block).unwrap();
        let mut readme = Command::new(python);
        readme.arg(file.path()).env("PYTHONPATH", root().join("python")).env("WARPLINE_LIBRARY", library);
        readme.env("PYTHONDONTWRITEBYTECODE", "1");
        let ran = run(readme, &program);
        assert!(ran.status.success() && text(&ran).contains("saxpy: loop at"), "{}", text(&ran));
    }
}

/// A Python, and whether it has NumPy: the one on the path if that has it, or else one in the target folder into which
/// NumPy is installed, if it can be had.
fn python() -> Option<(PathBuf, bool)> {
    let works = |python: &Path, program: &str| {
        Command::new(python).args(["-c", program]).output().is_ok_and(|output| output.status.success())
    };
    let usual = PathBuf::from("python3");
    if !works(&usual, "") {
        return None;
    }
    if works(&usual, "import numpy") {
        return Some((usual, true));
    }
    let folder = root().join("target/tools/numpy");
    let own = folder.join("bin/python");
    if !works(&own, "import numpy") {
        let made = Command::new(&usual).args(["-m", "venv"]).arg(&folder).output();
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries=1", "numpy"];
        let installed =
            made.and_then(|_| Command::new(&own).args(pip).env("PIP_DEFAULT_TIMEOUT", "20").output());
        if !works(&own, "import numpy") {
            let why = installed.map_or_else(|error| error.to_string(), |output| text(&output));
            eprintln!("skipped what needs NumPy, which cannot be installed: {why}");
            return Some((usual, false));
        }
    }
    // What is relative would be looked for in the folder of the tests.
    Some((std::path::absolute(own).unwrap(), true))
}
