;@ group Lane operations
;@ construct CUDA's and HIP's `threadIdx`, `blockIdx`, `blockDim`, `gridDim` (`llvm.nvvm.read.ptx.sreg.…`, `llvm.amdgcn.workitem.id.…`, `….workgroup.id.…`)
;@ happens as OpenCL's
;@ args buffer:600=small, buffer:600=zero, index, uniform=0, uniform=1
;@ range 0..50
;@ contains <4 x i32>
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
define void @kernel(ptr %a, ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %g = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %k = zext i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %k
  %q = getelementptr i32, ptr %out, i64 %k
  %x = load i32, ptr %p
  %y = add i32 %x, %g
  store i32 %y, ptr %q
  ret void
}
