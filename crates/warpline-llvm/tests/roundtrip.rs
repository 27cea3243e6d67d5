//! Import and export of whole modules leaves LLVM's own print of them as it was, but for the order in the comments
//! that list a block's predecessors, which is that of LLVM's use lists.

use std::path::{Path, PathBuf};

use warpline_ir::text::{parse_module, print_module};
use warpline_ir::verify::verify_module;
use warpline_ir::{Effects, Op, SymbolKind};
use warpline_llvm::{
    Emit, Imported, Linkage, Llvm, Module, TargetMachine, has_clang, worker::LoadOptions,
    worker::load_in_process,
};

/// The loaded library, or a printed reason to skip.
fn llvm() -> Option<&'static Llvm> {
    match Llvm::get() {
        Ok(llvm) => Some(llvm),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

fn without_predecessors(text: &str) -> String {
    text.lines()
        .map(|line| line.split("; preds =").next().unwrap_or(line).trim_end())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Imports, exports every function in place, and compares. Returns the number of functions.
fn round_trip(mut module: Module) -> usize {
    let name = module.name().to_owned();
    // The import does the same.
    module.settle_data_layout();
    let before = without_predecessors(&module.to_text());
    let mut imported = Imported::new(module);
    if let Err(error) = verify_module(&imported.ir) {
        panic!("{name}: {error}");
    }
    let text = print_module(&imported.ir);
    let back = parse_module(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    assert_eq!(print_module(&back), text, "{name}");
    let ids: Vec<_> = imported.ir.functions.keys().collect();
    for &id in &ids {
        imported.bridge.replace_function(&imported.ir, id).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let module = imported.bridge.into_module();
    module.verify().unwrap();
    let after = without_predecessors(&module.to_text());
    for (number, (was, is)) in before.lines().zip(after.lines()).enumerate() {
        assert_eq!(was, is, "{name}: line {}", number + 1);
    }
    assert_eq!(before.lines().count(), after.lines().count(), "{name}");
    ids.len()
}

fn inputs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs")
}

fn hand_written(name: &str, oldest: u32) {
    let Some(llvm) = llvm() else { return };
    if llvm.version().0 < oldest {
        eprintln!("skipped: LLVM {} does not know what is in {name}", llvm.version_text());
        return;
    }
    assert!(round_trip(Module::read(&inputs().join(name)).unwrap()) > 0);
}

#[test]
fn arithmetic_with_all_flags_and_widths_survives() {
    hand_written("arithmetic.ll", 19);
}

#[test]
fn memory_addresses_and_aggregates_survive() {
    hand_written("memory.ll", 19);
}

#[test]
fn control_flow_and_exceptions_survive() {
    hand_written("control.ll", 19);
}

#[test]
fn calls_of_every_kind_survive() {
    hand_written("calls.ll", 19);
}

#[test]
fn debug_records_survive() {
    hand_written("debug.ll", 19);
}

#[test]
fn what_only_newer_versions_know_survives() {
    hand_written("newer.ll", 22);
}

#[test]
fn lane_operations_are_recognised_by_name_and_type_and_survive() {
    let Some(_) = llvm() else { return };
    let module = Module::read(&inputs().join("lanes.ll")).unwrap();
    let imported = Imported::new(module.try_clone().unwrap());
    let id = imported.ir.function("lanes").unwrap();
    let function = &imported.ir.functions[id];
    let entry = function.entry();
    let insts = || function.block_insts(entry).map(|inst| &function.insts[inst].op);
    assert_eq!(insts().filter(|op| matches!(op, Op::Lane(_))).count(), 5);
    assert_eq!(insts().filter(|op| matches!(op, Op::Call(_))).count(), 1);
    round_trip(module);
}

#[test]
fn effects_are_those_that_attributes_state() {
    let Some(_) = llvm() else { return };
    let text = "declare float @llvm.fabs.f32(float)
declare i32 @unknown(ptr)
declare i32 @pure(i32) nounwind willreturn memory(none)
declare void @writes_argument(ptr) nounwind willreturn memory(argmem: write)
declare void @stops() noreturn nounwind
";
    let imported = Imported::new(Module::parse(text.as_bytes(), "effects.ll").unwrap());
    let effects = |name: &str| imported.ir.symbols[imported.ir.symbol(name).unwrap()].effects;
    assert_eq!(effects("llvm.fabs.f32"), Effects::empty());
    assert_eq!(effects("unknown"), Effects::UNKNOWN);
    assert_eq!(effects("pure"), Effects::TRAPS);
    assert_eq!(effects("writes_argument"), Effects::WRITES | Effects::ARG_MEMORY_ONLY | Effects::TRAPS);
    assert!(effects("stops").contains(Effects::NO_RETURN) && !effects("stops").contains(Effects::UNWINDS));
}

#[test]
fn contents_of_globals_are_known_in_memory_order() {
    let Some(_) = llvm() else { return };
    let imported = Imported::new(Module::read(&inputs().join("memory.ll")).unwrap());
    let bytes = |name: &str| match &imported.ir.symbols[imported.ir.symbol(name).unwrap()].kind {
        SymbolKind::Global { bytes, .. } => bytes.clone(),
        other => panic!("{name} is {other:?}"),
    };
    assert_eq!(bytes("table"), Some(vec![1, 0, 2, 0, 3, 0, 255, 255]));
    assert_eq!(bytes("text"), Some(b"hello\0".to_vec()));
    assert_eq!(bytes("mixed"), None, "it holds an address");
    assert_eq!(bytes("big"), None, "it is defined elsewhere");
}

#[test]
fn opencl_kernels_survive() {
    let Some(llvm) = llvm() else { return };
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    let mut sources: Vec<PathBuf> = std::fs::read_dir(&kernels)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "cl"))
        .collect();
    sources.sort();
    if sources.is_empty() || !has_clang() {
        eprintln!("skipped: no clang, or no kernels in {}", kernels.display());
        return;
    }
    for source in sources {
        for simplify in [false, true] {
            let options = LoadOptions { simplify: Some(simplify), ..LoadOptions::default() };
            match load_in_process(&source, &options) {
                Err(error) => eprintln!("skipped (LLVM {}): {error}", llvm.version_text()),
                Ok(loaded) => {
                    round_trip(Module::parse(&loaded.bitcode, &source.display().to_string()).unwrap());
                }
            }
        }
    }
}

#[test]
fn a_whole_rust_crate_survives() {
    let Some(llvm) = llvm() else { return };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../warpline-analysis/src/lib.rs");
    let options = LoadOptions { simplify: Some(false), ..LoadOptions::default() };
    match load_in_process(&source, &options) {
        Err(error) => eprintln!("skipped (LLVM {}): {error}", llvm.version_text()),
        Ok(loaded) => {
            let functions = round_trip(Module::parse(&loaded.bitcode, "lib.rs").unwrap());
            assert!(functions > 50, "{functions} functions");
        }
    }
}

#[test]
fn a_copy_under_another_name_is_valid_and_alike() {
    let Some(llvm) = llvm() else { return };
    for (name, oldest) in [("arithmetic.ll", 19), ("memory.ll", 19), ("newer.ll", 22)] {
        if llvm.version().0 < oldest {
            continue;
        }
        let mut imported = Imported::new(Module::read(&inputs().join(name)).unwrap());
        let originals: Vec<_> = imported.ir.functions.values().cloned().collect();
        for mut function in originals {
            let original = function.name.to_string();
            function.name = format!("{original}.copy").into();
            imported.bridge.add_function(&imported.ir, &function, Linkage::External).unwrap();
            let error = imported.bridge.add_function(&imported.ir, &function, Linkage::External).unwrap_err();
            assert!(error.to_string().contains("already has"), "{error}");
            let text = imported.bridge.module().to_text();
            let body = |name: &str| -> Vec<String> {
                let start = format!("@{name}(");
                let lines =
                    text.lines().skip_while(|line| !(line.starts_with("define") && line.contains(&start)));
                let is_memory_fact = |line: &&str| !line.contains("noalias");
                lines
                    .skip(1)
                    .take_while(|line| *line != "}")
                    .filter(is_memory_fact)
                    .map(str::to_owned)
                    .collect()
            };
            assert_eq!(body(&original), body(&format!("{original}.copy")));
        }
        imported.bridge.module().verify().unwrap();
    }
}

#[test]
fn what_cannot_be_exported_leaves_the_module_as_it_was() {
    let Some(_) = llvm() else { return };
    let text =
        "define i32 @f(i32 %x) {\nentry:\n  %y = add i32 %x, 1\n  %z = mul i32 %y, %y\n  ret i32 %z\n}\n";
    let mut imported = Imported::new(Module::parse(text.as_bytes(), "f.ll").unwrap());
    let before = imported.bridge.module().to_text();
    let id = imported.ir.function("f").unwrap();
    let function = &mut imported.ir.functions[id];
    let variable = function.add_var(warpline_ir::Type::Int(32), "v");
    let entry = function.entry();
    let x = function.params[0];
    function.append(entry, warpline_ir::Op::WriteVar(variable), &[x], warpline_ir::Type::Void);
    let error = imported.bridge.replace_function(&imported.ir, id).unwrap_err();
    assert!(error.to_string().contains("SSA construction"), "{error}");
    assert_eq!(imported.bridge.module().to_text(), before);
    let mut copy = imported.ir.functions[id].clone();
    copy.name = "g".into();
    imported.bridge.add_function(&imported.ir, &copy, Linkage::External).unwrap_err();
    assert_eq!(imported.bridge.module().to_text(), before);
}

#[test]
fn lines_of_the_source_are_lines_of_a_derived_function() {
    let Some(_) = llvm() else { return };
    let mut imported = Imported::new(Module::read(&inputs().join("debug.ll")).unwrap());
    let id = imported.ir.function("debug").unwrap();
    let mut copy = imported.ir.functions[id].clone();
    copy.name = "wide".into();
    imported.bridge.add_function(&imported.ir, &copy, Linkage::External).unwrap();
    let module = imported.bridge.into_module();
    module.verify().unwrap();
    assert_eq!(module.take_diagnostics(), [], "no debug information was dropped as broken");
    let text = module.to_text();
    assert!(text.contains("distinct !DISubprogram(name: \"wide\""), "{text}");
    let assembly = TargetMachine::native().unwrap().emit(&module, Emit::Assembly).unwrap();
    let assembly = String::from_utf8(assembly).unwrap();
    let wide = assembly.split("wide:").nth(1).unwrap_or_default();
    // The unit's own file.
    assert!(wide.contains(".loc\t0 2 9"), "{wide}");
}

#[test]
fn a_block_that_is_removed_takes_its_address_along() {
    let Some(_) = llvm() else { return };
    let mut imported = Imported::new(Module::read(&inputs().join("control.ll")).unwrap());
    let id = imported.ir.function("indirect").unwrap();
    let function = &mut imported.ir.functions[id];
    let entry = function.entry();
    function.set_terminator(entry, Op::Ret, &[], &[]);
    function.remove_unreachable_blocks();
    imported.bridge.replace_function(&imported.ir, id).unwrap();
    let module = imported.bridge.into_module();
    module.verify().unwrap();
    assert!(
        module.to_text().contains("@targets = constant [2 x ptr] [ptr inttoptr (i32 1 to ptr)"),
        "{}",
        module.to_text()
    );
}
