;@ group Memory
;@ construct atomic operations
;@ happens per lane, in lane order
;@ args index, varying:4=small, buffer:4=zero
;@ range 0..50
;@ contains atomicrmw
define void @kernel(i32 %i, i32 %x, ptr %p) {
  %old = atomicrmw add ptr %p, i32 %x seq_cst
  ret void
}
