; test: loops

; What beats a value in memory takes its place, and the place of it another one: the first of the best lanes stores.
func @record(%x: ptr noalias, %most: ptr noalias, %at: ptr noalias, %n: i32) {
entry:
  br head(0)
head:
  %i: i32 = phi
  %c: i1 = icmp slt %i, %n
  br %c, body, exit
body:
  %w: i64 = sext %i
  %p: ptr = getelementptr float, %x, %w
  %v: float = load %p, align 4
  %old: float = load %most, align 4
  %beats: i1 = fcmp ogt %v, %old
  br %beats, better, next
better:
  store %v, %most, align 4
  store %i, %at, align 4
  br next
next:
  %j: i32 = add nsw %i, 1
  br head(%j)
exit:
  ret
}
; check: loops
; %i: induction
; func @record(%x: ptr noalias, %most: ptr noalias, %at: ptr noalias, %n: i32) {
; entry:
;   %v16: i32 = sub %n, 0
;   %v17: i1 = icmp slt i32 0, %n
;   %v18: i32 = sub %v16, 1
;   %v19: i32 = add %v18, 1
;   %v20: i32 = select %v17, %v19, 0
;   %v21: i64 = zext %v20
;   %v23: i1 = icmp ne %v21, 0
;   br %v23, begin, scalar(0)
; begin:
;   %v25: i64 = udiv %v21, 4
;   %v26: i64 = urem %v21, 4
;   %v28: i1 = icmp ne %v25, 0
;   br %v28, lanes(0, 0), left(0)
; lanes:
;   %v29: i64 = phi
;   %v31: i32 = phi
;   call @record_x4(%n, %x, %most, %at, %v31)
;   %v34: i32 = add %v31, 4
;   %v35: i64 = add nuw %v29, 1
;   %v36: i1 = icmp ult %v35, %v25
;   br %v36, lanes(%v35, %v34), left(%v34)
; left:
;   %v37: i32 = phi
;   %v38: i1 = icmp ne %v26, 0
;   br %v38, tail, done(%v37)
; tail:
;   %v40: i32 = trunc %v26
;   %v43: <4 x i32> = insertelement poison, %v40, i32 0
;   %v44: <4 x i32> = shufflevector %v43, poison [0, 0, 0, 0]
;   %v45: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v44
;   call @record_x4.masked(%n, %x, %most, %at, %v37, %v45)
;   %v46: i64 = sub %v26, 1
;   %v47: i32 = trunc %v26
;   %v48: i32 = mul %v47, 1
;   %v49: i32 = add %v37, %v48
;   br done(%v49)
; done:
;   %v39: i32 = phi
;   br scalar(%v39)
; scalar:
;   %v15: i32 = phi
;   br head(%v15)
; head:
;   %i: i32 = phi
;   %c: i1 = icmp slt %i, %n
;   br %c, body, exit
; body:
;   %w: i64 = sext %i
;   %p: ptr = getelementptr float, %x, %w
;   %v: float = load %p, align 4
;   %old: float = load %most, align 4
;   %beats: i1 = fcmp ogt %v, %old
;   br %beats, better, next
; better:
;   store %v, %most, align 4
;   store %i, %at, align 4
;   br next
; next:
;   %j: i32 = add nsw %i, 1
;   br head(%j)
; exit:
;   ret
; }
; func @record_x4(%n: i32, %x: ptr, %most: ptr, %at: ptr, %i: i32) phase vector {
; entry:
;   %v6: i32 = add %i, 0
;   br head
; head:
;   br body
; body:
;   %v7: i64 = sext %i
;   %v8: i64 = sext i32 0
;   %v9: i64 = add %v7, %v8
;   %v10: ptr = getelementptr float, %x, %v9
;   %v11: <4 x float> = load %v10, align 4
;   %v12: float = load %most, align 4
;   %v15: <4 x float> = insertelement poison, %v12, i64 0
;   %v16: <4 x float> = shufflevector %v15, poison [0, 0, 0, 0]
;   %v17: <4 x i1> = fcmp ogt %v11, %v16
;   %v18: i1 = call @llvm.vector.reduce.or.v4i1(%v17)
;   br %v18, better, edge
; better:
;   %v20: <4 x float> = select %v17, %v11, <0xff800000, 0xff800000, 0xff800000, 0xff800000>
;   %v21: float = call @llvm.vector.reduce.fmaximum.v4f32(%v20)
;   %v22: <4 x float> = insertelement poison, %v21, i64 0
;   %v23: <4 x float> = shufflevector %v22, poison [0, 0, 0, 0]
;   %v24: <4 x i1> = fcmp oeq %v11, %v23
;   %v26: <4 x i1> = select %v17, %v24, <false, false, false, false>
;   %v27: i1 = call @llvm.vector.reduce.or.v4i1(%v26)
;   %v28: i4 = bitcast %v26
;   %v29: i64 = zext %v28
;   %v31: i64 = call @llvm.cttz.i64(%v29, false)
;   %v33: i1 = icmp ult %v31, 4
;   %v34: i64 = select %v33, %v31, 0
;   %v35: float = extractelement %v11, %v34
;   %v37: float = select %v27, %v35, zero
;   store %v37, %most, align 4
;   %v38: i1 = call @llvm.vector.reduce.or.v4i1(%v26)
;   %v41: <4 x i32> = insertelement poison, %v6, i64 0
;   %v42: <4 x i32> = shufflevector %v41, poison [0, 0, 0, 0]
;   %v43: <4 x i32> = add %v42, <0, 1, 2, 3>
;   %v44: i4 = bitcast %v26
;   %v45: i64 = zext %v44
;   %v46: i64 = call @llvm.cttz.i64(%v45, false)
;   %v47: i1 = icmp ult %v46, 4
;   %v48: i64 = select %v47, %v46, 0
;   %v49: i32 = extractelement %v43, %v48
;   %v51: i32 = select %v38, %v49, zero
;   store %v51, %at, align 4
;   br next
; edge:
;   br next
; next:
;   %v53: i32 = add %v6, 1
;   br b6
; b6:
;   ret
; }

