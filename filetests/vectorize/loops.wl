; test: loops

; A sum of some iterations: each lane has its own, and they are added up behind the loop. What may overflow in another order has lost its flag.
func @sum(%p: ptr, %n: i32) -> i32 {
entry:
  br head(0, 7)
head:
  %i: i32 = phi
  %s: i32 = phi
  %c: i1 = icmp slt %i, %n
  br %c, body, exit
body:
  %w: i64 = sext %i
  %a: ptr = getelementptr i32, %p, %w
  %x: i32 = load %a, align 4
  %t: i32 = add nsw %s, %x
  %odd: i1 = icmp sgt %x, 3
  %r: i32 = select %odd, %t, %s
  %j: i32 = add nsw %i, 1
  br head(%j, %r)
exit:
  ret %s
}
; check: loops
; %i: induction
; %s: reduction
; func @sum(%p: ptr, %n: i32) -> i32 {
; entry:
;   %v19: i32 = sub %n, 0
;   %v20: i1 = icmp slt i32 0, %n
;   %v21: i32 = sub %v19, 1
;   %v22: i32 = add %v21, 1
;   %v23: i32 = select %v20, %v22, 0
;   %v24: i64 = zext %v23
;   %v26: i1 = icmp ne %v24, 0
;   br %v26, begin, scalar(0, 7)
; begin:
;   %v28: <4 x i32> = insertelement poison, i32 0, i32 0
;   %v29: <4 x i32> = shufflevector %v28, poison [0, 0, 0, 0]
;   %v30: <4 x i32> = insertelement %v29, i32 7, i32 0
;   %v32: i64 = udiv %v24, 4
;   %v33: i64 = urem %v24, 4
;   %v35: i1 = icmp ne %v32, 0
;   br %v35, lanes(0, 0, %v30), left(0, %v30)
; lanes:
;   %v36: i64 = phi
;   %v38: i32 = phi
;   %v39: <4 x i32> = phi
;   %v40: <4 x i32> = call @sum_x4(%n, %p, %v38, %v39)
;   %v43: i32 = add %v38, 4
;   %v44: i64 = add nuw %v36, 1
;   %v45: i1 = icmp ult %v44, %v32
;   br %v45, lanes(%v44, %v43, %v40), left(%v43, %v40)
; left:
;   %v46: i32 = phi
;   %v47: <4 x i32> = phi
;   %v48: i1 = icmp ne %v33, 0
;   br %v48, tail, done(%v46, %v47)
; tail:
;   %v51: i32 = trunc %v33
;   %v53: <4 x i32> = insertelement poison, %v51, i32 0
;   %v54: <4 x i32> = shufflevector %v53, poison [0, 0, 0, 0]
;   %v55: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v54
;   %v56: <4 x i32> = call @sum_x4.masked(%n, %p, %v46, %v47, %v55)
;   %v57: i64 = sub %v33, 1
;   %v58: i32 = trunc %v33
;   %v59: i32 = mul %v58, 1
;   %v60: i32 = add %v46, %v59
;   br done(%v60, %v56)
; done:
;   %v49: i32 = phi
;   %v50: <4 x i32> = phi
;   %v61: <2 x i32> = shufflevector %v50, poison [0, 1]
;   %v62: <2 x i32> = shufflevector %v50, poison [2, 3]
;   %v63: <2 x i32> = add %v61, %v62
;   %v65: <1 x i32> = shufflevector %v63, poison [0]
;   %v66: <1 x i32> = shufflevector %v63, poison [1]
;   %v67: <1 x i32> = add %v65, %v66
;   %v68: i32 = extractelement %v67, i32 0
;   br scalar(%v49, %v68)
; scalar:
;   %v17: i32 = phi
;   %v18: i32 = phi
;   br head(%v17, %v18)
; head:
;   %i: i32 = phi
;   %s: i32 = phi
;   %c: i1 = icmp slt %i, %n
;   br %c, body, exit
; body:
;   %w: i64 = sext %i
;   %a: ptr = getelementptr i32, %p, %w
;   %x: i32 = load %a, align 4
;   %t: i32 = add nsw %s, %x
;   %odd: i1 = icmp sgt %x, 3
;   %r: i32 = select %odd, %t, %s
;   %j: i32 = add nsw %i, 1
;   br head(%j, %r)
; exit:
;   ret %s
; }
; func @sum_x4(%n: i32, %p: ptr, %i: i32, %s: <4 x i32>) -> <4 x i32> phase vector {
; entry:
;   %v5: i32 = add %i, 0
;   br head
; head:
;   br body
; body:
;   %v6: i64 = sext %i
;   %v7: i64 = sext i32 0
;   %v8: i64 = add %v6, %v7
;   %v9: ptr = getelementptr i32, %p, %v8
;   %v10: <4 x i32> = load %v9, align 4
;   %v11: <4 x i32> = add %s, %v10
;   %v13: <4 x i1> = icmp sgt %v10, <3, 3, 3, 3>
;   %v14: <4 x i32> = select %v13, %v11, %s
;   %v16: i32 = add %v5, 1
;   br next
; next:
;   ret %v14
; }

