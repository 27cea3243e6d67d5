; test: lower

; A node of 32 bytes: a lane that reads the bytes at 28 and 29 has read the word at 24 before, in a block that dominates. So the word at 25
; can be read, and after that the one at 26.
func @node(%i: i64, %uindex: ptr, %unodes: ptr) -> i32 {
entry:
  %p: ptr = getelementptr i32, %uindex, %i
  %k: i32 = load %p, align 4
  %wide: i64 = sext %k
  %node: ptr = getelementptr [8 x float], %unodes, %wide
  %bound.p: ptr = getelementptr i8, %node, i64 24
  %bound: i32 = load %bound.p, align 4
  %near: i1 = icmp slt %bound, %k
  br %near, read, end(0)
read:
  %count.p: ptr = getelementptr i8, %node, i64 28
  %count: i8 = load %count.p, align 4
  %axis.p: ptr = getelementptr i8, %node, i64 29
  %axis: i8 = load %axis.p, align 1
  %c: i32 = zext %count
  %a: i32 = sext %axis
  %r: i32 = add %c, %a
  br end(%r)
end:
  %result: i32 = phi
  ret %result
}
; check: lower
; func @node_x4(%i: i64, %uindex: ptr, %unodes: ptr) -> <4 x i32> phase vector {
; entry:
;   %v3: ptr = getelementptr i32, %uindex, %i
;   %v4: <4 x i32> = load %v3, align 4
;   %v5: <4 x i64> = sext %v4
;   %v6: <4 x ptr> = getelementptr [8 x float], %unodes, %v5
;   %v8: <4 x ptr> = getelementptr i8, %v6, i64 24
;   %v9: ptr = getelementptr i8, %unodes, i64 24
;   %v10: <4 x i64> = sext %v4
;   %v12: <4 x i64> = mul %v10, <4, 4, 4, 4>
;   %v13: <4 x ptr> = getelementptr i64, %v9, %v12
;   %v17: <4 x i32> = call @llvm.masked.gather.v4i32.v4p0(%v13, 4, <true, true, true, true>, poison)
;   %v18: <4 x i1> = icmp slt %v17, %v4
;   br read
; read:
;   %v20: <4 x ptr> = getelementptr i8, %v6, i64 28
;   %v21: ptr = getelementptr i8, %unodes, i64 28
;   %v22: <4 x i64> = sext %v4
;   %v23: <4 x i64> = mul %v22, <4, 4, 4, 4>
;   %v25: ptr = getelementptr i8, %v21, i64 -3
;   %v26: <4 x ptr> = getelementptr i64, %v25, %v23
;   %v28: <4 x i32> = call @llvm.masked.gather.v4i32.v4p0(%v26, 1, %v18, poison)
;   %v30: <4 x i32> = lshr %v28, <24, 24, 24, 24>
;   %v31: <4 x i8> = trunc %v30
;   %v33: <4 x ptr> = getelementptr i8, %v6, i64 29
;   %v34: ptr = getelementptr i8, %unodes, i64 29
;   %v35: <4 x i64> = sext %v4
;   %v36: <4 x i64> = mul %v35, <4, 4, 4, 4>
;   %v37: ptr = getelementptr i8, %v34, i64 -3
;   %v38: <4 x ptr> = getelementptr i64, %v37, %v36
;   %v39: <4 x i32> = call @llvm.masked.gather.v4i32.v4p0(%v38, 1, %v18, poison)
;   %v40: <4 x i32> = lshr %v39, <24, 24, 24, 24>
;   %v41: <4 x i8> = trunc %v40
;   %v42: <4 x i16> = zext %v31
;   %v43: <4 x i16> = sext %v41
;   %v44: <4 x i16> = add %v42, %v43
;   %v45: <4 x i32> = sext %v44
;   %v47: <4 x i32> = select %v18, %v45, <0, 0, 0, 0>
;   br end
; end:
;   ret %v47
; }

