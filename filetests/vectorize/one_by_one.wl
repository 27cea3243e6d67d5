; test: lower-one-by-one

; Where nothing gathers or scatters under a mask, lanes that are not active read and write a place on the stack, and there is no branch.
func @under_a_mask(%i: i64, %uindex: ptr, %utable: ptr) {
entry:
  %p: ptr = getelementptr i32, %uindex, %i
  %k: i32 = load %p, align 4
  %inside: i1 = icmp ult %k, 100
  br %inside, there, end
there:
  %wide: i64 = zext %k
  %q: ptr = getelementptr i32, %utable, %wide
  %x: i32 = load %q, align 4
  %y: i32 = add %x, 1
  store %y, %q, align 4
  br end
end:
  ret
}
; check: lower-one-by-one
; func @under_a_mask_x4(%i: i64, %uindex: ptr, %utable: ptr) phase vector {
; entry:
;   %v12: ptr = alloca [256 x i8], i32 1, align 16
;   %v40: ptr = alloca [256 x i8], i32 1, align 16
;   %v53: ptr = getelementptr i8, %v12, i64 128
;   call @llvm.memset.p0.i64(%v53, 0, 16, false)
;   %v3: ptr = getelementptr i32, %uindex, %i
;   %v4: <4 x i32> = load %v3, align 4
;   %v6: <4 x i1> = icmp ult %v4, <100, 100, 100, 100>
;   br there
; there:
;   %v7: <4 x i64> = zext %v4
;   %v8: <4 x ptr> = getelementptr i32, %utable, %v7
;   %v9: <4 x i64> = zext %v4
;   %v10: <4 x ptr> = getelementptr i32, %utable, %v9
;   %v14: ptr = getelementptr i8, %v12, i64 128
;   %v17: <4 x ptr> = insertelement poison, %v14, i64 0
;   %v18: <4 x ptr> = shufflevector %v17, poison [0, 0, 0, 0]
;   %v19: <4 x ptr> = select %v6, %v10, %v18
;   %v20: ptr = extractelement %v19, i64 0
;   %v21: i32 = load %v20, align 4
;   %v23: ptr = extractelement %v19, i64 1
;   %v24: i32 = load %v23, align 4
;   %v26: ptr = extractelement %v19, i64 2
;   %v27: i32 = load %v26, align 4
;   %v29: ptr = extractelement %v19, i64 3
;   %v30: i32 = load %v29, align 4
;   %v32: <4 x i32> = insertelement poison, %v21, i64 0
;   %v33: <4 x i32> = insertelement %v32, %v24, i64 1
;   %v34: <4 x i32> = insertelement %v33, %v27, i64 2
;   %v35: <4 x i32> = insertelement %v34, %v30, i64 3
;   %v37: <4 x i32> = add %v35, <1, 1, 1, 1>
;   %v38: <4 x i64> = zext %v4
;   %v39: <4 x ptr> = getelementptr i32, %utable, %v38
;   %v41: ptr = getelementptr i8, %v40, i64 128
;   %v42: <4 x ptr> = insertelement poison, %v41, i64 0
;   %v43: <4 x ptr> = shufflevector %v42, poison [0, 0, 0, 0]
;   %v44: <4 x ptr> = select %v6, %v39, %v43
;   %v45: ptr = extractelement %v44, i64 0
;   %v46: i32 = extractelement %v37, i64 0
;   store %v46, %v45, align 4
;   %v47: ptr = extractelement %v44, i64 1
;   %v48: i32 = extractelement %v37, i64 1
;   store %v48, %v47, align 4
;   %v49: ptr = extractelement %v44, i64 2
;   %v50: i32 = extractelement %v37, i64 2
;   store %v50, %v49, align 4
;   %v51: ptr = extractelement %v44, i64 3
;   %v52: i32 = extractelement %v37, i64 3
;   store %v52, %v51, align 4
;   br end
; end:
;   ret
; }

