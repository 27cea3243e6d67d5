//! What is a source of divergence on which target, on LLVM IR: intrinsics, arguments, loads, atomics, assembly,
//! registers, calls.

use std::sync::Arc;

use warpline_ir::FuncId;
use warpline_llvm::{Imported, Module, target_of_triple};
use warpline_uniformity::report::FunctionReport;
use warpline_uniformity::shape::ArgShape;
use warpline_uniformity::{Target, Uniformity, tokens};

struct Analysed {
    imported: Imported,
    target: Target,
    summaries: Arc<warpline_uniformity::Summaries>,
}

fn read(text: &str) -> Analysed {
    let module = Module::parse(text.as_bytes(), "test.ll").unwrap_or_else(|e| panic!("{e}"));
    module.verify().unwrap_or_else(|e| panic!("{e}"));
    import(module)
}

fn import(module: Module) -> Analysed {
    let imported = Imported::new(module);
    let target = target_of_triple(&imported.ir.triple);
    let summaries = imported.summaries(target);
    Analysed { imported, target, summaries }
}

impl Analysed {
    fn id(&self, function: &str) -> FuncId {
        self.imported.ir.function(function).unwrap_or_else(|| panic!("no function {function}"))
    }

    fn result(&self, function: &str) -> Uniformity {
        let id = self.id(function);
        let options = self.imported.analysis_options(id, self.target, Some(Arc::clone(&self.summaries)));
        Uniformity::compute(&self.imported.ir, &self.imported.ir.functions[id], &options)
    }

    fn report(&self, function: &str) -> FunctionReport {
        let func = &self.imported.ir.functions[self.id(function)];
        FunctionReport::new(&self.imported.ir, func, &self.result(function))
    }

    /// The divergent values of a function. Those whose names begin with `u` are to be uniform, those with `d`
    /// divergent.
    fn check(&self, function: &str) {
        let report = self.report(function);
        let func = &self.imported.ir.functions[self.id(function)];
        let mut seen = 0;
        for v in func.layout.iter().flat_map(|&b| func.block_insts(b)).flat_map(|i| &func.insts[i].results) {
            let name = func.value_name(*v);
            let divergent = report.divergent.values.contains(&name);
            match name.as_bytes()[1] {
                b'u' => assert!(!divergent, "{function}: {name} is divergent"),
                b'd' => assert!(divergent, "{function}: {name} is uniform"),
                _ => continue,
            }
            seen += 1;
        }
        assert!(seen > 0, "{function}: nothing was checked");
    }
}

const AMDGCN: &str = r#"
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.workitem.id.z()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare i64 @llvm.amdgcn.ballot.i64(i1)
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
declare i32 @llvm.amdgcn.permlane16.i32(i32, i32, i32, i32, i1, i1)
declare i64 @llvm.amdgcn.s.memtime()
declare { i1, i64 } @llvm.amdgcn.if.i64(i1)
declare i32 @llvm.read_register.i32(metadata)
declare i64 @llvm.read_register.i64(metadata)
declare <4 x i32> @llvm.masked.load.v4i32.p5(ptr addrspace(5), i32, <4 x i1>, <4 x i32>)
declare i32 @unknown(i32)

