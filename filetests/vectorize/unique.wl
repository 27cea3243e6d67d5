; test: lower

; Nobody else accesses what the parameter points to, and every lane loads it: what is there is stored again where the
; condition does not hold. What only some lanes access may not be there.
func @capped(%i: i64, %up: ptr noalias unique, %uq: ptr noalias unique) {
entry:
  %a: ptr = getelementptr float, %up, %i
  %x: float = load %a, align 4
  %c: i1 = fcmp ogt %x, 1.0
  br %c, then, end
then:
  %y: float = fmul %x, 0.5
  store %y, %a, align 4
  %b: ptr = getelementptr float, %uq, %i
  store %y, %b, align 4
  br end
end:
  ret
}
; check: lower
; func @capped_x4(%i: i64, %up: ptr, %uq: ptr) phase vector {
; entry:
;   %v3: ptr = getelementptr float, %up, %i
;   %v4: <4 x float> = load %v3, align 4
;   %v6: <4 x i1> = fcmp ogt %v4, <1.0, 1.0, 1.0, 1.0>
;   br then
; then:
;   %v8: <4 x float> = fmul %v4, <0.5, 0.5, 0.5, 0.5>
;   %v9: <4 x float> = load %v3, align 4
;   %v10: <4 x float> = freeze %v9
;   %v11: <4 x float> = select %v6, %v8, %v10
;   store %v11, %v3, align 4
;   %v12: ptr = getelementptr float, %uq, %i
;   call @llvm.masked.store.v4f32.p0(%v8, %v12, 4, %v6)
;   br end
; end:
;   ret
; }
