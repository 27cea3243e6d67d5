; test: loops-holding

; Bytes may be what says how many there are, and where: both are loaded before the loop, and checked to be elsewhere; else the loop runs as it was.
func @inverted(%image: ptr) {
entry:
  %pixels: ptr = getelementptr i8, %image, i64 8
  br head(0)
head:
  %i: i32 = phi
  %count: i32 = load %image, align 8
  %c: i1 = icmp slt %i, %count
  br %c, body, exit
body:
  %p: ptr = load %pixels, align 8
  %w: i64 = sext %i
  %q: ptr = getelementptr i8, %p, %w
  %x: i8 = load %q, align 1
  %y: i8 = xor %x, -1
  store %y, %q, align 1
  %j: i32 = add nsw %i, 1
  br head(%j)
exit:
  ret
}
; check: loops-holding
; %i: induction
; func @inverted(%image: ptr) {
; entry:
;   %pixels: ptr = getelementptr i8, %image, i64 8
;   br b6
; b6:
;   %v26: i32 = load %image, align 8
;   %v27: i1 = icmp slt i32 0, %v26
;   br %v27, b9, b8(poison)
; b9:
;   %v28: ptr = load %pixels, align 8
;   br b8(%v28)
; b8:
;   %v29: ptr = phi
;   %v32: i32 = sub %v26, 0
;   %v33: i1 = icmp slt i32 0, %v26
;   %v34: i32 = sub %v32, 1
;   %v35: i32 = add %v34, 1
;   %v36: i32 = select %v33, %v35, 0
;   %v37: i64 = zext %v36
;   %v40: i1 = icmp ult %v37, 536870912
;   %v41: i64 = ptrtoint %image
;   %v44: i64 = sub %v37, 1
;   %v45: i64 = mul %v44, 0
;   %v46: i1 = icmp sgt i64 0, %v45
;   %v47: i64 = select %v46, 0, %v45
;   %v48: i64 = add 0, %v45
;   %v49: i64 = sub %v48, %v47
;   %v50: i64 = sub %v47, %v49
;   %v51: i64 = add %v41, %v49
;   %v52: i64 = add 4, %v50
;   %v53: i64 = ptrtoint %v29
;   %v54: i64 = sext i32 0
;   %v55: i64 = add %v53, %v54
;   %v56: i64 = sext i32 0
;   %v57: i64 = add %v55, %v56
;   %v58: i64 = sub %v37, 1
;   %v59: i1 = icmp sgt i64 0, %v58
;   %v60: i64 = select %v59, 0, %v58
;   %v61: i64 = add 0, %v58
;   %v62: i64 = sub %v61, %v60
;   %v63: i64 = sub %v60, %v62
;   %v64: i64 = add %v57, %v62
;   %v65: i64 = add 1, %v63
;   %v66: i64 = sub %v64, %v51
;   %v67: i64 = sub %v51, %v64
;   %v68: i1 = icmp uge %v66, %v52
;   %v69: i1 = icmp uge %v67, %v65
;   %v70: i1 = and %v40, %v68
;   %v71: i1 = and %v70, %v69
;   %v72: i1 = freeze %v71
;   br %v72, checked, b7
; checked:
;   %v73: i1 = icmp ult %v37, 536870912
;   %v74: i64 = ptrtoint %image
;   %v75: i64 = add %v74, 8
;   %v76: i64 = sub %v37, 1
;   %v77: i64 = mul %v76, 0
;   %v78: i1 = icmp sgt i64 0, %v77
;   %v79: i64 = select %v78, 0, %v77
;   %v80: i64 = add 0, %v77
;   %v81: i64 = sub %v80, %v79
;   %v82: i64 = sub %v79, %v81
;   %v83: i64 = add %v75, %v81
;   %v84: i64 = add 8, %v82
;   %v85: i64 = ptrtoint %v29
;   %v86: i64 = sext i32 0
;   %v87: i64 = add %v85, %v86
;   %v88: i64 = sext i32 0
;   %v89: i64 = add %v87, %v88
;   %v90: i64 = sub %v37, 1
;   %v91: i1 = icmp sgt i64 0, %v90
;   %v92: i64 = select %v91, 0, %v90
;   %v93: i64 = add 0, %v90
;   %v94: i64 = sub %v93, %v92
;   %v95: i64 = sub %v92, %v94
;   %v96: i64 = add %v89, %v94
;   %v97: i64 = add 1, %v95
;   %v98: i64 = sub %v96, %v83
;   %v99: i64 = sub %v83, %v96
;   %v100: i1 = icmp uge %v98, %v84
;   %v101: i1 = icmp uge %v99, %v97
;   %v102: i1 = and %v73, %v100
;   %v103: i1 = and %v102, %v101
;   %v104: i1 = freeze %v103
;   br %v104, b12, b7
; b12:
;   %v105: i1 = icmp ne %v37, 0
;   br %v105, begin, b7
; begin:
;   %v106: i64 = udiv %v37, 4
;   %v107: i64 = urem %v37, 4
;   %v108: i1 = icmp ne %v106, 0
;   br %v108, lanes(0, 0), left(0)
; lanes:
;   %v109: i64 = phi
;   %v111: i32 = phi
;   call @inverted_x4(%v26, %v29, %v111)
;   %v114: i32 = add %v111, 4
;   %v115: i64 = add nuw %v109, 1
;   %v116: i1 = icmp ult %v115, %v106
;   br %v116, lanes(%v115, %v114), left(%v114)
; left:
;   %v117: i32 = phi
;   %v118: i1 = icmp ne %v107, 0
;   br %v118, tail, done(%v117)
; tail:
;   %v120: i8 = trunc %v107
;   %v123: <4 x i8> = insertelement poison, %v120, i32 0
;   %v124: <4 x i8> = shufflevector %v123, poison [0, 0, 0, 0]
;   %v125: <4 x i1> = icmp ult <4 x i8> <0, 1, 2, 3>, %v124
;   call @inverted_x4.masked(%v26, %v29, %v117, %v125)
;   %v126: i64 = sub %v107, 1
;   %v127: i32 = trunc %v107
;   %v128: i32 = mul %v127, 1
;   %v129: i32 = add %v117, %v128
;   br done(%v129)
; done:
;   %v119: i32 = phi
;   br scalar(%v119)
; scalar:
;   %v31: i32 = phi
;   br head(%v31)
; head:
;   %i: i32 = phi
;   %c: i1 = icmp slt %i, %v26
;   br %c, body, exit
; body:
;   %w: i64 = sext %i
;   %q: ptr = getelementptr i8, %v29, %w
;   %x: i8 = load %q, align 1
;   %y: i8 = xor %x, -1
;   store %y, %q, align 1
;   %j: i32 = add nsw %i, 1
;   br head(%j)
; exit:
;   ret
; b4:
;   %v16: i32 = phi
;   %v17: i32 = load %image, align 8
;   %v18: i1 = icmp slt %v16, %v17
;   br %v18, b5, exit
; b5:
;   %v19: ptr = load %pixels, align 8
;   %v20: i64 = sext %v16
;   %v21: ptr = getelementptr i8, %v19, %v20
;   %v22: i8 = load %v21, align 1
;   %v23: i8 = xor %v22, -1
;   store %v23, %v21, align 1
;   %v24: i32 = add nsw %v16, 1
;   br b4(%v24)
; b7:
;   br b4(0)
; }
; func @inverted_x4(%v0: i32, %v1: ptr, %i: i32) phase vector {
; entry:
;   %v4: i32 = add %i, 0
;   br head
; head:
;   br body
; body:
;   %v5: i64 = sext %i
;   %v6: i64 = sext i32 0
;   %v7: i64 = add %v5, %v6
;   %v8: ptr = getelementptr i8, %v1, %v7
;   %v9: <4 x i8> = load %v8, align 1
;   %v11: <4 x i8> = xor %v9, <-1, -1, -1, -1>
;   store %v11, %v8, align 1
;   %v13: i32 = add %v4, 1
;   br next
; next:
;   ret
; }

; What is stored to where it was loaded is not taken to stay as it is.
func @counted(%count: ptr, %o: ptr) {
entry:
  br head(0)
head:
  %i: i32 = phi
  %n: i32 = load %count, align 4
  %c: i1 = icmp slt %i, %n
  br %c, body, exit
body:
  %m: i32 = sub %n, 1
  store %m, %count, align 4
  %j: i32 = add nsw %i, 1
  br head(%j)
exit:
  ret
}
; check: loops-holding
; error: function `counted`, `br`: the number of iterations is not known when the loop begins: both sides of the comparison change; if one is a load, read it before the loop