define amdgpu_kernel void @intrinsics(i32 %n, ptr addrspace(1) %p, ptr addrspace(5) %private, ptr %flat, <4 x i1> %m) {
  %d.tid = call i32 @llvm.amdgcn.workitem.id.x()
  %u.group = call i32 @llvm.amdgcn.workgroup.id.x()
  %u.first = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %d.tid)
  %d.c = icmp eq i32 %d.tid, %n
  %u.ballot = call i64 @llvm.amdgcn.ballot.i64(i1 %d.c)
  %u.one = call i32 @llvm.amdgcn.ds.bpermute(i32 %n, i32 %d.tid)
  %d.each = call i32 @llvm.amdgcn.ds.bpermute(i32 %d.tid, i32 %n)
  %d.perm = call i32 @llvm.amdgcn.permlane16.i32(i32 %n, i32 %n, i32 0, i32 0, i1 false, i1 false)
  %u.time = call i64 @llvm.amdgcn.s.memtime()
  %u.global = load i32, ptr addrspace(1) %p
  %d.flat = load i32, ptr %flat
  %d.private = load i32, ptr addrspace(5) %private
  %d.masked = call <4 x i32> @llvm.masked.load.v4i32.p5(ptr addrspace(5) %private, i32 4, <4 x i1> %m, <4 x i32> zeroinitializer)
  %d.atomic.load = load atomic i32, ptr addrspace(1) %p monotonic, align 4
  %d.volatile = load volatile i32, ptr addrspace(1) %p
  %d.rmw = atomicrmw add ptr addrspace(1) %p, i32 1 monotonic
  %d.pair = cmpxchg ptr addrspace(1) %p, i32 0, i32 1 monotonic monotonic
  %d.old = extractvalue { i32, i1 } %d.pair, 0
  %d.unknown = call i32 @unknown(i32 %n)
  %if = call { i1, i64 } @llvm.amdgcn.if.i64(i1 %d.c)
  %d.if.0 = extractvalue { i1, i64 } %if, 0
  %u.if.1 = extractvalue { i1, i64 } %if, 1
  ret void
}

define amdgpu_kernel void @assembly(i32 %n) {
  %u.s = call i32 asm "s_mov_b32 $0, 0", "=s"()
  %d.v = call i32 asm "v_mov_b32 $0, 0", "=v"()
  %u.phys = call i32 asm sideeffect "s_mov_b32 $0, 0", "={s7}"()
  %both = call { i32, i32 } asm "", "=s,=v"()
  %u.both.0 = extractvalue { i32, i32 } %both, 0
  %d.both.1 = extractvalue { i32, i32 } %both, 1
  %u.exec = call i64 @llvm.read_register.i64(metadata !1)
  %d.v0 = call i32 @llvm.read_register.i32(metadata !2)
  ret void
}

define void @arguments(i32 inreg %a, i32 %b) {
  %u.a = add i32 %a, 1
  %d.b = add i32 %b, 1
  ret void
}

define amdgpu_kernel void @wave_number() !reqd_work_group_size !3 {
  %d.tid = call i32 @llvm.amdgcn.workitem.id.x()
  %u.wave = lshr i32 %d.tid, 6
  %d.half = lshr i32 %d.tid, 5
  %u.first = and i32 -64, %d.tid
  %d.first = and i32 %d.tid, -32
  %u.y = call i32 @llvm.amdgcn.workitem.id.y()
  ret void
}

define amdgpu_kernel void @rows() #0 !reqd_work_group_size !4 {
  %d.x = call i32 @llvm.amdgcn.workitem.id.x()
  %u.y = call i32 @llvm.amdgcn.workitem.id.y()
  %u.z = call i32 @llvm.amdgcn.workitem.id.z()
  %u.wave = lshr i32 %d.x, 6
  %d.half = lshr i32 %d.x, 5
  ret void
}

define amdgpu_kernel void @perhaps_partial_rows() !reqd_work_group_size !4 {
  %d.y = call i32 @llvm.amdgcn.workitem.id.y()
  ret void
}

define amdgpu_kernel void @alone(ptr %p) #1 {
  %u.x = call i32 @llvm.amdgcn.workitem.id.x()
  %u.l = load i32, ptr %p
  %u.call = call i32 @unknown(i32 %u.l)
  ret void
}

attributes #0 = { "uniform-work-group-size"="true" }
attributes #1 = { "amdgpu-flat-work-group-size"="1,1" }
!1 = !{!"exec"}
!2 = !{!"v0"}
!3 = !{i32 256, i32 1, i32 1}
!4 = !{i32 64, i32 4, i32 2}
"#;

#[test]
fn sources_and_uniform_results_on_amd_gpus() {
    let a = read(AMDGCN);
    for f in ["intrinsics", "assembly", "arguments", "wave_number", "rows", "perhaps_partial_rows", "alone"] {
        a.check(f);
    }
    assert_eq!(a.report("intrinsics").unknown_calls, 1);
}

