; test: lower

; Four fields of a structure that each lane finds elsewhere, one of them an integer: one row of 16 bytes for each lane.
func @fields(%i: i64, %uindex: ptr, %unodes: ptr) -> float {
entry:
  %p: ptr = getelementptr i32, %uindex, %i
  %k: i32 = load %p, align 4
  %wide: i64 = sext %k
  %x.p: ptr = getelementptr [4 x float], %unodes, %wide
  %y.p: ptr = getelementptr i8, %x.p, i64 4
  %n.p: ptr = getelementptr i8, %x.p, i64 8
  %z.p: ptr = getelementptr i8, %x.p, i64 12
  %x: float = load %x.p, align 4
  %y: float = load %y.p, align 4
  %n: i32 = load %n.p, align 4
  %z: float = load %z.p, align 4
  %f: float = sitofp %n
  %xy: float = fadd %x, %y
  %fz: float = fadd %f, %z
  %r: float = fadd %xy, %fz
  ret %r
}
; check: lower
; func @fields_x4(%i: i64, %uindex: ptr, %unodes: ptr) -> <4 x float> phase vector {
; entry:
;   %v3: ptr = getelementptr i32, %uindex, %i
;   %v4: <4 x i32> = load %v3, align 4
;   %v5: <4 x i64> = sext %v4
;   %v6: <4 x ptr> = getelementptr [4 x float], %unodes, %v5
;   %v8: <4 x ptr> = getelementptr i8, %v6, i64 4
;   %v10: <4 x ptr> = getelementptr i8, %v6, i64 8
;   %v12: <4 x ptr> = getelementptr i8, %v6, i64 12
;   %v13: <4 x i64> = sext %v4
;   %v15: <4 x i64> = mul %v13, <2, 2, 2, 2>
;   %v16: <4 x ptr> = getelementptr i64, %unodes, %v15
;   %v18: ptr = extractelement %v16, i64 0
;   %v19: <4 x i32> = load %v18, align 4
;   %v21: ptr = extractelement %v16, i64 1
;   %v22: <4 x i32> = load %v21, align 4
;   %v24: ptr = extractelement %v16, i64 2
;   %v25: <4 x i32> = load %v24, align 4
;   %v27: ptr = extractelement %v16, i64 3
;   %v28: <4 x i32> = load %v27, align 4
;   %v29: <4 x i32> = shufflevector %v19, %v22 [0, 4, 1, 5]
;   %v30: <4 x i32> = shufflevector %v25, %v28 [0, 4, 1, 5]
;   %v31: <4 x i32> = shufflevector %v19, %v22 [2, 6, 3, 7]
;   %v32: <4 x i32> = shufflevector %v25, %v28 [2, 6, 3, 7]
;   %v33: <4 x i32> = shufflevector %v29, %v30 [0, 1, 4, 5]
;   %v34: <4 x i32> = shufflevector %v29, %v30 [2, 3, 6, 7]
;   %v35: <4 x i32> = shufflevector %v31, %v32 [0, 1, 4, 5]
;   %v36: <4 x i32> = shufflevector %v31, %v32 [2, 3, 6, 7]
;   %v37: <4 x float> = bitcast %v33
;   %v38: <4 x float> = bitcast %v34
;   %v39: <4 x float> = bitcast %v36
;   %v40: <4 x float> = sitofp %v35
;   %v41: <4 x float> = fadd %v37, %v38
;   %v42: <4 x float> = fadd %v40, %v39
;   %v43: <4 x float> = fadd %v41, %v42
;   ret %v43
; }