; Bytes become elements of 32 bits first: there is a chain of insertions for each part of a register then.
func @bytes(%i: i64, %uindex: ptr, %utable: ptr) -> i8 {
entry:
  %p: ptr = getelementptr i32, %uindex, %i
  %k: i32 = load %p, align 4
  %inside: i1 = icmp ult %k, 100
  br %inside, there, end(0)
there:
  %wide: i64 = zext %k
  %q: ptr = getelementptr i8, %utable, %wide
  %x: i8 = load %q, align 1
  br end(%x)
end:
  %r: i8 = phi
  ret %r
}
; check: lower-one-by-one
; func @bytes_x4(%i: i64, %uindex: ptr, %utable: ptr) -> <4 x i8> phase vector {
; entry:
;   %v12: ptr = alloca [256 x i8], i32 1, align 16
;   %v44: ptr = getelementptr i8, %v12, i64 128
;   call @llvm.memset.p0.i64(%v44, 0, 16, false)
;   %v3: ptr = getelementptr i32, %uindex, %i
;   %v4: <4 x i32> = load %v3, align 4
;   %v6: <4 x i1> = icmp ult %v4, <100, 100, 100, 100>
;   br there
; there:
;   %v7: <4 x i64> = zext %v4
;   %v8: <4 x ptr> = getelementptr i8, %utable, %v7
;   %v9: <4 x i64> = zext %v4
;   %v10: <4 x ptr> = getelementptr i8, %utable, %v9
;   %v14: ptr = getelementptr i8, %v12, i64 128
;   %v17: <4 x ptr> = insertelement poison, %v14, i64 0
;   %v18: <4 x ptr> = shufflevector %v17, poison [0, 0, 0, 0]
;   %v19: <4 x ptr> = select %v6, %v10, %v18
;   %v20: ptr = extractelement %v19, i64 0
;   %v21: i8 = load %v20, align 1
;   %v23: ptr = extractelement %v19, i64 1
;   %v24: i8 = load %v23, align 1
;   %v26: ptr = extractelement %v19, i64 2
;   %v27: i8 = load %v26, align 1
;   %v29: ptr = extractelement %v19, i64 3
;   %v30: i8 = load %v29, align 1
;   %v32: i32 = zext %v21
;   %v33: <4 x i32> = insertelement poison, %v32, i64 0
;   %v34: i32 = zext %v24
;   %v35: <4 x i32> = insertelement %v33, %v34, i64 1
;   %v36: i32 = zext %v27
;   %v37: <4 x i32> = insertelement %v35, %v36, i64 2
;   %v38: i32 = zext %v30
;   %v39: <4 x i32> = insertelement %v37, %v38, i64 3
;   %v40: <4 x i8> = trunc %v39
;   %v42: <4 x i8> = select %v6, %v40, <0, 0, 0, 0>
;   br end
; end:
;   ret %v42
; }

; Neighbours under a mask, for which there is no instruction either: lanes that are not active access a place that nobody looks at.
func @neighbours(%i: i64, %c: i1, %ufrom: ptr, %uto: ptr) {
entry:
  br %c, yes, no
yes:
  %p: ptr = getelementptr i16, %ufrom, %i
  %x: i16 = load %p, align 2
  %q: ptr = getelementptr i16, %uto, %i
  store %x, %q, align 2
  br no
no:
  ret
}
; check: lower-one-by-one
; func @neighbours_x4(%i: i64, %c: <4 x i1>, %ufrom: ptr, %uto: ptr) phase vector {
; entry:
;   %v17: ptr = alloca [256 x i8], i32 1, align 16
;   br yes
; yes:
;   %v4: ptr = getelementptr i16, %ufrom, %i
;   %v5: i4 = bitcast %c
;   %v6: i64 = zext %v5
;   %v8: i1 = icmp ne %v6, 0
;   %v9: i64 = ptrtoint %v4
;   %v11: i64 = and %v9, 4095
;   %v13: i1 = icmp ule %v11, 4088
;   %v14: i1 = and %v8, %v13
;   br %v14, b3, b4
; no:
;   ret
; b3:
;   %v15: <4 x i16> = load speculative %v4, align 2
;   br b7(%v15)
; b4:
;   br %v8, b5, b7(poison)
; b5:
;   br lane(%v6)
; b6:
;   %v29: <4 x i16> = load %v17, align 16
;   br b7(%v29)
; b7:
;   %v31: <4 x i16> = phi
;   %v32: ptr = getelementptr i16, %uto, %i
;   %v33: i4 = bitcast %c
;   %v34: i64 = zext %v33
;   %v35: i1 = icmp ne %v34, 0
;   br %v35, some, b12
; lane:
;   %v18: i64 = phi
;   %v21: i64 = call @llvm.cttz.i64(%v18, true)
;   %v22: ptr = getelementptr i16, %v4, %v21
;   %v23: ptr = getelementptr i16, %v17, %v21
;   %v24: i16 = load %v22, align 2
;   store %v24, %v23, align 2
;   %v26: i64 = sub %v18, 1
;   %v27: i64 = and %v18, %v26
;   %v28: i1 = icmp ne %v27, 0
;   br %v28, lane(%v27), b6
; some:
;   %v37: i1 = icmp eq %v34, 15
;   br %v37, b10, b11
; b10:
;   store %v31, %v32, align 2
;   br b12
; b11:
;   store %v31, %v17, align 16
;   br b13(%v34)
; b12:
;   br no
; b13:
;   %v38: i64 = phi
;   %v39: i64 = call @llvm.cttz.i64(%v38, true)
;   %v40: ptr = getelementptr i16, %v17, %v39
;   %v41: ptr = getelementptr i16, %v32, %v39
;   %v42: i16 = load %v40, align 2
;   store %v42, %v41, align 2
;   %v43: i64 = sub %v38, 1
;   %v44: i64 = and %v38, %v43
;   %v45: i1 = icmp ne %v44, 0
;   br %v45, b13(%v44), b12
; }
