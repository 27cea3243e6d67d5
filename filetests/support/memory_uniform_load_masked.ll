;@ group Memory
;@ construct the same where only some lanes want it
;@ happens once, behind a test whether any lane does
;@ args index, varying:4=small, uniform=0
;@ range 0..50
;@ result 4
;@ mandatory 1
define i32 @kernel(i32 %i, i32 %x, ptr %null) {
entry:
  %c = icmp ugt i32 %x, 100
  br i1 %c, label %then, label %end
then:
  %y = load i32, ptr %null
  br label %end
end:
  %r = phi i32 [ %x, %entry ], [ %y, %then ]
  ret i32 %r
}
