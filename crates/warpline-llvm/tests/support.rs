//! The support table: what becomes of each construct.
//!
//! Each row of docs/support.md is a kernel in `filetests/support/`, whose first lines say what the row says and how the kernel is run.
//! Kernels that are vectorized are judged as `common::kernels` says; the others must be refused for the reason stated. The table must
//! be what the kernels say: `WARPLINE_BLESS=1` writes it.
//!
//! ```text
//! ;@ group Memory                          the table it stands in
//! ;@ construct elements anywhere           the first column
//! ;@ happens gather or scatter             the second one
//! ;@ args index, buffer:256=random         index, uniform=N, varying:BYTES=VALUES, buffer:BYTES=VALUES; VALUES are random, small, zero
//! ;@ range 0..50                           the indices
//! ;@ result 4                              bytes of the result
//! ;@ contains TEXT                         what the vector function for four lanes contains
//! ;@ divergent N, kept N, mandatory N      how many branches and tests are counted
//! ;@ function NAME                         the function, where it cannot be called `kernel`
//! ;@ simplified                              the command line's pipeline has simplified it, as it does with sources
//! ;@ args …                                of a kernel that asks which work-item it is also the parameters that it gets
//! ;@ lockstep                              there is no scalar reference
//! ;@ machine                               machine code alone is judged: the interpreter lacks the types
//! ;@ refused TEXT                          the reason contains this
//! ```

#[path = "common/guarded.rs"]
mod guarded;
#[expect(dead_code, reason = "other tests use more of it")]
#[path = "common/kernels.rs"]
mod kernels;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use kernels::{Arg, Kernel, llvm_is_there, words};
use warpline::text::print_function;
use warpline::vectorize::Options;
use warpline::vectorize::counts::Counts;
use warpline::vectorize::work_items::with_parameters;
use warpline_llvm::worker::{LoadOptions, load_in_process};
use warpline_llvm::{Linkage, Module, has_clang};

