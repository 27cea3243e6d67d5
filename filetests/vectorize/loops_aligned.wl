; test: loops-aligned

; Iterations before the first one that stores at a multiple of sixteen bytes are executed first, if there are so many that it pays.
func @next(%n: i32, %a: ptr, %b: ptr) {
entry:
  br loop(1)
loop:
  %i: i32 = phi
  %more: i1 = icmp slt %i, %n
  br %more, body, end
body:
  %wide: i64 = sext %i
  %p: ptr = getelementptr float, %a, %wide
  %x: float = load %p, align 4
  %before: i32 = sub nsw %i, 1
  %widened: i64 = sext %before
  %q: ptr = getelementptr float, %b, %widened
  store %x, %q, align 4
  %next: i32 = add nsw %i, 1
  br loop(%next)
end:
  ret
}
; check: loops-aligned
; %i: induction
; func @next(%n: i32, %a: ptr, %b: ptr) {
; entry:
;   %v15: i32 = sub %n, 1
;   %v17: i1 = icmp slt i32 1, %n
;   %v18: i32 = sub %v15, 1
;   %v19: i32 = add %v18, 1
;   %v20: i32 = select %v17, %v19, 0
;   %v21: i64 = zext %v20
;   %v23: i1 = icmp ne %v21, 0
;   br %v23, begin, scalar(1)
; begin:
;   br start(1, %v21)
; start:
;   %v24: i32 = phi
;   %v25: i64 = phi
;   %v27: i64 = call @next_x4.prologue(%n, %a, %b, %v24)
;   %v29: i1 = icmp uge %v25, 128
;   %v30: i1 = icmp ne %v27, 0
;   %v31: i64 = select %v30, %v27, %v25
;   %v32: i64 = select %v29, %v31, %v25
;   %v34: i64 = udiv %v32, 4
;   %v35: i64 = urem %v32, 4
;   br whole(%v34, %v35, %v24)
; whole:
;   %v36: i64 = phi
;   %v37: i64 = phi
;   %v38: i32 = phi
;   %v40: i1 = icmp ne %v36, 0
;   br %v40, lanes(0, %v38), left(%v38)
; lanes:
;   %v41: i64 = phi
;   %v42: i32 = phi
;   call @next_x4(%n, %a, %b, %v42)
;   %v45: i32 = add %v42, 4
;   %v46: i64 = add nuw %v41, 1
;   %v47: i1 = icmp ult %v46, %v36
;   br %v47, lanes(%v46, %v45), left(%v45)
; left:
;   %v48: i32 = phi
;   %v49: i1 = icmp ne %v37, 0
;   br %v49, repeat, behind
; repeat:
;   %v50: i1 = icmp uge %v32, 4
;   br %v50, enough, behind
; enough:
;   %v51: i64 = sub %v37, 4
;   %v52: i64 = ptrtoint %a
;   %v53: i64 = sext i32 0
;   %v54: i64 = mul %v53, 4
;   %v55: i64 = add %v52, %v54
;   %v56: i64 = sext i32 1
;   %v57: i64 = mul %v56, 4
;   %v58: i64 = add %v55, %v57
;   %v59: i64 = ptrtoint %b
;   %v60: i64 = sext i32 0
;   %v61: i64 = mul %v60, 4
;   %v62: i64 = add %v59, %v61
;   %v64: i32 = add 1, -1
;   %v65: i64 = sext %v64
;   %v66: i64 = mul %v65, 4
;   %v67: i64 = add %v62, %v66
;   %v68: i64 = sub %v21, 1
;   %v69: i32 = add 1, -1
;   %v70: i64 = sext %v69
;   %v71: i64 = sub %v21, 1
;   %v72: i32 = trunc %v71
;   %v73: i32 = mul %v72, 1
;   %v74: i32 = add 1, %v73
;   %v75: i32 = add %v74, -1
;   %v76: i64 = sext %v75
;   %v77: i64 = add %v70, %v68
;   %v78: i1 = icmp eq %v76, %v77
;   %v80: i1 = icmp ult %v68, 536870912
;   %v81: i64 = sub %v67, %v58
;   %v83: i64 = sub %v81, -15
;   %v85: i1 = icmp uge %v83, 31
;   %v86: i1 = and %v78, %v80
;   %v87: i1 = and %v86, %v85
;   %v88: i1 = freeze %v87
;   br %v88, checked, behind
; checked:
;   %v89: i32 = trunc %v51
;   %v90: i32 = mul %v89, 1
;   %v91: i32 = add %v48, %v90
;   br whole(1, 0, %v91)
; behind:
;   %v92: i1 = icmp ne %v37, 0
;   br %v92, tail, done(%v48)
; tail:
;   %v94: i32 = trunc %v37
;   %v97: <4 x i32> = insertelement poison, %v94, i32 0
;   %v98: <4 x i32> = shufflevector %v97, poison [0, 0, 0, 0]
;   %v99: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v98
;   call @next_x4.masked(%n, %a, %b, %v48, %v99)
;   %v100: i64 = sub %v37, 1
;   %v101: i32 = trunc %v37
;   %v102: i32 = mul %v101, 1
;   %v103: i32 = add %v48, %v102
;   br done(%v103)
; done:
;   %v93: i32 = phi
;   %v104: i64 = sub nuw %v25, %v32
;   %v105: i1 = icmp ne %v104, 0
;   br %v105, start(%v93, %v104), finish
; finish:
;   br scalar(%v93)
; scalar:
;   %v14: i32 = phi
;   br loop(%v14)
; loop:
;   %i: i32 = phi
;   %more: i1 = icmp slt %i, %n
;   br %more, body, end
; body:
;   %wide: i64 = sext %i
;   %p: ptr = getelementptr float, %a, %wide
;   %x: float = load %p, align 4
;   %before: i32 = sub nsw %i, 1
;   %widened: i64 = sext %before
;   %q: ptr = getelementptr float, %b, %widened
;   store %x, %q, align 4
;   %next: i32 = add nsw %i, 1
;   br loop(%next)
; end:
;   ret
; }
; func @next_x4(%n: i32, %a: ptr, %b: ptr, %i: i32) phase vector {
; entry:
;   %v5: i32 = add %i, 0
;   %v7: i32 = add %i, -1
;   %v8: i32 = add %v7, 0
;   br loop
; loop:
;   br body
; body:
;   %v9: i64 = sext %i
;   %v10: i64 = sext i32 0
;   %v11: i64 = add %v9, %v10
;   %v12: ptr = getelementptr float, %a, %v11
;   %v13: <4 x float> = load %v12, align 4
;   %v15: i32 = sub %v5, 1
;   %v16: i64 = sext %v7
;   %v17: i64 = sext i32 0
;   %v18: i64 = add %v16, %v17
;   %v19: ptr = getelementptr float, %b, %v18
;   store %v13, %v19, align 4
;   %v20: i32 = add %v5, 1
;   br next
; next:
;   ret
; }
; func @next_x4.prologue(%n: i32, %a: ptr, %b: ptr, %i: i32) -> i64 {
; entry:
;   %v5: i32 = add %i, -1
;   %v7: i32 = add %v5, 0
;   %v8: i64 = sext %v7
;   %v9: ptr = getelementptr float, %b, %v8
;   %v10: i64 = ptrtoint %v9
;   %v11: i64 = freeze %v10
;   %v13: i64 = sub 0, %v11
;   %v15: i64 = and %v13, 15
;   %v17: i64 = lshr %v15, 2
;   ret %v17
; }

