;@ group Control flow
;@ construct kernels that never return
;@ happens refused
;@ args index, varying:4=small
;@ range 0..50
;@ refused control never returns from it
define void @kernel(i32 %i, i32 %x) {
  unreachable
}
