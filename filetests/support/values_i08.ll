;@ group Values
;@ construct `i8`
;@ happens vector code
;@ args index, varying:1=random
;@ range 0..50
;@ result 1
;@ contains <4 x i8> = mul
define i8 @kernel(i32 %i, i8 %x) {
  %y = mul i8 %x, 5
  %z = lshr i8 %y, 3
  %r = xor i8 %z, %x
  ret i8 %r
}
