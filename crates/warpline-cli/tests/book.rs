//! The book: all its chapters are there, and the guide's commands do and print what it says.
//!
//! In `docs/guide` and `README.md`, `<!-- file: NAME -->` before a block makes it a file, lines `warpline …` of `sh` blocks are run
//! one after the other beside these files, and a `text` block behind one is what it prints, with other numbers, times
//! and CPUs.

use std::path::Path;
use std::process::Command;

use warpline_testkit::programs_run::root;

/// A fenced block: the name of the file that it is, its language, its lines.
struct Block {
    file: Option<String>,
    language: String,
    text: String,
}

fn blocks(chapter: &str) -> Vec<Block> {
    let (mut all, mut file) = (Vec::new(), None);
    let mut lines = chapter.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("<!-- file: ") {
            file = Some(name.trim_end_matches(" -->").to_owned());
        } else if let Some(language) = line.strip_prefix("```") {
            let text: String = lines.by_ref().take_while(|l| *l != "```").flat_map(|l| [l, "\n"]).collect();
            all.push(Block { file: file.take(), language: language.to_owned(), text });
        }
    }
    all
}

/// Text without what differs from machine to machine: numbers, units of time, names of CPUs.
fn comparable(text: &str) -> String {
    let word = |word: &str| match word.trim_end_matches([',', ';', ')', ':']) {
        "ns" | "µs" | "ms" | "s" => "TIME".to_owned(),
        _ => {
            let mut out = String::new();
            for c in word.chars() {
                match c.is_ascii_digit() || c == '.' && out.ends_with('#') {
                    true if out.ends_with('#') => {}
                    true => out.push('#'),
                    false => out.push(c),
                }
            }
            out
        }
    };
    let line = |line: &str| {
        let words: Vec<String> = line.split_whitespace().map(word).collect();
        let after_for = |k: usize| k > 0 && words[k - 1] == "for" && words.contains(&"lanes".to_owned());
        let words = words.iter().enumerate().map(|(k, w)| if after_for(k) { "CPU" } else { w.as_str() });
        words.collect::<Vec<_>>().join(" ") + "\n"
    };
    text.lines().filter(|l| !l.contains("warning: vector code is slower")).map(line).collect()
}

/// Runs the commands of a chapter in a folder, and says how many.
fn run(chapter: &Path, folder: &Path) -> usize {
    let blocks = blocks(&std::fs::read_to_string(chapter).unwrap());
    let program = Path::new(env!("CARGO_BIN_EXE_warpline"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let (mut commands, mut printed) = (0, String::new());
    for block in blocks {
        if let Some(name) = &block.file {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &block.text).unwrap();
            continue;
        }
        match block.language.as_str() {
            "sh" => {
                printed.clear();
                for line in block.text.lines().filter(|line| line.starts_with("warpline ")) {
                    let mut shell = Command::new("sh");
                    shell.args(["-c", line]).env("PATH", &path).current_dir(folder);
                    shell.env("CARGO_TARGET_DIR", folder.join("target"));
                    let output = shell.output().unwrap();
                    let errors = String::from_utf8_lossy(&output.stderr);
                    assert!(output.status.success(), "{}: {line}: {errors}", chapter.display());
                    printed += &String::from_utf8_lossy(&output.stdout);
                    commands += 1;
                }
            }
            "text" => assert_eq!(comparable(&printed), comparable(&block.text), "{}", chapter.display()),
            _ => {}
        }
    }
    commands
}

#[test]
fn commands_of_the_guide_and_of_the_readme_do_and_print_what_they_say() {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let mut commands = 0;
    let chapters = std::fs::read_dir(root().join("docs/guide")).unwrap().map(|entry| entry.unwrap().path());
    for chapter in chapters.chain([root().join("README.md")]) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["examples", "filetests"] {
            std::os::unix::fs::symlink(root().join(name).canonicalize().unwrap(), folder.path().join(name))
                .unwrap();
        }
        commands += run(&chapter, folder.path());
    }
    assert!(commands >= 8, "only {commands} commands were found");
}

/// Its commands run on sources of the names that it has, after the baselines have been written.
#[test]
fn the_example_of_a_job_for_github_passes_on_sources_that_have_not_changed() {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let job = std::fs::read_to_string(root().join("examples/github/warpline.yml")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["src", "known"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    let loops = "void clamp(float *restrict y, const float *restrict x, int n) {\n  for (int i = 0; i < n; i++) y[i] = x[i] > 1 ? \
                 1 : x[i];\n}\n";
    let compare = "int compare(const char *key, const char *given, int n) {\n  int all = 0;\n  for (int i = 0; i < n; i++) all \
                   |= key[i] ^ given[i];\n  return all;\n}\n";
    std::fs::write(folder.path().join("src/kernels.c"), loops).unwrap();
    std::fs::write(folder.path().join("src/compare.c"), compare).unwrap();
    let commands: Vec<&str> =
        job.lines().filter_map(|line| line.trim().strip_prefix("- run: warpline ")).collect();
    assert!(commands.len() >= 5, "{job}");
    let gates = commands.iter().filter(|command| command.contains("--baseline"));
    let writing = gates.map(|command| command.replace("--baseline", "--write-baseline"));
    for command in writing.chain(commands.iter().map(|command| (*command).to_owned())) {
        let mut program = Command::new(env!("CARGO_BIN_EXE_warpline"));
        let output = program.args(command.split(' ')).current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {said}");
    }
}

#[test]
fn every_page_is_a_chapter_and_every_chapter_is_there() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let named = |link: &str| link.split(')').next().unwrap().to_owned();
    let mut chapters: Vec<String> = summary.split("](").skip(1).map(named).collect();
    chapters.sort();
    let mut pages = Vec::new();
    for folder in ["", "analysis/", "guide/", "internals/", "reference/"] {
        for entry in std::fs::read_dir(docs.join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") && name != "SUMMARY.md" {
                pages.push(format!("{folder}{name}"));
            }
        }
    }
    pages.sort();
    assert_eq!(chapters, pages);
}

#[test]
fn numbers_times_and_cpus_do_not_count() {
    let here = "f: vectorized with 16 lanes for znver5: f_w16\n  5.17 times (287.7 µs instead of 1.2 ms); 0 mismatches\n";
    let there =
        "f: vectorized with 8 lanes for haswell: f_w8\n  2 times (17 ns instead of 9.9 s); 3 mismatches\n";
    assert_eq!(comparable(here), comparable(there));
    assert_ne!(comparable(here), comparable(&there.replace("times", "time")));
}