; A prefix sum: a scan over the lanes, and the sum of the group before in all of them.
func @prefix(%p: ptr, %n: i64) {
entry:
  br head(0, 0)
head:
  %i: i64 = phi
  %s: i32 = phi
  %a: ptr = getelementptr i32, %p, %i
  %x: i32 = load %a, align 4
  %t: i32 = add %s, %x
  store %t, %a, align 4
  %j: i64 = add nuw %i, 1
  %c: i1 = icmp ult %j, %n
  br %c, head(%j, %t), exit
exit:
  ret
}
; check: loops
; %i: induction
; %s: scan
; func @prefix(%p: ptr, %n: i64) {
; entry:
;   %v16: i64 = add 0, 1
;   %v17: i64 = sub %n, %v16
;   %v18: i1 = icmp ult %v16, %n
;   %v19: i64 = sub %v17, 1
;   %v20: i64 = add %v19, 1
;   %v21: i64 = select %v18, %v20, 0
;   %v22: i1 = icmp ne %v21, 0
;   br %v22, begin, scalar(0, 0)
; begin:
;   %v24: i64 = udiv %v21, 4
;   %v25: i64 = urem %v21, 4
;   %v26: i1 = icmp ne %v24, 0
;   br %v26, lanes(0, 0, 0), left(0, 0)
; lanes:
;   %v27: i64 = phi
;   %v28: i64 = phi
;   %v29: i32 = phi
;   %v30: <4 x i32> = call @prefix_x4(%p, %n, %v28, %v29)
;   %v32: i64 = add %v28, 4
;   %v33: i32 = extractelement %v30, i64 3
;   %v34: i32 = add %v29, %v33
;   %v35: i64 = add nuw %v27, 1
;   %v36: i1 = icmp ult %v35, %v24
;   br %v36, lanes(%v35, %v32, %v34), left(%v32, %v34)
; left:
;   %v37: i64 = phi
;   %v38: i32 = phi
;   %v39: i1 = icmp ne %v25, 0
;   br %v39, tail, done(%v37, %v38)
; tail:
;   %v42: i32 = trunc %v25
;   %v45: <4 x i32> = insertelement poison, %v42, i32 0
;   %v46: <4 x i32> = shufflevector %v45, poison [0, 0, 0, 0]
;   %v47: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v46
;   %v48: <4 x i32> = call @prefix_x4.masked(%p, %n, %v37, %v38, %v47)
;   %v49: i64 = sub %v25, 1
;   %v50: i64 = mul %v25, 1
;   %v51: i64 = add %v37, %v50
;   %v52: i32 = extractelement %v48, %v49
;   %v53: i32 = add %v38, %v52
;   br done(%v51, %v53)
; done:
;   %v40: i64 = phi
;   %v41: i32 = phi
;   br scalar(%v40, %v41)
; scalar:
;   %v14: i64 = phi
;   %v15: i32 = phi
;   br head(%v14, %v15)
; head:
;   %i: i64 = phi
;   %s: i32 = phi
;   %a: ptr = getelementptr i32, %p, %i
;   %x: i32 = load %a, align 4
;   %t: i32 = add %s, %x
;   store %t, %a, align 4
;   %j: i64 = add nuw %i, 1
;   %c: i1 = icmp ult %j, %n
;   br %c, head(%j, %t), exit
; exit:
;   ret
; }
; func @prefix_x4(%p: ptr, %n: i64, %i: i64, %s: i32) -> <4 x i32> phase vector {
; entry:
;   %v5: i64 = zext i32 0
;   %v6: i64 = add %i, %v5
;   %v8: i32 = sub 0, 1
;   %v12: <4 x i32> = insertelement poison, i32 0, i64 0
;   %v13: <4 x i32> = shufflevector %v12, poison [0, 0, 0, 0]
;   %v14: <4 x i32> = add %v13, <0, 1, 2, 3>
;   %v16: <4 x i1> = icmp eq %v14, <0, 0, 0, 0>
;   br head
; head:
;   %v17: ptr = getelementptr i32, %p, %v6
;   %v18: <4 x i32> = load %v17, align 4
;   %v19: <4 x i32> = shufflevector %v18, <0, 0, 0, 0> [4, 0, 1, 2]
;   %v20: <4 x i32> = add %v19, %v18
;   %v21: <4 x i32> = shufflevector %v20, <0, 0, 0, 0> [4, 5, 0, 1]
;   %v22: <4 x i32> = add %v21, %v20
;   %v23: <4 x i32> = insertelement poison, %s, i64 0
;   %v24: <4 x i32> = shufflevector %v23, poison [0, 0, 0, 0]
;   %v25: <4 x i32> = add %v24, %v22
;   %v26: <4 x i32> = insertelement poison, %v8, i64 0
;   %v27: <4 x i32> = shufflevector %v26, poison [0, 0, 0, 0]
;   %v28: <4 x i32> = add %v27, <0, 1, 2, 3>
;   %v30: <4 x i1> = icmp ult %v28, <4, 4, 4, 4>
;   %v31: <4 x i32> = select %v30, %v28, <0, 0, 0, 0>
;   %v32: i32 = extractelement %v31, i64 0
;   %v33: i32 = extractelement %v25, %v32
;   %v34: <4 x i32> = insertelement poison, %v33, i64 0
;   %v36: i32 = extractelement %v31, i64 1
;   %v37: i32 = extractelement %v25, %v36
;   %v38: <4 x i32> = insertelement %v34, %v37, i64 1
;   %v40: i32 = extractelement %v31, i64 2
;   %v41: i32 = extractelement %v25, %v40
;   %v42: <4 x i32> = insertelement %v38, %v41, i64 2
;   %v44: i32 = extractelement %v31, i64 3
;   %v45: i32 = extractelement %v25, %v44
;   %v46: <4 x i32> = insertelement %v42, %v45, i64 3
;   %v47: <4 x i32> = select %v30, %v46, <0, 0, 0, 0>
;   %v48: <4 x i32> = select %v16, %v24, %v47
;   store %v25, %v17, align 4
;   %v49: i64 = add %v6, 1
;   br next
; next:
;   ret %v22
; }

