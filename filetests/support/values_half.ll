;@ group Values
;@ construct `half`
;@ happens vector code
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ contains <4 x half> = fmul
define float @kernel(i32 %i, i32 %x) {
  %h = uitofp i32 %x to half
  %g = fmul half %h, %h
  %r = fpext half %g to float
  ret float %r
}
