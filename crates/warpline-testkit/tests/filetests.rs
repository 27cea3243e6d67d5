//! Runs the folder `filetests`; `WARPLINE_BLESS=1` rewrites the expectations.

use std::path::Path;

use warpline_testkit::filetests::{run_dir, run_text};

#[test]
fn all_files_have_the_output_that_they_state() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests");
    let bless = std::env::var_os("WARPLINE_BLESS").is_some_and(|v| v == "1");
    let report = run_dir(&dir, bless).expect("the folder can be read");
    for path in &report.blessed {
        println!("rewritten: {}", path.display());
    }
    assert!(report.files >= 5, "only {} files were found", report.files);
    let hint = "set WARPLINE_BLESS=1 to accept the new output";
    assert!(report.failures.is_empty(), "{}\n{hint}", report.failures.join("\n"));
}

#[test]
fn a_run_replaces_stale_blocks_and_keeps_other_comments() {
    let text =
        "; test: dominators\n; a remark\nfunc @f() {\nb0:\n  ret\n}\n; check: dominators\n; stale\n\n; end\n";
    let wanted =
        "; test: dominators\n; a remark\nfunc @f() {\nb0:\n  ret\n}\n; check: dominators\n; b0\n\n; end\n";
    assert_eq!(run_text(text).as_deref(), Ok(wanted));
    assert_eq!(run_text(wanted).as_deref(), Ok(wanted));
}

#[test]
fn mistakes_in_files_are_reported() {
    assert!(run_text("func @f() {\n}\n").is_err_and(|e| e.contains("; test:")));
    assert!(
        run_text("; test: nonsense\nfunc @f() {\nb0:\n  ret\n}\n").is_err_and(|e| e.contains("nonsense"))
    );
    assert!(run_text("; test: cfg\nfunc @f() {\nb0:\n}\n").is_err_and(|e| e.contains("no terminator")));
    assert!(run_text("; test: cfg\nfunc @f( {\nb0:\n}\n").is_err_and(|e| e.starts_with("2:")));
    let indented = "; test: roundtrip\nfunc @f() {\nb0:\n     ret\n}\n";
    assert!(run_text(indented).is_err_and(|e| e.contains("printer's form")));
}
