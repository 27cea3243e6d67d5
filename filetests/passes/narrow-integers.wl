; test: passes canonicalize,narrow-integers

declare @llvm.umin.i32(i32, i32) -> i32
declare @llvm.smax.i32(i32, i32) -> i32
declare @llvm.uadd.sat.i8(i8, i8) -> i8
declare @llvm.usub.sat.i8(i8, i8) -> i8

; A sum of bytes that is cut off at the greatest one is a saturating sum.
func @saturating_sum(%vx: i8, %vy: i8) -> i8 {
entry:
  %wx: i32 = zext %vx
  %wy: i32 = zext %vy
  %sum: i32 = add nuw nsw %wx, %wy
  %cut: i32 = call @llvm.umin.i32(%sum, 255)
  %low: i8 = trunc %cut
  ret %low
}
; check: passes
; func @saturating_sum(%vx: i8, %vy: i8) -> i8 phase canonical {
; entry:
;   %v8: i8 = call @llvm.uadd.sat.i8(%vx, %vy)
;   ret %v8
; }

; The weights add up to 255, so that 16 bits are enough for the sum.
func @blend(%vx: i8, %vy: i8, %vm: i8) -> i8 {
entry:
  %wx: i32 = zext %vx
  %wy: i32 = zext %vy
  %wm: i32 = zext %vm
  %rest: i32 = xor %wm, 255
  %first: i32 = mul nuw nsw %wx, %wm
  %second: i32 = mul nuw nsw %wy, %rest
  %sum: i32 = add nuw nsw %first, %second
  %mean: i32 = udiv %sum, 255
  %low: i8 = trunc %mean
  ret %low
}
; check: passes
; func @blend(%vx: i8, %vy: i8, %vm: i8) -> i8 phase canonical {
; entry:
;   %v18: i16 = zext %vx
;   %v16: i16 = zext %vy
;   %v14: i16 = zext %vm
;   %v15: i16 = xor %v14, 255
;   %v19: i16 = mul %v18, %v14
;   %v17: i16 = mul %v16, %v15
;   %v20: i16 = add %v19, %v17
;   %v21: i16 = udiv %v20, 255
;   %v22: i8 = trunc %v21
;   ret %v22
; }

; The threshold is any number: it is brought to the nearest byte, and the result corrected.
func @threshold(%vx: i8, %ut: i32) -> i1 {
entry:
  %wx: i32 = zext %vx
  %above: i1 = icmp sgt %wx, %ut
  ret %above
}
; check: passes
; func @threshold(%vx: i8, %ut: i32) -> i1 phase canonical {
; entry:
;   %v4: i32 = freeze %ut
;   %v7: i1 = icmp sgt %v4, 255
;   %v8: i32 = select %v7, 255, %v4
;   %v9: i1 = icmp slt %v4, 0
;   %v10: i32 = select %v9, 0, %v8
;   %v11: i8 = trunc %v10
;   %v12: i1 = icmp ugt %vx, %v11
;   %v13: i1 = or %v12, %v9
;   ret %v13
; }

; The sum is used as it is, and stays.
func @sum(%vx: i32, %vy: i32) -> i32 {
entry:
  %sum: i32 = add %vx, %vy
  %low: i8 = trunc %sum
  %wide: i32 = zext %low
  %both: i32 = mul %sum, %wide
  ret %both
}
; check: passes
; func @sum(%vx: i32, %vy: i32) -> i32 phase canonical {
; entry:
;   %sum: i32 = add %vx, %vy
;   %low: i8 = trunc %sum
;   %wide: i32 = zext %low
;   %both: i32 = mul %sum, %wide
;   ret %both
; }

; What is cut off at zero is chosen by a condition: no sum, and no difference.
func @chosen(%vc: i1, %vx: i32, %vy: i32) -> i8 {
entry:
  %choice: i32 = select %vc, %vx, %vy
  %cut: i32 = call @llvm.smax.i32(%choice, 0)
  %low: i8 = trunc %cut
  ret %low
}
; check: passes
; func @chosen(%vc: i1, %vx: i32, %vy: i32) -> i8 phase canonical {
; entry:
;   %choice: i32 = select %vc, %vx, %vy
;   %cut: i32 = call @llvm.smax.i32(%choice, 0)
;   %low: i8 = trunc %cut
;   ret %low
; }
