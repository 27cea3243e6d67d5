;@ group Values
;@ construct `frem` (Rust's `%`) and, as calls, `fmod`, `remainder`, `fdim`, `nextafter`, `logb`, `ldexp`
;@ happens expanded inline, with the bits of the scalar functions
;@ args index, varying:8=random
;@ range 0..50
;@ result 8
define double @kernel(i32 %i, double %x) {
  %n = sitofp i32 %i to double
  %y = fadd double %n, 1.5
  %r = frem double %x, %y
  ret double %r
}
