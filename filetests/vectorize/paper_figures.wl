; test: linearize

; The figures of paper 3. Their drawings are not at hand in text form: each graph is reconstructed from what the
; paper says of it, and the remark says what is a guess. Blocks have the paper's names. A block's work is a store to an
; address of each lane's own, which needs no guard. Conditions whose names begin with `u` are uniform.

; Fig. 3, the walk-through: c dominates f and g, and the three have the indices 4 to 6. Said by the text: blocks a to h in
; all, this index, divergent branches. Guessed: the edges, and which branches are divergent (b and c here).
func @figure3(%ua: i1, %b: i1, %c: i1, %p: ptr) {
a:
  br %ua, b, c
b:
  br %b, d, e
c:
  br %c, f, g
d:
  store i32 3, %p, align 4
  br e
e:
  store i32 4, %p, align 4
  br h
f:
  store i32 5, %p, align 4
  br g
g:
  store i32 6, %p, align 4
  br h
h:
  ret
}
; check: linearize
; branches: 2 divergent, 1 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @figure3(%ua: i1, %b: i1, %c: i1, %p: ptr) phase linearized {
; a:
;   br %ua, b, c
; b:
;   br d
; c:
;   br f
; d mask %b:
;   store i32 3, %p, align 4
;   br e
; e:
;   store i32 4, %p, align 4
;   br h
; f mask %c:
;   store i32 5, %p, align 4
;   br g
; g:
;   store i32 6, %p, align 4
;   br h
; h:
;   ret
; }

; The same graph with a divergent branch in a and a uniform one in c: both sides stand in one line, c's branch stays and has a
; guard, since no lane may come to c.
func @figure3_divergent_above(%a: i1, %b: i1, %uc: i1, %p: ptr, %q: ptr) {
a:
  br %a, b, c
b:
  br %b, d, e
c:
  br %uc, f, g
d:
  store i32 3, %p, align 4
  br e
e:
  store i32 4, %p, align 4
  br h
f:
  store i32 5, %p, align 4
  br g
g:
  store i32 6, %q, align 4
  br h
h:
  ret
}
; check: linearize
; branches: 2 divergent, 1 kept, 0 lost; loops: 0 uniform, 0 divergent; tests: 1 mandatory, 0 chosen
; func @figure3_divergent_above(%a: i1, %b: i1, %uc: i1, %p: ptr, %q: ptr) phase linearized {
; a:
;   %v17: i1 = mask_andnot true, %a
;   %v20: i1 = mask_any %v17
;   br %v20, rest, b
; rest:
;   br c
; b mask %a:
;   %v21: i1 = mask_and %a, %b
;   br d
; c mask %v17:
;   br %uc, f, edge
; d mask %v21:
;   store i32 3, %p, align 4
;   br e
; e mask %a:
;   store i32 4, %p, align 4
;   br h
; f mask %v17:
;   store i32 5, %p, align 4
;   br g
; edge mask %v17:
;   br g
; g mask %v17:
;   store i32 6, %q, align 4
;   br b
; h:
;   ret
; }

; Fig. 4: nested uniform loops; the back edges return to where they were, at the latches. Said: the nest and that it is
; uniform. Guessed: a divergent branch in the inner loop (b to c), which is what there is to linearize.
func @figure4(%uouter: i32, %uinner: i32, %c: i1, %p: ptr) {
entry:
  br outer(0)
outer:
  %i: i32 = phi
  br inner(0)
inner:
  %k: i32 = phi
  br %c, b, latch
b:
  store %k, %p, align 4
  br latch
latch:
  %k1: i32 = add nuw nsw %k, 1
  %again: i1 = icmp ult %k1, %uinner
  br %again, inner(%k1), outer.latch
outer.latch:
  %i1: i32 = add nuw nsw %i, 1
  %more: i1 = icmp ult %i1, %uouter
  br %more, outer(%i1), exit
exit:
  ret
}
; check: linearize
; branches: 1 divergent, 2 kept, 0 lost; loops: 2 uniform, 0 divergent
; func @figure4(%uouter: i32, %uinner: i32, %c: i1, %p: ptr) phase linearized {
; entry:
;   br outer(0)
; outer:
;   %i: i32 = phi
;   br inner(0)
; inner:
;   %k: i32 = phi
;   br b
; b mask %c:
;   store %k, %p, align 4
;   br latch
; latch:
;   %k1: i32 = add nuw nsw %k, 1
;   %again: i1 = icmp ult %k1, %uinner
;   br %again, inner(%k1), outer.latch
; outer.latch:
;   %i1: i32 = add nuw nsw %i, 1
;   %more: i1 = icmp ult %i1, %uouter
;   br %more, outer(%i1), exit
; exit:
;   ret
; }

