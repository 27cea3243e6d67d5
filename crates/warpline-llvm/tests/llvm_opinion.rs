//! The uniformity analysis of the loaded LLVM beside this one. The test program serves as its own worker, hence no
//! test harness.
//!
//! Where both are right they agree to the letter; on the programs on which some version of LLVM claims too much, what
//! it misses is listed; nowhere else is more divergent here than there.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use warpline_ir::Op;
use warpline_llvm::{Imported, Llvm, Module, target_of_triple, worker};
use warpline_testkit::llvm_opinion::{Comparison, Opinion, compare, parse};
use warpline_uniformity::Uniformity;

const AGREED: &str = r#"
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare i32 @unknown(i32)

define amdgpu_kernel void @divergent_exit(ptr addrspace(1) %p, i32 %n) {
entry:
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  br label %1
1:
  %k = phi i32 [ 0, %entry ], [ %2, %1 ]
  %2 = add i32 %k, 1
  %c = icmp slt i32 %2, %tid
  br i1 %c, label %1, label %exit
exit:
  %r = add i32 %2, %n
  store i32 %r, ptr addrspace(1) %p
  ret void
}

define amdgpu_kernel void @join(ptr addrspace(1) %p, i32 %n) {
entry:
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %c = icmp slt i32 %tid, %n
  br i1 %c, label %then, label %"the end"
then:
  %d = icmp eq i32 %group, 3
  br i1 %d, label %inner, label %merge
inner:
  br label %merge
merge:
  %u = phi i32 [ 1, %then ], [ 2, %inner ]
  br label %"the end"
"the end":
  %v = phi i32 [ 0, %entry ], [ %u, %merge ]
  %w = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %v)
  store i32 %w, ptr addrspace(1) %p
  ret void
}

define i32 @plain(i32 inreg %u, i32 %v, ptr addrspace(1) inreg %g, ptr inreg %flat) {
  %a = load i32, ptr addrspace(1) %g
  %b = load i32, ptr %flat
  %s = add i32 %a, %u
  %t = add i32 %s, %v
  switch i32 %t, label %end [
    i32 1, label %end
    i32 2, label %other
  ]
other:
  %q = call i32 @unknown(i32 %a)
  br label %end
end:
  %x = phi i32 [ 0, %0 ], [ 0, %0 ], [ %q, %other ]
  ret i32 %x
}

define amdgpu_kernel void @quiet(i32 %n) {
  %x = add i32 %n, 1
  ret void
}
"#;

/// What LLVM 19, 22 or 23 takes for uniform and is not, each case a function of its own.
const UNSOUND: &str = r#"
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare i32 @unknown(i32)
declare i32 @personality(...)

; #137277, in LLVM 19: long arms of an if.
define amdgpu_kernel void @long_arms(i32 %n) {
entry:
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %div = icmp slt i32 %tid, 3
  %uni = icmp slt i32 %n, 3
  br label %b0
b0:
  br i1 %div, label %b1, label %b4
b1:
  br label %b2
b2:
  br i1 %uni, label %b2, label %b3
b3:
  br label %b9
b4:
  br i1 %uni, label %b5, label %b6
b5:
  br label %b7
b6:
  br label %b7
b7:
  %inner = phi i32 [ 1, %b5 ], [ 2, %b6 ]
  br label %b8
b8:
  br label %b9
b9:
  %missed = phi i32 [ 1, %b3 ], [ 2, %b8 ]
  br i1 %uni, label %b0, label %end
end:
  ret void
}

; #216100, in LLVM 19, 22 and 23: constants that differ by exit edge.
define amdgpu_kernel void @exits(i32 %n) {
entry:
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  br label %head
head:
  %k = phi i32 [ 0, %entry ], [ %next, %body ]
  %uni = icmp eq i32 %k, %n
  br i1 %uni, label %end, label %body
body:
  %next = add i32 %k, 1
  %div = icmp eq i32 %k, %tid
  br i1 %div, label %end, label %head
end:
  %missed = phi i32 [ 1, %head ], [ 2, %body ]
  ret void
}

