; test: passes canonicalize,interleave-private

; Each lane looks up its own element of an array of its own: elements of all four lanes lie side by side.
func @own(%x: i32, %y: i32) -> i32 {
entry:
  %array: ptr = alloca [4 x i32], i32 1, align 4
  %k: i32 = and %x, 3
  %wide: i64 = zext %k
  %at: ptr = getelementptr i32, %array, %wide
  store %y, %at, align 4
  %back: i32 = load %at, align 4
  ret %back
}
; check: passes
; func @own(%x: i32, %y: i32) -> i32 phase canonical {
; entry:
;   %array: ptr = alloca i8, i64 64, align 16
;   %k: i32 = and %x, 3
;   %wide: i64 = zext %k
;   %v9: i64 = zext %k
;   %v11: i64 = mul %v9, 16
;   %at: ptr = getelementptr i8, %array, %v11
;   store %y, %at, align 4
;   %back: i32 = load %at, align 4
;   ret %back
; }