; The value of the iteration before, from the lane before; lane 0 gets it from the group before.
func @differences(%p: ptr, %q: ptr, %end: ptr) -> i32 {
entry:
  br head(%p, %q, 0)
head:
  %a: ptr = phi
  %b: ptr = phi
  %old: i32 = phi
  %c: i1 = icmp ne %a, %end
  br %c, body, exit
body:
  %x: i32 = load %a, align 4
  %d: i32 = sub %x, %old
  store %d, %b, align 4
  %a1: ptr = getelementptr inbounds i32, %a, i64 1
  %b1: ptr = getelementptr inbounds i32, %b, i64 1
  br head(%a1, %b1, %x)
exit:
  ret %old
}
; check: loops
; %a: induction
; %b: induction
; %old: previous value
; func @differences(%p: ptr, %q: ptr, %end: ptr) -> i32 {
; entry:
;   %v18: i64 = ptrtoint %p
;   %v19: i64 = ptrtoint %end
;   %v20: i64 = sub %v19, %v18
;   %v23: i64 = urem %v20, 4
;   %v24: i1 = icmp eq %v23, 0
;   %v25: i64 = udiv %v20, 4
;   %v26: i64 = select %v24, %v25, 0
;   %v27: i1 = icmp ne %v26, 0
;   br %v27, begin, scalar(%p, %q, 0)
; begin:
;   %v28: i64 = udiv %v26, 4
;   %v29: i64 = urem %v26, 4
;   %v30: i1 = icmp ne %v28, 0
;   br %v30, lanes(0, %p, %q, 0), left(%p, %q, 0)
; lanes:
;   %v31: i64 = phi
;   %v33: ptr = phi
;   %v34: ptr = phi
;   %v35: i32 = phi
;   %v36: <4 x i32> = call @differences_x4(%end, %v33, %v34, %v35)
;   %v39: ptr = getelementptr i8, %v33, i64 16
;   %v40: ptr = getelementptr i8, %v34, i64 16
;   %v41: i32 = extractelement %v36, i64 3
;   %v42: i64 = add nuw %v31, 1
;   %v43: i1 = icmp ult %v42, %v28
;   br %v43, lanes(%v42, %v39, %v40, %v41), left(%v39, %v40, %v41)
; left:
;   %v44: ptr = phi
;   %v45: ptr = phi
;   %v46: i32 = phi
;   %v47: i1 = icmp ne %v29, 0
;   br %v47, tail, done(%v44, %v45, %v46)
; tail:
;   %v51: i32 = trunc %v29
;   %v54: <4 x i32> = insertelement poison, %v51, i32 0
;   %v55: <4 x i32> = shufflevector %v54, poison [0, 0, 0, 0]
;   %v56: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v55
;   %v57: <4 x i32> = call @differences_x4.masked(%end, %v44, %v45, %v46, %v56)
;   %v58: i64 = sub %v29, 1
;   %v59: i64 = mul %v29, 4
;   %v60: ptr = getelementptr i8, %v44, %v59
;   %v61: i64 = mul %v29, 4
;   %v62: ptr = getelementptr i8, %v45, %v61
;   %v63: i32 = extractelement %v57, %v58
;   br done(%v60, %v62, %v63)
; done:
;   %v48: ptr = phi
;   %v49: ptr = phi
;   %v50: i32 = phi
;   br scalar(%v48, %v49, %v50)
; scalar:
;   %v15: ptr = phi
;   %v16: ptr = phi
;   %v17: i32 = phi
;   br head(%v15, %v16, %v17)
; head:
;   %a: ptr = phi
;   %b: ptr = phi
;   %old: i32 = phi
;   %c: i1 = icmp ne %a, %end
;   br %c, body, exit
; body:
;   %x: i32 = load %a, align 4
;   %d: i32 = sub %x, %old
;   store %d, %b, align 4
;   %a1: ptr = getelementptr inbounds i32, %a, i64 1
;   %b1: ptr = getelementptr inbounds i32, %b, i64 1
;   br head(%a1, %b1, %x)
; exit:
;   ret %old
; }
; func @differences_x4(%end: ptr, %a: ptr, %b: ptr, %old: i32) -> <4 x i32> phase vector {
; entry:
;   %v5: i64 = zext i32 0
;   %v7: i64 = mul %v5, 4
;   %v8: ptr = getelementptr i8, %a, %v7
;   %v9: i64 = zext i32 0
;   %v10: i64 = mul %v9, 4
;   %v11: ptr = getelementptr i8, %b, %v10
;   %v13: i32 = sub 0, 1
;   %v17: <4 x i32> = insertelement poison, i32 0, i64 0
;   %v18: <4 x i32> = shufflevector %v17, poison [0, 0, 0, 0]
;   %v19: <4 x i32> = add %v18, <0, 1, 2, 3>
;   %v21: <4 x i1> = icmp eq %v19, <0, 0, 0, 0>
;   br head
; head:
;   br body
; body:
;   %v22: <4 x i32> = load %v8, align 4
;   %v23: <4 x i32> = insertelement poison, %v13, i64 0
;   %v24: <4 x i32> = shufflevector %v23, poison [0, 0, 0, 0]
;   %v25: <4 x i32> = add %v24, <0, 1, 2, 3>
;   %v27: <4 x i1> = icmp ult %v25, <4, 4, 4, 4>
;   %v28: <4 x i32> = select %v27, %v25, <0, 0, 0, 0>
;   %v29: i32 = extractelement %v28, i64 0
;   %v30: i32 = extractelement %v22, %v29
;   %v31: <4 x i32> = insertelement poison, %v30, i64 0
;   %v33: i32 = extractelement %v28, i64 1
;   %v34: i32 = extractelement %v22, %v33
;   %v35: <4 x i32> = insertelement %v31, %v34, i64 1
;   %v37: i32 = extractelement %v28, i64 2
;   %v38: i32 = extractelement %v22, %v37
;   %v39: <4 x i32> = insertelement %v35, %v38, i64 2
;   %v41: i32 = extractelement %v28, i64 3
;   %v42: i32 = extractelement %v22, %v41
;   %v43: <4 x i32> = insertelement %v39, %v42, i64 3
;   %v44: <4 x i32> = select %v27, %v43, <0, 0, 0, 0>
;   %v45: <4 x i32> = insertelement poison, %old, i64 0
;   %v46: <4 x i32> = shufflevector %v45, poison [0, 0, 0, 0]
;   %v47: <4 x i32> = select %v21, %v46, %v44
;   %v48: <4 x i32> = sub %v22, %v47
;   store %v48, %v11, align 4
;   %v49: ptr = getelementptr i32, %v8, i64 1
;   %v50: ptr = getelementptr i32, %v11, i64 1
;   br next
; next:
;   ret %v22
; }

