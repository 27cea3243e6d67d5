//! Sparse solutions equal dense ones on real functions (paper 4, Theorem 4): all examples in Rust, and all LLVM IR of
//! the folder `$WARPLINE_CORPUS`.

use std::path::{Path, PathBuf};

use warpline_analysis::ssi::ssify;
use warpline_dataflow::Code;
use warpline_dataflow::clients::constants::{self, Constants};
use warpline_dataflow::clients::null_pointers::NullPointers;
use warpline_dataflow::clients::ranges::Ranges;
use warpline_dataflow::clients::{classes, dead_code, liveness, null_pointers, reaching_definitions, taint};
use warpline_dataflow::report::{Report, Solver};
use warpline_dataflow::ssa::promote_and_construct;
use warpline_ir::{FuncId, Module as Ir};
use warpline_llvm::{CompilerFlags, FrontEnd, Imported, Llvm, Module, compile};
use warpline_testkit::dataflow_agreement::forward_agrees;

/// The module, with local variables as values.
fn read(path: &Path) -> Imported {
    let is_text = path.extension().is_some_and(|e| e == "ll");
    let module = match is_text {
        true => Module::read(path),
        false => {
            let front_end =
                FrontEnd { triple: None, contract: false, flags: &CompilerFlags::default(), shims: false };
            let compiled = compile(path, front_end).unwrap_or_else(|e| panic!("{e}"));
            Module::parse(&compiled.bitcode, &path.display().to_string())
        }
    };
    let mut imported = Imported::new(module.unwrap_or_else(|e| panic!("{}: {e}", path.display())));
    for id in imported.ir.functions.keys().collect::<Vec<FuncId>>() {
        let mut func = imported.ir.functions[id].clone();
        promote_and_construct(&imported.ir, &mut func);
        imported.ir.functions[id] = func;
    }
    imported
}

fn text(report: &impl Report) -> String {
    let mut out = String::new();
    report.write_text(&mut out);
    out
}

/// What two clients that solve sparsely alone are based on, and what the others report.
fn check(imported: &Imported, id: FuncId) -> Result<(), String> {
    let (ir, func): (&Ir, _) = (&imported.ir, &imported.ir.functions[id]);
    let (code, makers) = (Code::of(func), Code::with_makers(func));
    let ssi = ssify(code.program(), &Constants::<()>::STRATEGY);
    forward_agrees(code.program(), &ssi, &Constants::new(ir, func, &code))
        .map_err(|e| format!("constants: {e}"))?;
    let ssi = ssify(makers.program(), &Ranges::<()>::STRATEGY);
    forward_agrees(makers.program(), &ssi, &Ranges::new(ir, func, &makers))
        .map_err(|e| format!("ranges: {e}"))?;
    let known = imported.null_facts(id);
    let code = NullPointers::code(func, &known);
    let problem = NullPointers::new(ir, func, &code, &known);
    forward_agrees(code.program(), &problem.split(), &problem).map_err(|e| format!("null pointers: {e}"))?;
    let reports = |solver: Solver| {
        [
            text(&constants::analyze(ir, func, (), solver).0),
            text(&null_pointers::analyse(ir, id, &known, solver).0),
            text(&classes::analyse(ir, id, true, solver).0),
            text(&liveness::analyse(ir, id, solver).0),
            text(&reaching_definitions::analyse(ir, id, solver).0),
            text(&dead_code::analyse(ir, id, solver).0),
        ]
    };
    let (sparse, dense) = (reports(Solver::Sparse), reports(Solver::Dense));
    match sparse.iter().zip(&dense).find(|(a, b)| a != b) {
        Some((a, b)) => Err(format!("sparse:\n{a}\ndense:\n{b}")),
        None => Ok(()),
    }
}

/// How many functions of a file were compared.
fn check_all(path: &Path) -> usize {
    let imported = read(path);
    let ids: Vec<FuncId> =
        imported.ir.functions.iter().filter(|(_, f)| !f.layout.is_empty()).map(|(id, _)| id).collect();
    for &id in &ids {
        let name = &imported.ir.functions[id].name;
        check(&imported, id).unwrap_or_else(|e| panic!("{}, {name}: {e}", path.display()));
    }
    let spec = taint::Spec::new(None, None, None).expect("the lists that are built in");
    let closed = imported.closed_symbols();
    let [sparse, dense] = [Solver::Sparse, Solver::Dense].map(|solver| {
        let reports = taint::analyse(&imported.ir, &spec, &closed, solver).0;
        reports.values().map(text).collect::<Vec<_>>()
    });
    assert_eq!(sparse, dense, "{}: taint", path.display());
    ids.len()
}

fn files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == suffix));
    files.sort();
    files
}

#[test]
fn on_the_examples_in_rust() {
    if let Err(error) = Llvm::get() {
        eprintln!("skipped: {error}");
        return;
    }
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut all = files(&examples, "rs");
    all.extend(files(&examples.join("analyses"), "rs"));
    let functions: usize = all.iter().map(|path| check_all(path)).sum();
    assert!(all.len() >= 6 && functions >= 12, "{functions} functions of {} files", all.len());
}

#[test]
#[ignore = "needs a folder of LLVM IR in WARPLINE_CORPUS"]
fn on_a_corpus() {
    let Some(corpus) = std::env::var_os("WARPLINE_CORPUS") else {
        eprintln!("skipped: WARPLINE_CORPUS names no folder");
        return;
    };
    let functions: usize = files(Path::new(&corpus), "ll").iter().map(|path| check_all(path)).sum();
    println!("{functions} functions");
    assert!(functions > 0, "there is nothing in the corpus");
}
