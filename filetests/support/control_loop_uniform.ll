;@ group Control flow
;@ construct loop that lanes leave together
;@ happens stays as it is
;@ args index, uniform=5
;@ range 0..50
;@ result 4
;@ kept 1
;@ divergent 0
define i32 @kernel(i32 %i, i32 %n) {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %s = phi i32 [ %i, %entry ], [ %s1, %loop ]
  %t = mul i32 %s, %s
  %s1 = add i32 %t, %k
  %k1 = add i32 %k, 1
  %more = icmp ult i32 %k1, %n
  br i1 %more, label %loop, label %end
end:
  ret i32 %s1
}
