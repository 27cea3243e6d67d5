;@ group Memory
;@ construct a load from a uniform address
;@ happens once
;@ args index, buffer:4=random
;@ range 0..20
;@ result 4
;@ contains i32 = load %a
define i32 @kernel(i32 %i, ptr %a) {
  %x = load i32, ptr %a
  %r = add i32 %x, %i
  ret i32 %r
}
