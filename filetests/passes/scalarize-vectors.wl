; test: passes canonicalize,scalarize-vectors

; A vector that differs between lanes becomes its elements, and goes together where memory wants it whole.
func @sum(%i: i64, %ua: ptr) -> float {
entry:
  %at: ptr = getelementptr <2 x float>, %ua, %i
  %pair: <2 x float> = load %at, align 8
  %x: float = extractelement %pair, i32 0
  %y: float = extractelement %pair, i32 1
  %s: float = fadd %x, %y
  ret %s
}
; check: passes
; func @sum(%i: i64, %ua: ptr) -> float phase canonical {
; entry:
;   %at: ptr = getelementptr <2 x float>, %ua, %i
;   %v9: float = load %at, align 8
;   %v11: ptr = getelementptr nuw inbounds i8, %at, i64 4
;   %v12: float = load %v11, align 4
;   %s: float = fadd %v9, %v12
;   ret %s
; }
