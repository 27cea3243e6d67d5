;@ group Values
;@ construct conversions to integers that saturate (`llvm.fptosi.sat`, Rust's `x as u8`)
;@ happens vector code: comparisons and one conversion
;@ args index, varying:4=random
;@ range 0..50
;@ result 1
declare i8 @llvm.fptoui.sat.i8.f32(float)
define i8 @kernel(i32 %i, float %x) {
  %n = sitofp i32 %i to float
  %far = fmul float %n, 20.0
  %y = fadd float %far, %x
  %r = call i8 @llvm.fptoui.sat.i8.f32(float %y)
  ret i8 %r
}
