;@ group Control flow
;@ construct divergent loop (`break`)
;@ happens vector code: goes on while any lane does
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ divergent 1
define i32 @kernel(i32 %i, i32 %x) {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %next ]
  %done = icmp uge i32 %k, %x
  br i1 %done, label %end, label %next
next:
  %k1 = add i32 %k, 3
  br label %loop
end:
  ret i32 %k
}