; Fig. 6: blocks with uniform predicates (a, b, d, e, g) need no mask wherever divergent branches stand before them;
; only c and f do. Said: that c and f are the only ones. Guessed: all else.
func @figure6(%ua: i1, %b: i1, %e: i1, %p: ptr) {
a:
  br %ua, b, e
b:
  br %b, c, d
c:
  store i32 2, %p, align 4
  br d
d:
  store i32 3, %p, align 4
  br g
e:
  br %e, f, g
f:
  store i32 5, %p, align 4
  br g
g:
  store i32 6, %p, align 4
  ret
}
; check: linearize
; branches: 2 divergent, 1 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @figure6(%ua: i1, %b: i1, %e: i1, %p: ptr) phase linearized {
; a:
;   br %ua, b, e
; b:
;   br c
; c mask %b:
;   store i32 2, %p, align 4
;   br d
; d:
;   store i32 3, %p, align 4
;   br g
; e:
;   br f
; f mask %e:
;   store i32 5, %p, align 4
;   br g
; g:
;   store i32 6, %p, align 4
;   ret
; }

; Fig. 7: b depends on the divergent branch of a, its own branch is uniform and is kept since b dominates c. Said: a, b, c
; and their edges. Guessed: the join d. Our b is split by a guard, since no lane may come to it.
func @figure7(%a: i1, %ub: i1, %p: ptr) {
a:
  br %a, b, d
b:
  br %ub, c, d
c:
  store i32 2, %p, align 4
  br d
d:
  ret
}
; check: linearize
; branches: 1 divergent, 1 kept, 0 lost; loops: 0 uniform, 0 divergent; tests: 1 mandatory, 0 chosen
; func @figure7(%a: i1, %ub: i1, %p: ptr) phase linearized {
; a:
;   %v10: i1 = mask_any %a
;   br %v10, rest, d
; rest:
;   br b
; b mask %a:
;   br %ub, c, edge
; c mask %a:
;   store i32 2, %p, align 4
;   br d
; edge mask %a:
;   br d
; d:
;   ret
; }

