; test: lower

; An address that counts as varying though all its terms are uniform: lanes could come to the φ by different edges, but not with different
; values.
func @uniform_terms(%u1: i8, %x0: i32, %up: ptr) -> float {
b0:
  br b2(%u1)
b2:
  %v44: i8 = phi
  br b3(%v44)
b3:
  %v49: i8 = phi
  %v66: i32 = and %x0, 7
  %v197: i32 = add %v66, 0
  br b28(%v44)
b27:
  %v271: i32 = and %v197, 1
  %v272: i1 = icmp ne %v271, 0
  %v273: i1 = and false, %v272
  br %v273, b28(%v49), b28(%v44)
b28:
  %v209: i8 = phi
  %v212: i64 = sext %v209
  %v214: i64 = add nsw %v212, 128
  %v215: ptr = getelementptr float, %up, %v214
  %v216: float = load %v215, align 4
  br false, b27, b29
b29:
  ret %v216
}
; check: lower
; func @uniform_terms_x4(%u1: i8, %x0: <4 x i32>, %up: ptr) -> <4 x float> phase vector {
; b0:
;   br b1
; b1:
;   br b2
; b2:
;   %v4: <4 x i32> = and %x0, <7, 7, 7, 7>
;   %v6: <4 x i32> = add nuw nsw %v4, <0, 0, 0, 0>
;   br b6
; b3:
;   %v28: <4 x i32> = and %v6, <1, 1, 1, 1>
;   %v29: <4 x i1> = icmp ne %v28, <0, 0, 0, 0>
;   %v31: <4 x i1> = and <false, false, false, false>, %v29
;   %v32: <4 x i1> = xor %v31, <true, true, true, true>
;   %v33: <4 x i1> = select <4 x i1> <true, true, true, true>, %v32, <false, false, false, false>
;   br edge
; edge:
;   br latch
; latch:
;   br b6
; b6:
;   %v9: <4 x i8> = insertelement poison, %u1, i64 0
;   %v10: <4 x i8> = shufflevector %v9, poison [0, 0, 0, 0]
;   %v11: <4 x i64> = sext %v10
;   %v13: <4 x i64> = add nsw %v11, <128, 128, 128, 128>
;   %v14: <4 x ptr> = getelementptr float, %up, %v13
;   %v15: i64 = sext %u1
;   %v17: i64 = mul %v15, 4
;   %v18: ptr = getelementptr i8, %up, %v17
;   %v20: ptr = getelementptr i8, %v18, i64 512
;   %v21: <4 x ptr> = getelementptr i8, %v20, <4 x i32> <0, 0, 0, 0>
;   %v25: <4 x float> = call @llvm.masked.gather.v4f32.v4p0(%v21, 4, <true, true, true, true>, poison)
;   br false, b3, b7
; b7:
;   ret %v25
; }

; An index of 32 bits that is a sum of products: it is gathered by as it is, since its parts, extended one by one, would be of 64 bits.
func @grid(%x: i32, %y: i32, %un: i32, %ugrid: ptr) -> float {
entry:
  %row: i32 = mul nsw %y, %un
  %k: i32 = add nsw %row, %x
  %wide: i64 = sext %k
  %p: ptr = getelementptr float, %ugrid, %wide
  %q: ptr = getelementptr i8, %p, i64 8
  %r: float = load %q, align 4
  ret %r
}
; check: lower
; func @grid_x4(%x: <4 x i32>, %y: <4 x i32>, %un: i32, %ugrid: ptr) -> <4 x float> phase vector {
; entry:
;   %v6: <4 x i32> = insertelement poison, %un, i64 0
;   %v7: <4 x i32> = shufflevector %v6, poison [0, 0, 0, 0]
;   %v8: <4 x i32> = mul nsw %y, %v7
;   %v9: <4 x i32> = add nsw %v8, %x
;   %v10: <4 x i64> = sext %v9
;   %v11: <4 x ptr> = getelementptr float, %ugrid, %v10
;   %v13: <4 x ptr> = getelementptr i8, %v11, i64 8
;   %v14: ptr = getelementptr i8, %ugrid, i64 8
;   %v15: <4 x ptr> = getelementptr i32, %v14, %v9
;   %v19: <4 x float> = call @llvm.masked.gather.v4f32.v4p0(%v15, 4, <true, true, true, true>, poison)
;   ret %v19
; }
