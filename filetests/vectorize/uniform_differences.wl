; test: linearize
; test: lower

; A difference of two strided values is uniform, and does not change in a loop that leaves them alone: so what is made of it
; keeps its stride behind the loop, although lanes leave in different iterations, and differences there are uniform too.
func @behind_a_loop(%i: i64, %k: i8, %un: i64) -> i64 {
entry:
  br loop
loop:
  %far: i64 = add %i, %un
  %distance: i64 = sub %far, %i
  %again: i64 = add %i, %distance
  %bit: i8 = and %k, 2
  %stay: i1 = icmp eq %bit, 0
  br %stay, loop, after
after:
  %none: i64 = sub %again, %far
  ret %none
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 1 divergent
; func @behind_a_loop(%i: i64, %k: i8, %un: i64) -> i64 phase linearized {
; entry:
;   br loop(poison, poison, true)
; loop mask %loop:
;   %out: i64 = phi
;   %v31: i64 = phi
;   %loop: i1 = phi
;   %far: i64 = add %i, %un
;   %distance: i64 = sub %far, %i
;   %again: i64 = add %i, %distance
;   %bit: i8 = and %k, 2
;   %stay: i1 = icmp eq %bit, 0
;   %v21: i1 = mask_and %loop, %stay
;   %v24: i1 = mask_andnot %loop, %stay
;   %v26: i64 = blend_any %v24, %again, %out
;   %v28: i64 = blend_any %v24, %far, %v31
;   br latch
; after:
;   %none: i64 = sub %v26, %v28
;   ret %none
; latch mask %loop:
;   %v17: i1 = mask_any %v21
;   br %v17, loop(%v26, %v28, %v21), dispatch
; dispatch:
;   br after
; }
; check: lower
; func @behind_a_loop_x4(%i: i64, %k: <4 x i8>, %un: i64) -> <4 x i64> phase vector {
; entry:
;   br loop(poison, poison, <true, true, true, true>)
; loop:
;   %v3: i64 = phi
;   %v5: i64 = phi
;   %v6: <4 x i1> = phi
;   %v8: i64 = add %i, %un
;   %v9: i64 = sub %v8, %i
;   %v10: i64 = add %i, %v9
;   %v12: <4 x i8> = and %k, <2, 2, 2, 2>
;   %v14: <4 x i1> = icmp eq %v12, <0, 0, 0, 0>
;   %v17: <4 x i1> = select %v6, %v14, <false, false, false, false>
;   %v18: <4 x i1> = xor %v14, <true, true, true, true>
;   %v19: <4 x i1> = select %v6, %v18, <false, false, false, false>
;   %v20: i1 = call @llvm.vector.reduce.or.v4i1(%v19)
;   %v21: i64 = select %v20, %v10, %v3
;   %v22: i1 = call @llvm.vector.reduce.or.v4i1(%v19)
;   %v23: i64 = select %v22, %v8, %v5
;   br latch
; after:
;   %v25: i64 = sub %v21, %v23
;   %v28: <4 x i64> = insertelement poison, %v25, i64 0
;   %v29: <4 x i64> = shufflevector %v28, poison [0, 0, 0, 0]
;   ret %v29
; latch:
;   %v24: i1 = call @llvm.vector.reduce.or.v4i1(%v17)
;   br %v24, loop(%v21, %v23, %v17), dispatch
; dispatch:
;   br after
; }

; The same of the elements of a vector.
func @elements(%i: i64, %k: i8) -> <2 x i64> {
entry:
  %v: <2 x i64> = insertelement <6, 8>, %i, i32 0
  br loop
loop:
  %less: <2 x i1> = icmp slt %v, %v
  %either: <2 x i64> = select %less, %v, %v
  %bit: i8 = and %k, 2
  %stay: i1 = icmp eq %bit, 0
  br %stay, loop, after
after:
  %none: <2 x i64> = sub %either, %either
  ret %none
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 1 divergent
; func @elements(%i: i64, %k: i8) -> <2 x i64> phase linearized {
; entry:
;   br loop(poison, poison, true)
; loop mask %loop:
;   %out: i64 = phi
;   %v46: i64 = phi
;   %loop: i1 = phi
;   %v18: i1 = icmp slt %i, %i
;   %v19: i1 = icmp slt i64 8, 8
;   %v20: i64 = select %v18, %i, %i
;   %v21: i64 = select %v19, 8, 8
;   %bit: i8 = and %k, 2
;   %stay: i1 = icmp eq %bit, 0
;   %v36: i1 = mask_and %loop, %stay
;   %v39: i1 = mask_andnot %loop, %stay
;   %v41: i64 = blend_any %v39, %v20, %out
;   %v43: i64 = blend_any %v39, %v21, %v46
;   br latch
; after:
;   %v22: i64 = sub %v41, %v41
;   %v23: i64 = sub %v43, %v43
;   %v26: <2 x i64> = insertelement poison, %v22, i64 0
;   %v28: <2 x i64> = insertelement %v26, %v23, i64 1
;   ret %v28
; latch mask %loop:
;   %v32: i1 = mask_any %v36
;   br %v32, loop(%v41, %v43, %v36), dispatch
; dispatch:
;   br after
; }
; check: lower
; func @elements_x4(%i: i64, %k: <4 x i8>) -> [2 x <4 x i64>] phase vector {
; entry:
;   br loop(poison, poison, <true, true, true, true>)
; loop:
;   %v2: i64 = phi
;   %v4: i64 = phi
;   %v5: <4 x i1> = phi
;   %v7: i1 = icmp slt %i, %i
;   %v9: i1 = icmp slt i64 8, 8
;   %v10: i64 = select %v7, %i, %i
;   %v11: i64 = select %v9, 8, 8
;   %v13: <4 x i8> = and %k, <2, 2, 2, 2>
;   %v15: <4 x i1> = icmp eq %v13, <0, 0, 0, 0>
;   %v18: <4 x i1> = select %v5, %v15, <false, false, false, false>
;   %v19: <4 x i1> = xor %v15, <true, true, true, true>
;   %v20: <4 x i1> = select %v5, %v19, <false, false, false, false>
;   %v21: i1 = call @llvm.vector.reduce.or.v4i1(%v20)
;   %v22: i64 = select %v21, %v10, %v2
;   %v23: i1 = call @llvm.vector.reduce.or.v4i1(%v20)
;   %v24: i64 = select %v23, %v11, %v4
;   br latch
; after:
;   %v26: i64 = sub %v22, %v22
;   %v27: i64 = sub %v24, %v24
;   %v30: <2 x i64> = insertelement poison, %v26, i64 0
;   %v32: <2 x i64> = insertelement %v30, %v27, i64 1
;   %v34: i64 = extractelement %v32, i64 0
;   %v36: <4 x i64> = insertelement poison, %v34, i64 0
;   %v37: <4 x i64> = shufflevector %v36, poison [0, 0, 0, 0]
;   %v38: [2 x <4 x i64>] = insertvalue poison, %v37 [0]
;   %v39: i64 = extractelement %v32, i64 1
;   %v40: <4 x i64> = insertelement poison, %v39, i64 0
;   %v41: <4 x i64> = shufflevector %v40, poison [0, 0, 0, 0]
;   %v42: [2 x <4 x i64>] = insertvalue %v38, %v41 [1]
;   ret %v42
; latch:
;   %v25: i1 = call @llvm.vector.reduce.or.v4i1(%v18)
;   br %v25, loop(%v22, %v24, %v18), dispatch
; dispatch:
;   br after
; }
