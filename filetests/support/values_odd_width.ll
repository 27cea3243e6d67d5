;@ group Values
;@ construct integers of odd widths (`i24`, `i33`)
;@ happens vector code
;@ args index, varying:4=random
;@ range 0..50
;@ result 4
;@ contains <4 x i24>
define i32 @kernel(i32 %i, i32 %x) {
  %a = trunc i32 %x to i24
  %b = mul i24 %a, 77
  %c = sext i24 %b to i33
  %d = ashr i33 %c, 5
  %r = trunc i33 %d to i32
  ret i32 %r
}
