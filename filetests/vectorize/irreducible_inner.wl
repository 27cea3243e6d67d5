; test: lower

; Two loops with several entries are split at once, and the copy of one uses what the other defines.

func @kernel(%i: i32, %u0: i32, %x0: i32, %x1: float, %x2: i64) -> i32 {
b0:
  br false, b12, b11(0, 0)
b10:
  br false, b19(0), b18(0)
b11:
  %jumps: i32 = phi
  %v225: i32 = phi
  br b12
b12:
  %v47: i32 = add 0, 1
  br false, b11(0, %v47), b10
b18:
  %v227: i32 = phi
  %v184: i1 = icmp ult %x0, %v47
  br b19(%v227)
b19:
  %v228: i32 = phi
  %v72: i32 = add %v228, %x0
  %v88: i32 = add %v72, 1
  %v89: i1 = icmp uge %v72, 3
  %v94: i1 = or %v89, false
  br %v94, b21, b18(%v88)
b21:
  ret %v228
}
; check: lower
; func @kernel_x4(%i: i32, %u0: i32, %x0: <4 x i32>, %x1: <4 x float>, %x2: <4 x i64>) -> <4 x i32> phase vector {
; b0:
;   br false, b16, b4
; loop.exit:
;   br b3(%v9)
; edge:
;   br b3(%v8)
; b3:
;   %v10: i32 = phi
;   br false, b10, b15
; b4:
;   br preheader
; b5:
;   br preheader
; preheader:
;   br b7
; b7:
;   br b8
; b8:
;   %v9: i32 = add nuw nsw 0, 1
;   br false, b7, loop.exit
; b9:
;   %v33: <4 x i32> = insertelement poison, %v10, i64 0
;   %v34: <4 x i32> = shufflevector %v33, poison [0, 0, 0, 0]
;   %v35: <4 x i1> = icmp ult %x0, %v34
;   br latch(%v32, %v30)
; b10:
;   br b11
; b11:
;   br b12(<0, 0, 0, 0>, poison, <true, true, true, true>)
; b12:
;   %v17: <4 x i32> = phi
;   %v18: <4 x i32> = phi
;   %v19: <4 x i1> = phi
;   %v21: <4 x i32> = add %v17, %x0
;   %v23: <4 x i32> = add %v21, <1, 1, 1, 1>
;   %v25: <4 x i1> = icmp uge %v21, <3, 3, 3, 3>
;   %v27: <4 x i1> = or %v25, <false, false, false, false>
;   br false, b17, and
; and:
;   %v29: <4 x i1> = select %v19, %v25, <false, false, false, false>
;   %v30: <4 x i32> = select %v29, %v17, %v18
;   %v31: <4 x i1> = xor %v25, <true, true, true, true>
;   %v32: <4 x i1> = select %v19, %v31, <false, false, false, false>
;   br b9
; b14:
;   ret %v38
; b15:
;   %v14: <4 x i32> = insertelement poison, %v10, i64 0
;   %v15: <4 x i32> = shufflevector %v14, poison [0, 0, 0, 0]
;   %v16: <4 x i1> = icmp ult %x0, %v15
;   br b11
; b16:
;   %v8: i32 = add nuw nsw 0, 1
;   br false, b5, edge
; b17:
;   %v36: <4 x i32> = select %v19, %v17, %v18
;   br latch(<false, false, false, false>, %v36)
; latch:
;   %v37: <4 x i1> = phi
;   %v38: <4 x i32> = phi
;   %v39: i1 = call @llvm.vector.reduce.or.v4i1(%v37)
;   br %v39, b12(%v23, %v38, %v37), dispatch
; dispatch:
;   br b14
; }