; What is combined over all iterations would round otherwise each time that memory lies elsewhere, so that groups begin with the first.
func @sum(%n: i64, %a: ptr, %b: ptr) -> float {
entry:
  br loop(0, 0.0)
loop:
  %i: i64 = phi
  %sum: float = phi
  %more: i1 = icmp slt %i, %n
  br %more, body, end
body:
  %p: ptr = getelementptr float, %a, %i
  %x: float = load %p, align 4
  %q: ptr = getelementptr float, %b, %i
  store %x, %q, align 4
  %added: float = fadd reassoc %sum, %x
  %next: i64 = add nsw %i, 1
  br loop(%next, %added)
end:
  ret %sum
}
; check: loops-aligned
; %i: induction
; %sum: reduction
; func @sum(%n: i64, %a: ptr, %b: ptr) -> float {
; entry:
;   %v18: i64 = sub %n, 0
;   %v19: i1 = icmp slt i64 0, %n
;   %v20: i64 = sub %v18, 1
;   %v21: i64 = add %v20, 1
;   %v22: i64 = select %v19, %v21, 0
;   %v23: i1 = icmp ne %v22, 0
;   br %v23, begin, scalar(0, 0.0)
; begin:
;   %v27: <4 x float> = insertelement poison, float -0.0, i32 0
;   %v28: <4 x float> = shufflevector %v27, poison [0, 0, 0, 0]
;   %v29: <4 x float> = insertelement %v28, float 0.0, i32 0
;   %v31: i64 = udiv %v22, 4
;   %v32: i64 = urem %v22, 4
;   %v33: i1 = icmp ne %v31, 0
;   br %v33, lanes(0, 0, %v29), left(0, %v29)
; lanes:
;   %v34: i64 = phi
;   %v35: i64 = phi
;   %v36: <4 x float> = phi
;   %v37: <4 x float> = call @sum_x4(%n, %a, %b, %v35, %v36)
;   %v39: i64 = add %v35, 4
;   %v40: i64 = add nuw %v34, 1
;   %v41: i1 = icmp ult %v40, %v31
;   br %v41, lanes(%v40, %v39, %v37), left(%v39, %v37)
; left:
;   %v42: i64 = phi
;   %v43: <4 x float> = phi
;   %v44: i1 = icmp ne %v32, 0
;   br %v44, tail, done(%v42, %v43)
; tail:
;   %v47: i32 = trunc %v32
;   %v50: <4 x i32> = insertelement poison, %v47, i32 0
;   %v51: <4 x i32> = shufflevector %v50, poison [0, 0, 0, 0]
;   %v52: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v51
;   %v53: <4 x float> = call @sum_x4.masked(%n, %a, %b, %v42, %v43, %v52)
;   %v54: i64 = sub %v32, 1
;   %v55: i64 = mul %v32, 1
;   %v56: i64 = add %v42, %v55
;   %v57: <4 x float> = select %v52, %v53, %v43
;   br done(%v56, %v57)
; done:
;   %v45: i64 = phi
;   %v46: <4 x float> = phi
;   %v58: <2 x float> = shufflevector %v46, poison [0, 1]
;   %v59: <2 x float> = shufflevector %v46, poison [2, 3]
;   %v60: <2 x float> = fadd reassoc %v58, %v59
;   %v62: <1 x float> = shufflevector %v60, poison [0]
;   %v63: <1 x float> = shufflevector %v60, poison [1]
;   %v64: <1 x float> = fadd reassoc %v62, %v63
;   %v65: float = extractelement %v64, i32 0
;   br scalar(%v45, %v65)
; scalar:
;   %v16: i64 = phi
;   %v17: float = phi
;   br loop(%v16, %v17)
; loop:
;   %i: i64 = phi
;   %sum: float = phi
;   %more: i1 = icmp slt %i, %n
;   br %more, body, end
; body:
;   %p: ptr = getelementptr float, %a, %i
;   %x: float = load %p, align 4
;   %q: ptr = getelementptr float, %b, %i
;   store %x, %q, align 4
;   %added: float = fadd reassoc %sum, %x
;   %next: i64 = add nsw %i, 1
;   br loop(%next, %added)
; end:
;   ret %sum
; }
; func @sum_x4(%n: i64, %a: ptr, %b: ptr, %i: i64, %sum: <4 x float>) -> <4 x float> phase vector {
; entry:
;   %v6: i64 = zext i32 0
;   %v7: i64 = add %i, %v6
;   br loop
; loop:
;   br body
; body:
;   %v8: ptr = getelementptr float, %a, %v7
;   %v9: <4 x float> = load %v8, align 4
;   %v10: ptr = getelementptr float, %b, %v7
;   store %v9, %v10, align 4
;   %v11: <4 x float> = fadd reassoc %sum, %v9
;   %v13: i64 = add %v7, 1
;   br next
; next:
;   ret %v11
; }

