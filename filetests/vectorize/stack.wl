; test: lower

declare @llvm.stacksave.p0() -> ptr [reads writes]
declare @llvm.stackrestore.p0(ptr) [reads writes]

; All lanes that save the stack in an iteration restore it: once for all.
func @given_back(%x: i32, %un: i64, %ua: ptr) -> i32 {
entry:
  %m: i32 = and %x, 7
  br loop(0)
loop:
  %k: i32 = phi
  %saved: ptr = call @llvm.stacksave.p0()
  %list: ptr = alloca i32, %un, align 4
  store %k, %list, align 4
  %odd: i32 = and %m, 1
  %c: i1 = icmp eq %odd, 0
  br %c, then, join
then:
  %more: ptr = alloca i32, %un, align 4
  store %m, %more, align 4
  br join
join:
  call @llvm.stackrestore.p0(%saved)
  %next: i32 = add %k, 1
  %go: i1 = icmp ult %next, %m
  br %go, loop(%next), exit
exit:
  ret %k
}
; check: lower
; func @given_back_x4(%x: <4 x i32>, %un: i64, %ua: ptr) -> <4 x i32> phase vector {
; entry:
;   %v4: <4 x i32> = and %x, <7, 7, 7, 7>
;   br loop(0, poison, <true, true, true, true>)
; loop:
;   %v5: i32 = phi
;   %v7: <4 x i32> = phi
;   %v9: <4 x i1> = phi
;   %v11: ptr = call @llvm.stacksave.p0()
;   %v14: <4 x ptr> = insertelement poison, %v11, i64 0
;   %v15: <4 x ptr> = shufflevector %v14, poison [0, 0, 0, 0]
;   %v17: i64 = mul %un, 4
;   %v19: i64 = mul %v17, 1
;   %v20: ptr = alloca i8, %v19, align 64
;   %v23: <4 x i64> = insertelement poison, %v17, i64 0
;   %v24: <4 x i64> = shufflevector %v23, poison [0, 0, 0, 0]
;   %v25: <4 x i64> = mul %v24, <0, 1, 2, 3>
;   store %v5, %v20, align 4
;   %v27: <4 x i32> = and %v4, <1, 1, 1, 1>
;   %v29: <4 x i1> = icmp eq %v27, <0, 0, 0, 0>
;   %v32: <4 x i1> = select %v9, %v29, <false, false, false, false>
;   %v33: i1 = call @llvm.vector.reduce.or.v4i1(%v32)
;   br %v33, rest, join
; rest:
;   br then
; then:
;   %v34: i64 = mul %un, 4
;   %v35: i64 = mul %v34, 4
;   %v36: ptr = alloca i8, %v35, align 64
;   %v37: <4 x i64> = insertelement poison, %v34, i64 0
;   %v38: <4 x i64> = shufflevector %v37, poison [0, 0, 0, 0]
;   %v39: <4 x i64> = mul %v38, <0, 1, 2, 3>
;   %v40: <4 x ptr> = getelementptr i8, %v36, %v39
;   call @llvm.masked.scatter.v4i32.v4p0(%v4, %v40, 4, %v32)
;   br join
; join:
;   call @llvm.stackrestore.p0(%v11)
;   %v43: i32 = add %v5, 1
;   %v44: <4 x i32> = insertelement poison, %v43, i64 0
;   %v45: <4 x i32> = shufflevector %v44, poison [0, 0, 0, 0]
;   %v46: <4 x i1> = icmp ult %v45, %v4
;   %v47: <4 x i1> = select %v9, %v46, <false, false, false, false>
;   %v48: <4 x i1> = xor %v46, <true, true, true, true>
;   %v49: <4 x i1> = select %v9, %v48, <false, false, false, false>
;   %v50: <4 x i32> = insertelement poison, %v5, i64 0
;   %v51: <4 x i32> = shufflevector %v50, poison [0, 0, 0, 0]
;   %v52: <4 x i32> = select %v49, %v51, %v7
;   br latch
; exit:
;   ret %v52
; latch:
;   %v53: i1 = call @llvm.vector.reduce.or.v4i1(%v47)
;   br %v53, loop(%v43, %v52, %v47), dispatch
; dispatch:
;   br exit
; }

