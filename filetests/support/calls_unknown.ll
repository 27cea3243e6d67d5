;@ group Calls
;@ construct functions that are only declared
;@ happens per active lane, in lane order
;@ args index, varying:4=small
;@ range 0..50
;@ contains @log_call
declare void @log_call(i32, i32)
define void @kernel(i32 %i, i32 %x) {
entry:
  %c = icmp ult i32 %x, 4
  br i1 %c, label %then, label %end
then:
  call void @log_call(i32 %i, i32 %x)
  br label %end
end:
  ret void
}
