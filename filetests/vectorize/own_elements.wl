; test: lower

; Loads from private memory at an index that varies.

; Few elements: all are loaded as they lie, and each lane picks its own.
func @picked(%x: i32, %y: i32, %z: i32, %n: i8) -> i32 {
entry:
  %s: ptr = alloca [3 x i32], i32 1, align 4
  %p: ptr = getelementptr i32, %s, i64 1
  %q: ptr = getelementptr i32, %s, i64 2
  store %x, %s, align 4
  store %y, %p, align 4
  store %z, %q, align 4
  %c: i1 = icmp slt %n, 3
  br %c, there, end(0)
there:
  %k: i64 = zext %n
  %r: ptr = getelementptr i32, %s, %k
  %found: i32 = load %r, align 4
  br end(%found)
end:
  %y2: i32 = phi
  ret %y2
}
; check: lower
; func @picked_x4(%x: <4 x i32>, %y: <4 x i32>, %z: <4 x i32>, %n: <4 x i8>) -> <4 x i32> phase vector {
; entry:
;   %v5: ptr = alloca [48 x i8], i32 1, align 16
;   %v8: ptr = getelementptr i8, %v5, i64 16
;   %v10: ptr = getelementptr i8, %v5, i64 32
;   store %x, %v5, align 16
;   store %y, %v8, align 16
;   store %z, %v10, align 16
;   %v12: <4 x i1> = icmp slt %n, <3, 3, 3, 3>
;   br there
; there:
;   %v13: <4 x i64> = zext %n
;   %v14: <4 x i64> = zext %n
;   %v16: <4 x i64> = mul %v14, <16, 16, 16, 16>
;   %v18: <4 x ptr> = getelementptr i8, %v5, <4 x i64> <0, 4, 8, 12>
;   %v19: <4 x ptr> = getelementptr i8, %v18, %v16
;   %v20: <4 x i32> = zext %n
;   %v21: <4 x i32> = load %v5, align 16
;   %v22: ptr = getelementptr i8, %v5, i64 16
;   %v23: <4 x i32> = load %v22, align 16
;   %v25: <4 x i1> = icmp eq %v20, <1, 1, 1, 1>
;   %v26: <4 x i32> = select %v25, %v23, %v21
;   %v27: ptr = getelementptr i8, %v5, i64 32
;   %v28: <4 x i32> = load %v27, align 16
;   %v30: <4 x i1> = icmp eq %v20, <2, 2, 2, 2>
;   %v31: <4 x i32> = select %v30, %v28, %v26
;   %v33: <4 x i32> = select %v12, %v31, <0, 0, 0, 0>
;   br end
; end:
;   ret %v33
; }

; The top of a stack, which lies below the index: lanes that are not active find something else in the stack, without a mask. Their index may be
; poison.
func @popped(%x: i32, %n: i32, %c: i1) -> i32 {
entry:
  %s: ptr = alloca [64 x i32], i32 1, align 4
  %w: i64 = sext %n
  %p: ptr = getelementptr i32, %s, %w
  store %x, %p, align 4
  br %c, pop, end(0)
pop:
  %below: i32 = add nsw %n, -1
  %k: i64 = sext %below
  %r: ptr = getelementptr i32, %s, %k
  %found: i32 = load %r, align 4
  br end(%found)
end:
  %y: i32 = phi
  ret %y
}
; check: lower
; func @popped_x4(%x: <4 x i32>, %n: <4 x i32>, %c: <4 x i1>) -> <4 x i32> phase vector {
; entry:
;   %v4: ptr = alloca [1024 x i8], i32 1, align 16
;   %v6: <4 x i64> = sext %n
;   %v7: <4 x i64> = sext %n
;   %v9: <4 x i64> = mul %v7, <16, 16, 16, 16>
;   %v11: <4 x ptr> = getelementptr i8, %v4, <4 x i64> <0, 4, 8, 12>
;   %v12: <4 x ptr> = getelementptr i8, %v11, %v9
;   %v15: <4 x i32> = mul %n, <4, 4, 4, 4>
;   %v16: <4 x i32> = add %v15, <0, 1, 2, 3>
;   %v17: <4 x ptr> = getelementptr i32, %v4, %v16
;   call @llvm.masked.scatter.v4i32.v4p0(%x, %v17, 4, <true, true, true, true>)
;   br pop
; pop:
;   %v21: <4 x i32> = add nsw %n, <-1, -1, -1, -1>
;   %v22: <4 x i64> = sext %v21
;   %v23: <4 x i64> = sext %n
;   %v24: <4 x i64> = mul %v23, <16, 16, 16, 16>
;   %v25: <4 x ptr> = getelementptr i8, %v4, <4 x i64> <0, 4, 8, 12>
;   %v26: <4 x ptr> = getelementptr i8, %v25, %v24
;   %v28: <4 x ptr> = getelementptr i8, %v26, i64 -16
;   %v30: <4 x i32> = mul %n, <4, 4, 4, 4>
;   %v31: <4 x i32> = add %v30, <-4, -3, -2, -1>
;   %v33: <4 x i32> = freeze %v31
;   %v34: <4 x i1> = icmp ult %v33, <255, 255, 255, 255>
;   %v35: <4 x i32> = select %v34, %v33, <255, 255, 255, 255>
;   %v36: <4 x ptr> = getelementptr i32, %v4, %v35
;   %v38: <4 x i32> = call @llvm.masked.gather.v4i32.v4p0(%v36, 4, <true, true, true, true>, poison)
;   %v40: <4 x i32> = select %c, %v38, <0, 0, 0, 0>
;   br end
; end:
;   ret %v40
; }

