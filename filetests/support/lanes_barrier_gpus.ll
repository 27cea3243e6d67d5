;@ group Lane operations
;@ construct barriers of the group in modules for GPUs and of SPIR-V: `llvm.nvvm.barrier0` and what LLVM makes of it, also with `popc`, `and`, `or`; `llvm.amdgcn.s.barrier`; `__spirv_ControlBarrier` of scope 2
;@ happens as OpenCL's `barrier`
;@ args buffer:600=small, buffer:600=zero
;@ range 0..50
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.nvvm.barrier0.popc(i32)
declare void @llvm.amdgcn.s.barrier()
declare void @__spirv_ControlBarrier(i32, i32, i32)
define void @kernel(ptr %a, ptr %t) {
  %l = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %k = zext i32 %l to i64
  %o = xor i64 %k, 1
  %p = getelementptr i32, ptr %a, i64 %k
  %q = getelementptr i32, ptr %t, i64 %k
  %r = getelementptr i32, ptr %t, i64 %o
  %x = load i32, ptr %p
  store i32 %x, ptr %q
  call void @llvm.nvvm.barrier0()
  %y = load i32, ptr %r
  call void @llvm.amdgcn.s.barrier()
  store i32 %y, ptr %q
  call void @__spirv_ControlBarrier(i32 2, i32 2, i32 272)
  %z = load i32, ptr %r
  %n = call i32 @llvm.nvvm.barrier0.popc(i32 %z)
  %s = add i32 %z, %n
  store i32 %s, ptr %p
  ret void
}
