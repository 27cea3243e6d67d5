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
; func @fields_x4(%i: i64, %uindex: ptr, %unodes: ptr) -> <4 x float> {
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
; func @neighbours_x4(%i: i64, %uindex: ptr, %ugrid: ptr, %uout: ptr) -> <4 x double> {
; entry:
;   %v16: ptr = alloca [256 x i8], i32 1, align 16
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
