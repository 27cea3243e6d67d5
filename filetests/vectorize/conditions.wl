; test: linearize

; Conditions of uniform and varying parts. Parameters that begin with `u` are uniform.

; What `if (u && v)` becomes where `v` is cheap: the branch on `u` comes back.
func @and(%u: i1, %v: i1, %p: ptr) {
entry:
  %both: i1 = and %v, %u
  br %both, then, out
then:
  store i32 1, %p, align 4
  br out
out:
  ret
}
; check: linearize
; branches: 1 divergent, 1 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @and(%u: i1, %v: i1, %p: ptr) phase linearized {
; entry:
;   %both: i1 = and %v, %u
;   br %u, and, edge
; and:
;   br then
; then mask %v:
;   store i32 1, %p, align 4
;   br out
; edge:
;   br out
; out:
;   ret
; }

; The form that does not look at `v` where `u` decides.
func @logical_or(%u: i1, %v: i1, %p: ptr) -> i32 {
entry:
  %either: i1 = select %u, true, %v
  br %either, then, out(1)
then:
  store i32 1, %p, align 4
  br out(2)
out:
  %r: i32 = phi
  ret %r
}
; check: linearize
; branches: 1 divergent, 1 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @logical_or(%u: i1, %v: i1, %p: ptr) -> i32 phase linearized {
; entry:
;   %either: i1 = select %u, true, %v
;   br %u, edge, and
; and:
;   br then(%v)
; edge:
;   br then(true)
; then mask %mask:
;   %mask: i1 = phi
;   store i32 1, %p, align 4
;   %v18: i32 = blend %mask, 2, 1
;   br out
; out:
;   ret %v18
; }

; Here `v` decides whether `u` may be looked at.
func @varying_first(%u: i1, %v: i1, %p: ptr) {
entry:
  %both: i1 = select %v, %u, false
  br %both, then, out
then:
  store i32 1, %p, align 4
  br out
out:
  ret
}
; check: linearize
; branches: 1 divergent, 1 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @varying_first(%u: i1, %v: i1, %p: ptr) phase linearized {
; entry:
;   %both: i1 = select %v, %u, false
;   %v6: i1 = freeze %u
;   br %v6, and, edge
; and:
;   br then
; then mask %v:
;   store i32 1, %p, align 4
;   br out
; edge:
;   br out
; out:
;   ret
; }

; Two uniform parts in an expression, one after the other.
func @nested(%u: i1, %u2: i1, %v: i1, %x: i1, %p: ptr) {
entry:
  %first: i1 = and %u, %v
  %second: i1 = and %first, %x
  %third: i1 = and %second, %u2
  br %third, then, out
then:
  store i32 1, %p, align 4
  br out
out:
  ret
}
; check: linearize
; branches: 2 divergent, 2 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @nested(%u: i1, %u2: i1, %v: i1, %x: i1, %p: ptr) phase linearized {
; entry:
;   %first: i1 = and %u, %v
;   %second: i1 = and %first, %x
;   %third: i1 = and %second, %u2
;   br %u2, and, edge
; and:
;   br %u, b5, b7
; b5:
;   br b4
; b4 mask %v:
;   %v16: i1 = mask_and %v, %x
;   br then
; then mask %v16:
;   store i32 1, %p, align 4
;   br out
; edge:
;   br out
; b7:
;   br out
; out:
;   ret
; }

; A loop that goes on while both hold: the uniform part is an exit that stays.
func @loop(%u: i32, %x: i32) -> i32 {
entry:
  br head(0)
head:
  %i: i32 = phi
  %next: i32 = add %i, 1
  %few: i1 = icmp ult %next, %u
  %own: i1 = icmp ult %next, %x
  %both: i1 = and %few, %own
  br %both, head(%next), out
out:
  ret %next
}
; check: linearize
; branches: 1 divergent, 1 kept, 0 lost; loops: 0 uniform, 1 divergent
; func @loop(%u: i32, %x: i32) -> i32 phase linearized {
; entry:
;   br head(0, poison, true)
; head mask %loop:
;   %i: i32 = phi
;   %out: i32 = phi
;   %loop: i1 = phi
;   %next: i32 = add %i, 1
;   %few: i1 = icmp ult %next, %u
;   %own: i1 = icmp ult %next, %x
;   %both: i1 = and %few, %own
;   br %few, and, edge
; and mask %loop:
;   %v18: i1 = mask_and %loop, %own
;   %v21: i1 = mask_andnot %loop, %own
;   %v23: i32 = blend %v21, %next, %out
;   br latch(%v18, %v23)
; out:
;   ret %v30
; edge mask %loop:
;   %v25: i32 = blend %loop, %next, %out
;   br latch(false, %v25)
; latch mask %loop:
;   %live: i1 = phi
;   %v30: i32 = phi
;   %v13: i1 = mask_any %live
;   br %v13, head(%next, %v30, %live), dispatch
; dispatch:
;   br out
; }
