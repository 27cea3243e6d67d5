;@ group Control flow
;@ construct `if` on a uniform condition
;@ happens once: stays a branch
;@ args index, varying:4=random, uniform=3
;@ range 0..50
;@ result 4
;@ kept 1
;@ divergent 0
define i32 @kernel(i32 %i, i32 %x, i32 %u) {
entry:
  %c = icmp ugt i32 %u, 2
  br i1 %c, label %then, label %end
then:
  %y = mul i32 %x, %u
  br label %end
end:
  %r = phi i32 [ %x, %entry ], [ %y, %then ]
  ret i32 %r
}