; Two neighbours in double precision, under a mask: lanes that are not active read what nobody looks at. A store between two loads keeps them apart.
func @neighbours(%i: i64, %uindex: ptr, %ugrid: ptr, %uout: ptr) -> double {
entry:
  %p: ptr = getelementptr i64, %uindex, %i
  %k: i64 = load %p, align 8
  %inside: i1 = icmp slt %k, 100
  br %inside, read, end(0x0)
read:
  %a.p: ptr = getelementptr double, %ugrid, %k
  %b.p: ptr = getelementptr i8, %a.p, i64 8
  %c.p: ptr = getelementptr i8, %a.p, i64 16
  %b: double = load %b.p, align 8
  %a: double = load %a.p, align 8
  %q: ptr = getelementptr double, %uout, %i
  store %a, %q, align 8
  %c: double = load %c.p, align 8
  %ab: double = fadd %a, %b
  %abc: double = fadd %ab, %c
  br end(%abc)
end:
  %r: double = phi
  ret %r
}
; check: lower
; func @neighbours_x4(%i: i64, %uindex: ptr, %ugrid: ptr, %uout: ptr) -> <4 x double> phase vector {
; entry:
;   %v16: ptr = alloca [256 x i8], i32 1, align 16
;   %v55: ptr = getelementptr i8, %v16, i64 112
;   call @llvm.memset.p0.i64(%v55, 0, 32, false)
;   %v4: ptr = getelementptr i64, %uindex, %i
;   %v5: <4 x i64> = load %v4, align 8
;   %v7: <4 x i1> = icmp slt %v5, <100, 100, 100, 100>
;   br read
; read:
;   %v8: <4 x ptr> = getelementptr double, %ugrid, %v5
;   %v10: <4 x ptr> = getelementptr i8, %v8, i64 8
;   %v12: <4 x ptr> = getelementptr i8, %v8, i64 16
;   %v13: ptr = getelementptr i8, %ugrid, i64 8
;   %v14: <4 x ptr> = getelementptr i64, %v13, %v5
;   %v18: ptr = getelementptr i8, %v16, i64 128
;   %v21: <4 x ptr> = insertelement poison, %v18, i64 0
;   %v22: <4 x ptr> = shufflevector %v21, poison [0, 0, 0, 0]
;   %v23: <4 x ptr> = select %v7, %v14, %v22
;   %v24: ptr = extractelement %v23, i64 0
;   %v26: ptr = getelementptr i8, %v24, i64 -8
;   %v27: <2 x double> = load %v26, align 8
;   %v29: ptr = extractelement %v23, i64 1
;   %v30: ptr = getelementptr i8, %v29, i64 -8
;   %v31: <2 x double> = load %v30, align 8
;   %v33: ptr = extractelement %v23, i64 2
;   %v34: ptr = getelementptr i8, %v33, i64 -8
;   %v35: <2 x double> = load %v34, align 8
;   %v37: ptr = extractelement %v23, i64 3
;   %v38: ptr = getelementptr i8, %v37, i64 -8
;   %v39: <2 x double> = load %v38, align 8
;   %v40: <4 x double> = shufflevector %v27, %v35 [0, 1, 2, 3]
;   %v41: <4 x double> = shufflevector %v31, %v39 [0, 1, 2, 3]
;   %v42: <4 x double> = shufflevector %v40, %v41 [0, 4, 2, 6]
;   %v43: <4 x double> = shufflevector %v40, %v41 [1, 5, 3, 7]
;   %v44: ptr = getelementptr double, %uout, %i
;   call @llvm.masked.store.v4f64.p0(%v42, %v44, 8, %v7)
;   %v46: ptr = getelementptr i8, %ugrid, i64 16
;   %v47: <4 x ptr> = getelementptr i64, %v46, %v5
;   %v49: <4 x double> = call @llvm.masked.gather.v4f64.v4p0(%v47, 8, %v7, poison)
;   %v50: <4 x double> = fadd %v42, %v43
;   %v51: <4 x double> = fadd %v50, %v49
;   %v53: <4 x double> = select %v7, %v51, <0.0, 0.0, 0.0, 0.0>
;   br end
; end:
;   ret %v53
; }

