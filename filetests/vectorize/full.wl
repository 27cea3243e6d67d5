; test: linearize-full

func @kernel(%i: i32, %usink: ptr) -> float {
b0:
  %v12: i32 = mul 5, %i
  br b1(0)
b1:
  %v14: i32 = phi
  %v21: i32 = add %v14, 1
  %v92: i32 = and %v12, 7
  %v93: i1 = icmp ult %v14, %v92
  br %v93, b1(%v21), b2
b2:
  store i64 7, %usink, align 8
  ret 0.0
}
; check: linearize-full
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 1 divergent
; func @kernel(%i: i32, %usink: ptr) -> float phase linearized {
; b0:
;   %v12: i32 = mul 5, %i
;   br b1(0, true)
; b1 mask %loop:
;   %v14: i32 = phi
;   %loop: i1 = phi
;   %v21: i32 = add %v14, 1
;   %v92: i32 = and %v12, 7
;   %v93: i1 = icmp ult %v14, %v92
;   %v107: i1 = mask_and %loop, %v93
;   br latch
; b2:
;   store i64 7, %usink, align 8
;   ret 0.0
; latch mask %loop:
;   %v102: i1 = mask_any %v107
;   br %v102, b1(%v21, %v107), dispatch
; dispatch:
;   br b2
; }
