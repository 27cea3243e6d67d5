;@ group Values
;@ construct `freeze`, `undef`, `poison`
;@ happens vector code; poison of lanes that are not active goes nowhere
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
define i32 @kernel(i32 %i, i32 %x) {
entry:
  %c = icmp ult i32 %x, 4
  br i1 %c, label %then, label %end
then:
  %y = freeze i32 %x
  br label %end
end:
  %r = phi i32 [ poison, %entry ], [ %y, %then ]
  %s = select i1 %c, i32 %r, i32 9
  ret i32 %s
}
