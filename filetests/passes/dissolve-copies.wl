; test: passes dissolve-copies

; σs and copies, which an analysis has split live ranges with, become what they copy.
func @clamp(%x: i32, %n: i32) -> i32 {
entry:
  %c: i1 = icmp slt %x, %n
  %x.lt: i32, %x.ge: i32 = sigma %x
  br %c, below, join(%x.ge)
below:
  %copy: i32 = copy %x.lt
  %y: i32 = add nsw %copy, 1
  br join(%y)
join:
  %r: i32 = phi
  ret %r
}
; check: passes
; func @clamp(%x: i32, %n: i32) -> i32 {
; entry:
;   %c: i1 = icmp slt %x, %n
;   br %c, below, join(%x)
; below:
;   %y: i32 = add nsw %x, 1
;   br join(%y)
; join:
;   %r: i32 = phi
;   ret %r
; }
