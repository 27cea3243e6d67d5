;@ group Calls
;@ construct coroutines (`llvm.coro.…`)
;@ happens refused
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ refused suspends or hands on a whole frame
declare i8 @llvm.coro.suspend(token, i1)
define i32 @kernel(i32 %i, i32 %x) {
  %s = call i8 @llvm.coro.suspend(token none, i1 false)
  %w = zext i8 %s to i32
  %r = add i32 %x, %w
  ret i32 %r
}
