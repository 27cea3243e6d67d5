;@ group Values
;@ construct `i16`
;@ happens vector code
;@ args index, varying:2=random
;@ range 0..50
;@ result 2
;@ contains <4 x i16> = mul
define i16 @kernel(i32 %i, i16 %x) {
  %y = mul i16 %x, 5
  %z = lshr i16 %y, 3
  %r = xor i16 %z, %x
  ret i16 %r
}
