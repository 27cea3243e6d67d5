//! Promotion of stack memory beside LLVM: `mem2reg` as oracle, machine code of C programs with and without promotion,
//! and all of a corpus through both verifiers.

#[expect(dead_code, reason = "what other tests with random programs need")]
mod common;

use std::path::{Path, PathBuf};

use common::{export, link};
use warpline_analysis::DfsOrder;
use warpline_dataflow::ssa::{Registers, promote_allocas, promote_and_construct};
use warpline_ir::text::print_function;
use warpline_ir::verify::verify;
use warpline_ir::{FuncId, Function, Module as Ir, Op};
use warpline_llvm::{CompilerFlags, FrontEnd, Imported, Llvm, Module, compile, has_clang};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::stack_programs::{StackOptions, stack_program};

/// Whether there is an LLVM; prints why if there is none.
fn has_llvm() -> bool {
    let outcome = Llvm::get();
    if let Err(error) = &outcome {
        eprintln!("skipped: {error}");
    }
    outcome.is_ok()
}

fn count(func: &Function, pred: impl Fn(&Op) -> bool) -> usize {
    func.layout.iter().flat_map(|&b| func.block_insts(b)).filter(|&i| pred(&func.insts[i].op)).count()
}

fn allocas(func: &Function) -> usize {
    count(func, |op| matches!(op, Op::Alloca { .. }))
}

fn phis(func: &Function) -> usize {
    count(func, |op| *op == Op::Phi)
}

/// Promotes a function of the module, whose verifier then looks at it.
fn promote(ir: &mut Ir, id: FuncId) -> Registers {
    let mut func = std::mem::replace(&mut ir.functions[id], Function::new("", warpline_ir::Type::Void));
    let registers = promote_and_construct(ir, &mut func);
    if let Err(errors) = verify(ir, &func) {
        panic!("{}: {errors}\n{}", ir.name, print_function(ir, &func));
    }
    ir.functions[id] = func;
    registers
}

/// Promotes all functions and exports them in place.
fn promote_all(imported: &mut Imported) -> Vec<Registers> {
    let ids: Vec<FuncId> = imported.ir.functions.keys().collect();
    let all: Vec<Registers> = ids.iter().map(|&id| promote(&mut imported.ir, id)).collect();
    for id in ids {
        imported.bridge.replace_function(&imported.ir, id).unwrap_or_else(|e| panic!("{e}"));
    }
    imported.bridge.module().verify().unwrap_or_else(|e| panic!("{e}"));
    all
}

#[test]
fn mem2reg_promotes_the_same_allocas_of_random_programs() {
    if !has_llvm() {
        return;
    }
    let programs = std::env::var("WARPLINE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let (mut promoted, mut kept, mut compared, mut ours_phis, mut llvm_phis) = (0, 0, 0, 0, 0);
    for seed in 0..programs {
        let options = StackOptions { lifetimes: false, addresses: seed % 3 != 0, ..StackOptions::default() };
        let bitcode = export(&stack_program(&mut SplitMix64::new(seed), &options));
        let mut module = Module::parse(&bitcode, "program").unwrap();
        let ours = Imported::new(module.try_clone().unwrap()).ir;
        module.optimise("function(mem2reg)", None).unwrap();
        let llvm = Imported::new(module).ir;
        for (id, before) in &ours.functions {
            let mut func = before.clone();
            promote_and_construct(&ours, &mut func);
            let llvm = &llvm.functions[id];
            let shown = || print_function(&ours, before);
            // In unreachable blocks LLVM leaves stores through what was the address of a promoted one, which keep
            // others.
            let (mine, theirs) = (allocas(&func), allocas(llvm));
            let all_reachable = DfsOrder::compute(&before.graph().0).pre_order().len() == before.layout.len();
            assert!(mine == theirs || mine < theirs && !all_reachable, "seed {seed}\n{}", shown());
            compared += usize::from(all_reachable);
            // LLVM folds more φs, and lets a variable whose only write is of a constant have that value everywhere.
            assert!(phis(&func) >= phis(llvm), "seed {seed}\n{}", shown());
            promoted += allocas(before) - allocas(&func);
            kept += allocas(&func);
            ours_phis += phis(&func);
            llvm_phis += phis(llvm);
        }
    }
    println!("{promoted} promoted, {kept} kept, φs {ours_phis} here and {llvm_phis} of LLVM");
    let programs = programs as usize;
    assert!(promoted > 3 * programs && kept > programs / 10 && compared > programs / 2, "vacuous");
}

fn stack_c() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs/stack.c")
}

