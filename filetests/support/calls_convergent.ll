;@ group Calls
;@ construct other convergent calls
;@ happens refused
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ refused depends on the other lanes
declare void @together() convergent
define i32 @kernel(i32 %i, i32 %x) {
  call void @together() convergent
  %r = add i32 %x, %i
  ret i32 %r
}
