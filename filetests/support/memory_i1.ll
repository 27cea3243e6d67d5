;@ group Memory
;@ construct `i1` in memory
;@ happens vector code
;@ args index, buffer:256=small
;@ range 0..60
;@ result 1
define i1 @kernel(i64 %i, ptr %a) {
  %p = getelementptr i8, ptr %a, i64 %i
  %b = load i8, ptr %p
  %odd = trunc i8 %b to i1
  %q = getelementptr i8, ptr %p, i64 100
  store i1 %odd, ptr %q
  %back = load i1, ptr %q
  ret i1 %back
}