/// The tables, in the order of the document.
const GROUPS: [(&str, &str); 6] = [
    ("Control flow", "control_"),
    ("Memory", "memory_"),
    ("Values", "values_"),
    ("Calls", "calls_"),
    ("Lane operations", "lanes_"),
    ("What has gone wrong elsewhere", "other_"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A row of the table.
struct Row {
    path: PathBuf,
    file: String,
    /// Keywords and values of the first lines.
    stated: Vec<(String, String)>,
    text: String,
}

impl Row {
    fn read(path: PathBuf) -> Row {
        let text = std::fs::read_to_string(&path).expect("a kernel can be read");
        let line = |l: &str| {
            let l = l.strip_prefix(";@").or_else(|| l.strip_prefix("//@"))?.trim();
            let (key, value) = l.split_once(' ').unwrap_or((l, ""));
            Some((key.to_owned(), value.to_owned()))
        };
        let stated = text.lines().map_while(line).collect();
        let file = path.file_name().expect("a file").to_string_lossy().into_owned();
        Row { path, file, stated, text }
    }

    /// The value of a keyword that stands there once at most.
    fn get(&self, key: &str) -> Option<&str> {
        self.stated.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    fn must(&self, key: &str) -> &str {
        self.get(key).unwrap_or_else(|| panic!("{}: no line `{key}`", self.file))
    }

    /// The kernel as a module in text form; nothing if there is no compiler for it.
    fn kernel(&self) -> Option<Kernel> {
        let extension = self.path.extension().unwrap_or_default();
        let source = extension != "ll";
        if source && extension != "rs" && !has_clang() {
            eprintln!("{}: skipped: no clang", self.file);
            return None;
        }
        let simplified = self.get("simplified").is_some();
        let text = if source || simplified {
            let options = LoadOptions { simplify: simplified.then_some(true), ..LoadOptions::default() };
            let loaded = load_in_process(&self.path, &options).expect("it compiles");
            Module::parse(&loaded.bitcode, &self.file).expect("what was compiled can be read").to_text()
        } else {
            self.text.clone()
        };
        let text = match self.get("function") {
            Some(name) => text.replace(&format!("@{name}("), "@kernel("),
            None => text,
        };
        let (from, to) = self.must("range").split_once("..").expect("a range");
        let range = from.parse().expect("a number")..to.parse().expect("a number");
        let args = self.must("args").split(", ").map(|a| self.arg(a, &range)).collect();
        let result = self.get("result").map_or(0, |n| n.parse().expect("a number"));
        Some(Kernel { text, args, range, result })
    }

    fn arg(&self, text: &str, range: &std::ops::Range<u64>) -> Arg {
        let (what, values) = text.split_once('=').unwrap_or((text, ""));
        let (kind, size) = what.split_once(':').unwrap_or((what, "0"));
        let size: usize = size.parse().expect("a number");
        let filled = |bytes: usize| {
            let number = |k: u32| match values {
                "random" => k.wrapping_mul(2_654_435_761) >> 3,
                "small" => (k.wrapping_mul(2_654_435_761) >> 20) % 8,
                "zero" => 0,
                _ => panic!("{}: `{values}` are no values", self.file),
            };
            let mut all = words((0..bytes.div_ceil(4) as u32).map(number));
            all.truncate(bytes);
            all
        };
        match kind {
            "index" => Arg::Index,
            "uniform" => Arg::Uniform(values.parse().expect("a number")),
            "varying" => Arg::Varying(filled(size * (range.end - range.start) as usize)),
            "buffer" => Arg::Buffer(filled(size)),
            _ => panic!("{}: `{kind}` is no argument", self.file),
        }
    }

    /// Vectorizes, runs and judges it.
    fn check(&self) {
        let Some(kernel) = self.kernel() else { return };
        let kernel = match with_work_items(kernel) {
            Ok(kernel) => kernel,
            Err(refusal) => {
                assert!(refusal.contains(self.must("refused")), "{}: {refusal}", self.file);
                return;
            }
        };
        if let Some(reason) = self.get("refused") {
            let refusal = kernel.refusal();
            assert!(refusal.contains(reason), "{}: {refusal}", self.file);
            return;
        }
        let (text, counts) = self.vectorized(&kernel);
        for (_, wanted) in self.stated.iter().filter(|(k, _)| k == "contains") {
            assert!(text.contains(wanted.as_str()), "{}: no `{wanted}` in\n{text}", self.file);
        }
        let counted = [
            ("divergent", counts.branches.divergent),
            ("kept", counts.branches.uniform_kept),
            ("mandatory", counts.boscc.mandatory),
        ];
        for (key, count) in counted {
            let stated = self.get(key).map(|n| n.parse::<usize>().expect("a number"));
            assert!(stated.is_none_or(|n| n == count), "{}: {count} are `{key}` in\n{text}", self.file);
        }
        assert_eq!(counts.branches.uniform_lost, 0, "{}: Theorem 4.5", self.file);
        if self.get("lockstep").is_some() {
            kernel.judge_in_lockstep();
        } else if self.get("machine").is_some() {
            kernel.judge_in_machine_code();
        } else {
            kernel.judge();
        }
    }

    /// The function for four lanes, and what was counted.
    fn vectorized(&self, kernel: &Kernel) -> (String, Counts) {
        let mut imported = kernel.import();
        let bodies = imported.final_bodies(128);
        let ir = &mut imported.ir;
        let asked = Options { callees: &bodies, ..Options::new(4, kernel.shapes(), "kernel_x4") };
        let made = kernel.vectorized(ir, asked).unwrap_or_else(|e| panic!("{}: {e}", self.file));
        (print_function(ir, &ir.functions[made.func]), made.counts)
    }
}

/// The kernel with parameters for what it asks about its work-item, as the command line makes it; why there is none.
fn with_work_items(kernel: Kernel) -> Result<Kernel, String> {
    let mut imported = kernel.import();
    let asks = imported.ir.function("kernel").expect("it is there");
    let Some(items) = with_parameters(&mut imported.ir, asks).map_err(|e| e.to_string())? else {
        return Ok(kernel);
    };
    let function = &imported.ir.functions[items.func];
    imported.bridge.add_function(&imported.ir, function, Linkage::External).expect("it can be exported");
    let text = imported.bridge.module().to_text();
    // No machine code can be made of what asks.
    let named = text.find("@kernel(").expect("it is there");
    let start = text[..named].rfind("define ").expect("it has a body");
    let end = start + text[start..].find("\n}\n").expect("it ends") + 3;
    let text = format!("{}{}", &text[..start], &text[end..]).replace("@kernel.items(", "@kernel(");
    Ok(Kernel { text, ..kernel })
}

fn rows() -> Vec<Row> {
    let folder = root().join("filetests/support");
    let files = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = files.map(|f| f.expect("an entry").path()).collect();
    paths.sort();
    let rows: Vec<Row> = paths.into_iter().map(Row::read).collect();
    for row in &rows {
        let group = GROUPS.iter().find(|(_, prefix)| row.file.starts_with(prefix));
        assert_eq!(group.map(|g| g.0), Some(row.must("group")), "{}", row.file);
    }
    rows
}

/// The tables of the document.
fn tables(rows: &[Row]) -> String {
    let mut out = String::new();
    for (group, _) in GROUPS {
        let _ = writeln!(out, "\n## {group}\n\n| Construct | What happens | Kernel |\n|---|---|---|");
        for row in rows.iter().filter(|r| r.must("group") == group) {
            let refused = row.get("refused").map(|r| format!(": “{r}”")).unwrap_or_default();
            let _ = writeln!(
                out,
                "| {} | {}{refused} | [`{file}`](../filetests/support/{file}) |",
                row.must("construct"),
                row.must("happens"),
                file = row.file
            );
        }
    }
    out
}

#[test]
fn the_document_says_what_the_kernels_say() {
    let path = root().join("docs/support.md");
    let document = std::fs::read_to_string(&path).expect("docs/support.md is there");
    let head = &document[..document.find("\n## ").unwrap_or(document.len())];
    let expected = format!("{head}{}", tables(&rows()));
    if std::env::var_os("WARPLINE_BLESS").is_some() {
        std::fs::write(&path, expected).expect("docs/support.md can be written");
    } else {
        assert_eq!(document, expected, "run this test with WARPLINE_BLESS=1");
    }
}

/// A test per group, so that they run side by side.
macro_rules! groups {
    ($($test:ident: $prefix:literal;)+) => {
        $(
            #[test]
            fn $test() {
                if !llvm_is_there() {
                    return;
                }
                let rows = rows();
                let of_group = rows.iter().filter(|r| r.file.starts_with($prefix));
                let check = |row: &Row| std::panic::catch_unwind(|| row.check()).err().map(|_| row.file.clone());
                let outcomes: Vec<Option<String>> = of_group.map(check).collect();
                let failed: Vec<String> = outcomes.iter().flatten().cloned().collect();
                assert!(!outcomes.is_empty() && failed.is_empty(), "of {} kernels: {failed:?}", outcomes.len());
            }
        )+

        #[test]
        fn every_group_has_its_test() {
            assert_eq!(GROUPS.map(|(_, prefix)| prefix), [$($prefix),+]);
        }
    };
}

groups! {
    control_flow_becomes_what_the_table_says: "control_";
    memory_accesses_become_what_the_table_says: "memory_";
    values_become_what_the_table_says: "values_";
    calls_become_what_the_table_says: "calls_";
    lane_operations_become_what_the_table_says: "lanes_";
    what_other_vectorizers_get_wrong_is_right_or_refused: "other_";
}
