;@ group Memory
;@ construct elements backwards: `a[n - i]`
;@ happens vector load or store, and a shuffle
;@ args index, buffer:256=random
;@ range 0..60
;@ result 4
define i32 @kernel(i32 %i, ptr %a) {
  %j = sub nuw nsw i32 60, %i
  %k = zext nneg i32 %j to i64
  %p = getelementptr i32, ptr %a, i64 %k
  %x = load i32, ptr %p
  ret i32 %x
}