; Where it is stored is known in the iteration alone.
func @elsewhere(%n: i64, %a: ptr) {
entry:
  br loop(0)
loop:
  %i: i64 = phi
  %more: i1 = icmp slt %i, %n
  br %more, body, end
body:
  %b: ptr = load %a, align 8
  %q: ptr = getelementptr i64, %b, %i
  store %i, %q, align 8
  %next: i64 = add nsw %i, 1
  br loop(%next)
end:
  ret
}
; check: loops-aligned
; %i: induction
; func @elsewhere(%n: i64, %a: ptr) {
; entry:
;   %v11: i64 = sub %n, 0
;   %v12: i1 = icmp slt i64 0, %n
;   %v13: i64 = sub %v11, 1
;   %v14: i64 = add %v13, 1
;   %v15: i64 = select %v12, %v14, 0
;   %v16: i1 = icmp ne %v15, 0
;   br %v16, begin, scalar(0)
; begin:
;   %v18: i64 = udiv %v15, 4
;   %v19: i64 = urem %v15, 4
;   %v20: i1 = icmp ne %v18, 0
;   br %v20, lanes(0, 0), left(0)
; lanes:
;   %v21: i64 = phi
;   %v22: i64 = phi
;   call @elsewhere_x4(%n, %a, %v22)
;   %v24: i64 = add %v22, 4
;   %v25: i64 = add nuw %v21, 1
;   %v26: i1 = icmp ult %v25, %v18
;   br %v26, lanes(%v25, %v24), left(%v24)
; left:
;   %v27: i64 = phi
;   %v28: i1 = icmp ne %v19, 0
;   br %v28, tail, done(%v27)
; tail:
;   %v30: i32 = trunc %v19
;   %v34: <4 x i32> = insertelement poison, %v30, i32 0
;   %v35: <4 x i32> = shufflevector %v34, poison [0, 0, 0, 0]
;   %v36: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v35
;   call @elsewhere_x4.masked(%n, %a, %v27, %v36)
;   %v37: i64 = sub %v19, 1
;   %v38: i64 = mul %v19, 1
;   %v39: i64 = add %v27, %v38
;   br done(%v39)
; done:
;   %v29: i64 = phi
;   br scalar(%v29)
; scalar:
;   %v10: i64 = phi
;   br loop(%v10)
; loop:
;   %i: i64 = phi
;   %more: i1 = icmp slt %i, %n
;   br %more, body, end
; body:
;   %b: ptr = load %a, align 8
;   %q: ptr = getelementptr i64, %b, %i
;   store %i, %q, align 8
;   %next: i64 = add nsw %i, 1
;   br loop(%next)
; end:
;   ret
; }
; func @elsewhere_x4(%n: i64, %a: ptr, %i: i64) phase vector {
; entry:
;   %v4: i64 = zext i32 0
;   %v5: i64 = add %i, %v4
;   br loop
; loop:
;   br body
; body:
;   %v6: ptr = load %a, align 8
;   %v7: ptr = getelementptr i64, %v6, %v5
;   %v11: <4 x i64> = insertelement poison, %v5, i64 0
;   %v12: <4 x i64> = shufflevector %v11, poison [0, 0, 0, 0]
;   %v13: <4 x i64> = add %v12, <0, 1, 2, 3>
;   store %v13, %v7, align 8
;   %v15: i64 = add %v5, 1
;   br next
; next:
;   ret
; }
