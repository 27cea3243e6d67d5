; test: loops-holding

; What certainly nobody else accesses is a register in the loop, and is stored behind it if it has changed.
func @sum(%x: ptr noalias, %sum: ptr noalias, %n: i32) {
entry:
  br head(0)
head:
  %i: i32 = phi
  %c: i1 = icmp slt %i, %n
  br %c, body, exit
body:
  %w: i64 = sext %i
  %p: ptr = getelementptr i32, %x, %w
  %a: i32 = load %p, align 4
  %s: i32 = load %sum, align 4
  %t: i32 = add %s, %a
  store %t, %sum, align 4
  %j: i32 = add nsw %i, 1
  br head(%j)
exit:
  ret
}
; check: loops-holding
; %i: induction
; %v21: reduction
; func @sum(%x: ptr noalias, %sum: ptr noalias, %n: i32) {
;   var $x0: i32
; entry:
;   %v15: i1 = icmp slt i32 0, %n
;   br %v15, b5, b4(poison)
; b5:
;   %v16: i32 = load %sum, align 4
;   br b4(%v16)
; b4:
;   %v17: i32 = phi
;   %v18: i32 = freeze %v17
;   %v24: i32 = sub %n, 0
;   %v25: i1 = icmp slt i32 0, %n
;   %v26: i32 = sub %v24, 1
;   %v27: i32 = add %v26, 1
;   %v28: i32 = select %v25, %v27, 0
;   %v29: i64 = zext %v28
;   %v31: i1 = icmp ne %v29, 0
;   br %v31, begin, scalar(0, %v18)
; begin:
;   %v33: <4 x i32> = insertelement poison, i32 0, i32 0
;   %v34: <4 x i32> = shufflevector %v33, poison [0, 0, 0, 0]
;   %v35: <4 x i32> = insertelement %v34, %v18, i32 0
;   %v37: i64 = udiv %v29, 4
;   %v38: i64 = urem %v29, 4
;   %v40: i1 = icmp ne %v37, 0
;   br %v40, lanes(0, 0, %v35), left(0, %v35)
; lanes:
;   %v41: i64 = phi
;   %v43: i32 = phi
;   %v44: <4 x i32> = phi
;   %v45: <4 x i32> = call @sum_x4(%n, %x, %v43, %v44)
;   %v48: i32 = add %v43, 4
;   %v49: i64 = add nuw %v41, 1
;   %v50: i1 = icmp ult %v49, %v37
;   br %v50, lanes(%v49, %v48, %v45), left(%v48, %v45)
; left:
;   %v51: i32 = phi
;   %v52: <4 x i32> = phi
;   %v53: i1 = icmp ne %v38, 0
;   br %v53, tail, done(%v51, %v52)
; tail:
;   %v56: i32 = trunc %v38
;   %v58: <4 x i32> = insertelement poison, %v56, i32 0
;   %v59: <4 x i32> = shufflevector %v58, poison [0, 0, 0, 0]
;   %v60: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v59
;   %v61: <4 x i32> = call @sum_x4.masked(%n, %x, %v51, %v52, %v60)
;   %v62: i64 = sub %v38, 1
;   %v63: i32 = trunc %v38
;   %v64: i32 = mul %v63, 1
;   %v65: i32 = add %v51, %v64
;   br done(%v65, %v61)
; done:
;   %v54: i32 = phi
;   %v55: <4 x i32> = phi
;   %v66: <2 x i32> = shufflevector %v55, poison [0, 1]
;   %v67: <2 x i32> = shufflevector %v55, poison [2, 3]
;   %v68: <2 x i32> = add %v66, %v67
;   %v70: <1 x i32> = shufflevector %v68, poison [0]
;   %v71: <1 x i32> = shufflevector %v68, poison [1]
;   %v72: <1 x i32> = add %v70, %v71
;   %v73: i32 = extractelement %v72, i32 0
;   br scalar(%v54, %v73)
; scalar:
;   %v22: i32 = phi
;   %v23: i32 = phi
;   br head(%v22, %v23)
; head:
;   %i: i32 = phi
;   %v21: i32 = phi
;   %c: i1 = icmp slt %i, %n
;   br %c, body, b6
; body:
;   %w: i64 = sext %i
;   %p: ptr = getelementptr i32, %x, %w
;   %a: i32 = load %p, align 4
;   %t: i32 = add %v21, %a
;   %j: i32 = add nsw %i, 1
;   br head(%j, %t)
; b6:
;   %v20: i1 = icmp ne %v21, %v18
;   br %v20, b8, b7
; b8:
;   store %v21, %sum, align 4
;   br b7
; b7:
;   br exit
; exit:
;   ret
; }
; func @sum_x4(%n: i32, %x: ptr, %i: i32, %v3: <4 x i32>) -> <4 x i32> phase vector {
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
;   %v11: <4 x i32> = add %v3, %v10
;   %v13: i32 = add %v5, 1
;   br next
; next:
;   ret %v11
; }