const NVPTX: &str = r#"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.warpsize()
declare i32 @llvm.smax.i32(i32, i32)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare { i32, i1 } @llvm.nvvm.elect.sync(i32)

define ptx_kernel void @kernel(i32 %n, ptr addrspace(1) %g, ptr addrspace(3) %s, ptr addrspace(5) %l, ptr %any) {
  %d.tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %u.block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %u.size = call i32 @llvm.nvvm.read.ptx.sreg.warpsize()
  %u.max = call i32 @llvm.smax.i32(i32 %n, i32 %u.block)
  %d.max = call i32 @llvm.smax.i32(i32 %n, i32 %d.tid)
  %d.c = icmp eq i32 %d.tid, 0
  %u.vote = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %d.c)
  %d.vote = call i1 @llvm.nvvm.vote.any.sync(i32 %d.tid, i1 true)
  %d.shuffle = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %n, i32 0, i32 31)
  %elect = call { i32, i1 } @llvm.nvvm.elect.sync(i32 -1)
  %u.leader = extractvalue { i32, i1 } %elect, 0
  %d.is = extractvalue { i32, i1 } %elect, 1
  %u.global = load i32, ptr addrspace(1) %g
  %u.shared = load i32, ptr addrspace(3) %s
  %d.local = load i32, ptr addrspace(5) %l
  %d.generic = load i32, ptr %any
  %d.atomic = load atomic i32, ptr addrspace(1) %g monotonic, align 4
  %d.rmw = atomicrmw add ptr addrspace(1) %g, i32 1 monotonic
  %d.asm = call i32 asm "mov.u32 $0, %laneid;", "=r"()
  ret void
}

define void @device(i32 %n) {
  %d = add i32 %n, 1
  ret void
}

