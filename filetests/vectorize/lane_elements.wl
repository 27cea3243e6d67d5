; test: lower

; All lanes ask for the lane that is the same for all: one scalar. Lane 9 is none of four.
func @broadcast(%i: i32, %x: float, %u: i32) -> float {
entry:
  %a: float = shuffle %x, %u
  %b: float = shuffle %x, i32 9
  %c: float = fadd %a, %b
  %d: float = fmul %c, %x
  ret %d
}
; check: lower
; func @broadcast_x4(%i: i32, %x: <4 x float>, %u: i32) -> <4 x float> phase vector {
; entry:
;   %v4: i1 = icmp ult %u, 4
;   %v6: i32 = select %v4, %u, 0
;   %v7: float = extractelement %x, %v6
;   %v9: float = select %v4, %v7, 0.0
;   %v11: i1 = icmp ult i32 9, 4
;   %v12: i32 = select %v11, 9, 0
;   %v13: float = extractelement %x, %v12
;   %v14: float = select %v11, %v13, 0.0
;   %v15: float = fadd %v9, %v14
;   %v18: <4 x float> = insertelement poison, %v15, i64 0
;   %v19: <4 x float> = shufflevector %v18, poison [0, 0, 0, 0]
;   %v20: <4 x float> = fmul %v19, %x
;   ret %v20
; }

; Each asks for another one; only those that come here are active.
func @permutation(%i: i32, %x: i32) -> i32 {
entry:
  %odd: i32 = and %x, 1
  %c: i1 = icmp eq %odd, 0
  br %c, ask, end(%x)
ask:
  %k: i32 = lshr %x, 1
  %y: i32 = shuffle %x, %k
  %z: i32 = insert %y, i32 2, %k
  br end(%z)
end:
  %r: i32 = phi
  ret %r
}
; check: lower
; func @permutation_x4(%i: i32, %x: <4 x i32>) -> <4 x i32> phase vector {
; entry:
;   %v3: <4 x i32> = and %x, <1, 1, 1, 1>
;   %v5: <4 x i1> = icmp eq %v3, <0, 0, 0, 0>
;   br ask
; ask:
;   %v6: <4 x i32> = lshr %x, <1, 1, 1, 1>
;   %v7: i4 = bitcast %v5
;   %v8: i64 = zext %v7
;   %v10: <4 x i1> = icmp ult %v6, <4, 4, 4, 4>
;   %v11: <4 x i32> = select %v10, %v6, <0, 0, 0, 0>
;   %v14: <4 x i64> = insertelement poison, %v8, i64 0
;   %v15: <4 x i64> = shufflevector %v14, poison [0, 0, 0, 0]
;   %v16: <4 x i64> = zext %v11
;   %v17: <4 x i64> = lshr %v15, %v16
;   %v18: <4 x i1> = trunc %v17
;   %v19: <4 x i1> = and %v10, %v18
;   %v21: i32 = extractelement %v11, i64 0
;   %v22: i32 = extractelement %x, %v21
;   %v23: <4 x i32> = insertelement poison, %v22, i64 0
;   %v25: i32 = extractelement %v11, i64 1
;   %v26: i32 = extractelement %x, %v25
;   %v27: <4 x i32> = insertelement %v23, %v26, i64 1
;   %v29: i32 = extractelement %v11, i64 2
;   %v30: i32 = extractelement %x, %v29
;   %v31: <4 x i32> = insertelement %v27, %v30, i64 2
;   %v33: i32 = extractelement %v11, i64 3
;   %v34: i32 = extractelement %x, %v33
;   %v35: <4 x i32> = insertelement %v31, %v34, i64 3
;   %v36: <4 x i32> = select %v19, %v35, <0, 0, 0, 0>
;   %v39: <4 x i1> = icmp eq <4 x i32> <2, 2, 2, 2>, <0, 1, 2, 3>
;   %v40: <4 x i32> = select %v39, %v6, %v36
;   %v41: <4 x i32> = select %v5, %v40, %x
;   br end
; end:
;   ret %v41
; }

; Lanes that are not active count for nothing: 0 is neutral to `umax`, −0 to a sum.
func @reductions(%i: i32, %x: i32, %f: double) -> double {
entry:
  %c: i1 = icmp ugt %x, 3
  br %c, ask, end(0.0)
ask:
  %greatest: i32 = reduce_umax %x
  %sum: double = reduce_add %f
  %wide: double = uitofp %greatest
  %y: double = fadd %sum, %wide
  br end(%y)
end:
  %r: double = phi
  ret %r
}
; check: lower
; func @reductions_x4(%i: i32, %x: <4 x i32>, %f: <4 x double>) -> <4 x double> phase vector {
; entry:
;   %v4: <4 x i1> = icmp ugt %x, <3, 3, 3, 3>
;   br ask
; ask:
;   %v6: <4 x i32> = select %v4, %x, <0, 0, 0, 0>
;   %v7: i32 = call @llvm.vector.reduce.umax.v4i32(%v6)
;   %v9: <4 x double> = select %v4, %f, <-0.0, -0.0, -0.0, -0.0>
;   %v11: double = call @llvm.vector.reduce.fadd.v4f64(-0.0, %v9)
;   %v12: double = uitofp %v7
;   %v13: double = fadd %v11, %v12
;   %v16: <4 x double> = insertelement poison, %v13, i64 0
;   %v17: <4 x double> = shufflevector %v16, poison [0, 0, 0, 0]
;   %v19: <4 x double> = select %v4, %v17, <0.0, 0.0, 0.0, 0.0>
;   br end
; end:
;   ret %v19
; }

