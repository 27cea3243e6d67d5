//! LLVM's own uniformity analysis as a second opinion, where an `opt` is installed.
//!
//! The programs are ones on which LLVM is right and as precise as this analysis.

use std::io::Write as _;
use std::process::{Command, Stdio};

use warpline_llvm::{Imported, Module};
use warpline_testkit::llvm_opinion::{self, BlockOpinion, Opinion};
use warpline_uniformity::report::FunctionReport;
use warpline_uniformity::shape::ArgShape;
use warpline_uniformity::{Options, Target, Uniformity};

const KERNELS: &str = r#"
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()

define amdgpu_kernel void @divergent_exit(ptr addrspace(1) %p, i32 %n) {
entry:
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  br label %head
head:
  %k = phi i32 [ 0, %entry ], [ %k.next, %head ]
  %k.next = add i32 %k, 1
  %c = icmp slt i32 %k.next, %tid
  br i1 %c, label %head, label %exit
exit:
  %r = add i32 %k.next, %n
  store i32 %r, ptr addrspace(1) %p
  ret void
}

define amdgpu_kernel void @join(ptr addrspace(1) %p, i32 %n) {
entry:
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %c = icmp slt i32 %tid, %n
  br i1 %c, label %then, label %end
then:
  %d = icmp eq i32 %group, 3
  br i1 %d, label %inner, label %merge
inner:
  br label %merge
merge:
  %u = phi i32 [ 1, %then ], [ 2, %inner ]
  br label %end
end:
  %v = phi i32 [ 0, %entry ], [ %u, %merge ]
  store i32 %v, ptr addrspace(1) %p
  ret void
}

define void @plain(i32 inreg %u, i32 %v, ptr addrspace(1) inreg %g, ptr inreg %flat) {
entry:
  %a = load i32, ptr addrspace(1) %g
  %b = load i32, ptr %flat
  %s = add i32 %a, %u
  %t = add i32 %s, %v
  switch i32 %s, label %end [ i32 1, label %end i32 2, label %other ]
other:
  br label %end
end:
  %x = phi i32 [ 0, %entry ], [ 0, %entry ], [ %b, %other ]
  ret void
}
"#;

/// The output of `opt -passes=print<uniformity>`; `None` without an `opt` that knows the target.
fn opt(text: &str) -> Option<String> {
    let mut child = ["opt", "opt-19", "opt-20", "opt-21", "opt-22"].iter().find_map(|name| {
        Command::new(name)
            .args(["-passes=print<uniformity>", "-disable-output", "-"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .ok()
    })?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The names of the divergent values of a function, and how many of its branches diverge, as LLVM says.
fn llvm_says(opinions: &[Opinion], function: &str) -> (Vec<String>, usize) {
    let opinion = opinions.iter().find(|o| o.function == function).expect("LLVM reports on every function");
    let divergent = |part: fn(&BlockOpinion) -> &[(bool, String)]| {
        opinion
            .blocks
            .iter()
            .flat_map(part)
            .filter(|(divergent, _)| *divergent)
            .map(|(_, text)| text.as_str())
    };
    let name = |text: &str| text.split_once(" = ").map(|(name, _)| name.to_owned());
    let mut values: Vec<String> = divergent(|b| &b.definitions).filter_map(name).collect();
    values.sort();
    let branches = divergent(|b| &b.terminators).filter(|t| t.starts_with("br ") || t.starts_with("switch "));
    (values, branches.count())
}

#[test]
fn llvm_finds_the_same_values_and_branches_divergent() {
    let Some(output) = opt(KERNELS).filter(|o| o.contains("UniformityInfo")) else {
        eprintln!("skipped: no `opt` with a uniformity analysis is installed");
        return;
    };
    let opinions = llvm_opinion::parse(&output);
    let module = Module::parse(KERNELS.as_bytes(), "kernels.ll").expect("the text is well-formed");
    let imported = Imported::new(module);
    let mut compared = 0;
    for func in imported.ir.functions.values() {
        let uniform = imported.bridge.module().uniform_parameters(&func.name, Target::Amdgcn);
        let args =
            uniform.into_iter().map(|u| if u { ArgShape::Uniform } else { ArgShape::Varying }).collect();
        let options = Options { args, target: Target::Amdgcn, ..Options::default() };
        let result = Uniformity::compute(&imported.ir, func, &options);
        let report = FunctionReport::new(&imported.ir, func, &result);
        let mut ours = report.divergent.values.clone();
        ours.sort();
        assert_eq!(
            (ours, report.divergent.branches.len()),
            llvm_says(&opinions, &func.name),
            "{}",
            func.name
        );
        compared += 1;
    }
    assert_eq!(compared, 3);
}