; An object of the iteration's own, though an address in it was computed before the loop: each lane has one.
declare @llvm.lifetime.start.p0(i64, ptr) [writes arg_memory_only]
declare @llvm.lifetime.end.p0(i64, ptr) [writes arg_memory_only]
func @own(%p: ptr, %n: i64) {
entry:
  %m: ptr = alloca i64, i32 1, align 8
  %high: ptr = getelementptr i32, %m, i64 1
  br head(0)
head:
  %i: i64 = phi
  %c: i1 = icmp ult %i, %n
  br %c, body, exit
body:
  call @llvm.lifetime.start.p0(8, %m)
  %a: ptr = getelementptr i64, %p, %i
  store %i, %m, align 8
  %x: i32 = load %high, align 4
  store %x, %a, align 4
  call @llvm.lifetime.end.p0(8, %m)
  %j: i64 = add nuw %i, 1
  br head(%j)
exit:
  ret
}
; check: loops
; %i: induction
; func @own(%p: ptr, %n: i64) {
; entry:
;   %m: ptr = alloca i64, i32 1, align 8
;   %high: ptr = getelementptr i32, %m, i64 1
;   %v15: i64 = sub %n, 0
;   %v16: i1 = icmp ult i64 0, %n
;   %v17: i64 = sub %v15, 1
;   %v18: i64 = add %v17, 1
;   %v19: i64 = select %v16, %v18, 0
;   %v20: i1 = icmp ne %v19, 0
;   br %v20, begin, scalar(0)
; begin:
;   %v22: i64 = udiv %v19, 4
;   %v23: i64 = urem %v19, 4
;   br whole(%v22, %v23, 0)
; whole:
;   %v24: i64 = phi
;   %v25: i64 = phi
;   %v26: i64 = phi
;   %v27: i1 = icmp ne %v24, 0
;   br %v27, lanes(0, %v26), left(%v26)
; lanes:
;   %v28: i64 = phi
;   %v29: i64 = phi
;   call @own_x4(%n, %p, %v29)
;   %v31: i64 = add %v29, 4
;   %v32: i64 = add nuw %v28, 1
;   %v33: i1 = icmp ult %v32, %v24
;   br %v33, lanes(%v32, %v31), left(%v31)
; left:
;   %v34: i64 = phi
;   %v35: i1 = icmp ne %v25, 0
;   br %v35, repeat, behind
; repeat:
;   %v36: i1 = icmp uge %v19, 4
;   br %v36, enough, behind
; enough:
;   %v37: i64 = sub %v25, 4
;   %v38: i64 = mul %v37, 1
;   %v39: i64 = add %v34, %v38
;   br whole(1, 0, %v39)
; behind:
;   %v40: i1 = icmp ne %v25, 0
;   br %v40, tail, done(%v34)
; tail:
;   %v42: i32 = trunc %v25
;   %v46: <4 x i32> = insertelement poison, %v42, i32 0
;   %v47: <4 x i32> = shufflevector %v46, poison [0, 0, 0, 0]
;   %v48: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v47
;   call @own_x4.masked(%n, %p, %v34, %v48)
;   %v49: i64 = sub %v25, 1
;   %v50: i64 = mul %v25, 1
;   %v51: i64 = add %v34, %v50
;   br done(%v51)
; done:
;   %v41: i64 = phi
;   br scalar(%v41)
; scalar:
;   %v14: i64 = phi
;   br head(%v14)
; head:
;   %i: i64 = phi
;   %c: i1 = icmp ult %i, %n
;   br %c, body, exit
; body:
;   call @llvm.lifetime.start.p0(8, %m)
;   %a: ptr = getelementptr i64, %p, %i
;   store %i, %m, align 8
;   %x: i32 = load %high, align 4
;   store %x, %a, align 4
;   call @llvm.lifetime.end.p0(8, %m)
;   %j: i64 = add nuw %i, 1
;   br head(%j)
; exit:
;   ret
; }
; func @own_x4(%n: i64, %p: ptr, %i: i64) phase vector {
; entry:
;   %v4: ptr = alloca [32 x i8], i32 1, align 32
;   %v7: ptr = getelementptr i8, %v4, i64 4
;   %v9: i64 = zext i32 0
;   %v10: i64 = add %i, %v9
;   br head
; head:
;   br body
; body:
;   %v11: ptr = getelementptr i64, %p, %v10
;   %v15: <4 x i64> = insertelement poison, %v10, i64 0
;   %v16: <4 x i64> = shufflevector %v15, poison [0, 0, 0, 0]
;   %v17: <4 x i64> = add %v16, <0, 1, 2, 3>
;   store %v17, %v4, align 32
;   %v18: <7 x i32> = load %v7, align 4
;   %v20: <4 x i32> = shufflevector %v18, poison [0, 2, 4, 6]
;   %v22: <7 x i32> = shufflevector %v20, poison [0, -1, 1, -1, 2, -1, 3]
;   call @llvm.masked.store.v7i32.p0(%v22, %v11, 4, <true, false, true, false, true, false, true>)
;   %v26: i64 = add %v10, 1
;   br next
; next:
;   ret
; }

; The same, but somebody outside knows the object.
declare @keep(ptr) [unknown]
func @known(%p: ptr, %n: i64) {
entry:
  %m: ptr = alloca i64, i32 1, align 8
  call @keep(%m)
  br head(0)
head:
  %i: i64 = phi
  %c: i1 = icmp ult %i, %n
  br %c, body, exit
body:
  call @llvm.lifetime.start.p0(8, %m)
  store %i, %m, align 8
  %j: i64 = add nuw %i, 1
  br head(%j)
exit:
  ret
}
; check: loops
; error: function `known`, `%m = alloca`: is made anew in each iteration, but its address is used outside of the loop, so that each lane cannot have its own

