//! The bridge against whichever LLVM this machine has; skipped with a printed reason where there is none.

use std::path::{Path, PathBuf};

use warpline_llvm::{
    CompilerFlags, Cpu, Emit, Error, FrontEnd, Jit, Llvm, Module, Severity, TargetMachine, compile,
    has_clang,
    worker::{CodegenOptions, LoadOptions, Output, codegen_in_process, load_in_process},
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

fn input(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, text).expect("the temporary directory can be written to");
    path
}

const ADD_ONE: &str = "define void @thunk(ptr %slots) {
  %x = load i64, ptr %slots
  %y = add i64 %x, 1
  store i64 %y, ptr %slots
  ret void
}
";

#[test]
fn text_and_bitcode_read_back_to_the_same_text() {
    let Some(_) = llvm() else { return };
    let module = Module::parse(ADD_ONE.as_bytes(), "add.ll").unwrap();
    module.verify().unwrap();
    let again = Module::parse(&module.to_bitcode(), "add.ll").unwrap();
    assert!(module.to_text().contains("%y = add i64 %x, 1"), "{}", module.to_text());
    assert_eq!(
        module.to_text().lines().skip(2).collect::<Vec<_>>(),
        again.to_text().lines().skip(2).collect::<Vec<_>>()
    );
    assert_eq!(module.defined_functions(), ["thunk"]);
}

#[test]
fn broken_input_is_an_error_with_the_line() {
    let Some(_) = llvm() else { return };
    let error = Module::parse(b"define void @f() {\n  frobnicate\n}\n", "bad.ll").unwrap_err();
    assert!(error.to_string().contains("bad.ll:2"), "{error}");
    let error = Module::parse(b"BC\xc0\xde garbage", "bad.bc").unwrap_err();
    assert!(matches!(error, Error::Parse { .. }), "{error}");
}

#[test]
fn words_that_later_versions_spell_differently_are_read() {
    let Some(_) = llvm() else { return };
    let text = |word: &str| {
        format!("!named = !{{!0}}\n!0 = !DISubroutineType(cc: {word}, types: !1)\n!1 = !{{null}}\n")
    };
    for word in ["DW_CC_LLVM_OpenCLKernel", "DW_CC_LLVM_DeviceKernel"] {
        let module = Module::parse(text(word).as_bytes(), "kernel.ll").unwrap();
        assert!(module.to_text().contains("cc: DW_CC_LLVM_"), "{}", module.to_text());
    }
    let error = Module::parse(text("DW_CC_LLVM_Unheard").as_bytes(), "kernel.ll").unwrap_err();
    assert!(error.to_string().contains("DW_CC_LLVM_Unheard"), "{error}");
}

#[test]
fn an_invalid_pipeline_is_an_error() {
    let Some(_) = llvm() else { return };
    let mut module = Module::parse(ADD_ONE.as_bytes(), "add.ll").unwrap();
    let error = module.optimise("no-such-pass", None).unwrap_err();
    assert!(error.to_string().contains("no-such-pass"), "{error}");
}

#[test]
fn an_object_runs_in_this_process() {
    let Some(_) = llvm() else { return };
    let machine = TargetMachine::native().unwrap();
    let mut module = Module::parse(ADD_ONE.as_bytes(), "add.ll").unwrap();
    module.set_target(&machine).unwrap();
    module.set_cpu(machine.cpu(), Some(256), &[]);
    assert!(module.to_text().contains("\"prefer-vector-width\"=\"256\""));
    module.optimise("default<O3>", Some(&machine)).unwrap();
    let assembly = String::from_utf8(machine.emit(&module, Emit::Assembly).unwrap()).unwrap();
    assert!(assembly.contains("thunk"), "{assembly}");
    let jit = Jit::new().unwrap();
    jit.add_object(&machine.emit(&module, Emit::Object).unwrap(), "add.o").unwrap();
    let mut slots = [41];
    let thunk = jit.function("thunk").unwrap();
    thunk.call(&mut slots);
    assert_eq!(slots, [42]);
    assert!(thunk.time_ns(&mut slots) < 1_000_000_000);
    let error = jit.function("nowhere").err().unwrap();
    assert!(error.to_string().contains("nowhere"), "{error}");
}

#[test]
fn the_math_libraries_and_the_callers_own_functions_are_linked() {
    let Some(_) = llvm() else { return };
    extern "C" fn twice(x: u64) -> u64 {
        2 * x
    }
    let text = "declare double @cos(double)
declare i64 @twice(i64)
define void @thunk(ptr %slots) {
  %x = load double, ptr %slots
  %c = call double @cos(double %x)
  store double %c, ptr %slots
  %second = getelementptr i64, ptr %slots, i64 1
  %n = load i64, ptr %second
  %t = call i64 @twice(i64 %n)
  store i64 %t, ptr %second
  ret void
}
";
    let mut options = CodegenOptions::new(Cpu::native().unwrap(), Output::Object);
    options.passes = String::new();
    let object = codegen_in_process(text.as_bytes(), "math.ll", &options).unwrap();
    let jit = Jit::new().unwrap();
    jit.define("twice", twice as *const () as usize).unwrap();
    jit.add_object(&object, "math.o").unwrap();
    let mut slots = [0.5f64.to_bits(), 21];
    jit.function("thunk").unwrap().call(&mut slots);
    assert_eq!(f64::from_bits(slots[0]), 0.5f64.cos());
    assert_eq!(slots[1], 42);
}

