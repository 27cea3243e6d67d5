; test: uniformity i=index,n=uniform,p=uniform

; The loop is left when the lane's own element says so. The counter is uniform inside and differs outside; the
; index keeps its stride inside and loses it outside.
func @search(%i: i32, %n: i32, %p: ptr) -> i32 {
entry:
  br head(0, %i) !0
head:
  %k: i32 = phi
  %x: i32 = phi
  %k.next: i32 = add nuw nsw %k, 1
  %x.next: i32 = add nsw %x, %n
  %q: ptr = getelementptr i32, %p, %x
  %v: i32 = load %q, align 4 !1
  %c: i1 = icmp slt %v, %n
  br %c, head(%k.next, %x.next), exit !2
exit:
  %y: i32 = add %k, %x
  ret %y
}
; check: uniformity
; function search: 3 blocks, 11 instructions
;   arguments: %i index, %n uniform, %p uniform
;   divergent: 6 of 8 values (3 strided), 1 of 1 branch, 1 of 1 loop
;   divergent branch head (k.c:12): depends on %v = load (k.c:11), which depends on the argument %i (index)
;   divergent loop head (k.c:11): lanes leave the loop at block head in different iterations by the edge head → exit: they diverge at the branch of block head (k.c:12)
;   temporal: %k used by %y outside the loop head
;   temporal: %x used by %y outside the loop head
; %x: stride(1) nsw
; %x.next: stride(1) nsw
; %q: stride(4), not from lane 0
; %v: varying
; %c: varying
; %y: varying

; A loop that all lanes leave together: nothing happens to what comes out of it.
func @sum(%i: i32, %n: i32, %p: ptr) -> float {
entry:
  br head(0, 0.0)
head:
  %k: i32 = phi
  %s: float = phi
  %at: i32 = add nsw %i, %k
  %q: ptr = getelementptr float, %p, %at
  %v: float = load %q, align 4
  %s.next: float = fadd %s, %v
  %k.next: i32 = add nuw nsw %k, 1
  %c: i1 = icmp slt %k.next, %n
  br %c, head(%k.next, %s.next), exit
exit:
  ret %s.next
}
; check: uniformity
; function sum: 3 blocks, 11 instructions
;   arguments: %i index, %n uniform, %p uniform
;   divergent: 5 of 8 values (2 strided), 0 of 1 branch, 0 of 1 loop
; %s: varying
; %at: stride(1) nsw
; %q: stride(4), not from lane 0
; %v: varying
; %s.next: varying

; The inner loop is left apart, so what it computed varies in the outer one; the outer counter does not.
func @nested(%i: i32, %n: i32, %p: ptr) -> i32 {
entry:
  br outer(0)
outer:
  %a: i32 = phi
  br inner(%a)
inner:
  %b: i32 = phi
  %b.next: i32 = add nsw %b, 1
  %c: i1 = icmp slt %b.next, %i
  br %c, inner(%b.next), latch
latch:
  %a.next: i32 = add nsw %a, 1
  %d: i1 = icmp slt %a.next, %n
  br %d, outer(%a.next), exit
exit:
  %r: i32 = add %b.next, %a.next
  ret %r
}
; check: uniformity
; function nested: 5 blocks, 12 instructions
;   arguments: %i index, %n uniform, %p uniform
;   divergent: 2 of 7 values (0 strided), 1 of 2 branches, 1 of 2 loops
;   divergent branch inner: depends on the argument %i (index)
;   divergent loop inner: lanes leave the loop at block inner in different iterations by the edge inner → latch: they diverge at the branch of block inner
;   temporal: %b.next used by %r outside the loop inner
; %c: varying
; %r: varying

!0 = "k.c":10:1
!1 = "k.c":11:9
!2 = "k.c":12:5
