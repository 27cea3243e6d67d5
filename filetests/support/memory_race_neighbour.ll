;@ group Memory
;@ construct loads of what the next or previous lane stores (`o[i] = o[i - 1] * 2` in a kernel)
;@ args index, buffer:404=random
;@ range 1..50
;@ refused which is a race between lanes
define void @kernel(i32 %i, ptr %o) {
  %j = zext i32 %i to i64
  %p = getelementptr inbounds i32, ptr %o, i64 %j
  %b = getelementptr inbounds i8, ptr %p, i64 -4
  %v = load i32, ptr %b, align 4
  %t = shl i32 %v, 1
  store i32 %t, ptr %p, align 4
  ret void
}
