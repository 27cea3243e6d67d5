;@ group Calls
;@ construct functions without effects on uniform operands
;@ happens once
;@ args index, uniform=9
;@ range 0..50
;@ result 4
;@ contains call @llvm.ctpop.i32(
declare i32 @llvm.ctpop.i32(i32)
define i32 @kernel(i32 %i, i32 %u) {
  %a = call i32 @llvm.ctpop.i32(i32 %u)
  %r = add i32 %a, %i
  ret i32 %r
}
