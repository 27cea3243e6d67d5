; test: passes canonicalize,widen-indices

; The sum of 32 bits is extended afterwards; extended before, it is seen to move by one from lane to lane.
func @next(%i: i32, %uarray: ptr) -> i32 {
entry:
  %sum: i32 = add nsw %i, 1
  %wide: i64 = sext %sum
  %at: ptr = getelementptr i32, %uarray, %wide
  %x: i32 = load %at, align 4
  ret %x
}
; check: passes
; func @next(%i: i32, %uarray: ptr) -> i32 phase canonical {
; entry:
;   %sum: i32 = add nsw %i, 1
;   %wide: i64 = sext %sum
;   %at: ptr = getelementptr i32, %uarray, %wide
;   %x: i32 = load %at, align 4
;   ret %x
; }
