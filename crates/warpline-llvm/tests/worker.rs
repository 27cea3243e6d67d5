//! The worker process, served by this test program itself; hence no test harness.

use std::process::ExitCode;

use warpline_llvm::worker::{CodegenOptions, LoadOptions, Loaded, Output};
use warpline_llvm::{Cpu, Error, Llvm, worker};

fn main() -> ExitCode {
    worker::serve_if_asked();
    if let Err(error) = Llvm::get() {
        println!("skipped: {error}");
        return ExitCode::SUCCESS;
    }
    let tests: [(&str, fn()); 4] = [
        ("a_module_passes_through_workers_to_an_object", a_module_passes_through_workers_to_an_object),
        ("an_error_in_a_worker_names_the_input", an_error_in_a_worker_names_the_input),
        ("a_dying_worker_is_an_error_that_names_the_input", a_dying_worker_is_an_error_that_names_the_input),
        ("cpus_are_known_by_name", cpus_are_known_by_name),
    ];
    for (name, test) in tests {
        test();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

fn a_module_passes_through_workers_to_an_object() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.ll");
    std::fs::write(&path, "define i32 @f(i32 %x) {\n  %y = add i32 %x, 0\n  ret i32 %y\n}\n").unwrap();
    let options = LoadOptions { simplify: Some(true), ..LoadOptions::default() };
    let (module, Loaded { warnings, .. }) = worker::load_module(&path, &options).unwrap();
    assert!(module.to_text().contains("ret i32 %x"), "{}", module.to_text());
    assert_eq!(warnings, "");
    let native = Cpu::native().unwrap();
    let object = worker::codegen(&module, &CodegenOptions::new(native.clone(), Output::Object)).unwrap();
    assert_eq!(&object[..4], b"\x7fELF");
    let text = worker::codegen(&module, &CodegenOptions::new(native, Output::Text)).unwrap();
    assert!(String::from_utf8(text).unwrap().contains("define"));
}

fn an_error_in_a_worker_names_the_input() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bad.ll");
    std::fs::write(&path, "nonsense").unwrap();
    let error = worker::load(&path, &LoadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("bad.ll:1"), "{error}");
}

fn a_dying_worker_is_an_error_that_names_the_input() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("deep.ll");
    // No instruction selector has a pattern for this intrinsic on any CPU of another architecture: LLVM gives up on
    // the process.
    let text = "target triple = \"x86_64-unknown-linux-gnu\"
declare i32 @llvm.amdgcn.workitem.id.x()
define i32 @f() {
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  ret i32 %x
}
";
    std::fs::write(&path, text).unwrap();
    let (module, _) = worker::load_module(&path, &LoadOptions::default()).unwrap();
    let error =
        worker::codegen(&module, &CodegenOptions::new(Cpu::named("x86-64"), Output::Object)).unwrap_err();
    assert!(matches!(error, Error::WorkerDied { .. }), "{error}");
    assert!(error.to_string().contains("deep.ll"), "{error}");
}

fn cpus_are_known_by_name() {
    let triple = "x86_64-unknown-linux-gnu";
    let names = worker::cpu_names(triple).unwrap();
    assert!(names.iter().any(|name| name == "skylake-avx512"), "{names:?}");
    assert_eq!(worker::find_cpu("znver4", triple).unwrap(), Cpu::named("znver4"));
    let error = worker::find_cpu("skylake-avx521", triple).unwrap_err();
    assert!(error.to_string().contains("did you mean `skylake-avx512`"), "{error}");
    assert_eq!(worker::find_cpu("native", "").unwrap(), Cpu::native().unwrap());
}