; Sums of floating-point numbers are not the same in another order.
func @in_order(%p: ptr, %n: i64) -> float {
entry:
  br head(0, 0x00000000)
head:
  %i: i64 = phi
  %s: float = phi
  %c: i1 = icmp ult %i, %n
  br %c, body, exit
body:
  %a: ptr = getelementptr float, %p, %i
  %x: float = load %a, align 4
  %t: float = fadd %s, %x
  %j: i64 = add nuw %i, 1
  br head(%j, %t)
exit:
  ret %s
}
; check: loops
; %i: induction
; %s: ordered reduction
; func @in_order(%p: ptr, %n: i64) -> float {
; entry:
;   %v16: i64 = sub %n, 0
;   %v17: i1 = icmp ult i64 0, %n
;   %v18: i64 = sub %v16, 1
;   %v19: i64 = add %v18, 1
;   %v20: i64 = select %v17, %v19, 0
;   %v21: i1 = icmp ne %v20, 0
;   br %v21, begin, scalar(0, 0.0)
; begin:
;   %v23: i64 = udiv %v20, 4
;   %v24: i64 = urem %v20, 4
;   %v25: i1 = icmp ne %v23, 0
;   br %v25, lanes(0, 0, 0.0), left(0, 0.0)
; lanes:
;   %v26: i64 = phi
;   %v27: i64 = phi
;   %v28: float = phi
;   %v29: <4 x float> = call @in_order_x4(%n, %p, %v27, %v28)
;   %v31: i64 = add %v27, 4
;   %v32: float = extractelement %v29, i64 3
;   %v33: i64 = add nuw %v26, 1
;   %v34: i1 = icmp ult %v33, %v23
;   br %v34, lanes(%v33, %v31, %v32), left(%v31, %v32)
; left:
;   %v35: i64 = phi
;   %v36: float = phi
;   %v37: i1 = icmp ne %v24, 0
;   br %v37, tail, done(%v35, %v36)
; tail:
;   %v40: i32 = trunc %v24
;   %v44: <4 x i32> = insertelement poison, %v40, i32 0
;   %v45: <4 x i32> = shufflevector %v44, poison [0, 0, 0, 0]
;   %v46: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v45
;   %v47: <4 x float> = call @in_order_x4.masked(%n, %p, %v35, %v36, %v46)
;   %v48: i64 = sub %v24, 1
;   %v49: i64 = mul %v24, 1
;   %v50: i64 = add %v35, %v49
;   %v51: float = extractelement %v47, %v48
;   br done(%v50, %v51)
; done:
;   %v38: i64 = phi
;   %v39: float = phi
;   br scalar(%v38, %v39)
; scalar:
;   %v14: i64 = phi
;   %v15: float = phi
;   br head(%v14, %v15)
; head:
;   %i: i64 = phi
;   %s: float = phi
;   %c: i1 = icmp ult %i, %n
;   br %c, body, exit
; body:
;   %a: ptr = getelementptr float, %p, %i
;   %x: float = load %a, align 4
;   %t: float = fadd %s, %x
;   %j: i64 = add nuw %i, 1
;   br head(%j, %t)
; exit:
;   ret %s
; }
; func @in_order_x4(%n: i64, %p: ptr, %i: i64, %s: float) -> <4 x float> phase vector {
; entry:
;   %v5: i64 = zext i32 0
;   %v6: i64 = add %i, %v5
;   br head
; head:
;   br body
; body:
;   %v7: ptr = getelementptr float, %p, %v6
;   %v8: <4 x float> = load %v7, align 4
;   %v10: <4 x float> = fadd <-0.0, -0.0, -0.0, -0.0>, %v8
;   %v12: i64 = add %v6, 1
;   br next
; next:
;   %v16: <4 x i32> = insertelement poison, i32 0, i64 0
;   %v17: <4 x i32> = shufflevector %v16, poison [0, 0, 0, 0]
;   %v18: <4 x i32> = add %v17, <0, 1, 2, 3>
;   %v20: <4 x i1> = icmp eq %v18, <0, 0, 0, 0>
;   %v22: <4 x float> = insertelement poison, %s, i64 0
;   %v23: <4 x float> = shufflevector %v22, poison [0, 0, 0, 0]
;   %v24: <4 x float> = fadd %v23, %v10
;   %v25: <4 x float> = select %v20, %v24, %v10
;   %v27: float = call @llvm.vector.reduce.fadd.v4f32(-0.0, %v25)
;   %v28: <4 x float> = insertelement poison, %v27, i64 0
;   %v29: <4 x float> = shufflevector %v28, poison [0, 0, 0, 0]
;   ret %v29
; }

; Flags that allow it.
func @any_order(%p: ptr, %n: i64) -> float {
entry:
  br head(0, 0x00000000)
head:
  %i: i64 = phi
  %s: float = phi
  %c: i1 = icmp ult %i, %n
  br %c, body, exit
body:
  %a: ptr = getelementptr float, %p, %i
  %x: float = load %a, align 4
  %t: float = fadd reassoc nsz %s, %x
  %j: i64 = add nuw %i, 1
  br head(%j, %t)
exit:
  ret %s
}
; check: loops
; %i: induction
; %s: reduction
; func @any_order(%p: ptr, %n: i64) -> float {
; entry:
;   %v16: i64 = sub %n, 0
;   %v17: i1 = icmp ult i64 0, %n
;   %v18: i64 = sub %v16, 1
;   %v19: i64 = add %v18, 1
;   %v20: i64 = select %v17, %v19, 0
;   %v21: i1 = icmp ne %v20, 0
;   br %v21, begin, scalar(0, 0.0)
; begin:
;   %v25: <4 x float> = insertelement poison, float -0.0, i32 0
;   %v26: <4 x float> = shufflevector %v25, poison [0, 0, 0, 0]
;   %v27: <4 x float> = insertelement %v26, float 0.0, i32 0
;   %v29: i64 = udiv %v20, 4
;   %v30: i64 = urem %v20, 4
;   %v31: i1 = icmp ne %v29, 0
;   br %v31, lanes(0, 0, %v27), left(0, %v27)
; lanes:
;   %v32: i64 = phi
;   %v33: i64 = phi
;   %v34: <4 x float> = phi
;   %v35: <4 x float> = call @any_order_x4(%n, %p, %v33, %v34)
;   %v37: i64 = add %v33, 4
;   %v38: i64 = add nuw %v32, 1
;   %v39: i1 = icmp ult %v38, %v29
;   br %v39, lanes(%v38, %v37, %v35), left(%v37, %v35)
; left:
;   %v40: i64 = phi
;   %v41: <4 x float> = phi
;   %v42: i1 = icmp ne %v30, 0
;   br %v42, tail, done(%v40, %v41)
; tail:
;   %v45: i32 = trunc %v30
;   %v48: <4 x i32> = insertelement poison, %v45, i32 0
;   %v49: <4 x i32> = shufflevector %v48, poison [0, 0, 0, 0]
;   %v50: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v49
;   %v51: <4 x float> = call @any_order_x4.masked(%n, %p, %v40, %v41, %v50)
;   %v52: i64 = sub %v30, 1
;   %v53: i64 = mul %v30, 1
;   %v54: i64 = add %v40, %v53
;   %v55: <4 x float> = select %v50, %v51, %v41
;   br done(%v54, %v55)
; done:
;   %v43: i64 = phi
;   %v44: <4 x float> = phi
;   %v56: <2 x float> = shufflevector %v44, poison [0, 1]
;   %v57: <2 x float> = shufflevector %v44, poison [2, 3]
;   %v58: <2 x float> = fadd reassoc %v56, %v57
;   %v60: <1 x float> = shufflevector %v58, poison [0]
;   %v61: <1 x float> = shufflevector %v58, poison [1]
;   %v62: <1 x float> = fadd reassoc %v60, %v61
;   %v63: float = extractelement %v62, i32 0
;   br scalar(%v43, %v63)
; scalar:
;   %v14: i64 = phi
;   %v15: float = phi
;   br head(%v14, %v15)
; head:
;   %i: i64 = phi
;   %s: float = phi
;   %c: i1 = icmp ult %i, %n
;   br %c, body, exit
; body:
;   %a: ptr = getelementptr float, %p, %i
;   %x: float = load %a, align 4
;   %t: float = fadd reassoc nsz %s, %x
;   %j: i64 = add nuw %i, 1
;   br head(%j, %t)
; exit:
;   ret %s
; }
; func @any_order_x4(%n: i64, %p: ptr, %i: i64, %s: <4 x float>) -> <4 x float> phase vector {
; entry:
;   %v5: i64 = zext i32 0
;   %v6: i64 = add %i, %v5
;   br head
; head:
;   br body
; body:
;   %v7: ptr = getelementptr float, %p, %v6
;   %v8: <4 x float> = load %v7, align 4
;   %v9: <4 x float> = fadd reassoc nsz %s, %v8
;   %v11: i64 = add %v6, 1
;   br next
; next:
;   ret %v9
; }

