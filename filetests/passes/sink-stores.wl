; test: passes sink-stores

; Both arms end with a store to the same place; it moves behind the branch, with a φ of what is stored. The division stays where it is.
func @last(%i: i32, %x: i32, %uout: ptr) {
entry:
  %wide: i64 = sext %i
  %at: ptr = getelementptr i32, %uout, %wide
  %is: i1 = icmp slt %x, 0
  br %is, yes, no
yes:
  %a: i32 = sdiv 100, %x
  store %a, %at, align 4
  br join
no:
  store i32 7, %at, align 4
  br join
join:
  ret
}
; check: passes
; func @last(%i: i32, %x: i32, %uout: ptr) {
; entry:
;   %wide: i64 = sext %i
;   %at: ptr = getelementptr i32, %uout, %wide
;   %is: i1 = icmp slt %x, 0
;   br %is, yes, no
; yes:
;   %a: i32 = sdiv 100, %x
;   br join(%a)
; no:
;   br join(7)
; join:
;   %v10: i32 = phi
;   store %v10, %at, align 4
;   ret
; }
