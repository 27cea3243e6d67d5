;@ group Memory
;@ construct elements of 8 and 16 bits anywhere, beside others that the lane has accessed before
;@ happens gathers of words that contain them, and shifts
;@ args index, buffer:96=random, varying:4=small
;@ range 0..50
;@ result 4
;@ contains lshr
; { uint8_t, int8_t, int16_t, uint32_t, int8_t, uint8_t, uint16_t }
define i32 @kernel(i32 %i, ptr %nodes, i32 %x) {
entry:
  %known = and i32 %x, 7
  %k = zext i32 %known to i64
  %node = getelementptr [12 x i8], ptr %nodes, i64 %k
  %count.at = getelementptr i8, ptr %node, i64 4
  %count = load i32, ptr %count.at, align 4
  %many = icmp ult i32 %count, -1717986919
  br i1 %many, label %read, label %end
read:
  %a = load i8, ptr %node, align 4
  %b.at = getelementptr i8, ptr %node, i64 2
  %b = load i16, ptr %b.at, align 2
  %c.at = getelementptr i8, ptr %node, i64 8
  %c = load i8, ptr %c.at, align 4
  %odd.bit = and i32 %count, 1
  %odd = icmp ne i32 %odd.bit, 0
  br i1 %odd, label %more, label %join
more:
  %d.at = getelementptr i8, ptr %node, i64 9
  %d = load i8, ptr %d.at, align 1
  %e.at = getelementptr i8, ptr %node, i64 10
  %e = load i16, ptr %e.at, align 2
  %d.wide = zext i8 %d to i32
  %e.wide = zext i16 %e to i32
  %de = mul i32 %d.wide, %e.wide
  br label %join
join:
  %de.or.not = phi i32 [ 0, %read ], [ %de, %more ]
  %a.wide = zext i8 %a to i32
  %b.wide = sext i16 %b to i32
  %c.wide = sext i8 %c to i32
  %ab = mul i32 %a.wide, %b.wide
  %abc = add i32 %ab, %c.wide
  %abcde = xor i32 %abc, %de.or.not
  br label %end
end:
  %r = phi i32 [ %count, %entry ], [ %abcde, %join ]
  ret i32 %r
}
