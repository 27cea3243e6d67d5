;@ group Values
;@ construct `i128`
;@ happens vector code
;@ args index, varying:8=random
;@ range 0..50
;@ result 8
;@ contains <4 x i128>
define i64 @kernel(i32 %i, i64 %x) {
  %a = zext i64 %x to i128
  %b = mul i128 %a, %a
  %c = lshr i128 %b, 40
  %r = trunc i128 %c to i64
  ret i64 %r
}
