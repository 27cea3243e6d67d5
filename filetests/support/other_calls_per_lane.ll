;@ group What has gone wrong elsewhere
;@ construct ISPC: calls of scalar functions in some lanes
;@ happens per active lane, in lane order
;@ args index, varying:4=small
;@ range 0..50
;@ contains @log_call
declare void @log_call(i32, i32)
define void @kernel(i32 %i, i32 %x) {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %next ]
  %done = icmp uge i32 %k, %x
  br i1 %done, label %end, label %next
next:
  call void @log_call(i32 %i, i32 %k)
  %k1 = add i32 %k, 2
  br label %loop
end:
  ret void
}
