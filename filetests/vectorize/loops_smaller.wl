; test: loops-smaller

; What no whole group of four is left for is executed two by two, and the last iteration under a mask.
func @double(%n: i64, %a: ptr) {
entry:
  br loop(0)
loop:
  %i: i64 = phi
  %more: i1 = icmp slt %i, %n
  br %more, body, end
body:
  %p: ptr = getelementptr float, %a, %i
  %x: float = load %p, align 4
  %y: float = fadd %x, %x
  store %y, %p, align 4
  %next: i64 = add nsw %i, 1
  br loop(%next)
end:
  ret
}
; check: loops-smaller
; %i: induction
; func @double(%n: i64, %a: ptr) {
; entry:
;   %v12: i64 = sub %n, 0
;   %v13: i1 = icmp slt i64 0, %n
;   %v14: i64 = sub %v12, 1
;   %v15: i64 = add %v14, 1
;   %v16: i64 = select %v13, %v15, 0
;   %v17: i1 = icmp ne %v16, 0
;   br %v17, begin, scalar(0)
; begin:
;   %v19: i64 = udiv %v16, 4
;   %v20: i64 = urem %v16, 4
;   %v21: i1 = icmp ne %v19, 0
;   br %v21, lanes(0, 0), left(0)
; lanes:
;   %v22: i64 = phi
;   %v23: i64 = phi
;   call @double_x4(%n, %a, %v23)
;   %v25: i64 = add %v23, 4
;   %v26: i64 = add nuw %v22, 1
;   %v27: i1 = icmp ult %v26, %v19
;   br %v27, lanes(%v26, %v25), left(%v25)
; left:
;   %v28: i64 = phi
;   %v30: i64 = udiv %v20, 2
;   %v31: i64 = urem %v20, 2
;   %v32: i1 = icmp ne %v30, 0
;   br %v32, smaller(0, %v28), last(%v28)
; smaller:
;   %v33: i64 = phi
;   %v34: i64 = phi
;   call @double_x4.smaller(%n, %a, %v34)
;   %v35: i64 = add %v34, 2
;   %v36: i64 = add nuw %v33, 1
;   %v37: i1 = icmp ult %v36, %v30
;   br %v37, smaller(%v36, %v35), last(%v35)
; last:
;   %v38: i64 = phi
;   %v39: i1 = icmp ne %v31, 0
;   br %v39, tail, done(%v38)
; tail:
;   %v41: i32 = trunc %v31
;   %v45: <2 x i32> = insertelement poison, %v41, i32 0
;   %v46: <2 x i32> = shufflevector %v45, poison [0, 0]
;   %v47: <2 x i1> = icmp ult <2 x i32> <0, 1>, %v46
;   call @double_x4.masked(%n, %a, %v38, %v47)
;   %v48: i64 = sub %v31, 1
;   %v49: i64 = mul %v31, 1
;   %v50: i64 = add %v38, %v49
;   br done(%v50)
; done:
;   %v40: i64 = phi
;   br scalar(%v40)
; scalar:
;   %v11: i64 = phi
;   br loop(%v11)
; loop:
;   %i: i64 = phi
;   %more: i1 = icmp slt %i, %n
;   br %more, body, end
; body:
;   %p: ptr = getelementptr float, %a, %i
;   %x: float = load %p, align 4
;   %y: float = fadd %x, %x
;   store %y, %p, align 4
;   %next: i64 = add nsw %i, 1
;   br loop(%next)
; end:
;   ret
; }
; func @double_x4(%n: i64, %a: ptr, %i: i64) phase vector {
; entry:
;   %v4: i64 = zext i32 0
;   %v5: i64 = add %i, %v4
;   br loop
; loop:
;   br body
; body:
;   %v6: ptr = getelementptr float, %a, %v5
;   %v7: <4 x float> = load %v6, align 4
;   %v8: <4 x float> = fadd %v7, %v7
;   store %v8, %v6, align 4
;   %v10: i64 = add %v5, 1
;   br next
; next:
;   ret
; }
