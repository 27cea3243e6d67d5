;@ group Values
;@ construct `x86_fp80`, `fp128`, `bfloat`
;@ happens per lane where the machine has no vectors of them
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ machine
define i32 @kernel(i32 %i, i32 %x) {
  %a = sitofp i32 %x to x86_fp80
  %b = fdiv x86_fp80 %a, 0xK4000C000000000000000
  %c = fptrunc x86_fp80 %b to float
  %d = fpext float %c to fp128
  %e = fadd fp128 %d, %d
  %f = fptosi fp128 %e to i32
  %g = fptrunc float %c to bfloat
  %h = fpext bfloat %g to float
  %j = fptosi float %h to i32
  %r = add i32 %f, %j
  ret i32 %r
}
