;@ group Values
;@ construct `i64`
;@ happens vector code
;@ args index, varying:8=random
;@ range 0..50
;@ result 8
;@ contains <4 x i64> = mul
define i64 @kernel(i32 %i, i64 %x) {
  %y = mul i64 %x, 5
  %z = lshr i64 %y, 3
  %r = xor i64 %z, %x
  ret i64 %r
}