; Fig. 10: the loop of Mandelbrot (Fig. 9). The header a leaves to f at the limit, for all lanes (a kill exit); b leaves to
; g when z escapes, each lane by itself. The counter of each lane survives in a tracker. The paper's pure latch d is `latch`
; here, its exit block e the dispatch. Guessed: what f and g do. One product stands for the complex arithmetic.
func @figure10(%ulimit: i32, %c: float, %uescape: float) -> i32 {
entry:
  br a(0, %c)
a:
  %i: i32 = phi
  %z: float = phi
  %more: i1 = icmp slt %i, %ulimit
  br %more, b, f(%i)
b:
  %zz: float = fmul %z, %z
  %next: float = fadd %zz, %c
  %escapes: i1 = fcmp oge %next, %uescape
  %i1: i32 = add nuw nsw %i, 1
  br %escapes, g(%i), a(%i1, %next)
f:
  %n: i32 = phi
  br h(%n)
g:
  %m: i32 = phi
  br h(%m)
h:
  %r: i32 = phi
  ret %r
}
; check: linearize
; branches: 1 divergent, 1 kept, 0 lost; loops: 0 uniform, 1 divergent
; func @figure10(%ulimit: i32, %c: float, %uescape: float) -> i32 phase linearized {
; entry:
;   br a(0, %c, false, false, poison, poison, true)
; a mask %loop:
;   %i: i32 = phi
;   %z: float = phi
;   %exit: i1 = phi
;   %v55: i1 = phi
;   %out: i32 = phi
;   %v59: i32 = phi
;   %loop: i1 = phi
;   %more: i1 = icmp slt %i, %ulimit
;   br %more, b, edge
; b mask %loop:
;   %zz: float = fmul %z, %z
;   %next: float = fadd %zz, %c
;   %escapes: i1 = fcmp oge %next, %uescape
;   %i1: i32 = add nuw nsw %i, 1
;   %v29: i1 = mask_and %loop, %escapes
;   %v31: i32 = blend %v29, %i, %v59
;   %v33: i1 = mask_or %v55, %v29
;   %v34: i1 = mask_andnot %loop, %escapes
;   br latch(%v34, %i1, %next, %exit, %v33, %out, %v31)
; f mask %v54:
;   %v38: i32 = blend %v54, %v58, %v60
;   br h
; g mask %v47:
;   br f
; h:
;   ret %v38
; edge mask %loop:
;   %v40: i32 = blend_any %loop, %i, %out
;   %v42: i1 = mask_or %exit, %loop
;   br latch(false, poison, poison, %v42, %v55, %v40, %v59)
; latch mask %loop:
;   %live: i1 = phi
;   %v51: i32 = phi
;   %v52: float = phi
;   %v54: i1 = phi
;   %v56: i1 = phi
;   %v58: i32 = phi
;   %v60: i32 = phi
;   %v21: i1 = mask_any %live
;   br %v21, a(%v51, %v52, %v54, %v56, %v58, %v60, %live), dispatch
; dispatch:
;   %v47: i1 = mask_andnot true, %v54
;   br b8
; b8 mask %v47:
;   br g
; }

; Fig. 13 (d) to (f): the end of nab's cascade (Fig. 12, lines 10 to 13), whose conditions are divergent. In each else part a
; uniform load must not happen without a lane, so guards stand where the paper puts its gadgets. As the text says of (f),
; the order of the cases is reversed, and a failed test skips the rest of the cascade. Said: the cascade, that order.
; Guessed: the loads, which force the tests.
func @figure13(%d: i32, %urb: ptr, %us: ptr, %p: ptr) {
entry:
  %c1: i1 = icmp sgt %d, 4
  br %c1, then1, else1
then1:
  store i32 1, %p, align 4
  br next
else1:
  %x: i32 = load %urb, align 4
  %c2: i1 = icmp sgt %d, %x
  br %c2, then2, else2
then2:
  store i32 2, %p, align 4
  br next
else2:
  %y: i32 = load %us, align 4
  %c3: i1 = icmp sgt %d, %y
  br %c3, then3, next
then3:
  store i32 3, %p, align 4
  br next
next:
  ret
}
; check: linearize
; branches: 3 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent; tests: 2 mandatory, 0 chosen
; func @figure13(%d: i32, %urb: ptr, %us: ptr, %p: ptr) phase linearized {
; entry:
;   %c1: i1 = icmp sgt %d, 4
;   %v23: i1 = mask_andnot true, %c1
;   %v26: i1 = mask_any %v23
;   br %v26, rest, then1
; rest:
;   br else1
; then1 mask %c1:
;   store i32 1, %p, align 4
;   br next
; else1 mask %v23:
;   %x: i32 = load %urb, align 4
;   %c2: i1 = icmp sgt %d, %x
;   %v27: i1 = mask_and %v23, %c2
;   %v30: i1 = mask_andnot %v23, %c2
;   %v33: i1 = mask_any %v30
;   br %v33, b8, then2
; b8 mask %v23:
;   br else2
; then2 mask %v27:
;   store i32 2, %p, align 4
;   br then1
; else2 mask %v30:
;   %y: i32 = load %us, align 4
;   %c3: i1 = icmp sgt %d, %y
;   %v34: i1 = mask_and %v30, %c3
;   br then3
; then3 mask %v34:
;   store i32 3, %p, align 4
;   br then2
; next:
;   ret
; }