const LANES: &str = "declare zeroext i1 @warpline_any(i1 zeroext)
declare i64 @warpline_ballot(i1)
declare i32 @warpline_lane_count()
define internal i1 @helper(i1 %c) {
  %a = call i1 @warpline_any(i1 %c)
  ret i1 %a
}
define void @thunk(ptr %slots) {
entry:
  %x = load i64, ptr %slots
  %c = icmp ult i64 %x, 10
  br i1 %c, label %then, label %else
then:
  %p = call i1 @helper(i1 %c)
  br label %join
else:
  %q = call i1 @helper(i1 %c)
  br label %join
join:
  %r = phi i1 [ %p, %then ], [ %q, %else ]
  %b = call i64 @warpline_ballot(i1 %r)
  %n = call i32 @warpline_lane_count()
  %w = zext i32 %n to i64
  %s = add i64 %b, %w
  store i64 %s, ptr %slots
  ret void
}
";

#[test]
fn lane_operations_are_neither_merged_nor_moved_by_simplification() {
    let Some(_) = llvm() else { return };
    let mut module = Module::parse(LANES.as_bytes(), "lanes.ll").unwrap();
    module.simplify().unwrap();
    let text = module.to_text();
    assert_eq!(text.matches("call i1 @warpline_any").count(), 2, "{text}");
    assert!(!text.contains("@helper"), "{text}");
    assert!(text.contains("convergent") && text.contains("memory(inaccessiblemem: readwrite)"), "{text}");
    assert!(text.contains("phi i1"), "the two calls stay in their blocks: {text}");
}

/// Two callers of a function with so many steps, each of three instructions.
fn two_callers(steps: usize) -> String {
    let step = |k: usize| {
        format!(
            "  %m{k} = fmul float %a{k}, %x\n  %n{k} = fsub float %m{k}, {k}.5\n  %a{next} = fdiv float %n{k}, %m{k}\n",
            next = k + 1
        )
    };
    let body: String = (0..steps).map(step).collect();
    let caller = |name: &str| {
        format!(
            "define float @{name}(float %x) {{\n  %y = call float @helper(float %x)\n  ret float %y\n}}\n"
        )
    };
    format!(
        "define internal float @helper(float %x) {{\n  %a0 = fadd float %x, 1.0\n{body}  ret float %a{steps}\n}}\n{}{}",
        caller("one"),
        caller("other")
    )
}

#[test]
fn functions_larger_than_the_inliner_would_take_are_inlined_to_some_limit() {
    let Some(_) = llvm() else { return };
    let calls_left = |steps: usize| {
        let mut module = Module::parse(two_callers(steps).as_bytes(), "callers.ll").unwrap();
        module.simplify().unwrap();
        module.to_text().matches("call float @helper").count()
    };
    assert_eq!([5, 40, 4_000].map(calls_left), [0, 0, 2]);
}

#[test]
fn lane_operations_of_a_scalar_program_see_one_lane() {
    let Some(_) = llvm() else { return };
    let mut options = CodegenOptions::new(Cpu::native().unwrap(), Output::Object);
    options.define_lane_operations = true;
    let object = codegen_in_process(LANES.as_bytes(), "lanes.ll", &options).unwrap();
    let jit = Jit::new().unwrap();
    jit.add_object(&object, "lanes.o").unwrap();
    let thunk = jit.function("thunk").unwrap();
    for (x, expected) in [(3, 2), (30, 1)] {
        let mut slots = [x];
        thunk.call(&mut slots);
        assert_eq!(slots, [expected]);
    }
}

const RUST: &str = "
unsafe extern \"C\" { safe fn warpline_any(b: bool) -> bool; }
fn helper(x: f32) -> f32 { x.sqrt() + 1.0 }
#[unsafe(no_mangle)]
pub extern \"C\" fn kernel(i: u32, n: u32, data: &mut [f32; 64]) -> f32 {
    let mut sum = 0.0;
    let mut k = i;
    while warpline_any(k < n) {
        sum += helper(data[k as usize]);
        k += 1;
    }
    sum
}
";

#[test]
fn a_rust_kernel_becomes_ssa_with_its_lane_operations_and_panics_kept() {
    let Some(llvm) = llvm() else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = input(directory.path(), "kernel.rs", RUST);
    let loaded = match load_in_process(&path, &LoadOptions::default()) {
        Err(error @ (Error::MissingTool { .. } | Error::Parse { .. })) => {
            eprintln!("skipped (LLVM {}): {error}", llvm.version_text());
            return;
        }
        other => other.unwrap(),
    };
    assert_eq!(loaded.warnings, "");
    let module = Module::parse(&loaded.bitcode, "kernel.rs").unwrap();
    let text = module.to_text();
    assert_eq!(module.defined_functions(), ["kernel"], "helpers are inlined: {text}");
    assert_eq!(text.matches("call noundef zeroext i1 @warpline_any").count(), 1, "{text}");
    assert!(!text.contains(" = alloca "), "{text}");
    assert!(text.contains("panic_bounds_check") && text.contains("unreachable"), "{text}");
    assert!(text.contains("nounwind"), "{text}");
    assert!(text.contains("!DILocation"), "{text}");
}

