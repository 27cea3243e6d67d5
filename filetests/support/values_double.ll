;@ group Values
;@ construct `float` and `double`, bit for bit
;@ happens vector code
;@ args index, varying:4=random
;@ range 0..50
;@ result 8
;@ contains <4 x double> = fdiv
define double @kernel(i32 %i, i32 %x) {
  %d = uitofp i32 %x to double
  %e = fdiv double %d, 3.0
  %f = fptrunc double %e to float
  %g = fpext float %f to double
  %r = fsub double %e, %g
  ret double %r
}
