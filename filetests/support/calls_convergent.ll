;@ group Calls
;@ construct convergent calls (barriers)
;@ happens refused
;@ args index, varying:4=small
;@ range 0..50
;@ refused depends on the other lanes
declare void @barrier() convergent
define void @kernel(i32 %i, i32 %x) {
  call void @barrier() convergent
  ret void
}
