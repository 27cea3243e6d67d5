//! Packages, as `tools/release.sh` makes them of what was built for the tests, installed into empty folders: each does
//! the main job there.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use warpline_testkit::programs_run::root;

const SOURCE: &str = "void twice(int *x, int n) { for (int i = 0; i < n; i++) x[i] *= 2; }\n";

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", text(&output));
    text(&output)
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// The file among packages whose name ends like this.
fn package(folder: &Path, ending: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().find(|path| path.to_str().is_some_and(|path| path.ends_with(ending)))
}

/// Vectorizes and runs a source by an installed program, and asks it for its manual.
fn does_the_main_job(prefix: &Path, folder: &Path) {
    let source = folder.join("twice.c");
    std::fs::write(&source, SOURCE).unwrap();
    let said = done(Command::new(prefix.join("bin/warpline")).arg("run").arg(&source));
    assert!(said.contains("twice: loop at twice.c:1") && said.contains("0 mismatches"), "{said}");
    for file in [
        "include/warpline.h",
        "include/libwarpline.h",
        "lib/libwarpline.so",
        "share/man/man1/warpline-run.1",
        "share/bash-completion/completions/warpline",
        "share/doc/warpline/LICENSE-MIT",
    ] {
        assert!(prefix.join(file).exists(), "{file}");
    }
    let found = done(Command::new(prefix.join("bin/warpline")).args(["--print", "include-dir"]));
    assert_eq!(Path::new(found.trim()), prefix.join("include").canonicalize().unwrap());
}

/// Whether the metadata for cargo-binstall, with a stand-in for the repository, names this tarball and the program in it.
fn binstall_finds_the_program_in(tarball: &Path) {
    let manifest = std::fs::read_to_string(root().join("crates/warpline-cli/Cargo.toml")).unwrap();
    let value = |key: &str| {
        let line = manifest.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        let mut text = line.unwrap_or_else(|| panic!("there is no {key}")).trim_end_matches('"').to_owned();
        for (name, word) in [
            ("repo", "https://example.org/warpline"),
            ("version", env!("CARGO_PKG_VERSION")),
            ("target-arch", std::env::consts::ARCH),
            ("bin", "warpline"),
            ("binary-ext", ""),
        ] {
            text = text.replace(&format!("{{ {name} }}"), word);
        }
        assert!(!text.contains('{'), "{text}");
        text
    };
    let name = tarball.file_name().unwrap().to_str().unwrap();
    let url = format!("https://example.org/warpline/releases/download/v{}/{name}", env!("CARGO_PKG_VERSION"));
    assert_eq!(value("pkg-url"), url);
    let list = done(Command::new("tar").arg("-tzf").arg(tarball));
    let program = value("bin-dir");
    assert!(list.lines().any(|line| line == program), "there is no {program} in\n{list}");
}

#[test]
fn a_tarball_a_debian_package_and_a_wheel_do_the_main_job_in_an_empty_folder() {
    if !warpline_llvm::has_clang() {
        return eprintln!("skipped: there is no clang");
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    done(
        Command::new(root().join("tools/release.sh"))
            .args(["--level", "1", "--from"])
            .arg(common::built())
            .arg(&out),
    );

    let tarball = package(&out, ".tar.gz").unwrap();
    binstall_finds_the_program_in(&tarball);
    let place = folder.path().join("tar");
    std::fs::create_dir(&place).unwrap();
    done(Command::new("tar").arg("-xzf").arg(tarball).arg("--strip-components=1").arg("-C").arg(&place));
    does_the_main_job(&place, folder.path());

    match package(&out, ".deb") {
        Some(deb) => {
            let place = folder.path().join("deb");
            done(Command::new("dpkg-deb").arg("-x").arg(deb).arg(&place));
            does_the_main_job(&place.join("usr"), folder.path());
        }
        None => eprintln!("skipped: there is no dpkg-deb"),
    }

    let wheel = package(&out, ".whl").filter(|_| has("pip"));
    let Some(wheel) = wheel else { return eprintln!("skipped: there is no pip") };
    let place = folder.path().join("wheel");
    done(Command::new("pip").args(["install", "--no-index", "--no-deps", "--target"]).arg(&place).arg(wheel));
    let program = "import warpline, array
f = warpline.compile('''void twice(int *x, int n) { for (int i = 0; i < n; i++) x[i] *= 2; }''')
x = array.array('i', range(100))
f.function('twice', [('x', warpline.array('i')), ('n', 'int')])(x, 100)
assert list(x) == list(range(0, 200, 2))";
    done(
        Command::new("python3").args(["-c", program]).env("PYTHONPATH", &place).env_remove("WARPLINE_WORKER"),
    );
}
