;@ group Memory
;@ construct elements anywhere: `a[b[i]]`
;@ happens gather or scatter
;@ args index, buffer:256=random, varying:4=small
;@ range 0..50
;@ result 4
;@ contains llvm.masked.gather
define i32 @kernel(i32 %i, ptr %a, i32 %x) {
  %k = zext i32 %x to i64
  %p = getelementptr i32, ptr %a, i64 %k
  %y = load i32, ptr %p
  ret i32 %y
}