; What is stored in every iteration, and never loaded: the last one stores.
func @last(%x: ptr noalias, %last: ptr noalias, %n: i32) {
entry:
  br head(0)
head:
  %i: i32 = phi
  %c: i1 = icmp slt %i, %n
  br %c, body, exit
body:
  %w: i64 = sext %i
  %p: ptr = getelementptr float, %x, %w
  %a: float = load %p, align 4
  %b: float = fadd %a, %a
  store %b, %last, align 4
  %j: i32 = add nsw %i, 1
  br head(%j)
exit:
  ret
}
; check: loops-holding
; %i: induction
; %v23: previous value
; func @last(%x: ptr noalias, %last: ptr noalias, %n: i32) {
;   var $x0: float
; entry:
;   %v14: i1 = icmp slt i32 0, %n
;   br %v14, b5, b4(poison)
; b5:
;   %v15: float = load %last, align 4
;   br b4(%v15)
; b4:
;   %v16: float = phi
;   %v18: float = freeze %v16
;   %v26: i32 = sub %n, 0
;   %v27: i1 = icmp slt i32 0, %n
;   %v28: i32 = sub %v26, 1
;   %v29: i32 = add %v28, 1
;   %v30: i32 = select %v27, %v29, 0
;   %v31: i64 = zext %v30
;   %v33: i1 = icmp ne %v31, 0
;   br %v33, begin, scalar(0, %v18)
; begin:
;   %v35: i64 = udiv %v31, 4
;   %v36: i64 = urem %v31, 4
;   %v38: i1 = icmp ne %v35, 0
;   br %v38, lanes(0, 0, %v18), left(0, %v18)
; lanes:
;   %v39: i64 = phi
;   %v41: i32 = phi
;   %v42: float = phi
;   %v43: <4 x float> = call @last_x4(%n, %x, %v41, %v42)
;   %v46: i32 = add %v41, 4
;   %v47: float = extractelement %v43, i64 3
;   %v48: i64 = add nuw %v39, 1
;   %v49: i1 = icmp ult %v48, %v35
;   br %v49, lanes(%v48, %v46, %v47), left(%v46, %v47)
; left:
;   %v50: i32 = phi
;   %v51: float = phi
;   %v52: i1 = icmp ne %v36, 0
;   br %v52, tail, done(%v50, %v51)
; tail:
;   %v55: i32 = trunc %v36
;   %v58: <4 x i32> = insertelement poison, %v55, i32 0
;   %v59: <4 x i32> = shufflevector %v58, poison [0, 0, 0, 0]
;   %v60: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v59
;   %v61: <4 x float> = call @last_x4.masked(%n, %x, %v50, %v51, %v60)
;   %v62: i64 = sub %v36, 1
;   %v63: i32 = trunc %v36
;   %v64: i32 = mul %v63, 1
;   %v65: i32 = add %v50, %v64
;   %v66: float = extractelement %v61, %v62
;   br done(%v65, %v66)
; done:
;   %v53: i32 = phi
;   %v54: float = phi
;   br scalar(%v53, %v54)
; scalar:
;   %v24: i32 = phi
;   %v25: float = phi
;   br head(%v24, %v25)
; head:
;   %i: i32 = phi
;   %v23: float = phi
;   %c: i1 = icmp slt %i, %n
;   br %c, body, b6
; body:
;   %w: i64 = sext %i
;   %p: ptr = getelementptr float, %x, %w
;   %a: float = load %p, align 4
;   %b: float = fadd %a, %a
;   %j: i32 = add nsw %i, 1
;   br head(%j, %b)
; b6:
;   %v20: i32 = bitcast %v23
;   %v21: i32 = bitcast %v18
;   %v22: i1 = icmp ne %v20, %v21
;   br %v22, b8, b7
; b8:
;   store %v23, %last, align 4
;   br b7
; b7:
;   br exit
; exit:
;   ret
; }
; func @last_x4(%n: i32, %x: ptr, %i: i32, %v3: float) -> <4 x float> phase vector {
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
;   %v19: ptr = getelementptr float, %x, %v18
;   %v20: <4 x float> = load %v19, align 4
;   %v21: <4 x float> = fadd %v20, %v20
;   %v22: <4 x i32> = insertelement poison, %v7, i64 0
;   %v23: <4 x i32> = shufflevector %v22, poison [0, 0, 0, 0]
;   %v24: <4 x i32> = add %v23, <0, 1, 2, 3>
;   %v26: <4 x i1> = icmp ult %v24, <4, 4, 4, 4>
;   %v27: <4 x i32> = select %v26, %v24, <0, 0, 0, 0>
;   %v29: i32 = extractelement %v27, i64 0
;   %v30: float = extractelement %v21, %v29
;   %v31: <4 x float> = insertelement poison, %v30, i64 0
;   %v33: i32 = extractelement %v27, i64 1
;   %v34: float = extractelement %v21, %v33
;   %v35: <4 x float> = insertelement %v31, %v34, i64 1
;   %v37: i32 = extractelement %v27, i64 2
;   %v38: float = extractelement %v21, %v37
;   %v39: <4 x float> = insertelement %v35, %v38, i64 2
;   %v41: i32 = extractelement %v27, i64 3
;   %v42: float = extractelement %v21, %v41
;   %v43: <4 x float> = insertelement %v39, %v42, i64 3
;   %v45: <4 x float> = select %v26, %v43, <0.0, 0.0, 0.0, 0.0>
;   %v46: <4 x float> = insertelement poison, %v3, i64 0
;   %v47: <4 x float> = shufflevector %v46, poison [0, 0, 0, 0]
;   %v48: <4 x float> = select %v15, %v47, %v45
;   %v49: i32 = add %v5, 1
;   br next
; next:
;   ret %v21
; }

