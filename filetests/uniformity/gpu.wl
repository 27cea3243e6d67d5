; test: uniformity p=uniform,n=uniform
declare @llvm.nvvm.read.ptx.sreg.tid.x() -> i32 []

; A grid-stride loop as a GPU sees it: the work-item number makes the trip count differ.
func @stride(%p: ptr, %n: i32) -> void {
entry:
  %tid: i32 = call @llvm.nvvm.read.ptx.sreg.tid.x()
  br head(%tid)
head:
  %i: i32 = phi
  %c: i1 = icmp ult %i, %n
  br %c, body, exit
body:
  %q: ptr = getelementptr i32, %p, %i
  store %i, %q, align 4
  %next: i32 = add %i, 32
  br head(%next)
exit:
  ret
}
; check: uniformity
; function stride: 4 blocks, 10 instructions
;   arguments: %p uniform, %n uniform
;   divergent: 5 of 5 values (0 strided), 1 of 1 branch, 1 of 1 loop
;   divergent branch head: since %tid = call @llvm.nvvm.read.ptx.sreg.tid.x yields what differs from lane to lane
;   divergent loop head: lanes leave the loop at block head in different iterations by the edge head → exit: they diverge at the branch of block head
; %tid: varying
; %i: varying
; %c: varying
; %q: varying
; %next: varying
