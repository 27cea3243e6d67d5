//! The support table: what becomes of each construct.
//!
//! Each row of docs/support.md is a kernel in `filetests/support/`, whose first lines say what the row says and how
//! the kernel is run. Kernels that are vectorized are judged as `common::kernels` says; the others must be refused
//! for the reason stated. The table must be what the kernels say: `WARPLINE_BLESS=1` writes it. The rows of one table
//! more are loops in `filetests/openmp/`.
//!
//! ```text
//! ;@ group Memory                          the table it stands in
//! ;@ construct elements anywhere           the first column
//! ;@ happens gather or scatter             the second one
//! ;@ args index, buffer:256=random         index, uniform=N, varying:BYTES=VALUES, buffer:BYTES=VALUES; VALUES are random, small, zero, or a number
//! ;@ range 0..50                           the indices
//! ;@ result 4                              bytes of the result
//! ;@ contains TEXT                         what the vector function for four lanes contains
//! ;@ divergent N, kept N, mandatory N      how many branches and tests are counted
//! ;@ function NAME                         the function, where it cannot be called `kernel`
//! ;@ simplified                              the command line's pipeline has simplified it, as it does with sources
//! ;@ args …                                of a kernel that asks which work-item it is also the parameters that it gets
//! ;@ loop                                  not the function is the unit, but its first loop; the range is 0..1
//! ;@ racy                                  its lanes may race
//! ;@ independent                           the iterations of the loop are promised not to depend on each other
//! ;@ lockstep                              there is no scalar reference
//! ;@ machine                               machine code alone is judged: the interpreter lacks the types
//! ;@ refused TEXT                          the reason contains this
//! ```

#[path = "common/guarded.rs"]
mod guarded;
#[expect(dead_code, reason = "other tests use more of it")]
#[path = "common/kernels.rs"]
mod kernels;
#[path = "common/rows.rs"]
mod rows;

use std::fmt::Write as _;

use kernels::{Kernel, llvm_is_there};
use rows::{Row, root, rows, with_work_items};
use warpline_ir::text::print_function;
use warpline_vectorize::Options;
use warpline_vectorize::counts::Counts;

/// The tables, in the order of the document.
const GROUPS: [(&str, &str); 7] = [
    ("Control flow", "control_"),
    ("Memory", "memory_"),
    ("Values", "values_"),
    ("Calls", "calls_"),
    ("Lane operations", "lanes_"),
    ("Loops as the unit", "loops_"),
    ("What has gone wrong elsewhere", "other_"),
];

/// Vectorizes, runs and judges it.
fn check(row: &Row) {
    let Some(kernel) = row.kernel(None) else { return };
    let kernel = match with_work_items(kernel) {
        Ok(Some(kernel)) => kernel,
        Ok(None) => {
            assert!(row.get("refused").is_none(), "{}: it is cut at its barriers", row.file);
            return;
        }
        Err(refusal) => {
            assert!(refusal.contains(row.must("refused")), "{}: {refusal}", row.file);
            return;
        }
    };
    if let Some(reason) = row.get("refused") {
        let refusal = kernel.refusal();
        assert!(refusal.contains(reason), "{}: {refusal}", row.file);
        return;
    }
    let (text, counts) = vectorized(row, &kernel);
    for (_, wanted) in row.stated.iter().filter(|(k, _)| k == "contains") {
        assert!(text.contains(wanted.as_str()), "{}: no `{wanted}` in\n{text}", row.file);
    }
    let counted = [
        ("divergent", counts.branches.divergent),
        ("kept", counts.branches.uniform_kept),
        ("mandatory", counts.boscc.mandatory),
    ];
    for (key, count) in counted {
        let stated = row.get(key).map(|n| n.parse::<usize>().expect("a number"));
        assert!(stated.is_none_or(|n| n == count), "{}: {count} are `{key}` in\n{text}", row.file);
    }
    assert_eq!(counts.branches.uniform_lost, 0, "{}: Theorem 4.5", row.file);
    if row.get("lockstep").is_some() {
        kernel.judge_in_lockstep();
    } else if row.get("machine").is_some() {
        kernel.judge_in_machine_code();
    } else {
        kernel.judge();
    }
}

/// The function for four lanes, and what was counted.
fn vectorized(row: &Row, kernel: &Kernel) -> (String, Counts) {
    let mut imported = kernel.import();
    let bodies = imported.final_bodies(128);
    let ir = &mut imported.ir;
    let asked = Options { callees: &bodies, ..Options::new(4, kernel.shapes(), "kernel_x4") };
    let made = match kernel.looped {
        true => kernel.vectorized_loop(ir, &asked).map(|(_, made)| made),
        false => kernel.vectorized(ir, asked),
    };
    let made = made.unwrap_or_else(|e| panic!("{}: {e}", row.file));
    (print_function(ir, &ir.functions[made.func]), made.counts)
}

/// The rows, each in the group that its name says.
fn grouped() -> Vec<Row> {
    let rows = rows();
    for row in &rows {
        let group = GROUPS.iter().find(|(_, prefix)| row.file.starts_with(prefix));
        assert_eq!(group.map(|g| g.0), Some(row.must("group")), "{}", row.file);
    }
    rows
}

/// The tables of the document.
fn tables(rows: &[Row]) -> String {
    let mut out = String::new();
    for (group, prefix) in GROUPS {
        if prefix == "other_" {
            out += &openmp_table();
        }
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

/// The table of OpenMP's directives. What it says is checked with the program that reads them:
/// `crates/warpline-cli/tests/openmp.rs`.
fn openmp_table() -> String {
    let mut out = "\n## OpenMP\n\n| Construct | What happens | Loop |\n|---|---|---|\n".to_owned();
    let folder = root().join("filetests/openmp");
    let files = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<_> = files.map(|f| f.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a file can be read");
        let says = |key: &str| {
            text.lines()
                .find_map(|l| l.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": "))
                .unwrap_or_default()
        };
        let refused = match says("refused") {
            "" => String::new(),
            reason => format!(": “{reason}”"),
        };
        let file = path.file_name().expect("a file").to_string_lossy();
        let (construct, happens) = (says("construct"), says("happens"));
        let row = format!("| {construct} | {happens}{refused} | [`{file}`](../filetests/openmp/{file}) |\n");
        // Bars in code are no bars of the table.
        out += &row.replace("||", "\\|\\|").replace("`|`", "`\\|`");
    }
    out
}

#[test]
fn the_document_says_what_the_kernels_say() {
    let path = root().join("docs/support.md");
    let document = std::fs::read_to_string(&path).expect("docs/support.md is there");
    let head = &document[..document.find("\n## ").unwrap_or(document.len())];
    let expected = format!("{head}{}", tables(&grouped()));
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
                let rows = grouped();
                let of_group = rows.iter().filter(|r| r.file.starts_with($prefix));
                let check = |row: &Row| std::panic::catch_unwind(|| check(row)).err().map(|_| row.file.clone());
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
    loops_within_functions_become_what_the_table_says: "loops_";
    what_other_vectorizers_get_wrong_is_right_or_refused: "other_";
}