; Two triples with a gap behind each of them: rows of four, as three are no load. What is in the first gap lies between elements of a lane; of the
; second nobody knows whether it is there, so that row begins in the first gap.
func @triples(%i: i64, %uindex: ptr, %utriangles: ptr) -> float {
entry:
  %p: ptr = getelementptr i32, %uindex, %i
  %k: i32 = load %p, align 4
  %wide: i64 = sext %k
  %a: ptr = getelementptr [8 x float], %utriangles, %wide
  %b: ptr = getelementptr i8, %a, i64 4
  %c: ptr = getelementptr i8, %a, i64 8
  %d: ptr = getelementptr i8, %a, i64 16
  %e: ptr = getelementptr i8, %a, i64 20
  %f: ptr = getelementptr i8, %a, i64 24
  %x0: float = load %a, align 4
  %y0: float = load %b, align 4
  %z0: float = load %c, align 4
  %x1: float = load %d, align 4
  %y1: float = load %e, align 4
  %z1: float = load %f, align 4
  %x: float = fsub %x1, %x0
  %y: float = fsub %y1, %y0
  %z: float = fsub %z1, %z0
  %xy: float = fmul %x, %y
  %r: float = fmul %xy, %z
  ret %r
}
; check: lower
; func @triples_x4(%i: i64, %uindex: ptr, %utriangles: ptr) -> <4 x float> phase vector {
; entry:
;   %v3: ptr = getelementptr i32, %uindex, %i
;   %v4: <4 x i32> = load %v3, align 4
;   %v5: <4 x i64> = sext %v4
;   %v6: <4 x ptr> = getelementptr [8 x float], %utriangles, %v5
;   %v8: <4 x ptr> = getelementptr i8, %v6, i64 4
;   %v10: <4 x ptr> = getelementptr i8, %v6, i64 8
;   %v12: <4 x ptr> = getelementptr i8, %v6, i64 16
;   %v14: <4 x ptr> = getelementptr i8, %v6, i64 20
;   %v16: <4 x ptr> = getelementptr i8, %v6, i64 24
;   %v17: <4 x i64> = sext %v4
;   %v19: <4 x i64> = mul %v17, <4, 4, 4, 4>
;   %v20: <4 x ptr> = getelementptr i64, %utriangles, %v19
;   %v22: ptr = extractelement %v20, i64 0
;   %v23: <4 x float> = load %v22, align 4
;   %v25: ptr = extractelement %v20, i64 1
;   %v26: <4 x float> = load %v25, align 4
;   %v28: ptr = extractelement %v20, i64 2
;   %v29: <4 x float> = load %v28, align 4
;   %v31: ptr = extractelement %v20, i64 3
;   %v32: <4 x float> = load %v31, align 4
;   %v33: <4 x float> = shufflevector %v23, %v26 [0, 4, 1, 5]
;   %v34: <4 x float> = shufflevector %v29, %v32 [0, 4, 1, 5]
;   %v35: <4 x float> = shufflevector %v23, %v26 [2, 6, 3, 7]
;   %v36: <4 x float> = shufflevector %v29, %v32 [2, 6, 3, 7]
;   %v37: <4 x float> = shufflevector %v33, %v34 [0, 1, 4, 5]
;   %v38: <4 x float> = shufflevector %v33, %v34 [2, 3, 6, 7]
;   %v39: <4 x float> = shufflevector %v35, %v36 [0, 1, 4, 5]
;   %v40: <4 x float> = shufflevector %v35, %v36 [2, 3, 6, 7]
;   %v41: ptr = extractelement %v20, i64 0
;   %v43: ptr = getelementptr i8, %v41, i64 12
;   %v44: <4 x float> = load %v43, align 4
;   %v45: ptr = extractelement %v20, i64 1
;   %v46: ptr = getelementptr i8, %v45, i64 12
;   %v47: <4 x float> = load %v46, align 4
;   %v48: ptr = extractelement %v20, i64 2
;   %v49: ptr = getelementptr i8, %v48, i64 12
;   %v50: <4 x float> = load %v49, align 4
;   %v51: ptr = extractelement %v20, i64 3
;   %v52: ptr = getelementptr i8, %v51, i64 12
;   %v53: <4 x float> = load %v52, align 4
;   %v54: <4 x float> = shufflevector %v44, %v47 [0, 4, 1, 5]
;   %v55: <4 x float> = shufflevector %v50, %v53 [0, 4, 1, 5]
;   %v56: <4 x float> = shufflevector %v44, %v47 [2, 6, 3, 7]
;   %v57: <4 x float> = shufflevector %v50, %v53 [2, 6, 3, 7]
;   %v58: <4 x float> = shufflevector %v54, %v55 [0, 1, 4, 5]
;   %v59: <4 x float> = shufflevector %v54, %v55 [2, 3, 6, 7]
;   %v60: <4 x float> = shufflevector %v56, %v57 [0, 1, 4, 5]
;   %v61: <4 x float> = shufflevector %v56, %v57 [2, 3, 6, 7]
;   %v62: <4 x float> = fsub %v59, %v37
;   %v63: <4 x float> = fsub %v60, %v38
;   %v64: <4 x float> = fsub %v61, %v39
;   %v65: <4 x float> = fmul %v62, %v63
;   %v66: <4 x float> = fmul %v65, %v64
;   ret %v66
; }
