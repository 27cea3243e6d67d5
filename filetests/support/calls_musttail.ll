;@ group Calls
;@ construct `musttail` calls; functions that are called may have them
;@ happens refused
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ refused as `musttail`, the last thing that the function does
declare i32 @other(i32, i32)
define i32 @kernel(i32 %i, i32 %x) {
  %r = musttail call i32 @other(i32 %i, i32 %x)
  ret i32 %r
}