; So large that others' elements may be far away: a mask.
func @large(%x: i32, %n: i32, %c: i1) -> i32 {
entry:
  %s: ptr = alloca [4096 x i32], i32 1, align 4
  %w: i64 = sext %n
  %p: ptr = getelementptr i32, %s, %w
  store %x, %p, align 4
  br %c, there, end(0)
there:
  %found: i32 = load %p, align 4
  br end(%found)
end:
  %y: i32 = phi
  ret %y
}
; check: lower
; func @large_x4(%x: <4 x i32>, %n: <4 x i32>, %c: <4 x i1>) -> <4 x i32> phase vector {
; entry:
;   %v4: ptr = alloca [65536 x i8], i32 1, align 16
;   %v6: <4 x i64> = sext %n
;   %v7: <4 x i64> = sext %n
;   %v9: <4 x i64> = mul %v7, <16, 16, 16, 16>
;   %v11: <4 x ptr> = getelementptr i8, %v4, <4 x i64> <0, 4, 8, 12>
;   %v12: <4 x ptr> = getelementptr i8, %v11, %v9
;   %v15: <4 x i32> = mul %n, <4, 4, 4, 4>
;   %v16: <4 x i32> = add %v15, <0, 1, 2, 3>
;   %v17: <4 x ptr> = getelementptr i32, %v4, %v16
;   call @llvm.masked.scatter.v4i32.v4p0(%x, %v17, 4, <true, true, true, true>)
;   br there
; there:
;   %v20: <4 x i32> = mul %n, <4, 4, 4, 4>
;   %v21: <4 x i32> = add %v20, <0, 1, 2, 3>
;   %v22: <4 x ptr> = getelementptr i32, %v4, %v21
;   %v24: <4 x i32> = call @llvm.masked.gather.v4i32.v4p0(%v22, 4, %c, poison)
;   %v26: <4 x i32> = select %c, %v24, <0, 0, 0, 0>
;   br end
; end:
;   ret %v26
; }

; Few elements are all stored, each changed in the lanes that ask for it; the index of others may be poison. What lanes
; store under a mask at an index that all share is blended with what is there.
func @stored(%x: i32, %y: i32, %n: i32, %c: i1) -> i32 {
entry:
  %s: ptr = alloca [2 x i32], i32 1, align 4
  %q: ptr = getelementptr i32, %s, i64 1
  store %x, %s, align 4
  store %x, %q, align 4
  br %c, there, end
there:
  store %y, %q, align 4
  %k: i64 = sext %n
  %p: ptr = getelementptr i32, %s, %k
  store %y, %p, align 4
  br end
end:
  %found: i32 = load %s, align 4
  ret %found
}
; check: lower
; func @stored_x4(%x: <4 x i32>, %y: <4 x i32>, %n: <4 x i32>, %c: <4 x i1>) -> <4 x i32> phase vector {
; entry:
;   %v5: ptr = alloca [32 x i8], i32 1, align 16
;   %v8: ptr = getelementptr i8, %v5, i64 16
;   store %x, %v5, align 16
;   store %x, %v8, align 16
;   br there
; there:
;   %v9: <4 x i32> = load %v8, align 16
;   %v10: <4 x i32> = freeze %v9
;   %v11: <4 x i32> = select %c, %y, %v10
;   store %v11, %v8, align 16
;   %v12: <4 x i64> = sext %n
;   %v13: <4 x i64> = sext %n
;   %v15: <4 x i64> = mul %v13, <16, 16, 16, 16>
;   %v17: <4 x ptr> = getelementptr i8, %v5, <4 x i64> <0, 4, 8, 12>
;   %v18: <4 x ptr> = getelementptr i8, %v17, %v15
;   %v19: <4 x i32> = freeze %n
;   %v21: <4 x i1> = icmp eq %v19, <0, 0, 0, 0>
;   %v22: <4 x i1> = and %v21, %c
;   %v23: <4 x i32> = load %v5, align 16
;   %v24: <4 x i32> = freeze %v23
;   %v25: <4 x i32> = select %v22, %y, %v24
;   store %v25, %v5, align 16
;   %v27: <4 x i1> = icmp eq %v19, <1, 1, 1, 1>
;   %v28: <4 x i1> = and %v27, %c
;   %v29: ptr = getelementptr i8, %v5, i64 16
;   %v30: <4 x i32> = load %v29, align 16
;   %v31: <4 x i32> = freeze %v30
;   %v32: <4 x i32> = select %v28, %y, %v31
;   store %v32, %v29, align 16
;   br end
; end:
;   %v33: <4 x i32> = load %v5, align 16
;   ret %v33
; }