; A φ that always is what memory has, as LLVM leaves a variable of which it only loads once.
func @mirror(%x: ptr noalias, %sum: ptr noalias, %n: i32) {
entry:
  %first: i32 = load %sum, align 4
  br head(0, %first)
head:
  %i: i32 = phi
  %s: i32 = phi
  %c: i1 = icmp slt %i, %n
  br %c, body, exit
body:
  %w: i64 = sext %i
  %p: ptr = getelementptr i32, %x, %w
  %v: i32 = load %p, align 4
  %t: i32 = add nsw %s, %v
  store %t, %sum, align 4
  %j: i32 = add nsw %i, 1
  br head(%j, %t)
exit:
  ret
}
; check: loops
; %i: induction
; func @mirror(%x: ptr noalias, %sum: ptr noalias, %n: i32) {
; entry:
;   %first: i32 = load %sum, align 4
;   %v17: i32 = sub %n, 0
;   %v18: i1 = icmp slt i32 0, %n
;   %v19: i32 = sub %v17, 1
;   %v20: i32 = add %v19, 1
;   %v21: i32 = select %v18, %v20, 0
;   %v22: i64 = zext %v21
;   %v24: i1 = icmp ne %v22, 0
;   br %v24, begin, scalar(0)
; begin:
;   %v26: i64 = udiv %v22, 4
;   %v27: i64 = urem %v22, 4
;   %v29: i1 = icmp ne %v26, 0
;   br %v29, lanes(0, 0), left(0)
; lanes:
;   %v30: i64 = phi
;   %v32: i32 = phi
;   call @mirror_x4(%n, %x, %sum, %v32)
;   %v35: i32 = add %v32, 4
;   %v36: i64 = add nuw %v30, 1
;   %v37: i1 = icmp ult %v36, %v26
;   br %v37, lanes(%v36, %v35), left(%v35)
; left:
;   %v38: i32 = phi
;   %v39: i1 = icmp ne %v27, 0
;   br %v39, tail, done(%v38)
; tail:
;   %v41: i32 = trunc %v27
;   %v44: <4 x i32> = insertelement poison, %v41, i32 0
;   %v45: <4 x i32> = shufflevector %v44, poison [0, 0, 0, 0]
;   %v46: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v45
;   call @mirror_x4.masked(%n, %x, %sum, %v38, %v46)
;   %v47: i64 = sub %v27, 1
;   %v48: i32 = trunc %v27
;   %v49: i32 = mul %v48, 1
;   %v50: i32 = add %v38, %v49
;   br done(%v50)
; done:
;   %v40: i32 = phi
;   br scalar(%v40)
; scalar:
;   %v16: i32 = phi
;   br head(%v16)
; head:
;   %i: i32 = phi
;   %c: i1 = icmp slt %i, %n
;   br %c, body, exit
; body:
;   %w: i64 = sext %i
;   %p: ptr = getelementptr i32, %x, %w
;   %v: i32 = load %p, align 4
;   %v15: i32 = load %sum, align 4
;   %t: i32 = add nsw %v15, %v
;   store %t, %sum, align 4
;   %j: i32 = add nsw %i, 1
;   br head(%j)
; exit:
;   ret
; }
; func @mirror_x4(%n: i32, %x: ptr, %sum: ptr, %i: i32) phase vector {
; entry:
;   %v5: i32 = add %i, 0
;   br head
; head:
;   br body
; body:
;   %v6: i64 = sext %i
;   %v7: i64 = sext i32 0
;   %v8: i64 = add %v6, %v7
;   %v9: ptr = getelementptr i32, %x, %v8
;   %v10: <4 x i32> = load %v9, align 4
;   %v11: i32 = call @llvm.vector.reduce.add.v4i32(%v10)
;   %v12: i32 = load %sum, align 4
;   %v13: i32 = add %v12, %v11
;   store %v13, %sum, align 4
;   %v15: i32 = add %v5, 1
;   br next
; next:
;   ret
; }