; Elements of 16 bits, where a lane has stored to those behind them: the word begins with the element.
func @behind(%i: i64, %uindex: ptr, %utable: ptr) -> i16 {
entry:
  %p: ptr = getelementptr i32, %uindex, %i
  %k: i32 = load %p, align 4
  %wide: i64 = sext %k
  %x.p: ptr = getelementptr i32, %utable, %wide
  %y.p: ptr = getelementptr i8, %x.p, i64 2
  store i16 7, %y.p, align 2
  %x: half = load %x.p, align 4
  %x.bits: i16 = bitcast %x
  ret %x.bits
}
; check: lower
; func @behind_x4(%i: i64, %uindex: ptr, %utable: ptr) -> <4 x i16> phase vector {
; entry:
;   %v3: ptr = getelementptr i32, %uindex, %i
;   %v4: <4 x i32> = load %v3, align 4
;   %v5: <4 x i64> = sext %v4
;   %v6: <4 x ptr> = getelementptr i32, %utable, %v5
;   %v8: <4 x ptr> = getelementptr i8, %v6, i64 2
;   %v10: ptr = getelementptr i8, %utable, i64 2
;   %v11: <4 x ptr> = getelementptr i32, %v10, %v4
;   call @llvm.masked.scatter.v4i16.v4p0(<7, 7, 7, 7>, %v11, 2, <true, true, true, true>)
;   %v14: <4 x ptr> = getelementptr i32, %utable, %v4
;   %v17: <4 x i32> = call @llvm.masked.gather.v4i32.v4p0(%v14, 4, <true, true, true, true>, poison)
;   %v18: <4 x i16> = trunc %v17
;   %v19: <4 x half> = bitcast %v18
;   %v20: <4 x i16> = bitcast %v19
;   ret %v20
; }

; Where a lane finds its pointer in memory, nothing is the same for all lanes but what is added.
func @pointers(%i: i64, %uheads: ptr) -> i8 {
entry:
  %p: ptr = getelementptr ptr, %uheads, %i
  %q: ptr = load %p, align 8
  %n: i32 = load %q, align 4
  %some: i1 = icmp ne %n, 0
  br %some, read, end(0)
read:
  %y.p: ptr = getelementptr i8, %q, i64 4
  %y: i8 = load %y.p, align 4
  br end(%y)
end:
  %result: i8 = phi
  ret %result
}
; check: lower
; func @pointers_x4(%i: i64, %uheads: ptr) -> <4 x i8> phase vector {
; entry:
;   %v2: ptr = getelementptr ptr, %uheads, %i
;   %v3: <4 x ptr> = load %v2, align 8
;   %v7: <4 x i32> = call @llvm.masked.gather.v4i32.v4p0(%v3, 4, <true, true, true, true>, poison)
;   %v9: <4 x i1> = icmp ne %v7, <0, 0, 0, 0>
;   br read
; read:
;   %v11: <4 x ptr> = getelementptr i8, %v3, i64 4
;   %v13: <4 x ptr> = getelementptr i8, %v11, i64 -3
;   %v15: <4 x i32> = call @llvm.masked.gather.v4i32.v4p0(%v13, 1, %v9, poison)
;   %v17: <4 x i32> = lshr %v15, <24, 24, 24, 24>
;   %v18: <4 x i8> = trunc %v17
;   %v20: <4 x i8> = select %v9, %v18, <0, 0, 0, 0>
;   br end
; end:
;   ret %v20
; }

; A lane that reads the byte need not have read the word before it, though the block that does so comes first, whatever lanes are active.
func @not_before(%i: i64, %uindex: ptr, %utable: ptr) -> i32 {
entry:
  %p: ptr = getelementptr i32, %uindex, %i
  %k: i32 = load %p, align 4
  %wide: i64 = sext %k
  %x.p: ptr = getelementptr i64, %utable, %wide
  %some: i1 = icmp slt %k, 100
  br %some, read, next(0)
read:
  %x: i32 = load %x.p, align 4
  br next(%x)
next:
  %sum: i32 = phi
  %y.p: ptr = getelementptr i8, %x.p, i64 4
  %y: i8 = load %y.p, align 4
  %z: i32 = zext %y
  %r: i32 = add %sum, %z
  ret %r
}
; check: lower
; func @not_before_x4(%i: i64, %uindex: ptr, %utable: ptr) -> <4 x i32> phase vector {
; entry:
;   %v3: ptr = getelementptr i32, %uindex, %i
;   %v4: <4 x i32> = load %v3, align 4
;   %v5: <4 x i64> = sext %v4
;   %v6: <4 x ptr> = getelementptr i64, %utable, %v5
;   %v8: <4 x i1> = icmp slt %v4, <100, 100, 100, 100>
;   br read
; read:
;   %v9: <4 x ptr> = getelementptr i64, %utable, %v4
;   %v12: <4 x i32> = call @llvm.masked.gather.v4i32.v4p0(%v9, 4, %v8, poison)
;   %v14: <4 x i32> = select %v8, %v12, <0, 0, 0, 0>
;   br next
; next:
;   %v16: <4 x ptr> = getelementptr i8, %v6, i64 4
;   %v17: ptr = getelementptr i8, %utable, i64 4
;   %v18: <4 x ptr> = getelementptr i64, %v17, %v4
;   %v21: <4 x i8> = call @llvm.masked.gather.v4i8.v4p0(%v18, 4, <true, true, true, true>, poison)
;   %v22: <4 x i32> = zext %v21
;   %v23: <4 x i32> = add %v14, %v22
;   ret %v23
; }