define void @annotated(i32 %n) {
  %u = add i32 %n, 1
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{ptr @annotated, !"kernel", i32 1}
"#;

#[test]
fn sources_and_uniform_results_on_nvidia_gpus() {
    let a = read(NVPTX);
    for f in ["kernel", "device", "annotated"] {
        a.check(f);
    }
}

const SPIRV: &str = r#"
target triple = "spir64"
declare spir_func i64 @_Z13get_global_idj(i32) #0
declare spir_func i64 @_Z12get_group_idj(i32) #0
declare spir_func float @_Z4sqrtf(float) #0
declare spir_func float @_Z9somethingf(float) #0
declare spir_func i32 @_Z20sub_group_reduce_addi(i32)
@__spirv_BuiltInGlobalInvocationId = external addrspace(1) constant <3 x i64>
@__spirv_BuiltInWorkgroupId = external addrspace(1) constant <3 x i64>

define spir_kernel void @kernel(float %x, ptr addrspace(1) %g, ptr addrspace(4) %generic, i32 %i) {
  %d.id = call spir_func i64 @_Z13get_global_idj(i32 0)
  %u.group = call spir_func i64 @_Z12get_group_idj(i32 0)
  %u.sqrt = call spir_func float @_Z4sqrtf(float %x)
  %d.something = call spir_func float @_Z9somethingf(float %x)
  %d.id32 = trunc i64 %d.id to i32
  %u.sum = call spir_func i32 @_Z20sub_group_reduce_addi(i32 %d.id32)
  %d.builtin = load <3 x i64>, ptr addrspace(1) @__spirv_BuiltInGlobalInvocationId
  %p = getelementptr i64, ptr addrspace(1) @__spirv_BuiltInGlobalInvocationId, i32 %i
  %d.part = load i64, ptr addrspace(1) %p
  %u.builtin = load <3 x i64>, ptr addrspace(1) @__spirv_BuiltInWorkgroupId
  %d.generic = load i32, ptr addrspace(4) %generic
  ret void
}

define spir_func void @helper(i32 %x) {
  %d = add i32 %x, 1
  ret void
}

attributes #0 = { nounwind willreturn memory(none) }
"#;

#[test]
fn sources_and_uniform_results_in_spir() {
    let a = read(SPIRV);
    a.check("kernel");
    a.check("helper");
}

const CALLS: &str = r#"
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @unknown(i32)
declare void @nothing()

define i32 @first(i32 %a, i32 %b) { ret i32 %a }
define i32 @id(i32 %a) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %s = add i32 %a, %t
  ret i32 %s
}
define i32 @choose(i32 %c, i32 %a) {
entry:
  %t = icmp eq i32 %c, 0
  br i1 %t, label %then, label %end
then:
  br label %end
end:
  %r = phi i32 [ 1, %entry ], [ 2, %then ]
  ret i32 %r
}
define i32 @two_returns(i32 %c) {
  %t = icmp eq i32 %c, 0
  br i1 %t, label %then, label %end
then:
  ret i32 1
end:
  ret i32 2
}
define i32 @count(i32 %n) {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %k, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret i32 %next
}
define { i32, i32 } @both(i32 %a, i32 %b) {
  %x = insertvalue { i32, i32 } poison, i32 %a, 0
  %y = insertvalue { i32, i32 } %x, i32 %b, 1
  ret { i32, i32 } %y
}
define { i32, i32 } @outer(i32 %a, i32 %b) {
  %r = call { i32, i32 } @both(i32 %b, i32 %a)
  ret { i32, i32 } %r
}
define i32 @factorial(i32 %n, i32 %unused) {
entry:
  %c = icmp sgt i32 %n, 1
  br i1 %c, label %more, label %done
more:
  %m = sub i32 %n, 1
  %f = call i32 @factorial(i32 %m, i32 %unused)
  %p = mul i32 %f, %n
  br label %done
done:
  %r = phi i32 [ %p, %more ], [ 1, %entry ]
  ret i32 %r
}
define i32 @even(i32 %n, i32 %x) {
  %m = sub i32 %n, 1
  %o = call i32 @odd(i32 %x, i32 %m)
  ret i32 %o
}
define i32 @odd(i32 %x, i32 %n) {
  %c = icmp sgt i32 %n, 1
  %e = call i32 @even(i32 %n, i32 %x)
  %r = select i1 %c, i32 %e, i32 %x
  ret i32 %r
}
define i32 @own(i32 %n) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %o = call i32 @own(i32 %n)
  %s = add i32 %o, %t
  ret i32 %s
}
define weak i32 @weak(i32 %a) { ret i32 %a }
define i32 @reads_private(ptr addrspace(5) %p) {
  %x = load i32, ptr addrspace(5) %p
  ret i32 %x
}
define i32 @bumps(ptr addrspace(1) %p) {
  %x = atomicrmw add ptr addrspace(1) %p, i32 1 monotonic
  ret i32 %x
}
define amdgpu_kernel void @kernel(i32 %n, ptr %f, ptr addrspace(5) %p, ptr addrspace(1) %g) {
  %d.tid = call i32 @llvm.amdgcn.workitem.id.x()
  %u.first = call i32 @first(i32 %n, i32 %d.tid)
  %d.first = call i32 @first(i32 %d.tid, i32 %n)
  %d.id = call i32 @id(i32 %n)
  %u.choose = call i32 @choose(i32 %n, i32 %d.tid)
  %d.choose = call i32 @choose(i32 %d.tid, i32 %n)
  %u.two = call i32 @two_returns(i32 %n)
  %d.two = call i32 @two_returns(i32 %d.tid)
  %u.count = call i32 @count(i32 %n)
  %d.count = call i32 @count(i32 %d.tid)
  %r = call { i32, i32 } @outer(i32 %n, i32 %d.tid)
  %d.0 = extractvalue { i32, i32 } %r, 0
  %u.1 = extractvalue { i32, i32 } %r, 1
  %u.recursive = call i32 @factorial(i32 %n, i32 %d.tid)
  %d.recursive = call i32 @factorial(i32 %d.tid, i32 %n)
  %u.even = call i32 @even(i32 %n, i32 %n)
  %d.even = call i32 @even(i32 %n, i32 %d.tid)
  %d.own = call i32 @own(i32 %n)
  %d.weak = call i32 @weak(i32 %n)
  %d.private = call i32 @reads_private(ptr addrspace(5) %p)
  %d.bumps = call i32 @bumps(ptr addrspace(1) %g)
  %d.unknown = call i32 @unknown(i32 %n)
  %d.indirect = call i32 %f(i32 %n)
  call void @nothing()
  ret void
}
"#;

