; test: ssa-form dominance-frontier

; The functions of forms.wl, where every variable counts as written on entry.
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
;   br head(poison)
; head:
;   %x: i32 = phi
;   br %c, body, out
; body:
;   br %c, more, latch(%a)
; more:
;   br latch(1)
; latch:
;   %v6: i32 = phi
;   %s: i32 = freeze %v6
;   br head(%v6)
; out:
;   ret
; }

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
;   br head(poison)
; head:
;   %x: i32 = phi
;   %v: i32 = freeze 7
;   br %c, set, skip(%x)
; set:
;   br skip(%v)
; skip:
;   %v8: i32 = phi
;   br %d, head(%v8), out
; out:
;   %t: i32 = add %v8, %v8
;   ret %t
; }
