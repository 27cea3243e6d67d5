; test: ssa-form
; test: unwritten

; A variable of the body of a loop, which is written twice there: no way leads round the loop to a read before the first
; write, so that only placement by dominance frontiers has something to join at the head.
func @local_of_a_loop(%c: i1, %a: i32) {
  var $x: i32
entry:
  br head
head:
  br %c, body, out
body:
  write $x, %a
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
; func @local_of_a_loop(%c: i1, %a: i32) {
;   var $x: i32
; entry:
;   br head
; head:
;   br %c, body, out
; body:
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
; check: unwritten
; none

; One write, and a read that control can come to without it. The variable keeps what was computed in an earlier round.
func @maybe_unwritten_in_a_loop(%c: i1, %d: i1) -> i32 {
  var $x: i32
entry:
  br head
head:
  %v: i32 = freeze 7
  br %c, set, skip
set:
  write $x, %v
  br skip
skip:
  %r: i32 = read $x
  br %d, head, out
out:
  %s: i32 = read $x
  %t: i32 = add %r, %s
  ret %t
}
; check: ssa-form
; func @maybe_unwritten_in_a_loop(%c: i1, %d: i1) -> i32 {
;   var $x: i32
; entry:
;   br head
; head:
;   %v: i32 = freeze 7
;   br %c, set, skip
; set:
;   %x: i32 = copy %v
;   br skip
; skip:
;   %r: i32 = copy %x
;   br %d, head, out
; out:
;   %s: i32 = copy %x
;   %t: i32 = add %r, %s
;   ret %t
; }
; check: unwritten
; %r reads $x, maybe not written: entry head skip
; %s reads $x, maybe not written: entry head skip out
