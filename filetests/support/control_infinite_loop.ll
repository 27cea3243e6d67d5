;@ group Control flow
;@ construct infinite loop that no lane enters
;@ happens not entered
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ mandatory 1
define i32 @kernel(i32 %i, i32 %x) {
entry:
  %bad = icmp ugt i32 %x, 100
  br i1 %bad, label %spin, label %good
spin:
  br label %spin
good:
  %y = add i32 %x, %i
  ret i32 %y
}