; What the iteration before stored is loaded: a prefix sum, behind a first iteration.
func @in_place(%x: ptr, %n: i32) {
entry:
  br head(1)
head:
  %i: i32 = phi
  %c: i1 = icmp slt %i, %n
  br %c, body, exit
body:
  %k: i32 = add nsw %i, -1
  %u: i64 = sext %k
  %q: ptr = getelementptr i32, %x, %u
  %before: i32 = load %q, align 4
  %w: i64 = sext %i
  %p: ptr = getelementptr i32, %x, %w
  %v: i32 = load %p, align 4
  %t: i32 = add nsw %v, %before
  store %t, %p, align 4
  %j: i32 = add nsw %i, 1
  br head(%j)
exit:
  ret
}
; check: loops
; %i: induction
; %v16: scan
; func @in_place(%x: ptr, %n: i32) {
; entry:
;   br b4(1, poison)
; begin:
;   %v41: i64 = udiv %v37, 4
;   %v42: i64 = urem %v37, 4
;   %v44: i1 = icmp ne %v41, 0
;   br %v44, lanes(0, %v28, %v27), left(%v28, %v27)
; lanes:
;   %v45: i64 = phi
;   %v47: i32 = phi
;   %v48: i32 = phi
;   %v49: <4 x i32> = call @in_place_x4(%n, %x, %v47, %v48)
;   %v52: i32 = add %v47, 4
;   %v53: i32 = extractelement %v49, i64 3
;   %v54: i32 = add %v48, %v53
;   %v55: i64 = add nuw %v45, 1
;   %v56: i1 = icmp ult %v55, %v41
;   br %v56, lanes(%v55, %v52, %v54), left(%v52, %v54)
; left:
;   %v57: i32 = phi
;   %v58: i32 = phi
;   %v59: i1 = icmp ne %v42, 0
;   br %v59, tail, done(%v57, %v58)
; tail:
;   %v62: i32 = trunc %v42
;   %v65: <4 x i32> = insertelement poison, %v62, i32 0
;   %v66: <4 x i32> = shufflevector %v65, poison [0, 0, 0, 0]
;   %v67: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v66
;   %v68: <4 x i32> = call @in_place_x4.masked(%n, %x, %v57, %v58, %v67)
;   %v69: i64 = sub %v42, 1
;   %v70: i32 = trunc %v42
;   %v71: i32 = mul %v70, 1
;   %v72: i32 = add %v57, %v71
;   %v73: i32 = extractelement %v68, %v69
;   %v74: i32 = add %v58, %v73
;   br done(%v72, %v74)
; done:
;   %v60: i32 = phi
;   %v61: i32 = phi
;   br scalar(%v60, %v61)
; scalar:
;   %v29: i32 = phi
;   %v30: i32 = phi
;   br head(%v29, %v30)
; head:
;   %i: i32 = phi
;   %v16: i32 = phi
;   %c: i1 = icmp slt %i, %n
;   br %c, body, exit
; body:
;   %w: i64 = sext %i
;   %p: ptr = getelementptr i32, %x, %w
;   %v: i32 = load %p, align 4
;   %t: i32 = add nsw %v, %v16
;   store %t, %p, align 4
;   %j: i32 = add nsw %i, 1
;   br head(%j, %t)
; exit:
;   ret
; b4:
;   %v17: i32 = phi
;   %v18: i32 = phi
;   %v19: i1 = icmp slt %v17, %n
;   br %v19, b5, exit
; b5:
;   %v20: i32 = add nsw %v17, -1
;   %v21: i64 = sext %v20
;   %v22: ptr = getelementptr i32, %x, %v21
;   %v23: i32 = load %v22, align 4
;   %v24: i64 = sext %v17
;   %v25: ptr = getelementptr i32, %x, %v24
;   %v26: i32 = load %v25, align 4
;   %v27: i32 = add nsw %v26, %v23
;   store %v27, %v25, align 4
;   %v28: i32 = add nsw %v17, 1
;   %v31: i32 = sub %n, %v28
;   %v33: i1 = icmp slt %v28, %n
;   %v34: i32 = sub %v31, 1
;   %v35: i32 = add %v34, 1
;   %v36: i32 = select %v33, %v35, 0
;   %v37: i64 = zext %v36
;   %v39: i1 = icmp ne %v37, 0
;   br %v39, begin, scalar(%v28, %v27)
; }
; func @in_place_x4(%n: i32, %x: ptr, %i: i32, %v3: i32) -> <4 x i32> phase vector {
; entry:
;   %v5: i32 = add %i, 0
;   %v7: i32 = sub 0, 1
;   %v11: <4 x i32> = insertelement poison, i32 0, i64 0
;   %v12: <4 x i32> = shufflevector %v11, poison [0, 0, 0, 0]
;   %v13: <4 x i32> = add %v12, <0, 1, 2, 3>
;   %v15: <4 x i1> = icmp eq %v13, <0, 0, 0, 0>
;   br head
; head:
;   br body
; body:
;   %v16: i64 = sext %i
;   %v17: i64 = sext i32 0
;   %v18: i64 = add %v16, %v17
;   %v19: ptr = getelementptr i32, %x, %v18
;   %v20: <4 x i32> = load %v19, align 4
;   %v21: <4 x i32> = shufflevector %v20, <0, 0, 0, 0> [4, 0, 1, 2]
;   %v22: <4 x i32> = add %v21, %v20
;   %v23: <4 x i32> = shufflevector %v22, <0, 0, 0, 0> [4, 5, 0, 1]
;   %v24: <4 x i32> = add %v23, %v22
;   %v25: <4 x i32> = insertelement poison, %v3, i64 0
;   %v26: <4 x i32> = shufflevector %v25, poison [0, 0, 0, 0]
;   %v27: <4 x i32> = add %v26, %v24
;   %v28: <4 x i32> = insertelement poison, %v7, i64 0
;   %v29: <4 x i32> = shufflevector %v28, poison [0, 0, 0, 0]
;   %v30: <4 x i32> = add %v29, <0, 1, 2, 3>
;   %v32: <4 x i1> = icmp ult %v30, <4, 4, 4, 4>
;   %v33: <4 x i32> = select %v32, %v30, <0, 0, 0, 0>
;   %v34: i32 = extractelement %v33, i64 0
;   %v35: i32 = extractelement %v27, %v34
;   %v36: <4 x i32> = insertelement poison, %v35, i64 0
;   %v38: i32 = extractelement %v33, i64 1
;   %v39: i32 = extractelement %v27, %v38
;   %v40: <4 x i32> = insertelement %v36, %v39, i64 1
;   %v42: i32 = extractelement %v33, i64 2
;   %v43: i32 = extractelement %v27, %v42
;   %v44: <4 x i32> = insertelement %v40, %v43, i64 2
;   %v46: i32 = extractelement %v33, i64 3
;   %v47: i32 = extractelement %v27, %v46
;   %v48: <4 x i32> = insertelement %v44, %v47, i64 3
;   %v49: <4 x i32> = select %v32, %v48, <0, 0, 0, 0>
;   %v50: <4 x i32> = select %v15, %v26, %v49
;   store %v27, %v19, align 4
;   %v51: i32 = add %v5, 1
;   br next
; next:
;   ret %v24
; }

