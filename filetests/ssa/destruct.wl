; test: destruct

; The swap problem: the φs are each other's operands.
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
; check: destruct
; func @swap(%a: i32, %b: i32, %c: i1) -> i32 {
;   var $x: i32
;   var $y: i32
; entry:
;   write $x, %a
;   write $y, %b
;   br loop
; loop:
;   %x: i32 = read $x
;   %y: i32 = read $y
;   write $x, %y
;   write $y, %x
;   br %c, loop, done
; done:
;   ret %x
; }

; The lost copy problem: %x is used behind the loop, where the variable has its next value already.
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
; check: destruct
; func @lost_copy(%n: i32) -> i32 {
;   var $x: i32
; entry:
;   write $x, 1
;   br loop
; loop:
;   %x: i32 = read $x
;   %next: i32 = add %x, 1
;   %c: i1 = icmp ult %next, %n
;   write $x, %next
;   br %c, loop, done
; done:
;   ret %x
; }

; Parallel edges with different operands: all but one are split.
func @parallel(%n: i32) -> i32 {
entry:
  switch %n, join(0) [1: join(10), 2: join(20), 3: other]
other:
  br join(30)
join:
  %x: i32 = phi
  ret %x
}
; check: destruct
; func @parallel(%n: i32) -> i32 {
;   var $x: i32
; entry:
;   write $x, 20
;   switch %n, b3 [1: b4, 2: join, 3: other]
; other:
;   write $x, 30
;   br join
; b3:
;   write $x, 0
;   br join
; b4:
;   write $x, 10
;   br join
; join:
;   %x: i32 = read $x
;   ret %x
; }

; The result of a terminator exists only behind it.
func @invoke(%p: ptr) -> i32 {
entry:
  %r: i32 = opaque_term "invoke" %p [unknown] -> join(%r), pad
pad:
  br join(-1)
join:
  %x: i32 = phi
  ret %x
}
; check: destruct
; func @invoke(%p: ptr) -> i32 {
;   var $x: i32
; entry:
;   %r: i32 = opaque_term "invoke" %p [unknown] -> b3, pad
; pad:
;   write $x, -1
;   br join
; b3:
;   write $x, %r
;   br join
; join:
;   %x: i32 = read $x
;   ret %x
; }
