;@ group Values
;@ construct flags of fast mathematics
;@ happens vector code with the same flags
;@ args index, varying:4=small, uniform=3
;@ range 0..50
;@ result 4
;@ contains fmul nnan nsz
define float @kernel(i32 %i, i32 %x, i32 %u) {
  %a = sitofp i32 %x to float
  %b = sitofp i32 %u to float
  %p = fmul nnan nsz float %a, %b
  %q = fadd nnan float %p, 1.5
  ret float %q
}
