; test: passes canonicalize

; Two returns become one; the loop gets a preheader and one back edge; what leaves it does so through a φ of its exit.
func @search(%x: i32, %un: i32) -> i32 {
entry:
  %is: i1 = icmp sgt %x, 100
  br %is, early, loop(0)
early:
  ret -1
loop:
  %k: i32 = phi
  %next: i32 = add %k, 1
  %odd: i1 = icmp eq %next, %x
  br %odd, loop(7), again
again:
  %more: i1 = icmp slt %next, %un
  br %more, loop(%next), end
end:
  ret %next
}
; check: passes
; func @search(%x: i32, %un: i32) -> i32 phase canonical {
; entry:
;   %is: i1 = icmp sgt %x, 100
;   br %is, early, preheader(0)
; early:
;   br exit(-1)
; latch:
;   %v14: i32 = phi
;   br loop(%v14)
; preheader:
;   %v15: i32 = phi
;   br loop(%v15)
; loop:
;   %k: i32 = phi
;   %next: i32 = add %k, 1
;   %odd: i1 = icmp eq %next, %x
;   br %odd, latch(7), again
; again:
;   %more: i1 = icmp slt %next, %un
;   br %more, latch(%next), end(%next)
; end:
;   %v16: i32 = phi
;   br exit(%v16)
; exit:
;   %v13: i32 = phi
;   ret %v13
; }
