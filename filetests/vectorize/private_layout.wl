; test: lower

; A stack of each lane: equal indices lie side by side, so what is stored at a uniform index is one consecutive store. What is loaded
; at an index that varies is gathered, by indices of 32 bits.
func @stack(%x: i32, %n: i32, %u: i32) -> i32 {
entry:
  %s: ptr = alloca [8 x i32], i32 1, align 4
  %p: ptr = getelementptr i32, %s, %u
  store %x, %p, align 4
  %q: ptr = getelementptr i32, %s, %n
  %y: i32 = load %q, align 4
  ret %y
}
; check: lower
; func @stack_x4(%x: <4 x i32>, %n: <4 x i32>, %u: i32) -> <4 x i32> phase vector {
; entry:
;   %v4: ptr = alloca [128 x i8], i32 1, align 16
;   %v6: i64 = sext %u
;   %v8: i64 = mul %v6, 16
;   %v9: ptr = getelementptr i8, %v4, %v8
;   store %x, %v9, align 16
;   %v10: <4 x i64> = sext %n
;   %v12: <4 x i64> = mul %v10, <16, 16, 16, 16>
;   %v14: <4 x ptr> = getelementptr i8, %v4, <4 x i64> <0, 4, 8, 12>
;   %v15: <4 x ptr> = getelementptr i8, %v14, %v12
;   %v18: <4 x i32> = mul %n, <4, 4, 4, 4>
;   %v19: <4 x i32> = add %v18, <0, 1, 2, 3>
;   %v20: <4 x ptr> = getelementptr i32, %v4, %v19
;   %v24: <4 x i32> = call @llvm.masked.gather.v4i32.v4p0(%v20, 4, <true, true, true, true>, poison)
;   ret %v24
; }

; The fields of a structure are granules together; the object is accessed through a φ.
func @walk(%x: i32, %u: i1, %c: i1) -> i64 {
entry:
  %s: ptr = alloca [4 x { i32, i64 }], i32 1, align 8
  store %x, %s, align 4
  %p: ptr = getelementptr { i32, i64 }, %s, i32 0, i32 1
  store i64 5, %p, align 8
  %q: ptr = getelementptr { i32, i64 }, %s, i32 2, i32 1
  store i64 6, %q, align 8
  br %u, join(%p), other
other:
  br join(%q)
join:
  %r: ptr = phi
  %y: i64 = load %r, align 8
  ret %y
}
; check: lower
; func @walk_x4(%x: <4 x i32>, %u: i1, %c: <4 x i1>) -> <4 x i64> phase vector {
; entry:
;   %v4: ptr = alloca [192 x i8], i32 1, align 16
;   %v7: <4 x ptr> = getelementptr i8, %v4, <4 x i64> <0, 12, 24, 36>
;   call @llvm.masked.scatter.v4i32.v4p0(%x, %v7, 4, <true, true, true, true>)
;   %v11: ptr = getelementptr i8, %v4, i64 4
;   %v13: <4 x ptr> = getelementptr i8, %v11, <4 x i64> <0, 12, 24, 36>
;   call @llvm.masked.scatter.v4i64.v4p0(<5, 5, 5, 5>, %v13, 4, <true, true, true, true>)
;   %v15: ptr = getelementptr i8, %v4, i64 100
;   %v17: <4 x ptr> = getelementptr i8, %v15, <4 x i64> <0, 12, 24, 36>
;   call @llvm.masked.scatter.v4i64.v4p0(<6, 6, 6, 6>, %v17, 4, <true, true, true, true>)
;   br %u, edge, other
; other:
;   br join(%v15)
; edge:
;   br join(%v11)
; join:
;   %v18: ptr = phi
;   %v20: <4 x ptr> = getelementptr i8, %v18, <4 x i64> <0, 12, 24, 36>
;   %v22: <4 x i64> = call @llvm.masked.gather.v4i64.v4p0(%v20, 4, <true, true, true, true>, poison)
;   ret %v22
; }