#[test]
fn what_a_running_rust_kernel_lacks_is_defined() {
    let Some(_) = llvm() else { return };
    let text = "declare void @_ZN4core9panicking18panic_bounds_check17h0E()
define void @thunk(ptr %slots) {
  call void @_ZN4core9panicking18panic_bounds_check17h0E()
  ret void
}
";
    let mut module = Module::parse(text.as_bytes(), "panics.ll").unwrap();
    assert_eq!(module.define_missing(), ["_ZN4core9panicking18panic_bounds_check17h0E"]);
    module.verify().unwrap();
    let object = TargetMachine::native().unwrap().emit(&module, Emit::Object).unwrap();
    let jit = Jit::new().unwrap();
    jit.add_object(&object, "panics.o").unwrap();
    jit.function("thunk").unwrap();
}

#[test]
fn compile_errors_are_relayed() {
    let directory = tempfile::tempdir().unwrap();
    let path = input(directory.path(), "wrong.rs", "pub fn f() -> u32 { \"text\" }");
    match compile(
        &path,
        FrontEnd { triple: None, contract: false, flags: &CompilerFlags::default(), shims: false },
    ) {
        Err(Error::MissingTool { tool, .. }) => eprintln!("skipped: no {tool}"),
        other => {
            let error = other.unwrap_err();
            assert!(error.to_string().contains("mismatched types"), "{error}");
        }
    }
    if !has_clang() {
        eprintln!("skipped: no clang");
        return;
    }
    let path = input(directory.path(), "wrong.c", "int f(void) { return undeclared; }");
    let error = compile(
        &path,
        FrontEnd { triple: None, contract: false, flags: &CompilerFlags::default(), shims: false },
    )
    .unwrap_err();
    assert!(error.to_string().contains("undeclared"), "{error}");
}

#[test]
fn c_and_opencl_kernels_are_read() {
    let Some(llvm) = llvm() else { return };
    if !has_clang() {
        eprintln!("skipped: no clang");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let c = input(directory.path(), "k.c", "float scale(float a, float b, float c) { return a * b + c; }");
    let cl = input(
        directory.path(),
        "k.cl",
        "kernel void k(global float *a) { size_t i = get_global_id(0); a[i] = a[i] + 1.0f; }",
    );
    for (path, name) in [(c, "scale"), (cl, "k")] {
        let loaded = match load_in_process(&path, &LoadOptions::default()) {
            Err(error @ Error::Parse { .. }) => {
                eprintln!("skipped (LLVM {}): {error}", llvm.version_text());
                continue;
            }
            other => other.unwrap(),
        };
        let module = Module::parse(&loaded.bitcode, "k").unwrap();
        let text = module.to_text();
        assert!(module.defines(name), "{text}");
        assert!(
            !text.contains(" = alloca ") && !text.contains("fmuladd") && !text.contains("spir_"),
            "{text}"
        );
    }
}

#[test]
fn diagnostics_are_captured() {
    let Some(_) = llvm() else { return };
    // Debug info of an impossible version is dropped with a warning.
    let text =
        "!llvm.module.flags = !{!0}\n!0 = !{i32 2, !\"Debug Info Version\", i32 1}\n!llvm.dbg.cu = !{}\n";
    let module = Module::parse(text.as_bytes(), "old.ll").unwrap();
    assert!(module.take_diagnostics().iter().any(|one| one.severity == Severity::Warning));
}

#[test]
fn symbols_whose_names_are_no_text_stay_apart() {
    let Some(_) = llvm() else { return };
    let text = "declare i32 @\"\\FE\"()\ndeclare i32 @\"\\FF\"()\ndeclare i32 @\"a\\00b\"()\ndeclare i32 @a()\n\
                declare i32 @\"<unnamed 0>\"()\ndefine i32 @0() {\n  %a = call i32 @\"\\FE\"()\n  %b = call i32 \
                 @\"\\FF\"()\n  \
                %c = call i32 @\"a\\00b\"()\n  %d = call i32 @a()\n  %s = sub i32 %a, %b\n  ret i32 %s\n}\n";
    let Ok(module) = Module::parse(text.as_bytes(), "names.ll") else {
        return eprintln!("skipped: this LLVM takes no zero bytes in names");
    };
    let imported = warpline_llvm::Imported::new(module);
    assert_eq!(imported.ir.symbols.len(), 6);
    let func = imported.ir.functions.values().next().unwrap();
    let mut called: Vec<_> = func
        .insts
        .values()
        .filter_map(|data| match &data.op {
            warpline_ir::Op::Call(call) => call.callee,
            _ => None,
        })
        .collect();
    called.sort();
    called.dedup();
    assert_eq!(called.len(), 4);
}
