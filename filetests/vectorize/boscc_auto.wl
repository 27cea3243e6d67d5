; test: linearize-boscc-auto

; Fig. 13 (d) to (f) of paper 3: the end of nab's loop body, the last four cases of the cascade of Fig. 12 (lines 10 to 13), whose
; conditions are divergent. Weights are the chances that stand in the comments of Fig. 12; there is none for line 13. Said by the text: the
; cascade, three gadgets, in the else parts (e), the reversed order of the cases, and that a failed test skips the rest of the
; cascade (f). Guessed: the work of the cases, here divisions, whose cost is what makes tests pay.
;
; So it must come out as: line 10, any(else) or to case 10; line 11, any(else) or to case 11; line 12, any(else) or to case 12;
; line 13; case 13, case 12, case 11, case 10, next.
func @figure13_d_to_f(%d: float, %r1: float, %r2: float, %r3: float, %ri: float, %sj: float, %p: ptr) {
line10:
  %c10: i1 = fcmp ogt %d, %r1
  br %c10, case10 weight 913, line11 weight 87
case10:
  %x10: float = fdiv %d, %ri
  store %x10, %p, align 4
  br next
line11:
  %y11: float = fdiv %r2, %sj
  %c11: i1 = fcmp ogt %d, %y11
  br %c11, case11 weight 750, line12 weight 250
case11:
  %x11: float = fdiv %d, %sj
  store %x11, %p, align 4
  br next
line12:
  %y12: float = fdiv %r3, %sj
  %c12: i1 = fcmp ogt %d, %y12
  br %c12, case12 weight 1000, line13 weight 0
case12:
  %x12: float = fdiv %d, %r3
  store %x12, %p, align 4
  br next
line13:
  %y13: float = fdiv %r3, %ri
  %c13: i1 = fcmp olt %ri, %y13
  br %c13, case13, next
case13:
  %x13: float = fdiv %d, %r1
  store %x13, %p, align 4
  br next
next:
  ret
}
; check: linearize-boscc-auto
; branches: 4 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent; tests: 0 mandatory, 3 chosen
; func @figure13_d_to_f(%d: float, %r1: float, %r2: float, %r3: float, %ri: float, %sj: float, %p: ptr) phase linearized {
; line10:
;   %c10: i1 = fcmp ogt %d, %r1
;   %v30: i1 = mask_andnot true, %c10
;   %v33: i1 = mask_any %v30
;   br %v33, rest weight 5702 groups 10907 of 65536 by 4, case10 weight 59834
; rest:
;   br line11
; case10 mask %c10:
;   %x10: float = fdiv %d, %ri
;   store %x10, %p, align 4
;   br next
; line11 mask %v30:
;   %y11: float = fdiv %r2, %sj
;   %c11: i1 = fcmp ogt %d, %y11
;   %v34: i1 = mask_and %v30, %c11
;   %v37: i1 = mask_andnot %v30, %c11
;   %v40: i1 = mask_any %v37
;   br %v40, b10 weight 16384 groups 16943 of 65536 by 4, case11 weight 49152
; b10 mask %v30:
;   br line12
; case11 mask %v34:
;   %x11: float = fdiv %d, %sj
;   store %x11, %p, align 4
;   br case10
; line12 mask %v37:
;   %y12: float = fdiv %r3, %sj
;   %c12: i1 = fcmp ogt %d, %y12
;   %v41: i1 = mask_and %v37, %c12
;   %v44: i1 = mask_andnot %v37, %c12
;   %v47: i1 = mask_any %v44
;   br %v47, b11 weight 16 groups 16 of 65536 by 4, case12 weight 65520
; b11 mask %v37:
;   br line13
; case12 mask %v41:
;   %x12: float = fdiv %d, %r3
;   store %x12, %p, align 4
;   br case11
; line13 mask %v44:
;   %y13: float = fdiv %r3, %ri
;   %c13: i1 = fcmp olt %ri, %y13
;   %v48: i1 = mask_and %v44, %c13
;   br case13
; case13 mask %v48:
;   %x13: float = fdiv %d, %r1
;   store %x13, %p, align 4
;   br case12
; next:
;   ret
; }
