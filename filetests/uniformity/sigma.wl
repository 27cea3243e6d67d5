; test: uniformity i=index,n=uniform,p=uniform

; Names on edges are as their values: uniform, strided, and different in other iterations.
func @search(%i: i32, %n: i32, %p: ptr) -> i32 {
entry:
  br head(0, %i)
head:
  %k: i32 = phi
  %x: i32 = phi
  %q: ptr = getelementptr i32, %p, %x
  %v: i32 = load %q, align 4
  %c: i1 = icmp slt %v, %n
  %k.in: i32, %k.out: i32 = sigma %k
  %x.in: i32, %x.out: i32 = sigma %x
  %n.in: i32, %n.out: i32 = sigma %n
  br %c, body, exit
body:
  %k.next: i32 = add nuw nsw %k.in, 1
  %x.next: i32 = add nsw %x.in, %n.in
  br head(%k.next, %x.next)
exit:
  %y: i32 = add %k.out, %n.out
  %z: i32 = add %n.out, 1
  ret %y
}
; check: uniformity
; function search: 4 blocks, 16 instructions
;   arguments: %i index, %n uniform, %p uniform
;   divergent: 8 of 15 values (5 strided), 1 of 1 branch, 1 of 1 loop
;   divergent branch head: depends on %v = load, which depends on the argument %i (index)
;   divergent loop head: lanes leave the loop at block head in different iterations by the edge head → exit: they diverge at the branch of block head
;   temporal: %k.out used by %y outside the loop head
; %x: stride(1) nsw
; %q: stride(4), not from lane 0
; %v: varying
; %c: varying
; %x.in: stride(1) nsw
; %x.out: stride(1) nsw
; %x.next: stride(1) nsw
; %y: varying