; Some iterations alone access it: the loop runs as it was until one has; that nobody else accesses it is checked then.
func @push(%x: ptr, %out: ptr, %count: ptr, %n: i32) {
entry:
  br head(0)
head:
  %i: i32 = phi
  %c: i1 = icmp slt %i, %n
  br %c, body, exit
body:
  %w: i64 = sext %i
  %p: ptr = getelementptr i32, %x, %w
  %a: i32 = load %p, align 4
  %d: i1 = icmp sgt %a, 0
  br %d, yes, latch
yes:
  %k: i32 = load %count, align 4
  %l: i32 = add nsw %k, 1
  store %l, %count, align 4
  %v: i64 = sext %k
  %q: ptr = getelementptr i32, %out, %v
  store %a, %q, align 4
  br latch
latch:
  %j: i32 = add nsw %i, 1
  br head(%j)
exit:
  ret
}
; check: loops-holding
; %i: induction
; %v51: position in a compacted stream
; func @push(%x: ptr, %out: ptr, %count: ptr, %n: i32) {
;   var $x0: i1
;   var $x1: i32
; entry:
;   br b6(0, false)
; preheader:
;   %v34: i32 = phi
;   br b16
; b16:
;   %v47: i32 = load %count, align 4
;   %v48: i32 = freeze %v47
;   %v55: i32 = sub %n, %v34
;   %v56: i1 = icmp slt %v34, %n
;   %v57: i32 = sub %v55, 1
;   %v58: i32 = add %v57, 1
;   %v59: i32 = select %v56, %v58, 0
;   %v60: i64 = zext %v59
;   %v63: i1 = icmp ult %v60, 536870912
;   %v64: i64 = ptrtoint %count
;   %v67: i64 = sub %v60, 1
;   %v68: i64 = mul %v67, 0
;   %v69: i1 = icmp sgt i64 0, %v68
;   %v70: i64 = select %v69, 0, %v68
;   %v71: i64 = add 0, %v68
;   %v72: i64 = sub %v71, %v70
;   %v73: i64 = sub %v70, %v72
;   %v74: i64 = add %v64, %v72
;   %v75: i64 = add 4, %v73
;   %v76: i64 = ptrtoint %x
;   %v77: i64 = sext i32 0
;   %v78: i64 = mul %v77, 4
;   %v79: i64 = add %v76, %v78
;   %v80: i64 = sext %v34
;   %v81: i64 = mul %v80, 4
;   %v82: i64 = add %v79, %v81
;   %v83: i64 = sub %v60, 1
;   %v84: i64 = mul %v83, 4
;   %v85: i1 = icmp sgt i64 0, %v84
;   %v86: i64 = select %v85, 0, %v84
;   %v87: i64 = add 0, %v84
;   %v88: i64 = sub %v87, %v86
;   %v89: i64 = sub %v86, %v88
;   %v90: i64 = add %v82, %v88
;   %v91: i64 = add 4, %v89
;   %v92: i64 = sub %v90, %v74
;   %v93: i64 = sub %v74, %v90
;   %v94: i1 = icmp uge %v92, %v75
;   %v95: i1 = icmp uge %v93, %v91
;   %v96: i1 = and %v63, %v94
;   %v97: i1 = and %v96, %v95
;   %v98: i1 = freeze %v97
;   br %v98, checked, b17
; checked:
;   %v99: i1 = icmp ult %v60, 536870912
;   %v100: i64 = ptrtoint %count
;   %v101: i64 = sub %v60, 1
;   %v102: i64 = mul %v101, 0
;   %v103: i1 = icmp sgt i64 0, %v102
;   %v104: i64 = select %v103, 0, %v102
;   %v105: i64 = add 0, %v102
;   %v106: i64 = sub %v105, %v104
;   %v107: i64 = sub %v104, %v106
;   %v108: i64 = add %v100, %v106
;   %v109: i64 = add 4, %v107
;   %v110: i64 = ptrtoint %out
;   %v111: i64 = sext %v48
;   %v112: i64 = mul %v111, 4
;   %v113: i64 = add %v110, %v112
;   %v114: i64 = sub %v60, 1
;   %v115: i64 = mul %v114, 4
;   %v116: i1 = icmp sgt i64 0, %v115
;   %v117: i64 = select %v116, 0, %v115
;   %v118: i64 = add 0, %v115
;   %v119: i64 = sub %v118, %v117
;   %v120: i64 = sub %v117, %v119
;   %v121: i64 = add %v113, %v119
;   %v122: i64 = add 4, %v120
;   %v123: i64 = sub %v121, %v108
;   %v124: i64 = sub %v108, %v121
;   %v125: i1 = icmp uge %v123, %v109
;   %v126: i1 = icmp uge %v124, %v122
;   %v127: i1 = and %v99, %v125
;   %v128: i1 = and %v127, %v126
;   %v129: i1 = freeze %v128
;   br %v129, b23, b17
; b23:
;   %v130: i1 = icmp ne %v60, 0
;   br %v130, begin, b17
; begin:
;   %v131: i64 = udiv %v60, 4
;   %v132: i64 = urem %v60, 4
;   %v133: i1 = icmp ne %v131, 0
;   br %v133, lanes(0, %v34, %v48), left(%v34, %v48)
; lanes:
;   %v134: i64 = phi
;   %v136: i32 = phi
;   %v137: i32 = phi
;   %v138: <4 x i32> = call @push_x4(%n, %x, %out, %v136, %v137)
;   %v141: i32 = add %v136, 4
;   %v142: i32 = extractelement %v138, i64 3
;   %v143: i64 = add nuw %v134, 1
;   %v144: i1 = icmp ult %v143, %v131
;   br %v144, lanes(%v143, %v141, %v142), left(%v141, %v142)
; left:
;   %v145: i32 = phi
;   %v146: i32 = phi
;   %v147: i1 = icmp ne %v132, 0
;   br %v147, tail, done(%v145, %v146)
; tail:
;   %v150: i32 = trunc %v132
;   %v153: <4 x i32> = insertelement poison, %v150, i32 0
;   %v154: <4 x i32> = shufflevector %v153, poison [0, 0, 0, 0]
;   %v155: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v154
;   %v156: <4 x i32> = call @push_x4.masked(%n, %x, %out, %v145, %v146, %v155)
;   %v157: i64 = sub %v132, 1
;   %v158: i32 = trunc %v132
;   %v159: i32 = mul %v158, 1
;   %v160: i32 = add %v145, %v159
;   %v161: i32 = extractelement %v156, %v157
;   br done(%v160, %v161)
; done:
;   %v148: i32 = phi
;   %v149: i32 = phi
;   br scalar(%v148, %v149)
; scalar:
;   %v53: i32 = phi
;   %v54: i32 = phi
;   br head(%v53, %v54)
; head:
;   %i: i32 = phi
;   %v51: i32 = phi
;   %c: i1 = icmp slt %i, %n
;   br %c, body, b18
; body:
;   %w: i64 = sext %i
;   %p: ptr = getelementptr i32, %x, %w
;   %a: i32 = load %p, align 4
;   %d: i1 = icmp sgt %a, 0
;   br %d, yes, latch(%v51)
; yes:
;   %l: i32 = add nsw %v51, 1
;   %v: i64 = sext %v51
;   %q: ptr = getelementptr i32, %out, %v
;   store %a, %q, align 4
;   br latch(%l)
; latch:
;   %v52: i32 = phi
;   %j: i32 = add nsw %i, 1
;   br head(%j, %v52)
; b18:
;   %v50: i1 = icmp ne %v51, %v48
;   br %v50, b20, b19
; b20:
;   store %v51, %count, align 4
;   br b19
; b19:
;   br exit
; exit:
;   ret
; b10:
;   br %v33, preheader(%v28), b6(%v28, %v33)
; b6:
;   %v18: i32 = phi
;   %v32: i1 = phi
;   %v19: i1 = icmp slt %v18, %n
;   br %v19, b7, exit
; b7:
;   %v20: i64 = sext %v18
;   %v21: ptr = getelementptr i32, %x, %v20
;   %v22: i32 = load %v21, align 4
;   %v23: i1 = icmp sgt %v22, 0
;   br %v23, b8, b9(%v32)
; b8:
;   %v24: i32 = load %count, align 4
;   %v25: i32 = add nsw %v24, 1
;   store %v25, %count, align 4
;   %v26: i64 = sext %v24
;   %v27: ptr = getelementptr i32, %out, %v26
;   store %v22, %v27, align 4
;   br b9(true)
; b9:
;   %v33: i1 = phi
;   %v28: i32 = add nsw %v18, 1
;   br b10
; b12:
;   %v35: i32 = phi
;   %v36: i1 = icmp slt %v35, %n
;   br %v36, b13, exit
; b13:
;   %v37: i64 = sext %v35
;   %v38: ptr = getelementptr i32, %x, %v37
;   %v39: i32 = load %v38, align 4
;   %v40: i1 = icmp sgt %v39, 0
;   br %v40, b14, b15
; b14:
;   %v41: i32 = load %count, align 4
;   %v42: i32 = add nsw %v41, 1
;   store %v42, %count, align 4
;   %v43: i64 = sext %v41
;   %v44: ptr = getelementptr i32, %out, %v43
;   store %v39, %v44, align 4
;   br b15
; b15:
;   %v45: i32 = add nsw %v35, 1
;   br b12(%v45)
; b17:
;   br b12(%v34)
; }
; func @push_x4(%n: i32, %x: ptr, %out: ptr, %i: i32, %v4: i32) -> <4 x i32> phase vector {
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
;   %v13: <4 x i1> = icmp sgt %v11, <0, 0, 0, 0>
;   br yes
; yes:
;   %v14: i64 = sext %v4
;   %v15: ptr = getelementptr i32, %out, %v14
;   %v18: <4 x i1> = select %v13, <true, true, true, true>, zero
;   call @llvm.masked.compressstore.v4i32(%v11, %v15, %v18)
;   %v19: i4 = bitcast %v18
;   %v20: i64 = zext %v19
;   %v21: i64 = call @llvm.ctpop.i64(%v20)
;   %v22: i32 = trunc %v21
;   %v24: <4 x i1> = select %v13, <true, true, true, true>, <false, false, false, false>
;   br latch
; latch:
;   %v26: i32 = add %v6, 1
;   br next
; next:
;   %v27: i4 = bitcast %v24
;   %v28: i64 = zext %v27
;   %v29: i64 = call @llvm.ctpop.i64(%v28)
;   %v30: i32 = trunc %v29
;   %v31: i32 = add %v4, %v30
;   %v34: <4 x i32> = insertelement poison, %v31, i64 0
;   %v35: <4 x i32> = shufflevector %v34, poison [0, 0, 0, 0]
;   ret %v35
; }
