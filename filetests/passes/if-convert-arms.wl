; test: passes if-convert-arms

; Both arms store to the same element: one store of a selected value is left.
func @either(%i: i32, %x: i32, %uout: ptr) {
entry:
  %wide: i64 = sext %i
  %at: ptr = getelementptr i32, %uout, %wide
  %is: i1 = icmp slt %x, 0
  br %is, yes, no
yes:
  %a: i32 = add %x, 1
  store %a, %at, align 4
  br join
no:
  %b: i32 = sub %x, 1
  store %b, %at, align 4
  br join
join:
  ret
}
; check: passes
; func @either(%i: i32, %x: i32, %uout: ptr) {
; entry:
;   %wide: i64 = sext %i
;   %at: ptr = getelementptr i32, %uout, %wide
;   %is: i1 = icmp slt %x, 0
;   %a: i32 = add %x, 1
;   %b: i32 = sub %x, 1
;   %v10: i32 = select %is, %a, %b
;   store %v10, %at, align 4
;   br join
; join:
;   ret
; }
