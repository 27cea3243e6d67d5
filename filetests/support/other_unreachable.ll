;@ group What has gone wrong elsewhere
;@ construct RV: `unreachable` in a branch
;@ happens nothing is executed for it
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
define i32 @kernel(i32 %i, i32 %x) {
entry:
  %c = icmp ult i32 %x, 100
  br i1 %c, label %then, label %never
then:
  %y = mul i32 %x, %i
  ret i32 %y
never:
  unreachable
}
