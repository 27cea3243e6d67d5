;@ group Memory
;@ construct the same, where only some lanes have accessed the others
;@ happens scalarized gathers of the elements
;@ args index, buffer:29=random, varying:4=small
;@ range 0..50
;@ result 4
;@ contains llvm.masked.gather.v4i8.v4p0
; The word in front of the first byte is not there, nor are the bytes behind the last one.
define i32 @kernel(i32 %i, ptr %bytes, i32 %x) {
entry:
  %known = and i32 %x, 7
  %k = zext i32 %known to i64
  %byte.at = getelementptr i32, ptr %bytes, i64 %k
  %inside = icmp ne i32 %known, 0
  br i1 %inside, label %read, label %next
read:
  %before.at = getelementptr i8, ptr %byte.at, i64 -4
  %before = load i32, ptr %before.at, align 1
  br label %next
next:
  %sum = phi i32 [ 7, %entry ], [ %before, %read ]
  %byte = load i8, ptr %byte.at, align 1
  %wide = zext i8 %byte to i32
  %r = xor i32 %sum, %wide
  ret i32 %r
}
