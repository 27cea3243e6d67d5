;@ group Lane operations
;@ construct `warpline_any`, `warpline_all`
;@ happens once: a reduction of the active lanes' bits
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ contains llvm.vector.reduce.or
;@ lockstep
declare i1 @warpline_any(i1) convergent
define i32 @kernel(i32 %i, i32 %x) {
  %c = icmp ult i32 %x, 3
  %any = call i1 @warpline_any(i1 %c) convergent
  %r = select i1 %any, i32 %x, i32 -1
  ret i32 %r
}
