; test: lower

declare @one(i32) -> i32 [reads]
declare @two(i32) -> i32 [reads]
declare @other(float) -> float [reads]

func @one(%x: i32) -> i32 {
entry:
  ret %x
}
; check: lower
; func @one_x4(%x: <4 x i32>) -> <4 x i32> phase vector {
; entry:
;   ret %x
; }

func @two(%x: i32) -> i32 {
entry:
  %r: i32 = add %x, %x
  ret %r
}
; check: lower
; func @two_x4(%x: <4 x i32>) -> <4 x i32> phase vector {
; entry:
;   %v1: <4 x i32> = add %x, %x
;   ret %v1
; }

func @other(%x: float) -> float {
entry:
  ret %x
}
; check: lower
; func @other_x4(%x: <4 x float>) -> <4 x float> phase vector {
; entry:
;   ret %x
; }

; Each distinct callee is called once, for the lanes that call it.
func @kernel(%x: i32) -> i32 {
entry:
  %c: i1 = icmp ult %x, 7
  %p: ptr = select %c, @one, @two
  %r: i32 = call %p(%x) [unknown]
  ret %r
}
; check: lower
; func @kernel_x4(%x: <4 x i32>) -> <4 x i32> phase vector {
; entry:
;   %v2: <4 x i1> = icmp ult %x, <7, 7, 7, 7>
;   %v5: <4 x ptr> = select %v2, <@one, @one, @one, @one>, <@two, @two, @two, @two>
;   br callees(<true, true, true, true>, poison)
; callees:
;   %v7: <4 x i1> = phi
;   %v9: <4 x i32> = phi
;   %v11: i1 = call @llvm.vector.reduce.or.v4i1(%v7)
;   br %v11, callee, b3
; callee:
;   %v13: i4 = bitcast %v7
;   %v14: i64 = zext %v13
;   %v16: i64 = call @llvm.cttz.i64(%v14, false)
;   %v18: i1 = icmp ult %v16, 4
;   %v19: i64 = select %v18, %v16, 0
;   %v20: ptr = extractelement %v5, %v19
;   %v22: <4 x ptr> = insertelement poison, %v20, i64 0
;   %v23: <4 x ptr> = shufflevector %v22, poison [0, 0, 0, 0]
;   %v24: <4 x i1> = icmp eq %v5, %v23
;   %v26: <4 x i1> = select %v7, %v24, <false, false, false, false>
;   %v28: i1 = icmp eq %v20, @one
;   br %v28, call, b6
; b3:
;   ret %v9
; b4:
;   %v60: <4 x i32> = phi
;   %v61: <4 x i32> = select %v26, %v60, %v9
;   %v62: <4 x i1> = xor %v7, %v26
;   br callees(%v62, %v61)
; call:
;   %v29: <4 x i32> = call @one.x4v.mp0(%x, %v26)
;   br b4(%v29)
; b6:
;   %v31: i1 = icmp eq %v20, @two
;   br %v31, b7, b8
; b7:
;   %v32: <4 x i32> = call @two.x4v.mp0(%x, %v26)
;   br b4(%v32)
; b8:
;   %v33: i1 = extractelement %v26, i64 0
;   br %v33, lane, b10(poison)
; lane:
;   %v34: i32 = extractelement %x, i64 0
;   %v35: ptr = extractelement %v5, i64 0
;   %v36: i32 = call %v35(%v34) [unknown]
;   %v37: <4 x i32> = insertelement poison, %v36, i64 0
;   br b10(%v37)
; b10:
;   %v38: <4 x i32> = phi
;   %v40: i1 = extractelement %v26, i64 1
;   br %v40, b11, b12(%v38)
; b11:
;   %v41: i32 = extractelement %x, i64 1
;   %v42: ptr = extractelement %v5, i64 1
;   %v43: i32 = call %v42(%v41) [unknown]
;   %v44: <4 x i32> = insertelement %v38, %v43, i64 1
;   br b12(%v44)
; b12:
;   %v45: <4 x i32> = phi
;   %v47: i1 = extractelement %v26, i64 2
;   br %v47, b13, b14(%v45)
; b13:
;   %v48: i32 = extractelement %x, i64 2
;   %v49: ptr = extractelement %v5, i64 2
;   %v50: i32 = call %v49(%v48) [unknown]
;   %v51: <4 x i32> = insertelement %v45, %v50, i64 2
;   br b14(%v51)
; b14:
;   %v52: <4 x i32> = phi
;   %v54: i1 = extractelement %v26, i64 3
;   br %v54, b15, b16(%v52)
; b15:
;   %v55: i32 = extractelement %x, i64 3
;   %v56: ptr = extractelement %v5, i64 3
;   %v57: i32 = call %v56(%v55) [unknown]
;   %v58: <4 x i32> = insertelement %v52, %v57, i64 3
;   br b16(%v58)
; b16:
;   %v59: <4 x i32> = phi
;   br b4(%v59)
; }
