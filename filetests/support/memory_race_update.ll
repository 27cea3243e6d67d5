;@ group Memory
;@ construct updates of one place by all lanes (`sum[0] += x[i]` in a kernel)
;@ args index, buffer:4=zero, buffer:200=random
;@ range 0..50
;@ refused is read and written by all lanes at once, which is a race
define void @kernel(i32 %i, ptr noalias %sum, ptr noalias %x) {
  %j = zext i32 %i to i64
  %p = getelementptr i32, ptr %x, i64 %j
  %v = load i32, ptr %p, align 4
  %s = load i32, ptr %sum, align 4
  %t = add i32 %s, %v
  store i32 %t, ptr %sum, align 4
  ret void
}
