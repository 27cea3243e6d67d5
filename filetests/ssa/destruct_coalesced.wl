; test: destruct-coalesced

; The swap problem: %x and %y cannot share a variable, so they are copied into each other's.
func @swap(%a: i32, %b: i32, %c: i1) -> i32 {
entry:
  br loop(%a, %b)
loop:
  %x: i32 = phi
  %y: i32 = phi
  br %c, loop(%y, %x), done
done:
  ret %x
}
; check: destruct-coalesced
; func @swap(%a: i32, %b: i32, %c: i1) -> i32 {
;   var $x: i32
;   var $y: i32
; entry:
;   write $x, %a
;   write $y, %b
;   br loop
; b3:
;   write $x, %y
;   write $y, %x
;   br loop
; loop:
;   %x: i32 = read $x
;   %y: i32 = read $y
;   br %c, b3, done
; done:
;   ret %x
; }

; The lost copy problem: %next cannot share a variable with %x, which is used behind the loop; the edge back is split, since the
; variable is still needed on the other one.
func @lost_copy(%n: i32) -> i32 {
entry:
  br loop(1)
loop:
  %x: i32 = phi
  %next: i32 = add %x, 1
  %c: i1 = icmp ult %next, %n
  br %c, loop(%next), done
done:
  ret %x
}
; check: destruct-coalesced
; func @lost_copy(%n: i32) -> i32 {
;   var $x: i32
; entry:
;   write $x, 1
;   br loop
; b3:
;   write $x, %next
;   br loop
; loop:
;   %x: i32 = read $x
;   %next: i32 = add %x, 1
;   %c: i1 = icmp ult %next, %n
;   br %c, b3, done
; done:
;   ret %x
; }

; The virtual swap problem: all operands are parameters, which each share one of the two variables at most.
func @virtual_swap(%a: i32, %b: i32, %c: i1) -> i32 {
entry:
  br %c, left, right
left:
  br join(%a, %b)
right:
  br join(%b, %a)
join:
  %x: i32 = phi
  %y: i32 = phi
  %r: i32 = sub %x, %y
  ret %r
}
; check: destruct-coalesced
; func @virtual_swap(%a: i32, %b: i32, %c: i1) -> i32 {
;   var $x: i32
;   var $y: i32
; entry:
;   write $x, %a
;   write $y, %b
;   br %c, left, right
; left:
;   br join
; right:
;   write $x, %b
;   write $y, %a
;   br join
; join:
;   %x: i32 = read $x
;   %y: i32 = read $y
;   %r: i32 = sub %x, %y
;   ret %r
; }

; A counter: one variable, and nothing to copy but the constant.
func @counter(%n: i32) -> i32 {
entry:
  br head(0)
head:
  %i: i32 = phi
  %c: i1 = icmp ult %i, %n
  br %c, body, done
body:
  %next: i32 = add %i, 1
  br head(%next)
done:
  ret %i
}
; check: destruct-coalesced
; func @counter(%n: i32) -> i32 {
;   var $i: i32
; entry:
;   write $i, 0
;   br head
; head:
;   %i: i32 = read $i
;   %c: i1 = icmp ult %i, %n
;   br %c, body, done
; body:
;   %next: i32 = add %i, 1
;   write $i, %next
;   br head
; done:
;   ret %i
; }