; An exit from a nested loop straight into the header of a sibling loop.
define amdgpu_kernel void @sibling(i32 %n) {
entry:
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %uni = icmp slt i32 %n, 3
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %count, %b ]
  %count = add i32 %o, 1
  br label %a
a:
  br i1 %uni, label %a, label %b
b:
  switch i32 %tid, label %a [
    i32 1, label %outer
    i32 2, label %d
  ]
d:
  %missed = add i32 %count, 1
  br i1 %uni, label %d, label %e
e:
  ret void
}

; An always-uniform value leaves an irreducible cycle by a divergent exit.
define amdgpu_kernel void @always_uniform(i32 %n) {
entry:
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %div = icmp slt i32 %tid, 3
  br i1 %div, label %l, label %r
l:
  br label %r
r:
  %first = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %tid)
  %leave = icmp slt i32 %first, %tid
  br i1 %leave, label %end, label %l
end:
  %missed = add i32 %first, 1
  ret void
}

; The value of an invoke.
define amdgpu_kernel void @invoke(i32 %n) personality ptr @personality {
entry:
  %missed.x = invoke i32 @unknown(i32 %n) to label %next unwind label %bad
next:
  %missed = add i32 %missed.x, 1
  ret void
bad:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}

; An atomic load from global memory is executed for each lane by itself.
define amdgpu_kernel void @atomic_load(ptr addrspace(1) %p) {
  %missed = load atomic i32, ptr addrspace(1) %p syncscope("agent") monotonic, align 4
  ret void
}
"#;

