; test: linearize
; test: lower

; An element of a constant by an index that varies, and of a parameter.
func @element(%k: i32, %uv: <4 x float>) -> float {
entry:
  %a: float = extractelement <4 x float> <0.5, -2.0, 0.0, 0.5>, %k
  %b: float = extractelement %uv, i32 2
  %c: float = fadd %a, %b
  ret %c
}
; check: linearize
; branches: 0 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @element(%k: i32, %uv: <4 x float>) -> float phase linearized {
; entry:
;   %v11: i1 = icmp eq %k, 1
;   %v12: float = select %v11, -2.0, 0.5
;   %v13: i1 = icmp eq %k, 2
;   %v14: float = select %v13, 0.0, %v12
;   %v16: i1 = icmp eq %k, 3
;   %v17: float = select %v16, 0.5, %v14
;   %b: float = extractelement %uv, i32 2
;   %c: float = fadd %v17, %b
;   ret %c
; }
; check: lower
; func @element_x4(%k: <4 x i32>, %uv: <4 x float>) -> <4 x float> phase vector {
; entry:
;   %v3: <4 x i1> = icmp eq %k, <1, 1, 1, 1>
;   %v6: <4 x float> = select %v3, <-2.0, -2.0, -2.0, -2.0>, <0.5, 0.5, 0.5, 0.5>
;   %v8: <4 x i1> = icmp eq %k, <2, 2, 2, 2>
;   %v10: <4 x float> = select %v8, <0.0, 0.0, 0.0, 0.0>, %v6
;   %v12: <4 x i1> = icmp eq %k, <3, 3, 3, 3>
;   %v13: <4 x float> = select %v12, <0.5, 0.5, 0.5, 0.5>, %v10
;   %v15: float = extractelement %uv, i32 2
;   %v18: <4 x float> = insertelement poison, %v15, i64 0
;   %v19: <4 x float> = shufflevector %v18, poison [0, 0, 0, 0]
;   %v20: <4 x float> = fadd %v13, %v19
;   ret %v20
; }

