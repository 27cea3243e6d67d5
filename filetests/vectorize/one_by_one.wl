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
; func @under_a_mask_x4(%i: i64, %uindex: ptr, %utable: ptr) {
; entry:
;   %v12: ptr = alloca [256 x i8], i32 1, align 16
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
;   %v21: ptr = extractelement %v19, i64 0
;   %v22: i32 = load %v21, align 4
;   %v23: <4 x i32> = insertelement poison, %v22, i64 0
;   %v25: ptr = extractelement %v19, i64 1
;   %v26: i32 = load %v25, align 4
;   %v27: <4 x i32> = insertelement %v23, %v26, i64 1
;   %v29: ptr = extractelement %v19, i64 2
;   %v30: i32 = load %v29, align 4
;   %v31: <4 x i32> = insertelement %v27, %v30, i64 2
;   %v33: ptr = extractelement %v19, i64 3
;   %v34: i32 = load %v33, align 4
;   %v35: <4 x i32> = insertelement %v31, %v34, i64 3
;   %v37: <4 x i32> = add %v35, <1, 1, 1, 1>
;   %v38: <4 x i64> = zext %v4
;   %v39: <4 x ptr> = getelementptr i32, %utable, %v38
;   %v40: ptr = getelementptr i8, %v12, i64 128
;   %v41: <4 x ptr> = insertelement poison, %v40, i64 0
;   %v42: <4 x ptr> = shufflevector %v41, poison [0, 0, 0, 0]
;   %v43: <4 x ptr> = select %v6, %v39, %v42
;   %v44: ptr = extractelement %v43, i64 0
;   %v45: i32 = extractelement %v37, i64 0
;   store %v45, %v44, align 4
;   %v46: ptr = extractelement %v43, i64 1
;   %v47: i32 = extractelement %v37, i64 1
;   store %v47, %v46, align 4
;   %v48: ptr = extractelement %v43, i64 2
;   %v49: i32 = extractelement %v37, i64 2
;   store %v49, %v48, align 4
;   %v50: ptr = extractelement %v43, i64 3
;   %v51: i32 = extractelement %v37, i64 3
;   store %v51, %v50, align 4
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
; func @bytes_x4(%i: i64, %uindex: ptr, %utable: ptr) -> <4 x i8> {
; entry:
;   %v12: ptr = alloca [256 x i8], i32 1, align 16
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
;   %v21: ptr = extractelement %v19, i64 0
;   %v22: i8 = load %v21, align 1
;   %v23: i32 = zext %v22
;   %v24: <4 x i32> = insertelement poison, %v23, i64 0
;   %v26: ptr = extractelement %v19, i64 1
;   %v27: i8 = load %v26, align 1
;   %v28: i32 = zext %v27
;   %v29: <4 x i32> = insertelement %v24, %v28, i64 1
;   %v31: ptr = extractelement %v19, i64 2
;   %v32: i8 = load %v31, align 1
;   %v33: i32 = zext %v32
;   %v34: <4 x i32> = insertelement %v29, %v33, i64 2
;   %v36: ptr = extractelement %v19, i64 3
;   %v37: i8 = load %v36, align 1
;   %v38: i32 = zext %v37
;   %v39: <4 x i32> = insertelement %v34, %v38, i64 3
;   %v40: <4 x i8> = trunc %v39
;   %v42: <4 x i8> = select %v6, %v40, <0, 0, 0, 0>
;   br end
; end:
;   ret %v42
; }
