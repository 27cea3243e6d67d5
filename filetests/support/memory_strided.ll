;@ group Memory
;@ construct every n-th element: `a[3 * i]`
;@ happens wide accesses and shuffles, or a gather or scatter where they would be many
;@ args index, buffer:800=random
;@ range 0..60
;@ result 4
define i32 @kernel(i32 %i, ptr %a) {
  %j = mul nuw nsw i32 %i, 3
  %k = zext nneg i32 %j to i64
  %p = getelementptr i32, ptr %a, i64 %k
  %x = load i32, ptr %p
  ret i32 %x
}