; A counter that is extended and may wrap: how often the loop goes round is not known.
func @may_wrap(%n: i64) {
entry:
  br head(0)
head:
  %i: i32 = phi
  %w: i64 = zext %i
  %c: i1 = icmp ult %w, %n
  br %c, body, exit
body:
  %j: i32 = add %i, 1
  br head(%j)
exit:
  ret
}
; check: loops
; error: function `may_wrap`, `br`: the number of iterations is not known when the loop begins: the counter is narrower than the bound and may wrap

; Left in the middle.
func @search(%p: ptr, %n: i64) -> i64 {
entry:
  br head(0)
head:
  %i: i64 = phi
  %c: i1 = icmp ult %i, %n
  br %c, body, exit(%n)
body:
  %a: ptr = getelementptr i32, %p, %i
  %x: i32 = load %a, align 4
  %found: i1 = icmp eq %x, 7
  br %found, exit(%i), next
next:
  %j: i64 = add nuw %i, 1
  br head(%j)
exit:
  %r: i64 = phi
  ret %r
}
; check: loops
; %i: induction
; func @search(%p: ptr, %n: i64) -> i64 {
; entry:
;   %v14: i64 = sub %n, 0
;   %v15: i1 = icmp ult i64 0, %n
;   %v16: i64 = sub %v14, 1
;   %v17: i64 = add %v16, 1
;   %v18: i64 = select %v15, %v17, 0
;   %v19: i1 = icmp ne %v18, 0
;   br %v19, begin, scalar(0)
; begin:
;   br page(0, %v18)
; page:
;   %v20: i64 = phi
;   %v21: i64 = phi
;   %v23: ptr = getelementptr i32, %p, %v20
;   %v24: i64 = ptrtoint %v23
;   %v25: i64 = freeze %v24
;   %v27: i64 = and %v25, 4095
;   %v29: i64 = sub 4092, %v27
;   %v30: i1 = icmp sge %v29, 0
;   %v31: i64 = select %v30, %v29, 0
;   %v32: i64 = udiv %v31, 4
;   %v33: i64 = add %v32, 1
;   %v34: i64 = udiv %v33, 4
;   %v35: i64 = sub %v21, 1
;   %v36: i64 = udiv %v35, 4
;   %v37: i64 = add %v36, 1
;   %v38: i1 = icmp ult %v34, %v37
;   %v39: i64 = select %v38, %v34, %v37
;   %v40: i1 = icmp ne %v39, 0
;   br %v40, lanes(%v20, %v21, %v39), tail
; lanes:
;   %v41: i64 = phi
;   %v42: i64 = phi
;   %v43: i64 = phi
;   %v44: <4 x i64> = call @search_x4(%n, %p, %v41)
;   %v45: i64 = extractelement %v44, i64 0
;   %v47: i64 = add %v41, 4
;   %v48: i1 = icmp ne %v45, 0
;   br %v48, stopped, on
; after:
;   %v52: i1 = icmp ule %v42, 4
;   %v53: i64 = mul %v42, 1
;   %v54: i64 = add %v41, %v53
;   br %v52, finish(%v54), page(%v47, %v49)
; tail:
;   %v56: i1 = icmp ult %v33, %v21
;   %v57: i64 = select %v56, %v33, %v21
;   %v58: i32 = trunc %v57
;   %v62: <4 x i32> = insertelement poison, %v58, i32 0
;   %v63: <4 x i32> = shufflevector %v62, poison [0, 0, 0, 0]
;   %v64: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v63
;   %v65: <4 x i64> = call @search_x4.masked(%n, %p, %v20, %v64)
;   %v66: i64 = extractelement %v65, i64 0
;   %v67: i64 = sub %v57, 1
;   %v68: i64 = mul %v57, 1
;   %v69: i64 = add %v20, %v68
;   %v70: i1 = icmp ne %v66, 0
;   br %v70, b14, b15
; finish:
;   %v55: i64 = phi
;   br scalar(%v55)
; on:
;   %v49: i64 = sub %v42, 4
;   %v50: i64 = sub %v43, 1
;   %v51: i1 = icmp ne %v50, 0
;   br %v51, lanes(%v47, %v49, %v50), after
; b15:
;   %v71: i64 = sub %v21, %v57
;   %v72: i1 = icmp ne %v71, 0
;   br %v72, page(%v69, %v71), finish(%v69)
; stopped:
;   %v74: i64 = call @llvm.cttz.i64(%v45, true)
;   %v75: i1 = icmp ult %v74, %v42
;   %v76: i64 = select %v75, %v74, %v42
;   %v77: i64 = mul %v76, 1
;   %v78: i64 = add %v41, %v77
;   br scalar(%v78)
; b14:
;   %v79: i64 = call @llvm.cttz.i64(%v66, true)
;   %v80: i64 = mul %v79, 1
;   %v81: i64 = add %v20, %v80
;   br scalar(%v81)
; scalar:
;   %v13: i64 = phi
;   br head(%v13)
; head:
;   %i: i64 = phi
;   %c: i1 = icmp ult %i, %n
;   br %c, body, exit(%n)
; body:
;   %a: ptr = getelementptr i32, %p, %i
;   %x: i32 = load %a, align 4
;   %found: i1 = icmp eq %x, 7
;   br %found, exit(%i), next
; next:
;   %j: i64 = add nuw %i, 1
;   br head(%j)
; exit:
;   %r: i64 = phi
;   ret %r
; }
; func @search_x4(%n: i64, %p: ptr, %i: i64) -> <4 x i64> phase vector {
; entry:
;   %v4: i64 = zext i32 0
;   %v5: i64 = add %i, %v4
;   br head
; head:
;   br body
; body:
;   %v6: ptr = getelementptr i32, %p, %v5
;   %v7: <4 x i32> = load speculative %v6, align 4
;   %v9: <4 x i1> = icmp eq %v7, <7, 7, 7, 7>
;   %v10: <4 x i1> = freeze %v9
;   %v11: i1 = call @llvm.vector.reduce.or.v4i1(%v10)
;   br %v11, leaves, next
; next:
;   %v13: i64 = add %v5, 1
;   br b5
; leaves:
;   %v16: i4 = bitcast %v10
;   %v17: i64 = zext %v16
;   br exit(%v17)
; b5:
;   br exit(0)
; exit:
;   %v18: i64 = phi
;   %v22: <4 x i64> = insertelement poison, %v18, i64 0
;   %v23: <4 x i64> = shufflevector %v22, poison [0, 0, 0, 0]
;   ret %v23
; }

