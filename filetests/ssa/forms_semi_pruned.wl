; test: ssa-form dominance-frontier semi-pruned

; $x is read in another block than it is written in, $y is not: $y gets no phi, $x gets two, one of them dead.
func @f(%c: i1, %a: i32) {
  var $x: i32
  var $y: i32
entry:
  write $x, 0
  br head
head:
  br %c, body, out
body:
  write $x, %a
  write $y, %a
  %q: i32 = read $y
  %u: i32 = freeze %q
  br %c, more, latch
more:
  write $x, 1
  br latch
latch:
  %r: i32 = read $x
  %s: i32 = freeze %r
  br head
out:
  ret
}
; check: ssa-form
; func @f(%c: i1, %a: i32) {
;   var $x: i32
;   var $y: i32
; entry:
;   br head(0)
; head:
;   %x: i32 = phi
;   br %c, body, out
; body:
;   %u: i32 = freeze %a
;   br %c, more, latch(%a)
; more:
;   br latch(1)
; latch:
;   %v9: i32 = phi
;   %s: i32 = freeze %v9
;   br head(%v9)
; out:
;   ret
; }