fn main() -> ExitCode {
    worker::serve_if_asked();
    if let Err(error) = Llvm::get() {
        println!("skipped: {error}");
        return ExitCode::SUCCESS;
    }
    let tests: [(&str, fn()); 3] = [
        (
            "the_form_is_llvms_to_the_letter_where_both_agree",
            the_form_is_llvms_to_the_letter_where_both_agree,
        ),
        (
            "what_llvm_misses_is_found_and_nothing_else_is_added",
            what_llvm_misses_is_found_and_nothing_else_is_added,
        ),
        ("llvms_lists_of_intrinsics_are_known", llvms_lists_of_intrinsics_are_known),
    ];
    for (name, test) in tests {
        test();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

/// Results of both sides, by function.
fn both(text: &str) -> Vec<(String, Uniformity, Opinion, Comparison, String)> {
    let module = Module::parse(text.as_bytes(), "test.ll").unwrap_or_else(|e| panic!("{e}"));
    module.verify().unwrap_or_else(|e| panic!("{e}"));
    let opinions = parse(&worker::print_uniformity(&module).unwrap_or_else(|e| panic!("{e}")));
    let imported = Imported::new(module);
    let target = target_of_triple(&imported.ir.triple);
    let summaries = imported.summaries(target);
    let mut found = Vec::new();
    for ((id, func), opinion) in imported.ir.functions.iter().zip(opinions) {
        assert_eq!(*func.name, *opinion.function);
        let options = imported.analysis_options(id, target, Some(summaries.clone()));
        let result = Uniformity::compute(&imported.ir, func, &options);
        let compared = compare(func, &result, &opinion).expect("both have the same instructions");
        let printed = imported.print_uniformity(id, &result);
        found.push((func.name.to_string(), result, opinion, compared, printed));
    }
    found
}

fn the_form_is_llvms_to_the_letter_where_both_agree() {
    let module = Module::parse(AGREED.as_bytes(), "test.ll").unwrap_or_else(|e| panic!("{e}"));
    let text = worker::print_uniformity(&module).unwrap_or_else(|e| panic!("{e}"));
    let found = both(AGREED);
    assert_eq!(found.len(), 4);
    let ours: String = found.iter().map(|f| f.4.as_str()).collect();
    let theirs: Vec<Opinion> = found.into_iter().map(|f| f.2).collect();
    if text.contains("TEMPORAL DIVERGENCE LIST:") {
        assert_eq!(ours, text);
    } else {
        println!("LLVM {} prints another form: only facts are compared", version());
    }
    for (ours, theirs) in parse(&ours).into_iter().zip(theirs) {
        assert_eq!(ours.blocks.is_empty(), theirs.blocks.is_empty(), "{}", ours.function);
        assert_eq!((ours.blocks, ours.exits), (theirs.blocks, theirs.exits), "{}", ours.function);
    }
}

fn version() -> String {
    Llvm::get().map(Llvm::version_text).unwrap_or_default()
}

fn what_llvm_misses_is_found_and_nothing_else_is_added() {
    let mut missed_by_this_llvm = Vec::new();
    for (name, result, _, compared, printed) in both(UNSOUND) {
        let facts = parse(&printed).pop().expect("one function");
        let lines = facts.blocks.iter().flat_map(|b| b.definitions.iter().chain(&b.terminators));
        let divergent: BTreeSet<&str> =
            lines.filter(|(d, _)| *d).filter_map(|(_, t)| t.split_once(" = ").map(|(v, _)| v)).collect();
        assert!(divergent.contains("%missed"), "{name}: {divergent:?}");
        for (text, _) in &compared.only_ours {
            let follows = ["%missed", "%leave", "%first", "landingpad"].iter().any(|v| text.contains(v));
            assert!(follows, "{name}: only here: {text}");
        }
        if compared.only_ours.iter().any(|(text, _)| text.starts_with("%missed")) {
            missed_by_this_llvm.push(name);
        }
        drop(result);
    }
    println!("LLVM {} misses: {}", version(), missed_by_this_llvm.join(", "));
    // Of these no released version is free.
    for case in ["sibling", "always_uniform", "invoke"] {
        assert!(missed_by_this_llvm.iter().any(|m| m == case), "{case} is right in LLVM {}", version());
    }
}

/// The lists of LLVM 19, where they are at hand.
fn llvms_lists_of_intrinsics_are_known() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/llvm");
    for (file, uniform, floor) in
        [("amdgcn19.source_of_divergence.txt", false, 300), ("amdgcn19.always_uniform.txt", true, 5)]
    {
        let Ok(names) = std::fs::read_to_string(folder.join(file)) else {
            println!("skipped: there is no {}", folder.join(file).display());
            return;
        };
        let names: Vec<String> = names
            .lines()
            .filter(|n| n.starts_with("amdgcn_"))
            .map(|n| format!("llvm.{}", n.replace('_', ".")))
            .collect();
        let argument = if uniform { "%tid" } else { "7" };
        let mut text =
            String::from("target triple = \"amdgcn-amd-amdhsa\"\ndeclare i32 @llvm.amdgcn.workitem.id.x()\n");
        let own = "llvm.amdgcn.workitem.id.x";
        names.iter().filter(|n| *n != own).for_each(|n| text += &format!("declare i32 @{n}(i32)\n"));
        text += "define amdgpu_kernel void @f() {\n  %tid = call i32 @llvm.amdgcn.workitem.id.x()\n";
        names
            .iter()
            .filter(|n| *n != own)
            .for_each(|n| text += &format!("  call i32 @{n}(i32 {argument})\n"));
        text += "  ret void\n}\n";
        let module = Module::parse(text.as_bytes(), file).unwrap_or_else(|e| panic!("{e}"));
        let imported = Imported::new(module);
        let (id, func) = imported.ir.functions.iter().next().expect("one function");
        let options = imported.analysis_options(id, target_of_triple(&imported.ir.triple), None);
        let result = Uniformity::compute(&imported.ir, func, &options);
        // Newer versions read some old ones as other instructions.
        let mut checked = 0;
        for inst in func.block_insts(func.entry()) {
            let Op::Call(call) = &func.insts[inst].op else { continue };
            let name = call.callee.map(|s| &*imported.ir.symbols[s].name).unwrap_or_default();
            if let (Some(&v), true) = (func.insts[inst].results.first(), names.iter().any(|n| n == name)) {
                assert_eq!(result.is_divergent(v), !uniform, "{name}");
                checked += 1;
            }
        }
        assert!(checked >= floor, "{file}: {checked}");
    }
}