; What depends on itself in no known way.
func @chain(%n: i64) -> i32 {
entry:
  br head(0, 1)
head:
  %i: i64 = phi
  %x: i32 = phi
  %c: i1 = icmp ult %i, %n
  br %c, body, exit
body:
  %y: i32 = mul %x, 5
  %z: i32 = add %y, 3
  %j: i64 = add nuw %i, 1
  br head(%j, %z)
exit:
  ret %x
}
; check: loops
; %i: induction
; %x: linear recurrence
; func @chain(%n: i64) -> i32 {
; entry:
;   %v18: i64 = sub %n, 0
;   %v19: i1 = icmp ult i64 0, %n
;   %v20: i64 = sub %v18, 1
;   %v21: i64 = add %v20, 1
;   %v22: i64 = select %v19, %v21, 0
;   %v23: i1 = icmp ne %v22, 0
;   br %v23, begin, scalar(0, 1)
; begin:
;   %v25: i64 = udiv %v22, 4
;   %v26: i64 = urem %v22, 4
;   %v27: i1 = icmp ne %v25, 0
;   br %v27, lanes(0, 0, 1), left(0, 1)
; lanes:
;   %v28: i64 = phi
;   %v29: i64 = phi
;   %v30: i32 = phi
;   call @chain_x4(%n, %v29, %v30)
;   %v32: i64 = add %v29, 4
;   %v56: i32 = mul %v30, 625
;   %v57: i32 = add %v56, 468
;   %v58: i64 = add nuw %v28, 1
;   %v59: i1 = icmp ult %v58, %v25
;   br %v59, lanes(%v58, %v32, %v57), left(%v32, %v57)
; left:
;   %v60: i64 = phi
;   %v61: i32 = phi
;   %v62: i1 = icmp ne %v26, 0
;   br %v62, tail, done(%v60, %v61)
; tail:
;   %v65: i32 = trunc %v26
;   %v68: <4 x i32> = insertelement poison, %v65, i32 0
;   %v69: <4 x i32> = shufflevector %v68, poison [0, 0, 0, 0]
;   %v70: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v69
;   call @chain_x4.masked(%n, %v60, %v61, %v70)
;   %v71: i64 = sub %v26, 1
;   %v72: i64 = mul %v26, 1
;   %v73: i64 = add %v60, %v72
;   %v74: i32 = trunc %v26
;   %v75: i32 = and %v74, 1
;   %v76: i1 = icmp ne %v75, 0
;   %v77: i32 = select %v76, 5, 1
;   %v78: i32 = select %v76, 3, 0
;   %v80: i32 = and %v74, 2
;   %v81: i1 = icmp ne %v80, 0
;   %v82: i32 = mul %v77, 25
;   %v83: i32 = select %v81, %v82, %v77
;   %v84: i32 = mul %v78, 25
;   %v85: i32 = add %v84, 18
;   %v86: i32 = select %v81, %v85, %v78
;   %v87: i32 = and %v74, 4
;   %v88: i1 = icmp ne %v87, 0
;   %v89: i32 = mul %v83, 625
;   %v90: i32 = select %v88, %v89, %v83
;   %v91: i32 = mul %v86, 625
;   %v92: i32 = add %v91, 468
;   %v93: i32 = select %v88, %v92, %v86
;   %v95: i32 = and %v74, 8
;   %v96: i1 = icmp ne %v95, 0
;   %v97: i32 = mul %v90, 390625
;   %v98: i32 = select %v96, %v97, %v90
;   %v99: i32 = mul %v93, 390625
;   %v100: i32 = add %v99, 292968
;   %v101: i32 = select %v96, %v100, %v93
;   %v103: i32 = and %v74, 16
;   %v104: i1 = icmp ne %v103, 0
;   %v105: i32 = mul %v98, -2030932031
;   %v106: i32 = select %v104, %v105, %v98
;   %v107: i32 = mul %v101, -2030932031
;   %v108: i32 = add %v107, -1523199024
;   %v109: i32 = select %v104, %v108, %v101
;   %v111: i32 = and %v74, 32
;   %v112: i1 = icmp ne %v111, 0
;   %v113: i32 = mul %v106, -2052264063
;   %v114: i32 = select %v112, %v113, %v106
;   %v115: i32 = mul %v109, -2052264063
;   %v116: i32 = add %v115, -1539198048
;   %v117: i32 = select %v112, %v116, %v109
;   %v119: i32 = and %v74, 64
;   %v120: i1 = icmp ne %v119, 0
;   %v121: i32 = mul %v114, -1083564287
;   %v122: i32 = select %v120, %v121, %v114
;   %v123: i32 = mul %v117, -1083564287
;   %v124: i32 = add %v123, -1886415040
;   %v125: i32 = select %v120, %v124, %v117
;   %v126: i32 = mul %v61, %v122
;   %v127: i32 = add %v126, %v125
;   br done(%v73, %v127)
; done:
;   %v63: i64 = phi
;   %v64: i32 = phi
;   br scalar(%v63, %v64)
; scalar:
;   %v16: i64 = phi
;   %v17: i32 = phi
;   br head(%v16, %v17)
; head:
;   %i: i64 = phi
;   %x: i32 = phi
;   %c: i1 = icmp ult %i, %n
;   br %c, body, exit
; body:
;   %y: i32 = mul %x, 5
;   %z: i32 = add %y, 3
;   %j: i64 = add nuw %i, 1
;   %v14: i32 = mul %x, 5
;   %v15: i32 = add %v14, 3
;   br head(%j, %v15)
; exit:
;   ret %x
; }
; func @chain_x4(%n: i64, %i: i64, %x: i32) phase vector {
; entry:
;   %v4: i64 = zext i32 0
;   %v5: i64 = add %i, %v4
;   %v9: <4 x i32> = insertelement poison, i32 0, i64 0
;   %v10: <4 x i32> = shufflevector %v9, poison [0, 0, 0, 0]
;   %v11: <4 x i32> = add %v10, <0, 1, 2, 3>
;   %v13: <4 x i32> = and %v11, <1, 1, 1, 1>
;   %v15: <4 x i1> = icmp ne %v13, <0, 0, 0, 0>
;   %v17: <4 x i32> = select %v15, <5, 5, 5, 5>, <1, 1, 1, 1>
;   %v19: <4 x i32> = select %v15, <3, 3, 3, 3>, <0, 0, 0, 0>
;   %v21: <4 x i32> = and %v11, <2, 2, 2, 2>
;   %v22: <4 x i1> = icmp ne %v21, <0, 0, 0, 0>
;   %v24: <4 x i32> = mul %v17, <25, 25, 25, 25>
;   %v25: <4 x i32> = select %v22, %v24, %v17
;   %v26: <4 x i32> = mul %v19, <25, 25, 25, 25>
;   %v28: <4 x i32> = add %v26, <18, 18, 18, 18>
;   %v29: <4 x i32> = select %v22, %v28, %v19
;   %v31: <4 x i32> = and %v11, <4, 4, 4, 4>
;   %v32: <4 x i1> = icmp ne %v31, <0, 0, 0, 0>
;   %v34: <4 x i32> = mul %v25, <625, 625, 625, 625>
;   %v35: <4 x i32> = select %v32, %v34, %v25
;   %v36: <4 x i32> = mul %v29, <625, 625, 625, 625>
;   %v38: <4 x i32> = add %v36, <468, 468, 468, 468>
;   %v39: <4 x i32> = select %v32, %v38, %v29
;   %v41: <4 x i32> = and %v11, <8, 8, 8, 8>
;   %v42: <4 x i1> = icmp ne %v41, <0, 0, 0, 0>
;   %v44: <4 x i32> = mul %v35, <390625, 390625, 390625, 390625>
;   %v45: <4 x i32> = select %v42, %v44, %v35
;   %v46: <4 x i32> = mul %v39, <390625, 390625, 390625, 390625>
;   %v48: <4 x i32> = add %v46, <292968, 292968, 292968, 292968>
;   %v49: <4 x i32> = select %v42, %v48, %v39
;   %v51: <4 x i32> = and %v11, <16, 16, 16, 16>
;   %v52: <4 x i1> = icmp ne %v51, <0, 0, 0, 0>
;   %v54: <4 x i32> = mul %v45, <-2030932031, -2030932031, -2030932031, -2030932031>
;   %v55: <4 x i32> = select %v52, %v54, %v45
;   %v56: <4 x i32> = mul %v49, <-2030932031, -2030932031, -2030932031, -2030932031>
;   %v58: <4 x i32> = add %v56, <-1523199024, -1523199024, -1523199024, -1523199024>
;   %v59: <4 x i32> = select %v52, %v58, %v49
;   %v61: <4 x i32> = and %v11, <32, 32, 32, 32>
;   %v62: <4 x i1> = icmp ne %v61, <0, 0, 0, 0>
;   %v64: <4 x i32> = mul %v55, <-2052264063, -2052264063, -2052264063, -2052264063>
;   %v65: <4 x i32> = select %v62, %v64, %v55
;   %v66: <4 x i32> = mul %v59, <-2052264063, -2052264063, -2052264063, -2052264063>
;   %v68: <4 x i32> = add %v66, <-1539198048, -1539198048, -1539198048, -1539198048>
;   %v69: <4 x i32> = select %v62, %v68, %v59
;   %v71: <4 x i32> = and %v11, <64, 64, 64, 64>
;   %v72: <4 x i1> = icmp ne %v71, <0, 0, 0, 0>
;   %v74: <4 x i32> = mul %v65, <-1083564287, -1083564287, -1083564287, -1083564287>
;   %v75: <4 x i32> = select %v72, %v74, %v65
;   %v76: <4 x i32> = mul %v69, <-1083564287, -1083564287, -1083564287, -1083564287>
;   %v78: <4 x i32> = add %v76, <-1886415040, -1886415040, -1886415040, -1886415040>
;   %v79: <4 x i32> = select %v72, %v78, %v69
;   %v80: <4 x i32> = insertelement poison, %x, i64 0
;   %v81: <4 x i32> = shufflevector %v80, poison [0, 0, 0, 0]
;   %v82: <4 x i32> = mul %v81, %v75
;   %v83: <4 x i32> = add %v82, %v79
;   br head
; head:
;   br body
; body:
;   %v85: i64 = add %v5, 1
;   %v86: <4 x i32> = mul %v83, <5, 5, 5, 5>
;   %v87: <4 x i32> = add %v86, <3, 3, 3, 3>
;   br next
; next:
;   ret
; }

; Exchanged.
func @swap(%n: i64) -> i32 {
entry:
  br head(0, 1, 2)
head:
  %i: i64 = phi
  %x: i32 = phi
  %y: i32 = phi
  %c: i1 = icmp ult %i, %n
  br %c, body, exit
body:
  %j: i64 = add nuw %i, 1
  br head(%j, %y, %x)
exit:
  ret %x
}
; check: loops
; error: function `swap`, `%x = phi`: is exchanged with other values from one iteration to the next

; The value of the iteration before is used before this one has its own.
func @too_early(%p: ptr, %n: i64) {
entry:
  br head(0, 1)
head:
  %i: i64 = phi
  %x: i32 = phi
  %c: i1 = icmp ult %i, %n
  br %c, body, exit
body:
  %a: ptr = getelementptr i32, %p, %i
  store %x, %a, align 4
  %y: i32 = load %p, align 4
  %j: i64 = add nuw %i, 1
  br head(%j, %y)
exit:
  ret
}
; check: loops
; error: function `too_early`, `store`: uses %x, the value of the iteration before, before this iteration has computed its own, so that lanes cannot pass it on; compute that first, or declare pointers `restrict` so that it may be
