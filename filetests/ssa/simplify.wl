; test: simplify

; A φ of one value, through another φ.
func @one_value(%a: i32, %c: i1) -> i32 {
entry:
  br %c, left, right
left:
  br join(%a)
right:
  br join(%a)
join:
  %x: i32 = phi
  br loop(%x)
loop:
  %y: i32 = phi
  br %c, loop(%y), done
done:
  ret %y
}
; check: simplify
; func @one_value(%a: i32, %c: i1) -> i32 {
; entry:
;   br %c, left, right
; left:
;   br join
; right:
;   br join
; join:
;   br loop
; loop:
;   br %c, loop, done
; done:
;   ret %a
; }

; Poison is a value of its own: %a is not there on the other way.
func @poison(%c: i1) -> i32 {
entry:
  br %c, left, join(poison)
left:
  %a: i32 = add 1, 2
  br join(%a)
join:
  %x: i32 = phi
  ret %x
}
; check: simplify
; func @poison(%c: i1) -> i32 {
; entry:
;   br %c, left, join(poison)
; left:
;   %a: i32 = add 1, 2
;   br join(%a)
; join:
;   %x: i32 = phi
;   ret %x
; }

; φs that only use each other, and one that a mask uses.
func @dead(%c: i1, %n: i32) phase linearized {
entry:
  br loop(%n, %n, true)
loop mask %m:
  %x: i32 = phi
  %y: i32 = phi
  %m: i1 = phi
  br %c, loop(%y, %x, %c), done
done:
  ret
}
; check: simplify
; func @dead(%c: i1, %n: i32) phase linearized {
; entry:
;   br loop(true)
; loop mask %m:
;   %m: i1 = phi
;   br %c, loop(%c), done
; done:
;   ret
; }

; Copies are names.
func @copies(%a: i32, %b: i32, %c: i1) -> i32 {
entry:
  %x: i32, %y: i32 = copy %a, %b
  %p: i32, %q: i32 = copy %y, %x
  br %c, out(%p), out(%b)
out:
  %r: i32 = phi
  %s: i32 = add %r, %q
  ret %s
}
; check: simplify
; func @copies(%a: i32, %b: i32, %c: i1) -> i32 {
; entry:
;   br %c, out, out
; out:
;   %s: i32 = add %b, %a
;   ret %s
; }
