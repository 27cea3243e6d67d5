;@ group What has gone wrong elsewhere
;@ construct RV: an index of 8 bits that wraps
;@ happens a gather, since the neighbours are not where they seem to be
;@ args index, buffer:256=random
;@ range 120..200
;@ result 1
;@ contains llvm.masked.gather
define i8 @kernel(i32 %i, ptr %a) {
  %n = trunc i32 %i to i8
  %m = add i8 %n, 100
  %k = zext i8 %m to i64
  %p = getelementptr i8, ptr %a, i64 %k
  %x = load i8, ptr %p
  ret i8 %x
}
