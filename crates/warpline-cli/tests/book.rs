//! The book: all its chapters are there, its commands do and print what it says, and each of its blocks is under test.
//!
//! A comment line before a block says what it is:
//!
//! * `<!-- file: NAME -->`: a file that the chapter's commands find.
//! * `<!-- in: PATH, … -->`: an excerpt. Each of its lines stands in one of these files, of the repository or of what the
//!   chapter's commands have written; in data and output, with other numbers.
//! * `<!-- test: PATH: NAME -->`: a test of this name, in this file, takes the block from the chapter.
//! * `<!-- picture: NAME -->`: the picture of this name beside the chapter is what the chapter's commands have drawn;
//!   WARPLINE_BLESS=1 takes it from there.
//! * `<!-- not run: REASON -->`: commands that take too long for a test, or files that are not here.
//!
//! Commands in `sh` blocks are run one after the other beside the chapter's files, those of cargo and the project's own
//! tools excepted, which continuous integration runs: what they name is looked for. A `text` block behind commands is
//! what they print, with other numbers, times and CPUs; `console` is output that nothing is compared with.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use warpline_testkit::programs_run::root;

/// A fenced block: what is said of it, its language, its lines.
#[derive(Default)]
struct Block {
    said: Option<String>,
    language: String,
    text: String,
}

impl Block {
    /// What stands behind such a word in the comment before it.
    fn said(&self, word: &str) -> Option<&str> {
        self.said.as_deref()?.strip_prefix(word)?.strip_prefix(": ")
    }
}

