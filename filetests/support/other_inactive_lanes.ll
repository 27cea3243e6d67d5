;@ group What has gone wrong elsewhere
;@ construct ISPC: what lanes that are not active compute
;@ happens goes nowhere: they may hold anything
;@ args index, varying:4=small, buffer:64=random
;@ range 0..50
;@ result 4
define i32 @kernel(i32 %i, i32 %x, ptr %a) {
entry:
  %c = icmp ult i32 %x, 4
  br i1 %c, label %then, label %end
then:
  %s = shl nuw nsw i32 %x, 2
  %k = zext nneg i32 %s to i64
  %p = getelementptr inbounds i32, ptr %a, i64 %k
  %y = load i32, ptr %p
  %q = udiv i32 %y, 7
  br label %end
end:
  %r = phi i32 [ %x, %entry ], [ %q, %then ]
  ret i32 %r
}
