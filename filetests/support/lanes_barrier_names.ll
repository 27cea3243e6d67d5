;@ group Lane operations
;@ construct `__syncthreads`, `__syncwarp`, `__spirv_ControlBarrier`, `__kmpc_barrier`, intrinsics of GPUs, mangled or not, `convergent` or not
;@ happens refused
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ refused all work-items of a group wait for each other at `__syncthreads`
declare void @__syncthreads()
define i32 @kernel(i32 %i, i32 %x) {
  call void @__syncthreads()
  %r = add i32 %x, %i
  ret i32 %r
}
