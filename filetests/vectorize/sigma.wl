; test: linearize
; test: lower

; σs are dissolved before anything else is done.
func @clamp(%x: i32, %n: i32) -> i32 {
entry:
  %c: i1 = icmp slt %x, %n
  %x.lt: i32, %x.ge: i32 = sigma %x
  %n.lt: i32, %n.ge: i32 = sigma %n
  br %c, below, join(%n.ge)
below:
  %copy: i32 = copy %x.lt
  %y: i32 = add nsw %copy, 1
  br join(%y)
join:
  %r: i32 = phi
  ret %r
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @clamp(%x: i32, %n: i32) -> i32 phase linearized {
; entry:
;   %c: i1 = icmp slt %x, %n
;   br below
; below mask %c:
;   %y: i32 = add nsw %x, 1
;   %v20: i32 = blend %c, %y, %n
;   br join
; join:
;   ret %v20
; }
; check: lower
; func @clamp_x4(%x: <4 x i32>, %n: <4 x i32>) -> <4 x i32> phase vector {
; entry:
;   %v2: <4 x i1> = icmp slt %x, %n
;   br below
; below:
;   %v4: <4 x i32> = add nsw %x, <1, 1, 1, 1>
;   %v5: <4 x i32> = select %v2, %v4, %n
;   br join
; join:
;   ret %v5
; }