; Parameters, result and φ: a lane's vector is an array of W-lane vectors.
func @both(%c: i1, %v: <2 x float>, %u: <2 x float>) -> <2 x float> {
entry:
  br %c, left, join(%v)
left:
  %s: <2 x float> = fadd %v, %u
  br join(%s)
join:
  %p: <2 x float> = phi
  ret %p
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @both(%c: i1, %v: <2 x float>, %u: <2 x float>) -> <2 x float> phase linearized {
; entry:
;   %v10: float = extractelement %v, i64 0
;   %v12: float = extractelement %v, i64 1
;   %v13: float = extractelement %u, i64 0
;   %v14: float = extractelement %u, i64 1
;   br left
; left mask %c:
;   %v15: float = fadd %v10, %v13
;   %v16: float = fadd %v12, %v14
;   %v27: float = blend %c, %v15, %v10
;   %v29: float = blend %c, %v16, %v12
;   br join
; join:
;   %v17: <2 x float> = insertelement poison, %v27, i64 0
;   %v18: <2 x float> = insertelement %v17, %v29, i64 1
;   ret %v18
; }
; check: lower
; func @both_x4(%c: <4 x i1>, %v: [2 x <4 x float>], %u: <2 x float>) -> [2 x <4 x float>] phase vector {
; entry:
;   %v3: <4 x float> = extractvalue %v [0]
;   %v4: <4 x float> = extractvalue %v [1]
;   %v6: float = extractelement %u, i64 0
;   %v8: float = extractelement %u, i64 1
;   br left
; left:
;   %v10: <4 x float> = insertelement poison, %v6, i64 0
;   %v11: <4 x float> = shufflevector %v10, poison [0, 0, 0, 0]
;   %v12: <4 x float> = fadd %v3, %v11
;   %v13: <4 x float> = insertelement poison, %v8, i64 0
;   %v14: <4 x float> = shufflevector %v13, poison [0, 0, 0, 0]
;   %v15: <4 x float> = fadd %v4, %v14
;   %v16: <4 x float> = select %c, %v12, %v3
;   %v17: <4 x float> = select %c, %v15, %v4
;   br join
; join:
;   %v19: [2 x <4 x float>] = insertvalue poison, %v16 [0]
;   %v20: [2 x <4 x float>] = insertvalue %v19, %v17 [1]
;   ret %v20
; }

; Each element has a shape of its own: one is contiguous, the other uniform.
func @coordinates(%i: i64, %uy: i64, %uin: ptr) -> float {
entry:
  %a: <2 x i64> = insertelement poison, %i, i32 0
  %b: <2 x i64> = insertelement %a, %uy, i32 1
  %c: <2 x i64> = add nsw %b, <1, 2>
  %x: i64 = extractelement %c, i32 0
  %y: i64 = extractelement %c, i32 1
  %row: ptr = getelementptr [64 x float], %uin, %y
  %at: ptr = getelementptr float, %row, %x
  %v: float = load %at, align 4
  ret %v
}
; check: linearize
; branches: 0 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @coordinates(%i: i64, %uy: i64, %uin: ptr) -> float phase linearized {
; entry:
;   %v18: i64 = add nsw %i, 1
;   %v19: i64 = add nsw %uy, 2
;   %row: ptr = getelementptr [64 x float], %uin, %v19
;   %at: ptr = getelementptr float, %row, %v18
;   %v: float = load %at, align 4
;   ret %v
; }
; check: lower
; func @coordinates_x4(%i: i64, %uy: i64, %uin: ptr) -> <4 x float> phase vector {
; entry:
;   %v4: i64 = add %i, 1
;   %v6: i64 = add nsw %uy, 2
;   %v7: ptr = getelementptr [64 x float], %uin, %v6
;   %v8: ptr = getelementptr float, %v7, %v4
;   %v9: <4 x float> = load %v8, align 4
;   ret %v9
; }

; An aligned store is made by elements, since vectors of different lanes do not overlap.
func @aligned(%i: i64, %uin: ptr, %uout: ptr) {
entry:
  %from: ptr = getelementptr inbounds <2 x i32>, %uin, %i
  %v: <2 x i32> = load %from, align 8
  %w: <2 x i32> = shufflevector %v, %v [1, 0]
  %to: ptr = getelementptr inbounds <2 x i32>, %uout, %i
  store %w, %to, align 8
  ret
}
; check: linearize
; branches: 0 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @aligned(%i: i64, %uin: ptr, %uout: ptr) phase linearized {
; entry:
;   %from: ptr = getelementptr inbounds <2 x i32>, %uin, %i
;   %v7: i32 = load %from, align 8
;   %v9: ptr = getelementptr nuw inbounds i8, %from, i64 4
;   %v10: i32 = load %v9, align 4
;   %to: ptr = getelementptr inbounds <2 x i32>, %uout, %i
;   store %v10, %to, align 8
;   %v12: ptr = getelementptr nuw inbounds i8, %to, i64 4
;   store %v7, %v12, align 4
;   ret
; }
; check: lower
; func @aligned_x4(%i: i64, %uin: ptr, %uout: ptr) phase vector {
; entry:
;   %v3: ptr = getelementptr <2 x i32>, %uin, %i
;   %v4: <8 x i32> = load %v3, align 8
;   %v6: <4 x i32> = shufflevector %v4, poison [0, 2, 4, 6]
;   %v7: <4 x i32> = shufflevector %v4, poison [1, 3, 5, 7]
;   %v9: ptr = getelementptr i8, %v3, i64 4
;   %v10: ptr = getelementptr <2 x i32>, %uout, %i
;   %v11: ptr = getelementptr i8, %v10, i64 4
;   %v12: <8 x i32> = shufflevector %v7, %v6 [0, 1, 2, 3, 4, 5, 6, 7]
;   %v13: <8 x i32> = shufflevector %v12, poison [0, 4, 1, 5, 2, 6, 3, 7]
;   store %v13, %v10, align 8
;   ret
; }

; Vectors that may overlap are stored once for each lane in lane order.
func @overlapping(%at: ptr, %v: <2 x i32>) {
entry:
  store %v, %at, align 4
  ret
}
; check: linearize
; branches: 0 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @overlapping(%at: ptr, %v: <2 x i32>) phase linearized {
; entry:
;   store %v, %at, align 4
;   ret
; }
; check: lower
; func @overlapping_x4(%at: <4 x ptr>, %v: [2 x <4 x i32>]) phase vector {
; entry:
;   %v4: <4 x i32> = extractvalue %v [0]
;   %v5: i32 = extractelement %v4, i64 0
;   %v6: <2 x i32> = insertelement poison, %v5, i64 0
;   %v7: <4 x i32> = extractvalue %v [1]
;   %v8: i32 = extractelement %v7, i64 0
;   %v10: <2 x i32> = insertelement %v6, %v8, i64 1
;   %v11: ptr = extractelement %at, i64 0
;   store %v10, %v11, align 4
;   %v12: <4 x i32> = extractvalue %v [0]
;   %v13: i32 = extractelement %v12, i64 1
;   %v14: <2 x i32> = insertelement poison, %v13, i64 0
;   %v15: <4 x i32> = extractvalue %v [1]
;   %v16: i32 = extractelement %v15, i64 1
;   %v17: <2 x i32> = insertelement %v14, %v16, i64 1
;   %v18: ptr = extractelement %at, i64 1
;   store %v17, %v18, align 4
;   %v20: <4 x i32> = extractvalue %v [0]
;   %v21: i32 = extractelement %v20, i64 2
;   %v22: <2 x i32> = insertelement poison, %v21, i64 0
;   %v23: <4 x i32> = extractvalue %v [1]
;   %v24: i32 = extractelement %v23, i64 2
;   %v25: <2 x i32> = insertelement %v22, %v24, i64 1
;   %v26: ptr = extractelement %at, i64 2
;   store %v25, %v26, align 4
;   %v28: <4 x i32> = extractvalue %v [0]
;   %v29: i32 = extractelement %v28, i64 3
;   %v30: <2 x i32> = insertelement poison, %v29, i64 0
;   %v31: <4 x i32> = extractvalue %v [1]
;   %v32: i32 = extractelement %v31, i64 3
;   %v33: <2 x i32> = insertelement %v30, %v32, i64 1
;   %v34: ptr = extractelement %at, i64 3
;   store %v33, %v34, align 4
;   ret
; }

; Bits keep their places.
func @bits(%x: i32) -> i32 {
entry:
  %b: <2 x i16> = bitcast %x
  %s: <2 x i16> = add %b, <1, 2>
  %y: i32 = bitcast %s
  ret %y
}
; check: linearize
; branches: 0 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @bits(%x: i32) -> i32 phase linearized {
; entry:
;   %v5: i16 = trunc %x
;   %v7: i32 = lshr %x, 16
;   %v8: i16 = trunc %v7
;   %v11: i16 = add %v5, 1
;   %v12: i16 = add %v8, 2
;   %v13: i32 = zext %v11
;   %v14: i32 = zext %v12
;   %v15: i32 = shl %v14, 16
;   %v16: i32 = or %v13, %v15
;   ret %v16
; }
; check: lower
; func @bits_x4(%x: <4 x i32>) -> <4 x i32> phase vector {
; entry:
;   %v1: <4 x i16> = trunc %x
;   %v3: <4 x i32> = lshr %x, <16, 16, 16, 16>
;   %v4: <4 x i16> = trunc %v3
;   %v6: <4 x i16> = add %v1, <1, 1, 1, 1>
;   %v8: <4 x i16> = add %v4, <2, 2, 2, 2>
;   %v9: <4 x i32> = zext %v6
;   %v10: <4 x i32> = zext %v8
;   %v11: <4 x i32> = shl %v10, <16, 16, 16, 16>
;   %v12: <4 x i32> = or %v9, %v11
;   ret %v12
; }

declare @llvm.smax.v2i32(<2 x i32>, <2 x i32>) -> <2 x i32>
declare @llvm.vector.reduce.add.v2i32(<2 x i32>) -> i32

; Intrinsics on vectors work element by element, reductions over the elements of each lane.
func @intrinsics(%v: <2 x i32>, %w: <2 x i32>) -> i32 {
entry:
  %m: <2 x i32> = call @llvm.smax.v2i32(%v, %w)
  %s: i32 = call @llvm.vector.reduce.add.v2i32(%m)
  ret %s
}
; check: linearize
; branches: 0 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @intrinsics(%v: <2 x i32>, %w: <2 x i32>) -> i32 phase linearized {
; entry:
;   %m: <2 x i32> = call @llvm.smax.v2i32(%v, %w)
;   %s: i32 = call @llvm.vector.reduce.add.v2i32(%m)
;   ret %s
; }
; check: lower
; func @intrinsics_x4(%v: [2 x <4 x i32>], %w: [2 x <4 x i32>]) -> <4 x i32> phase vector {
; entry:
;   %v3: <4 x i32> = extractvalue %v [0]
;   %v4: <4 x i32> = extractvalue %w [0]
;   %v5: <4 x i32> = call @llvm.smax.v4i32(%v3, %v4)
;   %v6: [2 x <4 x i32>] = insertvalue poison, %v5 [0]
;   %v7: <4 x i32> = extractvalue %v [1]
;   %v8: <4 x i32> = extractvalue %w [1]
;   %v9: <4 x i32> = call @llvm.smax.v4i32(%v7, %v8)
;   %v10: [2 x <4 x i32>] = insertvalue %v6, %v9 [1]
;   %v11: <4 x i32> = extractvalue %v10 [0]
;   %v12: <4 x i32> = extractvalue %v10 [1]
;   %v13: <4 x i32> = add %v11, %v12
;   ret %v13
; }

declare @f(<2 x i32>) -> <2 x i32>

; A call gets the vectors of one lane after the other.
func @border(%c: i1, %v: <2 x i32>) -> <2 x i32> {
entry:
  br %c, then, join(%v)
then:
  %d: <2 x i32> = mul %v, %v
  %r: <2 x i32> = call @f(%d) [writes]
  br join(%r)
join:
  %p: <2 x i32> = phi
  ret %p
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @border(%c: i1, %v: <2 x i32>) -> <2 x i32> phase linearized {
; entry:
;   %v10: i32 = extractelement %v, i64 0
;   %v12: i32 = extractelement %v, i64 1
;   br then
; then mask %c:
;   %v13: i32 = mul %v10, %v10
;   %v14: i32 = mul %v12, %v12
;   %v15: <2 x i32> = insertelement poison, %v13, i64 0
;   %v16: <2 x i32> = insertelement %v15, %v14, i64 1
;   %r: <2 x i32> = call @f(%v16) [writes]
;   %v19: i32 = extractelement %r, i64 0
;   %v20: i32 = extractelement %r, i64 1
;   %v29: i32 = blend %c, %v19, %v10
;   %v31: i32 = blend %c, %v20, %v12
;   br join
; join:
;   %v17: <2 x i32> = insertelement poison, %v29, i64 0
;   %v18: <2 x i32> = insertelement %v17, %v31, i64 1
;   ret %v18
; }
; check: lower
; func @border_x4(%c: <4 x i1>, %v: [2 x <4 x i32>]) -> [2 x <4 x i32>] phase vector {
; entry:
;   %v2: <4 x i32> = extractvalue %v [0]
;   %v3: <4 x i32> = extractvalue %v [1]
;   br then
; then:
;   %v4: <4 x i32> = mul %v2, %v2
;   %v5: <4 x i32> = mul %v3, %v3
;   %v7: [2 x <4 x i32>] = insertvalue poison, %v4 [0]
;   %v8: [2 x <4 x i32>] = insertvalue %v7, %v5 [1]
;   %v10: i1 = extractelement %c, i64 0
;   br %v10, lane, b4(poison)
; join:
;   %v86: [2 x <4 x i32>] = insertvalue poison, %v84 [0]
;   %v87: [2 x <4 x i32>] = insertvalue %v86, %v85 [1]
;   ret %v87
; lane:
;   %v12: <4 x i32> = extractvalue %v8 [0]
;   %v13: i32 = extractelement %v12, i64 0
;   %v14: <2 x i32> = insertelement poison, %v13, i64 0
;   %v15: <4 x i32> = extractvalue %v8 [1]
;   %v16: i32 = extractelement %v15, i64 0
;   %v18: <2 x i32> = insertelement %v14, %v16, i64 1
;   %v19: <2 x i32> = call @f(%v18) [writes]
;   %v20: i32 = extractelement %v19, i64 0
;   %v21: <4 x i32> = extractvalue [2 x <4 x i32>] poison [0]
;   %v22: <4 x i32> = insertelement %v21, %v20, i64 0
;   %v23: [2 x <4 x i32>] = insertvalue poison, %v22 [0]
;   %v24: i32 = extractelement %v19, i64 1
;   %v25: <4 x i32> = extractvalue %v23 [1]
;   %v26: <4 x i32> = insertelement %v25, %v24, i64 0
;   %v27: [2 x <4 x i32>] = insertvalue %v23, %v26 [1]
;   br b4(%v27)
; b4:
;   %v28: [2 x <4 x i32>] = phi
;   %v29: i1 = extractelement %c, i64 1
;   br %v29, b5, b6(%v28)
; b5:
;   %v30: <4 x i32> = extractvalue %v8 [0]
;   %v31: i32 = extractelement %v30, i64 1
;   %v32: <2 x i32> = insertelement poison, %v31, i64 0
;   %v33: <4 x i32> = extractvalue %v8 [1]
;   %v34: i32 = extractelement %v33, i64 1
;   %v35: <2 x i32> = insertelement %v32, %v34, i64 1
;   %v36: <2 x i32> = call @f(%v35) [writes]
;   %v37: i32 = extractelement %v36, i64 0
;   %v38: <4 x i32> = extractvalue %v28 [0]
;   %v39: <4 x i32> = insertelement %v38, %v37, i64 1
;   %v40: [2 x <4 x i32>] = insertvalue %v28, %v39 [0]
;   %v41: i32 = extractelement %v36, i64 1
;   %v42: <4 x i32> = extractvalue %v40 [1]
;   %v43: <4 x i32> = insertelement %v42, %v41, i64 1
;   %v44: [2 x <4 x i32>] = insertvalue %v40, %v43 [1]
;   br b6(%v44)
; b6:
;   %v45: [2 x <4 x i32>] = phi
;   %v47: i1 = extractelement %c, i64 2
;   br %v47, b7, b8(%v45)
; b7:
;   %v48: <4 x i32> = extractvalue %v8 [0]
;   %v49: i32 = extractelement %v48, i64 2
;   %v50: <2 x i32> = insertelement poison, %v49, i64 0
;   %v51: <4 x i32> = extractvalue %v8 [1]
;   %v52: i32 = extractelement %v51, i64 2
;   %v53: <2 x i32> = insertelement %v50, %v52, i64 1
;   %v54: <2 x i32> = call @f(%v53) [writes]
;   %v55: i32 = extractelement %v54, i64 0
;   %v56: <4 x i32> = extractvalue %v45 [0]
;   %v57: <4 x i32> = insertelement %v56, %v55, i64 2
;   %v58: [2 x <4 x i32>] = insertvalue %v45, %v57 [0]
;   %v59: i32 = extractelement %v54, i64 1
;   %v60: <4 x i32> = extractvalue %v58 [1]
;   %v61: <4 x i32> = insertelement %v60, %v59, i64 2
;   %v62: [2 x <4 x i32>] = insertvalue %v58, %v61 [1]
;   br b8(%v62)
; b8:
;   %v63: [2 x <4 x i32>] = phi
;   %v65: i1 = extractelement %c, i64 3
;   br %v65, b9, b10(%v63)
; b9:
;   %v66: <4 x i32> = extractvalue %v8 [0]
;   %v67: i32 = extractelement %v66, i64 3
;   %v68: <2 x i32> = insertelement poison, %v67, i64 0
;   %v69: <4 x i32> = extractvalue %v8 [1]
;   %v70: i32 = extractelement %v69, i64 3
;   %v71: <2 x i32> = insertelement %v68, %v70, i64 1
;   %v72: <2 x i32> = call @f(%v71) [writes]
;   %v73: i32 = extractelement %v72, i64 0
;   %v74: <4 x i32> = extractvalue %v63 [0]
;   %v75: <4 x i32> = insertelement %v74, %v73, i64 3
;   %v76: [2 x <4 x i32>] = insertvalue %v63, %v75 [0]
;   %v77: i32 = extractelement %v72, i64 1
;   %v78: <4 x i32> = extractvalue %v76 [1]
;   %v79: <4 x i32> = insertelement %v78, %v77, i64 3
;   %v80: [2 x <4 x i32>] = insertvalue %v76, %v79 [1]
;   br b10(%v80)
; b10:
;   %v81: [2 x <4 x i32>] = phi
;   %v82: <4 x i32> = extractvalue %v81 [0]
;   %v83: <4 x i32> = extractvalue %v81 [1]
;   %v84: <4 x i32> = select %c, %v82, %v2
;   %v85: <4 x i32> = select %c, %v83, %v3
;   br join
; }

; A quotient must not trap where no lane is active.
func @quotient(%c: i1, %ud: <2 x i32>) -> i32 {
entry:
  br %c, then, join(0)
then:
  %q: <2 x i32> = udiv <7, 7>, %ud
  %x: i32 = extractelement %q, i32 1
  br join(%x)
join:
  %p: i32 = phi
  ret %p
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent; tests: 1 mandatory, 0 chosen
; func @quotient(%c: i1, %ud: <2 x i32>) -> i32 phase linearized {
; entry:
;   %v11: i32 = extractelement %ud, i64 0
;   %v13: i32 = extractelement %ud, i64 1
;   %v23: i1 = mask_any %c
;   br %v23, rest, join(0)
; rest:
;   br then
; then mask %c:
;   %v14: i32 = udiv 7, %v11
;   %v15: i32 = udiv 7, %v13
;   %v25: i32 = blend %c, %v15, 0
;   br join(%v25)
; join:
;   %phi: i32 = phi
;   ret %phi
; }
; check: lower
; func @quotient_x4(%c: <4 x i1>, %ud: <2 x i32>) -> <4 x i32> phase vector {
; entry:
;   %v3: i32 = extractelement %ud, i64 0
;   %v5: i32 = extractelement %ud, i64 1
;   %v6: i1 = call @llvm.vector.reduce.or.v4i1(%c)
;   br %v6, rest, join(<0, 0, 0, 0>)
; rest:
;   br then
; then:
;   %v8: i32 = udiv 7, %v3
;   %v9: i32 = udiv 7, %v5
;   %v11: <4 x i32> = insertelement poison, %v9, i64 0
;   %v12: <4 x i32> = shufflevector %v11, poison [0, 0, 0, 0]
;   %v14: <4 x i32> = select %c, %v12, <0, 0, 0, 0>
;   br join(%v14)
; join:
;   %v15: <4 x i32> = phi
;   ret %v15
; }
