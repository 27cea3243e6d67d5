;@ group Lane operations
;@ construct `__syncthreads`, `__kmpc_barrier`, `__spirv_ControlBarrier`, intrinsics of GPUs, under any name, in kernels over an index; of clusters, waves, or a number of work-items (`barrier.cta.sync.count`) in all
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
