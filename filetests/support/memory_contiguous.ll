;@ group Memory
;@ construct elements of neighbours: `a[i]`
;@ happens vector load or store
;@ args index, buffer:256=random
;@ range 0..60
;@ result 4
;@ contains <4 x i32> = load
define i32 @kernel(i32 %i, ptr %a) {
  %k = zext nneg i32 %i to i64
  %p = getelementptr i32, ptr %a, i64 %k
  %x = load i32, ptr %p
  ret i32 %x
}