#[test]
fn a_call_of_a_function_of_the_module_is_as_uniform_as_its_body_says() {
    let a = read(CALLS);
    a.check("kernel");
    // A weak function may be another one; the others are declared or found out at run time.
    assert_eq!(a.report("kernel").unknown_calls, 3);
}

#[test]
fn a_shuffle_of_the_wave_is_uniform_if_either_the_value_or_the_lane_is() {
    let a = read(
        r#"
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.wave.shuffle.i32(i32, i32)
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
define amdgpu_kernel void @kernel(i32 %n) {
  %d.tid = call i32 @llvm.amdgcn.workitem.id.x()
  %u.value = call i32 @llvm.amdgcn.wave.shuffle.i32(i32 %n, i32 %d.tid)
  %u.lane = call i32 @llvm.amdgcn.wave.shuffle.i32(i32 %d.tid, i32 %n)
  %u.sum = add i32 %u.value, %u.lane
  %u.again = call i32 @llvm.amdgcn.wave.shuffle.i32(i32 %u.sum, i32 %d.tid)
  %d.both = call i32 @llvm.amdgcn.wave.shuffle.i32(i32 %d.tid, i32 %d.tid)
  %d.inactive = call i32 @llvm.amdgcn.ds.bpermute(i32 %d.tid, i32 %n)
  ret void
}
"#,
    );
    a.check("kernel");
}

#[test]
fn a_parameter_is_uniform_if_it_is_at_every_call_and_all_calls_are_known() {
    let text = r#"
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
define internal i32 @inner(i32 %u, i32 %v) {
  %s = add i32 %u, %v
  ret i32 %s
}
define internal i32 @outer(i32 %u, i32 %v, i32 %depth) {
  %a = call i32 @inner(i32 %u, i32 %v)
  %less = sub i32 %depth, 1
  %b = call i32 @outer(i32 %u, i32 %a, i32 %less)
  ret i32 %b
}
define i32 @open(i32 %u) {
  ret i32 %u
}
define internal i32 @stored(i32 %u) {
  ret i32 %u
}
define amdgpu_kernel void @kernel(i32 %n, ptr addrspace(1) %p) {
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %x = call i32 @outer(i32 %n, i32 %tid, i32 4)
  %y = call i32 @open(i32 %n)
  %z = call i32 @stored(i32 %n)
  store ptr @stored, ptr addrspace(1) %p
  ret void
}
"#;
    let imported = Imported::new(Module::parse(text.as_bytes(), "calls").expect("a module"));
    let target = target_of_triple(&imported.ir.triple);
    let found = imported.arguments(target, &imported.summaries(target));
    let of = |name: &str| {
        let shapes = found.of(imported.ir.function(name).expect("it is there"));
        shapes.map(|s| s.iter().map(|s| *s == ArgShape::Uniform).collect::<Vec<_>>())
    };
    assert_eq!(of("inner"), Some(vec![true, false]));
    assert_eq!(of("outer"), Some(vec![true, false, true]));
    assert_eq!((of("open"), of("stored"), of("kernel")), (None, None, None));
}

/// On SIMD lanes a call may run for one lane after the other.
#[test]
fn on_simd_lanes_a_callee_that_sees_what_it_has_written_is_a_source() {
    let a = read(
        r#"
define internal i32 @swap(ptr %p, i32 %v) {
  %old = load i32, ptr %p
  store i32 %v, ptr %p
  ret i32 %old
}
define internal i32 @sum(ptr %p) {
  %own = alloca i32
  %x = load i32, ptr %p
  store i32 %x, ptr %own
  ret i32 %x
}
define void @kernel(i32 %v) {
  %d.swap = call i32 @swap(ptr null, i32 7)
  %u.sum = call i32 @sum(ptr null)
  ret void
}
"#,
    );
    assert_eq!(a.target, Target::Simd);
    a.check("kernel");
}

