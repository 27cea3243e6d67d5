;@ group Memory
;@ construct updates of places that lanes may have in common (`h[x[i]]++` in a kernel)
;@ args index, buffer:64=zero, buffer:200=random
;@ range 0..50
;@ refused at an address that several lanes may have in common
define void @kernel(i32 %i, ptr noalias %h, ptr noalias %x) {
  %j = zext i32 %i to i64
  %p = getelementptr i32, ptr %x, i64 %j
  %v = load i32, ptr %p, align 4
  %k = and i32 %v, 15
  %w = zext i32 %k to i64
  %q = getelementptr i32, ptr %h, i64 %w
  %s = load i32, ptr %q, align 4
  %t = add i32 %s, 1
  store i32 %t, ptr %q, align 4
  ret void
}