; A truth value that asks itself is a conjunction, no selection: what is asked besides is frozen.
func @all(%x: ptr, %n: i32) -> i1 {
entry:
  br head(0, true)
head:
  %i: i32 = phi
  %ok: i1 = phi
  %c: i1 = icmp slt %i, %n
  br %c, body, exit
body:
  %w: i64 = sext %i
  %p: ptr = getelementptr i32, %x, %w
  %v: i32 = load %p, align 4
  %is: i1 = icmp sgt %v, 0
  %both: i1 = select %ok, %is, false
  %j: i32 = add nsw %i, 1
  br head(%j, %both)
exit:
  ret %ok
}
; check: loops
; %i: induction
; %ok: reduction
; func @all(%x: ptr, %n: i32) -> i1 {
; entry:
;   %v20: i32 = sub %n, 0
;   %v21: i1 = icmp slt i32 0, %n
;   %v22: i32 = sub %v20, 1
;   %v23: i32 = add %v22, 1
;   %v24: i32 = select %v21, %v23, 0
;   %v25: i64 = zext %v24
;   %v27: i1 = icmp ne %v25, 0
;   br %v27, begin, scalar(0, true)
; begin:
;   %v29: <4 x i1> = insertelement poison, i1 true, i32 0
;   %v30: <4 x i1> = shufflevector %v29, poison [0, 0, 0, 0]
;   %v32: i64 = udiv %v25, 4
;   %v33: i64 = urem %v25, 4
;   %v35: i1 = icmp ne %v32, 0
;   br %v35, lanes(0, 0, %v30), left(0, %v30)
; lanes:
;   %v36: i64 = phi
;   %v38: i32 = phi
;   %v39: <4 x i1> = phi
;   %v40: <4 x i1> = call @all_x4(%n, %x, %v38, %v39)
;   %v43: i32 = add %v38, 4
;   %v44: i64 = add nuw %v36, 1
;   %v45: i1 = icmp ult %v44, %v32
;   br %v45, lanes(%v44, %v43, %v40), left(%v43, %v40)
; left:
;   %v46: i32 = phi
;   %v47: <4 x i1> = phi
;   %v48: i1 = icmp ne %v33, 0
;   br %v48, tail, done(%v46, %v47)
; tail:
;   %v51: i32 = trunc %v33
;   %v54: <4 x i32> = insertelement poison, %v51, i32 0
;   %v55: <4 x i32> = shufflevector %v54, poison [0, 0, 0, 0]
;   %v56: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v55
;   %v57: <4 x i1> = call @all_x4.masked(%n, %x, %v46, %v47, %v56)
;   %v58: i64 = sub %v33, 1
;   %v59: i32 = trunc %v33
;   %v60: i32 = mul %v59, 1
;   %v61: i32 = add %v46, %v60
;   %v62: <4 x i1> = select %v56, %v57, %v47
;   br done(%v61, %v62)
; done:
;   %v49: i32 = phi
;   %v50: <4 x i1> = phi
;   %v63: <2 x i1> = shufflevector %v50, poison [0, 1]
;   %v64: <2 x i1> = shufflevector %v50, poison [2, 3]
;   %v65: <2 x i1> = and %v63, %v64
;   %v67: <1 x i1> = shufflevector %v65, poison [0]
;   %v68: <1 x i1> = shufflevector %v65, poison [1]
;   %v69: <1 x i1> = and %v67, %v68
;   %v70: i1 = extractelement %v69, i32 0
;   br scalar(%v49, %v70)
; scalar:
;   %v18: i32 = phi
;   %v19: i1 = phi
;   br head(%v18, %v19)
; head:
;   %i: i32 = phi
;   %ok: i1 = phi
;   %c: i1 = icmp slt %i, %n
;   br %c, body, exit
; body:
;   %w: i64 = sext %i
;   %p: ptr = getelementptr i32, %x, %w
;   %v: i32 = load %p, align 4
;   %is: i1 = icmp sgt %v, 0
;   %v17: i1 = freeze %is
;   %both: i1 = and %ok, %v17
;   %j: i32 = add nsw %i, 1
;   br head(%j, %both)
; exit:
;   ret %ok
; }
; func @all_x4(%n: i32, %x: ptr, %i: i32, %ok: <4 x i1>) -> <4 x i1> phase vector {
; entry:
;   %v5: i32 = add %i, 0
;   br head
; head:
;   br body
; body:
;   %v6: i64 = sext %i
;   %v7: i64 = sext i32 0
;   %v8: i64 = add %v6, %v7
;   %v9: ptr = getelementptr i32, %x, %v8
;   %v10: <4 x i32> = load %v9, align 4
;   %v12: <4 x i1> = icmp sgt %v10, <0, 0, 0, 0>
;   %v13: <4 x i1> = freeze %v12
;   %v14: <4 x i1> = and %ok, %v13
;   %v16: i32 = add %v5, 1
;   br next
; next:
;   ret %v14
; }