; The address goes to memory: one object after another.
func @escapes(%x: i32, %n: i32, %uo: ptr) -> i32 {
entry:
  %s: ptr = alloca [8 x i32], i32 1, align 4
  store %s, %uo, align 8
  %p: ptr = getelementptr i32, %s, %n
  %y: i32 = load %p, align 4
  ret %y
}
; check: lower
; func @escapes_x4(%x: <4 x i32>, %n: <4 x i32>, %uo: ptr) -> <4 x i32> phase vector {
; entry:
;   %v4: ptr = alloca [128 x i8], i32 1, align 4
;   %v6: <4 x ptr> = getelementptr i8, %v4, <4 x i64> <0, 32, 64, 96>
;   %v8: ptr = extractelement %v6, i64 3
;   store %v8, %uo, align 8
;   %v9: <4 x ptr> = getelementptr i32, %v6, %n
;   %v13: <4 x i32> = call @llvm.masked.gather.v4i32.v4p0(%v9, 4, <true, true, true, true>, poison)
;   ret %v13
; }

; Bytes and words in one place: no granule fits both.
func @mixed_sizes(%x: i32, %n: i32) -> i8 {
entry:
  %s: ptr = alloca [8 x i32], i32 1, align 4
  store %x, %s, align 4
  %p: ptr = getelementptr i8, %s, %n
  %y: i8 = load %p, align 1
  ret %y
}
; check: lower
; func @mixed_sizes_x4(%x: <4 x i32>, %n: <4 x i32>) -> <4 x i8> phase vector {
; entry:
;   %v3: ptr = alloca [128 x i8], i32 1, align 4
;   %v5: <4 x ptr> = getelementptr i8, %v3, <4 x i64> <0, 32, 64, 96>
;   call @llvm.masked.scatter.v4i32.v4p0(%x, %v5, 4, <true, true, true, true>)
;   %v8: <4 x ptr> = getelementptr i8, %v5, %n
;   %v10: <4 x i8> = call @llvm.masked.gather.v4i8.v4p0(%v8, 1, <true, true, true, true>, poison)
;   ret %v10
; }

; Private memory in a loop or of a size that lanes do not share.
func @dynamic(%n: i32, %u: i32, %x: i32) -> i32 {
entry:
  br next
next:
  %s: ptr = alloca i32, %u, align 4
  store %x, %s, align 4
  %t: ptr = alloca i32, %n, align 4
  store %x, %t, align 4
  %y: i32 = load %s, align 4
  ret %y
}
; check: lower
; func @dynamic_x4(%n: <4 x i32>, %u: i32, %x: <4 x i32>) -> <4 x i32> phase vector {
; entry:
;   br next
; next:
;   %v3: i64 = zext %u
;   %v5: i64 = mul %v3, 4
;   %v6: i64 = mul %v5, 4
;   %v7: ptr = alloca i8, %v6, align 64
;   %v11: <4 x i64> = insertelement poison, %v5, i64 0
;   %v12: <4 x i64> = shufflevector %v11, poison [0, 0, 0, 0]
;   %v13: <4 x i64> = mul %v12, <0, 1, 2, 3>
;   %v14: <4 x ptr> = getelementptr i8, %v7, %v13
;   call @llvm.masked.scatter.v4i32.v4p0(%x, %v14, 4, <true, true, true, true>)
;   %v18: i32 = extractelement %n, i64 0
;   %v19: ptr = alloca i32, %v18, align 64
;   %v20: <4 x ptr> = insertelement poison, %v19, i64 0
;   %v22: i32 = extractelement %n, i64 1
;   %v23: ptr = alloca i32, %v22, align 64
;   %v24: <4 x ptr> = insertelement %v20, %v23, i64 1
;   %v26: i32 = extractelement %n, i64 2
;   %v27: ptr = alloca i32, %v26, align 64
;   %v28: <4 x ptr> = insertelement %v24, %v27, i64 2
;   %v30: i32 = extractelement %n, i64 3
;   %v31: ptr = alloca i32, %v30, align 64
;   %v32: <4 x ptr> = insertelement %v28, %v31, i64 3
;   call @llvm.masked.scatter.v4i32.v4p0(%x, %v32, 4, <true, true, true, true>)
;   %v34: <4 x i32> = call @llvm.masked.gather.v4i32.v4p0(%v14, 4, <true, true, true, true>, poison)
;   ret %v34
; }