fn blocks(chapter: &str) -> Vec<Block> {
    let (mut all, mut said) = (Vec::new(), None);
    let mut lines = chapter.lines();
    while let Some(line) = lines.next() {
        if let Some(comment) = line.trim_start().strip_prefix("<!-- ") {
            // A picture is no block.
            let is_picture = comment.starts_with("picture: ");
            said = (!is_picture).then(|| comment.trim_end_matches(" -->").to_owned());
        } else if let Some(language) = line.trim_start().strip_prefix("```") {
            let text =
                lines.by_ref().take_while(|l| l.trim_start() != "```").flat_map(|l| [l, "\n"]).collect();
            all.push(Block { said: said.take(), language: language.to_owned(), text });
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

/// Who runs a command.
enum Runner {
    /// This test.
    Here,
    /// Continuous integration: what it names is there.
    Elsewhere,
}

/// The first word of a command behind variables, `!` and `cd`, and who runs it; an error if nobody does.
fn runner(line: &str) -> Result<Runner, String> {
    let line = line.rsplit("&& ").next().unwrap_or(line).trim_start_matches("! ");
    let mut words = line.split_whitespace().skip_while(|word| word.contains('='));
    match words.next().unwrap_or_default() {
        "warpline" | "cc" | "make" | "./host" | "./threads" => Ok(Runner::Here),
        "cargo" => names_what_there_is(&words.collect::<Vec<_>>()).map(|()| Runner::Elsewhere),
        program if program.starts_with(".ci/") || program.starts_with("tools/") => {
            let there = root().join(program).is_file();
            if there { Ok(Runner::Elsewhere) } else { Err(format!("there is no {program}")) }
        }
        program => Err(format!("nobody runs {program}")),
    }
}

/// Whether packages, tests and examples that a command of cargo names are there.
fn names_what_there_is(words: &[&str]) -> Result<(), String> {
    let words: Vec<&str> = words.iter().copied().take_while(|word| *word != "#").collect();
    let behind =
        |option: &str| words.iter().position(|word| *word == option).and_then(|at| words.get(at + 1));
    let folder = match behind("-p") {
        Some(package) => root().join("crates").join(package),
        None => root(),
    };
    if !folder.is_dir() {
        return Err(format!("there is no {}", folder.display()));
    }
    if let Some(path) = behind("--path").filter(|path| !root().join(path).join("Cargo.toml").is_file()) {
        return Err(format!("there is no package in {path}"));
    }
    for (option, place) in [("--test", "tests"), ("--example", "examples")] {
        let Some(name) = behind(option) else { continue };
        let sources =
            [folder.join(place).join(format!("{name}.rs")), folder.join(place).join(name).join("main.rs")];
        let Some(source) = sources.iter().find(|path| path.is_file()) else {
            return Err(format!("there is no {name} in {}", folder.join(place).display()));
        };
        // What stands behind it chooses among the tests.
        let at = words.iter().position(|word| word == name).unwrap_or_default();
        let filter = words.get(at + 1).filter(|word| !word.starts_with('-') && option == "--test");
        let mut text = std::fs::read_to_string(source).unwrap();
        for entry in std::fs::read_dir(source.with_extension("")).into_iter().flatten() {
            text += &std::fs::read_to_string(entry.unwrap().path()).unwrap_or_default();
        }
        if let Some(filter) = filter.filter(|filter| !text.contains(**filter)) {
            return Err(format!("no test in {} is called {filter}", source.display()));
        }
    }
    Ok(())
}

/// Whether the program of a command is on the path; those that are not are named.
fn is_there(line: &str) -> bool {
    let program = line.split_whitespace().next().unwrap_or_default();
    let there =
        program != "cc" && program != "make" || Command::new(program).arg("--version").output().is_ok();
    if !there {
        eprintln!("skipped: there is no {program} for `{line}`");
    }
    there
}

/// What a chapter's blocks were found to be, and what is wrong with them.
#[derive(Default)]
struct Account {
    pictures: usize,
    commands: usize,
    excerpts: usize,
    wrong: Vec<String>,
}

/// Runs the commands of a chapter in a folder, and looks at all of its blocks.
fn run(chapter: &Path, folder: &Path, account: &mut Account) {
    let text = std::fs::read_to_string(chapter).unwrap();
    let blocks = blocks(&text);
    let name = chapter.strip_prefix(root()).unwrap_or(chapter).display().to_string();
    // What commands have printed; nothing if none was run.
    let mut printed = None;
    for block in blocks {
        let head =
            format!("{name}: ```{}: {}", block.language, block.text.lines().next().unwrap_or_default());
        if let Some(file) = block.said("file") {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &block.text).unwrap();
            continue;
        }
        if let Some(paths) = block.said("in") {
            account.excerpts += 1;
            account.wrong.extend(excerpt(&block, paths, folder).err().map(|why| format!("{head}: {why}")));
            continue;
        }
        if let Some((path, test)) = block.said("test").and_then(|said| said.split_once(": ")) {
            let there = std::fs::read_to_string(root().join(path))
                .is_ok_and(|text| text.contains(&format!("fn {test}(")));
            account.wrong.extend((!there).then(|| format!("{head}: there is no test {test} in {path}")));
            continue;
        }
        match block.language.as_str() {
            "sh" if block.said("not run").is_some_and(|reason| reason.len() > 9) => printed = None,
            "sh" => {
                let mut output = String::new();
                printed = None;
                for line in block.text.lines().map(|line| line.split("  #").next().unwrap_or(line).trim_end())
                {
                    match runner(line) {
                        Ok(Runner::Here) if is_there(line) => {
                            match shell(line, folder) {
                                Ok(text) => output += &text,
                                Err(why) => account.wrong.push(format!("{head}: {why}")),
                            }
                            account.commands += 1;
                            printed = Some(output.clone());
                        }
                        Ok(_) => {}
                        Err(why) => account.wrong.push(format!("{head}: {why}")),
                    }
                }
            }
            "text" => {
                if let Some(printed) = &printed {
                    let (printed, said) = (comparable(printed), comparable(&block.text));
                    if printed != said {
                        account
                            .wrong
                            .push(format!("{head}: this is printed:\n{printed}and this is said:\n{said}"));
                    }
                }
            }
            "console" => {}
            _ => {
                account.wrong.push(format!("{head}: no test has it: say `file`, `in` or `not run` before it"))
            }
        }
    }
    compare_pictures(&text, chapter, folder, account);
}

/// Whether the pictures of a chapter are those that its commands have drawn.
fn compare_pictures(text: &str, chapter: &Path, folder: &Path, account: &mut Account) {
    let names = text.lines().filter_map(|line| line.strip_prefix("<!-- picture: ")?.strip_suffix(" -->"));
    for name in names {
        account.pictures += 1;
        let shown = chapter.with_file_name(name);
        let Ok(drawn) = std::fs::read(folder.join(name)) else {
            account.wrong.push(format!("{}: no command draws {name}", chapter.display()));
            continue;
        };
        if std::env::var_os("WARPLINE_BLESS").is_some() {
            std::fs::write(&shown, &drawn).unwrap();
        }
        if !std::fs::read(&shown).is_ok_and(|known| known == drawn) || !text.contains(&format!("]({name})")) {
            account.wrong.push(format!("{}: {name} is old, or not shown", chapter.display()));
        }
    }
}

/// Runs a command, and returns what it prints, or what is wrong with it.
fn shell(line: &str, folder: &Path) -> Result<String, String> {
    let program = Path::new(env!("CARGO_BIN_EXE_warpline"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).env("PATH", &path).current_dir(folder);
    shell.env("CARGO_TARGET_DIR", folder.join("target"));
    let output = shell.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{line}: {errors}"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether each line of a block stands in one of the files, whatever is said of it in a comment behind it.
fn excerpt(block: &Block, paths: &str, folder: &Path) -> Result<(), String> {
    let is_data = matches!(block.language.as_str(), "json" | "yaml" | "llvm");
    let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let same = |text: &str| if is_data { comparable(&spaced(text)) } else { spaced(text) };
    let mut all = String::new();
    for path in paths.split(", ") {
        let read = [root().join(path), folder.join(path)]
            .into_iter()
            .find_map(|path| std::fs::read_to_string(path).ok());
        all += &same(&read.ok_or(format!("there is no {path}"))?);
    }
    for line in block.text.lines() {
        let line = ["  // ", "  /* ", "  # "]
            .iter()
            .fold(line, |line, sign| line.split(sign).next().unwrap_or(line));
        if !all.contains(same(line).trim_end()) {
            return Err(format!("`{}` is not in {paths}", line.trim()));
        }
    }
    Ok(())
}

/// All pages in Markdown that people read.
fn pages() -> Vec<std::path::PathBuf> {
    let mut all: BTreeSet<_> = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "python/README.md"]
        .map(|name| root().join(name))
        .into();
    for folder in ["docs", "docs/analysis", "docs/guide", "docs/internals", "docs/reference"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        all.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    all.into_iter().collect()
}

#[test]
fn every_block_is_under_test_and_every_command_does_and_prints_what_is_said() {
    if !warpline_llvm::has_clang() {
        eprintln!("skipped: there is no clang");
        return;
    }
    let mut account = Account::default();
    for chapter in pages() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["examples", "filetests"] {
            std::os::unix::fs::symlink(root().join(name).canonicalize().unwrap(), folder.path().join(name))
                .unwrap();
        }
        run(&chapter, folder.path(), &mut account);
    }
    assert!(account.wrong.is_empty(), "{}", account.wrong.join("\n"));
    assert!(account.commands >= 60, "only {} commands were found", account.commands);
    assert!(account.pictures >= 2, "only {} pictures were found", account.pictures);
    assert!(account.excerpts >= 10, "only {} excerpts were found", account.excerpts);
}

#[test]
fn a_block_that_nobody_runs_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let chapter = folder.path().join("chapter.md");
    let wrong = |text: &str| {
        std::fs::write(&chapter, text).unwrap();
        let mut account = Account::default();
        run(&chapter, folder.path(), &mut account);
        account.wrong.len()
    };
    for text in [
        "```rust\nlet x = 1;\n```\n",
        "```sh\ncurl x | sh\n```\n",
        "```sh\ncargo test -p warpline-nothing\n```\n",
        "```sh\ncargo test -p warpline-ir --test nothing\n```\n",
        "```sh\ntools/nothing.sh\n```\n",
        "<!-- in: examples/crate/build.rs -->\n```rust\nlet nothing = 1;\n```\n",
        "<!-- in: nothing.rs -->\n```rust\nfn main() {}\n```\n",
        "  ```c\n  int x;\n  ```\n",
        "<!-- picture: x.svg -->\n![x](x.svg)\n",
    ] {
        assert_eq!(wrong(text), 1, "{text}");
    }
    for text in [
        "<!-- file: x.rs -->\n```rust\nlet x = 1;\n```\n<!-- in: x.rs -->\n```rust\nlet   x = 1;  // one\n```\n",
        "<!-- not run: it takes a day -->\n```sh\nmeasure\n```\n```text\nwhat it printed\n```\n",
        "```sh\ncargo test -p warpline-cli --test book  # this\ncargo test --workspace\n```\n",
    ] {
        assert_eq!(wrong(text), 0, "{text}");
    }
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
