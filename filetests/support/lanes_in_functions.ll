;@ group Lane operations
;@ construct lane operations in functions that are called
;@ happens among the lanes that are active at the call
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ lockstep
declare i32 @warpline_popcount(i1) convergent
define internal i32 @how_many(i32 %x) noinline convergent {
  %c = icmp ult i32 %x, 5
  %n = call i32 @warpline_popcount(i1 %c) convergent
  ret i32 %n
}
define i32 @kernel(i32 %i, i32 %x) {
entry:
  %all = call i32 @how_many(i32 %x) convergent
  %c = icmp ult i32 %x, 3
  br i1 %c, label %then, label %end
then:
  %some = call i32 @how_many(i32 %i) convergent
  br label %end
end:
  %other = phi i32 [ 0, %entry ], [ %some, %then ]
  %high = shl i32 %all, 8
  %r = or i32 %high, %other
  ret i32 %r
}