; Some lanes restore the stack while others still use what they have allocated: not restored.
func @lanes_restore_apart(%x: i32, %un: i64, %ua: ptr) -> i32 {
entry:
  %saved: ptr = call @llvm.stacksave.p0()
  %list: ptr = alloca i32, %un, align 4
  store %x, %list, align 4
  %odd: i32 = and %x, 1
  %c: i1 = icmp eq %odd, 0
  br %c, early, late
early:
  call @llvm.stackrestore.p0(%saved)
  %more: ptr = alloca i32, %un, align 4
  store i32 1, %more, align 4
  %z: i32 = load %more, align 4
  ret %z
late:
  %y: i32 = load %list, align 4
  call @llvm.stackrestore.p0(%saved)
  ret %y
}
; check: lower
; func @lanes_restore_apart_x4(%x: <4 x i32>, %un: i64, %ua: ptr) -> <4 x i32> phase vector {
; entry:
;   %v4: ptr = call @llvm.stacksave.p0()
;   %v6: <4 x ptr> = insertelement poison, %v4, i64 0
;   %v7: ptr = call @llvm.stacksave.p0()
;   %v9: <4 x ptr> = insertelement %v6, %v7, i64 1
;   %v10: ptr = call @llvm.stacksave.p0()
;   %v12: <4 x ptr> = insertelement %v9, %v10, i64 2
;   %v13: ptr = call @llvm.stacksave.p0()
;   %v15: <4 x ptr> = insertelement %v12, %v13, i64 3
;   %v17: i64 = mul %un, 4
;   %v18: i64 = mul %v17, 4
;   %v19: ptr = alloca i8, %v18, align 64
;   %v22: <4 x i64> = insertelement poison, %v17, i64 0
;   %v23: <4 x i64> = shufflevector %v22, poison [0, 0, 0, 0]
;   %v24: <4 x i64> = mul %v23, <0, 1, 2, 3>
;   %v25: <4 x ptr> = getelementptr i8, %v19, %v24
;   call @llvm.masked.scatter.v4i32.v4p0(%x, %v25, 4, <true, true, true, true>)
;   %v29: <4 x i32> = and %x, <1, 1, 1, 1>
;   %v31: <4 x i1> = icmp eq %v29, <0, 0, 0, 0>
;   %v33: <4 x i1> = xor %v31, <true, true, true, true>
;   %v34: <4 x i1> = select <4 x i1> <true, true, true, true>, %v33, <false, false, false, false>
;   %v35: i1 = call @llvm.vector.reduce.or.v4i1(%v31)
;   br %v35, rest, late(poison)
; rest:
;   br early
; early:
;   %v36: i64 = mul %un, 4
;   %v37: i64 = mul %v36, 1
;   %v38: ptr = alloca i8, %v37, align 64
;   %v39: <4 x i64> = insertelement poison, %v36, i64 0
;   %v40: <4 x i64> = shufflevector %v39, poison [0, 0, 0, 0]
;   %v41: <4 x i64> = mul %v40, <0, 1, 2, 3>
;   store i32 1, %v38, align 4
;   %v43: i32 = load %v38, align 4
;   br late(%v43)
; late:
;   %v44: i32 = phi
;   %v47: <4 x i32> = call @llvm.masked.gather.v4i32.v4p0(%v25, 4, %v34, poison)
;   %v48: <4 x i32> = insertelement poison, %v44, i64 0
;   %v49: <4 x i32> = shufflevector %v48, poison [0, 0, 0, 0]
;   %v50: <4 x i32> = select %v34, %v47, %v49
;   br exit
; exit:
;   ret %v50
; }
