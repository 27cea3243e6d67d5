; test: passes @linearize

; The branch that lanes part at is gone; its arms run one behind the other, under masks.
func @abs(%x: i32) -> i32 {
entry:
  %is: i1 = icmp slt %x, 0
  br %is, negative, join(%x)
negative:
  %negated: i32 = sub 0, %x
  br join(%negated)
join:
  %result: i32 = phi
  ret %result
}
; check: passes
; func @abs(%x: i32) -> i32 phase linearized {
; entry:
;   %is: i1 = icmp slt %x, 0
;   %v9: i1 = mask_and true, %is
;   %v11: i1 = mask_or false, %v9
;   %v12: i1 = mask_andnot true, %is
;   br negative
; negative mask %v11:
;   %negated: i32 = sub 0, %x
;   %v14: i32 = blend %v11, %negated, %x
;   br join
; join:
;   ret %v14
; }
