;@ group Lane operations
;@ construct `warpline_ballot`, `warpline_popcount`
;@ happens once: bits of the mask
;@ args index, varying:4=small
;@ range 0..50
;@ result 8
;@ lockstep
declare i64 @warpline_ballot(i1) convergent
define i64 @kernel(i32 %i, i32 %x) {
  %c = icmp ult i32 %x, 3
  %bits = call i64 @warpline_ballot(i1 %c) convergent
  ret i64 %bits
}
