; test: linearize

; A branch into a dead end, on a constant, under a mask.
func @kernel(%i: i32, %x0: i32, %uout: ptr) -> i32 {
b0:
  %v14: i1 = icmp eq i32 0, %x0
  br %v14, b7, b8
b7:
  br false, b9, b10
b8:
  ret 0
b9:
  ret 0
b10:
  store i32 0, %uout, align 4
  unreachable
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent; tests: 1 mandatory, 0 chosen
; func @kernel(%i: i32, %x0: i32, %uout: ptr) -> i32 phase linearized {
; b0:
;   %v14: i1 = icmp eq i32 0, %x0
;   %v27: i1 = mask_andnot true, %v14
;   %v30: i1 = mask_any %v14
;   br %v30, rest, b8
; rest:
;   br b7
; b7 mask %v14:
;   %v20: i1 = xor false, true
;   %v33: i1 = mask_and %v14, %v20
;   %v34: i1 = mask_any %v33
;   br %v34, failed, checked
; checked mask %v14:
;   br b9
; b8 mask %v27:
;   br exit
; b9 mask %v14:
;   br b8
; b10 mask %v14:
;   store i32 0, %uout, align 4
;   br end
; exit:
;   ret 0
; edge mask %v14:
;   br end
; end mask %v14:
;   unreachable
; failed mask %v14:
;   br false, edge, b10
; }