/// The C file, unoptimised and with line tables; `None` with a printed reason if that cannot be had.
fn compiled() -> Option<Module> {
    if !has_llvm() {
        return None;
    }
    if !has_clang() {
        eprintln!("skipped: no clang");
        return None;
    }
    let bitcode = compile(
        &stack_c(),
        FrontEnd { triple: None, contract: false, flags: &CompilerFlags::default(), shims: false },
    )
    .unwrap()
    .bitcode;
    match Module::parse(&bitcode, "stack.c") {
        Ok(module) => Some(module),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

#[test]
fn promoted_c_programs_compute_the_same_in_machine_code() {
    let Some(module) = compiled() else { return };
    let before = module.to_bitcode();
    let mut imported = Imported::new(module);
    let all = promote_all(&mut imported);
    let promoted: usize = all.iter().map(|r| r.promoted.len()).sum();
    let kept: usize = all.iter().map(|r| r.kept.len()).sum();
    assert!(
        promoted > 30 && kept > 3 && all.iter().any(|r| r.rounds > 1),
        "{promoted} promoted, {kept} kept"
    );
    let after = imported.bridge.module().to_bitcode();
    let jits = [("memory", &before, ""), ("values", &after, ""), ("values, O2", &after, "default<O2>")]
        .map(|(what, bitcode, passes)| (what, link(bitcode, passes)));
    for n in (0..40).chain([97, 1000, 123_456_789]) {
        let [reference, others @ ..] = &jits.each_ref().map(|(what, jit)| {
            let mut slots = [n, 0, 0, 0, 0, 0, 0, 0, 0];
            jit.function("entry").unwrap().call(&mut slots);
            (what, slots)
        });
        for (what, slots) in others {
            assert_eq!(slots, &reference.1, "{what}, n = {n}");
        }
    }
}

#[test]
fn kept_allocas_are_reported_with_their_lines() {
    let Some(module) = compiled() else { return };
    let mut imported = Imported::new(module);
    let ids: Vec<FuncId> = imported.ir.functions.keys().collect();
    let mut reports = Vec::new();
    for id in ids {
        let registers = promote(&mut imported.ir, id);
        let func = &imported.ir.functions[id];
        reports.extend(
            registers.kept.iter().map(|k| format!("{}: {}", func.name, k.describe(&imported.ir, func))),
        );
    }
    let all = reports.join("\n");
    let line = |needle: &str| {
        1 + std::fs::read_to_string(stack_c()).unwrap().lines().position(|l| l.contains(needle)).unwrap()
    };
    for (function, reason, place) in [
        ("address_taken", "its address is passed to a call", line("by_address(&kept, i)")),
        ("seen", "an access is volatile", line("for (volatile int i")),
        ("numbers", "accessed with another type", line("(b.u & 255)")),
    ] {
        let found = reports.iter().any(|r| {
            r.starts_with(&format!("{function}: "))
                && r.contains(reason)
                && r.contains(&format!("stack.c:{place}:"))
        });
        assert!(found, "{function}, {reason}, line {place}:\n{all}");
    }
}

/// The locations of variables that were memory are given up; everything else that debuggers read stays.
#[test]
fn debug_information_survives_but_for_the_locations_of_promoted_variables() {
    if !has_llvm() {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs/stack_debug.ll");
    let mut imported = Imported::new(Module::read(&path).unwrap());
    let before = imported.bridge.module().to_text();
    promote_all(&mut imported);
    let after = imported.bridge.module().to_text();
    let lines = |text: &str, what: &str| text.lines().filter(|l| l.contains(what)).count();
    for node in
        ["!DILocalVariable(", "distinct !DISubprogram(", "!DILexicalBlock(", "#dbg_declare(", "#dbg_value("]
    {
        assert!(lines(&before, node) > 0, "{node}");
        assert_eq!(lines(&before, node), lines(&after, node), "{node}\n{after}");
    }
    assert_eq!(lines(&after, "#dbg_declare(ptr poison"), 3, "those of promoted ones\n{after}");
    assert_eq!(lines(&after, "#dbg_declare(ptr %kept"), 1, "that of one that stays\n{after}");
    // Instructions that are left have the places that they had.
    for kept in ["call void @use(", "add nsw i32", "br i1", "ret i32"] {
        let placed = |text: &str| text.lines().filter(|l| l.contains(kept) && l.contains("!dbg")).count();
        assert!(placed(&before) > 0, "{kept}");
        assert_eq!(placed(&before), placed(&after), "{kept}\n{after}");
    }
}

/// All LLVM IR files of the folder `$WARPLINE_CORPUS`: promoted, constructed, exported in place, and both verifiers
/// content.
#[test]
#[ignore = "needs a folder of unoptimised LLVM IR in WARPLINE_CORPUS"]
fn a_whole_corpus_is_promoted_and_exported() {
    if !has_llvm() {
        return;
    }
    let Some(corpus) = std::env::var_os("WARPLINE_CORPUS") else {
        eprintln!("skipped: WARPLINE_CORPUS names no folder");
        return;
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(corpus).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "ll"));
    files.sort();
    let (mut functions, mut promoted, mut placed) = (0, 0, 0);
    for path in &files {
        let mut imported = Imported::new(Module::read(path).unwrap());
        // With variables, the function must satisfy the verifier, too.
        for func in imported.ir.functions.values() {
            let mut func = func.clone();
            promote_allocas(&imported.ir, &mut func);
            verify(&imported.ir, &func).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        }
        for registers in promote_all(&mut imported) {
            functions += 1;
            promoted += registers.promoted.len();
            placed += registers.stats.phis;
        }
    }
    println!("{} files, {functions} functions, {promoted} promoted, {placed} φs", files.len());
    assert!(promoted > 0, "there is nothing in the corpus");
}
