;@ group Memory
;@ construct pointers in several address spaces
;@ happens as in the first one, each with its own
;@ args index, buffer:256=random, buffer:256=zero
;@ range 0..50
;@ contains <4 x i32> = load
define void @kernel(i32 %i, ptr addrspace(1) %a, ptr %out) {
  %index = sext i32 %i to i64
  %p = getelementptr i32, ptr addrspace(1) %a, i64 %index
  %x = load i32, ptr addrspace(1) %p, align 4
  %j = and i32 %x, 63
  %q = getelementptr i32, ptr addrspace(1) %a, i32 %j
  %flat = addrspacecast ptr addrspace(1) %q to ptr
  %y = load i32, ptr %flat, align 4
  %sum = add i32 %x, %y
  %o = getelementptr i32, ptr %out, i64 %index
  store i32 %sum, ptr %o, align 4
  ret void
}