; Of all lanes of the group.
func @reduction_of_all(%i: i32, %x: i8) -> i8 {
entry:
  %y: i8 = reduce_umin %x
  %z: i8 = add %y, %x
  ret %z
}
; check: lower
; func @reduction_of_all_x4(%i: i32, %x: <4 x i8>) -> <4 x i8> phase vector {
; entry:
;   %v2: i8 = call @llvm.vector.reduce.umin.v4i8(%x)
;   %v5: <4 x i8> = insertelement poison, %v2, i64 0
;   %v6: <4 x i8> = shufflevector %v5, poison [0, 0, 0, 0]
;   %v7: <4 x i8> = add %v6, %x
;   ret %v7
; }

func @scans(%i: i32, %x: i16, %f: float) -> float {
entry:
  %before: i16 = scan_exclusive_xor %x
  %upto: float = scan_inclusive_mul %f
  %b: float = sitofp %before
  %r: float = fadd %b, %upto
  ret %r
}
; check: lower
; func @scans_x4(%i: i32, %x: <4 x i16>, %f: <4 x float>) -> <4 x float> phase vector {
; entry:
;   %v4: <4 x i16> = shufflevector %x, <0, 0, 0, 0> [4, 0, 1, 2]
;   %v5: <4 x i16> = xor %v4, %x
;   %v6: <4 x i16> = shufflevector %v5, <0, 0, 0, 0> [4, 5, 0, 1]
;   %v7: <4 x i16> = xor %v6, %v5
;   %v8: <4 x i16> = shufflevector %v7, <0, 0, 0, 0> [4, 0, 1, 2]
;   %v12: float = extractelement %f, i64 0
;   %v13: float = fmul 1.0, %v12
;   %v14: <4 x float> = insertelement poison, %v13, i64 0
;   %v16: float = extractelement %f, i64 1
;   %v17: float = fmul %v13, %v16
;   %v18: <4 x float> = insertelement %v14, %v17, i64 1
;   %v20: float = extractelement %f, i64 2
;   %v21: float = fmul %v17, %v20
;   %v22: <4 x float> = insertelement %v18, %v21, i64 2
;   %v24: float = extractelement %f, i64 3
;   %v25: float = fmul %v21, %v24
;   %v26: <4 x float> = insertelement %v22, %v25, i64 3
;   %v27: <4 x float> = sitofp %v8
;   %v28: <4 x float> = fadd %v27, %v26
;   ret %v28
; }

; To one place, and to a place of each lane's own.
func @packed_stores(%i: i32, %x: i32, %u: ptr) -> i32 {
entry:
  %c: i1 = icmp sgt %x, 0
  %n: i32 = compact %u, %x, %c
  %k: i32 = and %x, 7
  %own: ptr = getelementptr i16, %u, %k
  %small: i16 = trunc %x
  %m: i32 = compact %own, %small, true
  %r: i32 = add %n, %m
  ret %r
}
; check: lower
; func @packed_stores_x4(%i: i32, %x: <4 x i32>, %u: ptr) -> <4 x i32> phase vector {
; entry:
;   %v4: <4 x i1> = icmp sgt %x, <0, 0, 0, 0>
;   call @llvm.masked.compressstore.v4i32(%x, %u, %v4)
;   %v5: i4 = bitcast %v4
;   %v6: i64 = zext %v5
;   %v7: i64 = call @llvm.ctpop.i64(%v6)
;   %v8: i32 = trunc %v7
;   %v10: <4 x i32> = and %x, <7, 7, 7, 7>
;   %v11: <4 x ptr> = getelementptr i16, %u, %v10
;   %v12: <4 x i16> = trunc %x
;   %v14: <4 x i64> = zext <4 x i1> <true, true, true, true>
;   %v16: <4 x i64> = shufflevector %v14, <0, 0, 0, 0> [4, 0, 6, 2]
;   %v17: <4 x i64> = add %v16, %v14
;   %v18: <4 x i64> = shufflevector %v17, <0, 0, 0, 0> [4, 5, 1, 1]
;   %v19: <4 x i64> = add %v18, %v17
;   %v20: <4 x i64> = shufflevector %v19, <0, 0, 0, 0> [4, 0, 1, 2]
;   %v21: <4 x ptr> = getelementptr i16, %v11, %v20
;   call @llvm.masked.scatter.v4i16.v4p0(%v12, %v21, 1, <true, true, true, true>)
;   %v23: i4 = bitcast <4 x i1> <true, true, true, true>
;   %v24: i64 = zext %v23
;   %v25: i64 = call @llvm.ctpop.i64(%v24)
;   %v26: i32 = trunc %v25
;   %v27: i32 = add %v8, %v26
;   %v30: <4 x i32> = insertelement poison, %v27, i64 0
;   %v31: <4 x i32> = shufflevector %v30, poison [0, 0, 0, 0]
;   ret %v31
; }
