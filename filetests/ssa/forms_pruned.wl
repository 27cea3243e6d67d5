; test: ssa-form reaching-definitions pruned

; The phi of $x at the head of the loop is dead: nothing reads it before the next write.
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
;   br head
; head:
;   br %c, body, out
; body:
;   %u: i32 = freeze %a
;   br %c, more, latch(%a)
; more:
;   br latch(1)
; latch:
;   %x: i32 = phi
;   %s: i32 = freeze %x
;   br head
; out:
;   ret
; }