; A number that is 0 or 1, and what negates it.
func @odd(%x: ptr, %n: i32) -> i32 {
entry:
  br head(0, 0)
head:
  %i: i32 = phi
  %odd: i32 = phi
  %c: i1 = icmp slt %i, %n
  br %c, body, exit
body:
  %w: i64 = sext %i
  %p: ptr = getelementptr i32, %x, %w
  %v: i32 = load %p, align 4
  %is: i1 = icmp sgt %v, 0
  br %is, turn, next(%odd)
turn:
  %even: i1 = icmp eq %odd, 0
  %not: i32 = zext %even
  br next(%not)
next:
  %o: i32 = phi
  %j: i32 = add nsw %i, 1
  br head(%j, %o)
exit:
  ret %odd
}
; check: loops
; %i: induction
; %odd: reduction
; func @odd(%x: ptr, %n: i32) -> i32 {
; entry:
;   %v18: i32 = sub %n, 0
;   %v19: i1 = icmp slt i32 0, %n
;   %v20: i32 = sub %v18, 1
;   %v21: i32 = add %v20, 1
;   %v22: i32 = select %v19, %v21, 0
;   %v23: i64 = zext %v22
;   %v25: i1 = icmp ne %v23, 0
;   br %v25, begin, scalar(0, 0)
; begin:
;   %v27: <4 x i32> = insertelement poison, i32 0, i32 0
;   %v28: <4 x i32> = shufflevector %v27, poison [0, 0, 0, 0]
;   %v29: <4 x i32> = insertelement %v28, i32 0, i32 0
;   %v31: i64 = udiv %v23, 4
;   %v32: i64 = urem %v23, 4
;   %v34: i1 = icmp ne %v31, 0
;   br %v34, lanes(0, 0, %v29), left(0, %v29)
; lanes:
;   %v35: i64 = phi
;   %v37: i32 = phi
;   %v38: <4 x i32> = phi
;   %v39: <4 x i32> = call @odd_x4(%n, %x, %v37, %v38)
;   %v42: i32 = add %v37, 4
;   %v43: i64 = add nuw %v35, 1
;   %v44: i1 = icmp ult %v43, %v31
;   br %v44, lanes(%v43, %v42, %v39), left(%v42, %v39)
; left:
;   %v45: i32 = phi
;   %v46: <4 x i32> = phi
;   %v47: i1 = icmp ne %v32, 0
;   br %v47, tail, done(%v45, %v46)
; tail:
;   %v50: i32 = trunc %v32
;   %v52: <4 x i32> = insertelement poison, %v50, i32 0
;   %v53: <4 x i32> = shufflevector %v52, poison [0, 0, 0, 0]
;   %v54: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v53
;   %v55: <4 x i32> = call @odd_x4.masked(%n, %x, %v45, %v46, %v54)
;   %v56: i64 = sub %v32, 1
;   %v57: i32 = trunc %v32
;   %v58: i32 = mul %v57, 1
;   %v59: i32 = add %v45, %v58
;   %v60: <4 x i32> = select %v54, %v55, %v46
;   br done(%v59, %v60)
; done:
;   %v48: i32 = phi
;   %v49: <4 x i32> = phi
;   %v61: <2 x i32> = shufflevector %v49, poison [0, 1]
;   %v62: <2 x i32> = shufflevector %v49, poison [2, 3]
;   %v63: <2 x i32> = xor %v61, %v62
;   %v65: <1 x i32> = shufflevector %v63, poison [0]
;   %v66: <1 x i32> = shufflevector %v63, poison [1]
;   %v67: <1 x i32> = xor %v65, %v66
;   %v68: i32 = extractelement %v67, i32 0
;   br scalar(%v48, %v68)
; scalar:
;   %v16: i32 = phi
;   %v17: i32 = phi
;   br head(%v16, %v17)
; head:
;   %i: i32 = phi
;   %odd: i32 = phi
;   %c: i1 = icmp slt %i, %n
;   br %c, body, exit
; body:
;   %w: i64 = sext %i
;   %p: ptr = getelementptr i32, %x, %w
;   %v: i32 = load %p, align 4
;   %is: i1 = icmp sgt %v, 0
;   br %is, turn, next(%odd)
; turn:
;   %not: i32 = xor %odd, 1
;   br next(%not)
; next:
;   %o: i32 = phi
;   %j: i32 = add nsw %i, 1
;   br head(%j, %o)
; exit:
;   ret %odd
; }
; func @odd_x4(%n: i32, %x: ptr, %i: i32, %odd: <4 x i32>) -> <4 x i32> phase vector {
; entry:
;   %v5: i32 = add %i, 0
;   br head
; head:
;   br body
; body:
;   %v6: i64 = sext %i
;   %v7: i64 = sext i32 0
;   %v8: i64 = add %v6, %v7
;   %v9: ptr = getelementptr i32, %x, %v8
;   %v10: <4 x i32> = load %v9, align 4
;   %v12: <4 x i1> = icmp sgt %v10, <0, 0, 0, 0>
;   br turn
; turn:
;   %v14: <4 x i32> = xor %odd, <1, 1, 1, 1>
;   %v15: <4 x i32> = select %v12, %v14, %odd
;   br next
; next:
;   %v17: i32 = add %v5, 1
;   br b5
; b5:
;   ret %v15
; }

