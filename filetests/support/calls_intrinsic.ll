;@ group Calls
;@ construct intrinsics with a vector form (`llvm.sqrt`, `llvm.umin`, …)
;@ happens vector code
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ contains llvm.sqrt.v4f32
declare float @llvm.sqrt.f32(float)
define float @kernel(i32 %i, i32 %x) {
  %f = uitofp i32 %x to float
  %r = call float @llvm.sqrt.f32(float %f)
  ret float %r
}
