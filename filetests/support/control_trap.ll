;@ group Control flow
;@ construct exits that never return, such as panics
;@ happens a branch asks whether any lane goes there; the first one does
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
declare void @abort() noreturn nounwind

define i32 @kernel(i32 %i, i32 %x) {
entry:
  %bad = icmp ugt i32 %x, 100
  br i1 %bad, label %fail, label %good
fail:
  call void @abort()
  unreachable
good:
  %y = add i32 %x, %i
  ret i32 %y
}
