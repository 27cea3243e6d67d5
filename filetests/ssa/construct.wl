; test: ssa

; Two writes meet; the φ stands where they do, and only for the variable that is read there.
func @if_else(%c: i1, %a: i32, %b: i32) -> i32 {
  var $x: i32
  var $unread: i32
entry:
  br %c, left, right
left:
  write $x, %a
  write $unread, %a
  br join
right:
  write $x, %b
  write $unread, %b
  br join
join:
  %r: i32 = read $x
  ret %r
}
; check: ssa
; func @if_else(%c: i1, %a: i32, %b: i32) -> i32 {
;   var $x: i32
;   var $unread: i32
; entry:
;   br %c, left, right
; left:
;   br join(%a)
; right:
;   br join(%b)
; join:
;   %x: i32 = phi
;   ret %x
; }

; A loop counter; the write before the loop and the one inside meet in the header.
func @loop(%n: i32) -> i32 {
  var $i: i32
entry:
  write $i, 0
  br head
head:
  %i: i32 = read $i
  %c: i1 = icmp ult %i, %n
  br %c, body, done
body:
  %j: i32 = read $i
  %k: i32 = add %j, 1
  write $i, %k
  br head
done:
  %r: i32 = read $i
  ret %r
}
; check: ssa
; func @loop(%n: i32) -> i32 {
;   var $i: i32
; entry:
;   br head(0)
; head:
;   %i: i32 = phi
;   %c: i1 = icmp ult %i, %n
;   br %c, body, done
; body:
;   %k: i32 = add %i, 1
;   br head(%k)
; done:
;   ret %i
; }

; Strict form: on the way round `write` the variable has no value, so the φ has a poison operand there.
func @maybe_unwritten(%c: i1) -> i32 {
  var $x: i32
entry:
  br %c, set, join
set:
  write $x, 7
  br join
join:
  %r: i32 = read $x
  ret %r
}
; check: ssa
; func @maybe_unwritten(%c: i1) -> i32 {
;   var $x: i32
; entry:
;   br %c, set, join(poison)
; set:
;   br join(7)
; join:
;   %x: i32 = phi
;   ret %x
; }

; A read that no write reaches.
func @unwritten() -> i32 {
  var $x: i32
entry:
  %r: i32 = read $x
  ret %r
}
; check: ssa
; func @unwritten() -> i32 {
;   var $x: i32
; entry:
;   ret poison
; }

; What was memory holds undef until it is written, not poison.
func @unwritten_memory(%c: i1) -> i32 {
  var $x: i32 = undef
  var $y: i32 = undef
entry:
  br %c, set, join
set:
  write $x, 7
  br join
join:
  %r: i32 = read $x
  %s: i32 = read $y
  %t: i32 = add %r, %s
  ret %t
}
; check: ssa
; func @unwritten_memory(%c: i1) -> i32 {
;   var $x: i32 = undef
;   var $y: i32 = undef
; entry:
;   br %c, set, join(undef)
; set:
;   br join(7)
; join:
;   %x: i32 = phi
;   %t: i32 = add %x, undef
;   ret %t
; }

; Swapping two variables in a loop: φs that are each other's operands.
func @swap(%a: i32, %b: i32, %c: i1) -> i32 {
  var $x: i32
  var $y: i32
entry:
  write $x, %a
  write $y, %b
  br loop
loop:
  %x: i32 = read $x
  %y: i32 = read $y
  write $x, %y
  write $y, %x
  br %c, loop, done
done:
  %r: i32 = read $x
  ret %r
}
; check: ssa
; func @swap(%a: i32, %b: i32, %c: i1) -> i32 {
;   var $x: i32
;   var $y: i32
; entry:
;   br loop(%a, %b)
; loop:
;   %x: i32 = phi
;   %y: i32 = phi
;   br %c, loop(%y, %x), done
; done:
;   ret %y
; }

; Masks and operands on edges are uses like any other.
func @masks_and_edges(%c: i1) -> i1 phase linearized {
  var $m: i1
entry:
  write $m, false
  br %c, set, join(true)
set:
  write $m, true
  %m: i1 = read $m
  br join(%m)
join mask %r:
  %p: i1 = phi
  %r: i1 = read $m
  ret %p
}
; check: ssa
; func @masks_and_edges(%c: i1) -> i1 phase linearized {
;   var $m: i1
; entry:
;   br %c, set, join(true, false)
; set:
;   br join(true, true)
; join mask %m:
;   %p: i1 = phi
;   %m: i1 = phi
;   ret %p
; }

; Blocks that nothing reaches are rewritten, too.
func @unreachable() -> i32 {
  var $x: i32
entry:
  write $x, 1
  br out
lost:
  %a: i32 = read $x
  write $x, %a
  %b: i32 = read $x
  br lost2
lost2:
  %d: i32 = read $x
  %e: i32 = add %d, %b
  write $x, %e
  br out
out:
  %r: i32 = read $x
  ret %r
}
; check: ssa
; func @unreachable() -> i32 {
;   var $x: i32
; entry:
;   br out
; lost:
;   br lost2
; lost2:
;   %e: i32 = add poison, poison
;   br out
; out:
;   ret 1
; }