; Three bytes at most are known to be there.
func @too_few(%i: i64, %uindex: ptr, %utable: ptr) -> i8 {
entry:
  %p: ptr = getelementptr i32, %uindex, %i
  %k: i32 = load %p, align 4
  %wide: i64 = sext %k
  %x.p: ptr = getelementptr i32, %utable, %wide
  %x: i16 = load %x.p, align 4
  %y.p: ptr = getelementptr i8, %x.p, i64 2
  %y: i8 = load %y.p, align 2
  %z: i8 = trunc %x
  %r: i8 = add %z, %y
  ret %r
}
; check: lower
; func @too_few_x4(%i: i64, %uindex: ptr, %utable: ptr) -> <4 x i8> phase vector {
; entry:
;   %v3: ptr = getelementptr i32, %uindex, %i
;   %v4: <4 x i32> = load %v3, align 4
;   %v5: <4 x i64> = sext %v4
;   %v6: <4 x ptr> = getelementptr i32, %utable, %v5
;   %v7: <4 x ptr> = getelementptr i32, %utable, %v4
;   %v11: <4 x i16> = call @llvm.masked.gather.v4i16.v4p0(%v7, 4, <true, true, true, true>, poison)
;   %v13: <4 x ptr> = getelementptr i8, %v6, i64 2
;   %v14: ptr = getelementptr i8, %utable, i64 2
;   %v15: <4 x ptr> = getelementptr i32, %v14, %v4
;   %v18: <4 x i8> = call @llvm.masked.gather.v4i8.v4p0(%v15, 2, <true, true, true, true>, poison)
;   %v19: <4 x i8> = trunc %v11
;   %v20: <4 x i8> = add %v19, %v18
;   ret %v20
; }

; What was read far away is another object for all that is known.
func @too_far(%i: i64, %uindex: ptr, %utable: ptr) -> i8 {
entry:
  %p: ptr = getelementptr i32, %uindex, %i
  %k: i32 = load %p, align 4
  %wide: i64 = sext %k
  %x.p: ptr = getelementptr i32, %utable, %wide
  %x: i8 = load %x.p, align 4
  %y.p: ptr = getelementptr i8, %x.p, i64 5000
  %y: i8 = load %y.p, align 1
  %r: i8 = add %x, %y
  ret %r
}
; check: lower
; func @too_far_x4(%i: i64, %uindex: ptr, %utable: ptr) -> <4 x i8> phase vector {
; entry:
;   %v3: ptr = getelementptr i32, %uindex, %i
;   %v4: <4 x i32> = load %v3, align 4
;   %v5: <4 x i64> = sext %v4
;   %v6: <4 x ptr> = getelementptr i32, %utable, %v5
;   %v7: <4 x ptr> = getelementptr i32, %utable, %v4
;   %v11: <4 x i8> = call @llvm.masked.gather.v4i8.v4p0(%v7, 4, <true, true, true, true>, poison)
;   %v13: <4 x ptr> = getelementptr i8, %v6, i64 5000
;   %v14: ptr = getelementptr i8, %utable, i64 5000
;   %v15: <4 x ptr> = getelementptr i32, %v14, %v4
;   %v17: <4 x i8> = call @llvm.masked.gather.v4i8.v4p0(%v15, 1, <true, true, true, true>, poison)
;   %v18: <4 x i8> = add %v11, %v17
;   ret %v18
; }
