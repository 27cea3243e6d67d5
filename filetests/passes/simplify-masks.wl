; test: passes simplify-masks

; What is known of masks is folded, and what nobody uses goes.
func @masks(%x: i32, %m: i1) -> i32 phase linearized {
entry:
  %all: i1 = mask_and %m, true
  %none: i1 = mask_andnot %m, true
  %unused: i1 = mask_or %none, %m
  br body
body mask %all:
  %picked: i32 = blend true, %x, 5
  br end
end:
  ret %picked
}
; check: passes
; func @masks(%x: i32, %m: i1) -> i32 phase linearized {
; entry:
;   br body
; body mask %m:
;   br end
; end:
;   ret %x
; }
