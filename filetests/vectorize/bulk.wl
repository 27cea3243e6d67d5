; test: lower

declare @llvm.memset.p0.i64(ptr, i8, i64, i1) [writes traps arg_memory_only]
declare @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1) [writes traps arg_memory_only]
declare @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1) [writes traps arg_memory_only]

; What is the same for all lanes is done once, if any lane is there. `memmove` is not: twice is not once if it overlaps.
func @uniform(%c: i1, %ua: ptr, %ub: ptr) {
entry:
  br %c, then, end
then:
  call @llvm.memcpy.p0.p0.i64(%ua, %ub, i64 64, false)
  call @llvm.memset.p0.i64(%ub, i8 1, i64 64, false)
  br end
end:
  ret
}
; check: lower
; func @uniform_x4(%c: <4 x i1>, %ua: ptr, %ub: ptr) phase vector {
; entry:
;   br then
; then:
;   %v5: i1 = call @llvm.vector.reduce.or.v4i1(%c)
;   br %v5, once, b4
; end:
;   ret
; once:
;   call @llvm.memcpy.p0.p0.i64(%ua, %ub, 64, false)
;   br b4
; b4:
;   %v7: i1 = call @llvm.vector.reduce.or.v4i1(%c)
;   br %v7, b5, b6
; b5:
;   call @llvm.memset.p0.i64(%ub, 1, 64, false)
;   br b6
; b6:
;   br end
; }

func @overlapping(%x: i32, %ua: ptr, %ub: ptr) -> i32 {
entry:
  call @llvm.memmove.p0.p0.i64(%ua, %ub, i64 64, false)
  ret %x
}
; check: lower
; func @overlapping_x4(%x: <4 x i32>, %ua: ptr, %ub: ptr) -> <4 x i32> phase vector {
; entry:
;   call @llvm.memmove.p0.p0.i64(%ua, %ub, 64, false)
;   call @llvm.memmove.p0.p0.i64(%ua, %ub, 64, false)
;   call @llvm.memmove.p0.p0.i64(%ua, %ub, 64, false)
;   call @llvm.memmove.p0.p0.i64(%ua, %ub, 64, false)
;   ret %x
; }

; Private memory that is cleared, and loaded at a constant index: without a mask, since it is there for every lane.
func @cleared(%c: i1, %x: i32, %u: i32) -> i32 {
entry:
  %s: ptr = alloca [4 x i32], i32 1, align 4
  call @llvm.memset.p0.i64(%s, i8 -1, i64 16, false)
  br %c, then, end(0)
then:
  %p: ptr = getelementptr i32, %s, %u
  store %x, %p, align 4
  %q: ptr = getelementptr i32, %s, i32 2
  %y: i32 = load %q, align 4
  br end(%y)
end:
  %r: i32 = phi
  ret %r
}
; check: lower
; func @cleared_x4(%c: <4 x i1>, %x: <4 x i32>, %u: i32) -> <4 x i32> phase vector {
; entry:
;   %v4: ptr = alloca [64 x i8], i32 1, align 16
;   store <4 x i32> <-1, -1, -1, -1>, %v4, align 16
;   %v8: ptr = getelementptr i8, %v4, i64 16
;   store <4 x i32> <-1, -1, -1, -1>, %v8, align 16
;   %v10: ptr = getelementptr i8, %v4, i64 32
;   store <4 x i32> <-1, -1, -1, -1>, %v10, align 16
;   %v12: ptr = getelementptr i8, %v4, i64 48
;   store <4 x i32> <-1, -1, -1, -1>, %v12, align 16
;   br then
; then:
;   %v13: i64 = sext %u
;   %v14: i64 = mul %v13, 16
;   %v15: ptr = getelementptr i8, %v4, %v14
;   call @llvm.masked.store.v4i32.p0(%x, %v15, 16, %c)
;   %v17: ptr = getelementptr i8, %v4, i64 32
;   %v18: ptr = getelementptr i8, %v4, i64 32
;   %v19: <4 x i32> = load %v18, align 16
;   %v21: <4 x i32> = select %c, %v19, <0, 0, 0, 0>
;   br end
; end:
;   ret %v21
; }

; Filled with constants.
func @copied(%n: i32, %uc: ptr) -> i32 {
entry:
  %s: ptr = alloca [2 x i32], i32 1, align 4
  call @llvm.memcpy.p0.p0.i64(%s, %uc, i64 8, false)
  %p: ptr = getelementptr i32, %s, %n
  %y: i32 = load %p, align 4
  ret %y
}
; check: lower
; func @copied_x4(%n: <4 x i32>, %uc: ptr) -> <4 x i32> phase vector {
; entry:
;   %v3: ptr = alloca [32 x i8], i32 1, align 16
;   %v5: i32 = load %uc, align 1
;   %v7: ptr = getelementptr i8, %uc, i64 4
;   %v8: i32 = load %v7, align 1
;   %v11: <4 x i32> = insertelement poison, %v5, i64 0
;   %v12: <4 x i32> = shufflevector %v11, poison [0, 0, 0, 0]
;   store %v12, %v3, align 16
;   %v14: ptr = getelementptr i8, %v3, i64 16
;   %v15: <4 x i32> = insertelement poison, %v8, i64 0
;   %v16: <4 x i32> = shufflevector %v15, poison [0, 0, 0, 0]
;   store %v16, %v14, align 16
;   %v17: <4 x i64> = sext %n
;   %v19: <4 x i64> = mul %v17, <16, 16, 16, 16>
;   %v21: <4 x ptr> = getelementptr i8, %v3, <4 x i64> <0, 4, 8, 12>
;   %v22: <4 x ptr> = getelementptr i8, %v21, %v19
;   %v23: <4 x i32> = load %v3, align 16
;   %v24: ptr = getelementptr i8, %v3, i64 16
;   %v25: <4 x i32> = load %v24, align 16
;   %v27: <4 x i1> = icmp eq %n, <1, 1, 1, 1>
;   %v28: <4 x i32> = select %v27, %v25, %v23
;   ret %v28
; }
