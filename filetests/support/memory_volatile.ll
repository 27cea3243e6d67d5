;@ group Memory
;@ construct volatile loads and stores
;@ happens per lane, in lane order
;@ args index, varying:4=small, buffer:4=zero
;@ range 0..50
;@ contains i32 = load volatile
;@ lockstep
define void @kernel(i32 %i, i32 %x, ptr %p) {
  %y = load volatile i32, ptr %p
  %z = add i32 %y, %x
  store volatile i32 %z, ptr %p
  ret void
}