; The test compares what is computed from the counter.
func @taps(%x: ptr noalias, %o: ptr noalias, %n: i32, %k: i32) {
entry:
  br head(0)
head:
  %i: i32 = phi
  %end: i32 = add nsw %i, %k
  %c: i1 = icmp sle %end, %n
  br %c, body, exit
body:
  %w: i64 = sext %i
  %p: ptr = getelementptr i32, %x, %w
  %v: i32 = load %p, align 4
  %q: ptr = getelementptr i32, %o, %w
  store %v, %q, align 4
  %j: i32 = add nsw %i, 1
  br head(%j)
exit:
  ret
}
; check: loops
; %i: induction
; func @taps(%x: ptr noalias, %o: ptr noalias, %n: i32, %k: i32) {
; entry:
;   %v16: i32 = add 0, %k
;   %v17: i32 = sub %n, %v16
;   %v18: i1 = icmp sle %v16, %n
;   %v19: i32 = add %v17, 1
;   %v20: i32 = select %v18, %v19, 0
;   %v21: i64 = zext %v20
;   %v23: i1 = icmp ne %v21, 0
;   br %v23, begin, scalar(0)
; begin:
;   %v25: i64 = udiv %v21, 4
;   %v26: i64 = urem %v21, 4
;   br whole(%v25, %v26, 0)
; whole:
;   %v27: i64 = phi
;   %v29: i64 = phi
;   %v30: i32 = phi
;   %v32: i1 = icmp ne %v27, 0
;   br %v32, lanes(0, %v30), left(%v30)
; lanes:
;   %v33: i64 = phi
;   %v34: i32 = phi
;   call @taps_x4(%k, %n, %x, %o, %v34)
;   %v37: i32 = add %v34, 4
;   %v38: i64 = add nuw %v33, 1
;   %v39: i1 = icmp ult %v38, %v27
;   br %v39, lanes(%v38, %v37), left(%v37)
; left:
;   %v40: i32 = phi
;   %v41: i1 = icmp ne %v29, 0
;   br %v41, repeat, behind
; repeat:
;   %v42: i1 = icmp uge %v21, 4
;   br %v42, enough, behind
; enough:
;   %v43: i64 = sub %v29, 4
;   %v44: i32 = trunc %v43
;   %v45: i32 = mul %v44, 1
;   %v46: i32 = add %v40, %v45
;   br whole(1, 0, %v46)
; behind:
;   %v47: i1 = icmp ne %v29, 0
;   br %v47, tail, done(%v40)
; tail:
;   %v49: i32 = trunc %v29
;   %v52: <4 x i32> = insertelement poison, %v49, i32 0
;   %v53: <4 x i32> = shufflevector %v52, poison [0, 0, 0, 0]
;   %v54: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v53
;   call @taps_x4.masked(%k, %n, %x, %o, %v40, %v54)
;   %v55: i64 = sub %v29, 1
;   %v56: i32 = trunc %v29
;   %v57: i32 = mul %v56, 1
;   %v58: i32 = add %v40, %v57
;   br done(%v58)
; done:
;   %v48: i32 = phi
;   br scalar(%v48)
; scalar:
;   %v15: i32 = phi
;   br head(%v15)
; head:
;   %i: i32 = phi
;   %end: i32 = add nsw %i, %k
;   %c: i1 = icmp sle %end, %n
;   br %c, body, exit
; body:
;   %w: i64 = sext %i
;   %p: ptr = getelementptr i32, %x, %w
;   %v: i32 = load %p, align 4
;   %q: ptr = getelementptr i32, %o, %w
;   store %v, %q, align 4
;   %j: i32 = add nsw %i, 1
;   br head(%j)
; exit:
;   ret
; }
; func @taps_x4(%k: i32, %n: i32, %x: ptr, %o: ptr, %i: i32) phase vector {
; entry:
;   %v6: i32 = add %i, 0
;   br head
; head:
;   br body
; body:
;   %v7: i64 = sext %i
;   %v8: i64 = sext i32 0
;   %v9: i64 = add %v7, %v8
;   %v10: ptr = getelementptr i32, %x, %v9
;   %v11: <4 x i32> = load %v10, align 4
;   %v12: ptr = getelementptr i32, %o, %v9
;   store %v11, %v12, align 4
;   %v14: i32 = add %v6, 1
;   br next
; next:
;   ret
; }