/// To LLVM 19 to 23 the value of an `invoke` is never divergent, and neither is what depends on it.
#[test]
fn the_value_of_a_divergent_invoke_is_divergent() {
    let a = read(
        r#"
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @unknown(i32)
declare i32 @personality(...)
define i32 @same(i32 %a) { ret i32 %a }
define amdgpu_kernel void @kernel(i32 %n) personality ptr @personality {
entry:
  %d.tid = call i32 @llvm.amdgcn.workitem.id.x()
  %d.x = invoke i32 @unknown(i32 %n) to label %next unwind label %bad
next:
  %d.y = add i32 %d.x, 1
  %d.z = invoke i32 @same(i32 %d.tid) to label %last unwind label %bad
last:
  %u = invoke i32 @same(i32 %n) to label %end unwind label %bad
end:
  ret void
bad:
  %d.e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %d.e
}
"#,
    );
    a.check("kernel");
    assert_eq!(a.report("kernel").divergent.branches[0], "entry");
}

const TOKENS: &str = r#"
target triple = "amdgcn-amd-amdhsa"
declare token @llvm.experimental.convergence.entry()
declare token @llvm.experimental.convergence.anchor()
declare token @llvm.experimental.convergence.loop()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare i32 @llvm.amdgcn.workitem.id.x()

define void @honoured(i32 %n) convergent {
entry:
  %t = call token @llvm.experimental.convergence.entry()
  %d.tid = call i32 @llvm.amdgcn.workitem.id.x()
  br label %outer
outer:
  %o = call token @llvm.experimental.convergence.loop() [ "convergencectrl"(token %t) ]
  br label %inner
inner:
  %i = call token @llvm.experimental.convergence.loop() [ "convergencectrl"(token %o) ]
  %u.first = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %d.tid) [ "convergencectrl"(token %i) ]
  %c = icmp slt i32 %d.tid, %u.first
  br i1 %c, label %inner, label %latch
latch:
  %e = icmp slt i32 %n, 3
  br i1 %e, label %outer, label %end
end:
  ret void
}

define void @anchored(i32 %n) convergent {
  %t = call token @llvm.experimental.convergence.anchor()
  %x = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %n) [ "convergencectrl"(token %t) ]
  ret void
}

define void @unused_anchor(i32 %n) convergent {
  %t = call token @llvm.experimental.convergence.anchor()
  ret void
}

define void @heart_behind_the_header(i32 %n) convergent {
entry:
  %t = call token @llvm.experimental.convergence.entry()
  br label %header
header:
  %c = icmp eq i32 %n, 0
  br i1 %c, label %body, label %end
body:
  %h = call token @llvm.experimental.convergence.loop() [ "convergencectrl"(token %t) ]
  %x = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %n) [ "convergencectrl"(token %h) ]
  br label %header
end:
  ret void
}
"#;

#[test]
fn convergence_tokens_are_honoured_where_they_mean_maximal_convergence_else_refused() {
    // LLVM's verifier would refuse the last function first.
    let a = import(Module::parse(TOKENS.as_bytes(), "tokens.ll").unwrap_or_else(|e| panic!("{e}")));
    let refused = |function: &str| {
        let func = &a.imported.ir.functions[a.id(function)];
        tokens::check(&a.imported.ir, func, a.result(function).cycles()).err()
    };
    a.check("honoured");
    assert_eq!(refused("honoured"), None);
    assert_eq!(refused("unused_anchor"), None);
    let words = refused("anchored").expect("an anchor is refused").to_string();
    assert!(words.starts_with("function `anchored`, %x: ") && words.contains("anchor"), "{words}");
    let words = refused("heart_behind_the_header").expect("a heart elsewhere is refused").to_string();
    assert!(words.contains("%h: the heart of a loop that is not in the header"), "{words}");
}
