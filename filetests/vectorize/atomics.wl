; test: lower

; Each active lane in lane order.
func @tickets(%c: i1, %ucounter: ptr) -> i32 {
entry:
  br %c, then, join(0)
then:
  %old: i32 = opaque "atomicrmw" (rmw add seq_cst, align 4) %ucounter, i32 1 [reads writes traps unknown_result atomic]
  br join(%old)
join:
  %p: i32 = phi
  ret %p
}
; check: lower
; func @tickets_x4(%c: <4 x i1>, %ucounter: ptr) -> <4 x i32> phase vector {
; entry:
;   br then
; then:
;   %v4: i1 = extractelement %c, i64 0
;   br %v4, lane, b4(poison)
; join:
;   ret %v25
; lane:
;   %v6: i32 = opaque "atomicrmw" (rmw add seq_cst, align 4) %ucounter, i32 1 [reads writes traps unknown_result atomic]
;   %v7: <4 x i32> = insertelement poison, %v6, i64 0
;   br b4(%v7)
; b4:
;   %v8: <4 x i32> = phi
;   %v10: i1 = extractelement %c, i64 1
;   br %v10, b5, b6(%v8)
; b5:
;   %v11: i32 = opaque "atomicrmw" (rmw add seq_cst, align 4) %ucounter, i32 1 [reads writes traps unknown_result atomic]
;   %v12: <4 x i32> = insertelement %v8, %v11, i64 1
;   br b6(%v12)
; b6:
;   %v13: <4 x i32> = phi
;   %v15: i1 = extractelement %c, i64 2
;   br %v15, b7, b8(%v13)
; b7:
;   %v16: i32 = opaque "atomicrmw" (rmw add seq_cst, align 4) %ucounter, i32 1 [reads writes traps unknown_result atomic]
;   %v17: <4 x i32> = insertelement %v13, %v16, i64 2
;   br b8(%v17)
; b8:
;   %v18: <4 x i32> = phi
;   %v20: i1 = extractelement %c, i64 3
;   br %v20, b9, b10(%v18)
; b9:
;   %v21: i32 = opaque "atomicrmw" (rmw add seq_cst, align 4) %ucounter, i32 1 [reads writes traps unknown_result atomic]
;   %v22: <4 x i32> = insertelement %v18, %v21, i64 3
;   br b10(%v22)
; b10:
;   %v23: <4 x i32> = phi
;   %v25: <4 x i32> = select %c, %v23, <0, 0, 0, 0>
;   br join
; }

; A fence is made once.
func @fence(%c: i1) {
entry:
  br %c, then, join
then:
  opaque "fence" (fence seq_cst) [reads writes atomic]
  br join
join:
  ret
}
; check: lower
; func @fence_x4(%c: <4 x i1>) phase vector {
; entry:
;   br then
; then:
;   opaque "fence" (fence seq_cst) [reads writes atomic]
;   br join
; join:
;   ret
; }

; Old value and success of each lane.
func @exchange(%at: ptr, %x: i32, %unew: i32) -> i1 {
entry:
  %pair: { i32, i1 } = opaque "cmpxchg" (cmpxchg seq_cst acquire, align 4) %at, %x, %unew [reads writes traps unknown_result atomic]
  %ok: i1 = extractvalue %pair [1]
  ret %ok
}
; check: lower
; func @exchange_x4(%at: <4 x ptr>, %x: <4 x i32>, %unew: i32) -> <4 x i1> phase vector {
; entry:
;   %v5: ptr = extractelement %at, i64 0
;   %v6: i32 = extractelement %x, i64 0
;   %v7: { i32, i1 } = opaque "cmpxchg" (cmpxchg seq_cst acquire, align 4) %v5, %v6, %unew [reads writes traps unknown_result atomic]
;   %v8: i32 = extractvalue %v7 [0]
;   %v9: <4 x i32> = extractvalue { <4 x i32>, <4 x i1> } poison [0]
;   %v10: <4 x i32> = insertelement %v9, %v8, i64 0
;   %v11: { <4 x i32>, <4 x i1> } = insertvalue poison, %v10 [0]
;   %v12: i1 = extractvalue %v7 [1]
;   %v13: <4 x i1> = extractvalue %v11 [1]
;   %v14: <4 x i1> = insertelement %v13, %v12, i64 0
;   %v15: { <4 x i32>, <4 x i1> } = insertvalue %v11, %v14 [1]
;   %v17: ptr = extractelement %at, i64 1
;   %v18: i32 = extractelement %x, i64 1
;   %v19: { i32, i1 } = opaque "cmpxchg" (cmpxchg seq_cst acquire, align 4) %v17, %v18, %unew [reads writes traps unknown_result atomic]
;   %v20: i32 = extractvalue %v19 [0]
;   %v21: <4 x i32> = extractvalue %v15 [0]
;   %v22: <4 x i32> = insertelement %v21, %v20, i64 1
;   %v23: { <4 x i32>, <4 x i1> } = insertvalue %v15, %v22 [0]
;   %v24: i1 = extractvalue %v19 [1]
;   %v25: <4 x i1> = extractvalue %v23 [1]
;   %v26: <4 x i1> = insertelement %v25, %v24, i64 1
;   %v27: { <4 x i32>, <4 x i1> } = insertvalue %v23, %v26 [1]
;   %v29: ptr = extractelement %at, i64 2
;   %v30: i32 = extractelement %x, i64 2
;   %v31: { i32, i1 } = opaque "cmpxchg" (cmpxchg seq_cst acquire, align 4) %v29, %v30, %unew [reads writes traps unknown_result atomic]
;   %v32: i32 = extractvalue %v31 [0]
;   %v33: <4 x i32> = extractvalue %v27 [0]
;   %v34: <4 x i32> = insertelement %v33, %v32, i64 2
;   %v35: { <4 x i32>, <4 x i1> } = insertvalue %v27, %v34 [0]
;   %v36: i1 = extractvalue %v31 [1]
;   %v37: <4 x i1> = extractvalue %v35 [1]
;   %v38: <4 x i1> = insertelement %v37, %v36, i64 2
;   %v39: { <4 x i32>, <4 x i1> } = insertvalue %v35, %v38 [1]
;   %v41: ptr = extractelement %at, i64 3
;   %v42: i32 = extractelement %x, i64 3
;   %v43: { i32, i1 } = opaque "cmpxchg" (cmpxchg seq_cst acquire, align 4) %v41, %v42, %unew [reads writes traps unknown_result atomic]
;   %v44: i32 = extractvalue %v43 [0]
;   %v45: <4 x i32> = extractvalue %v39 [0]
;   %v46: <4 x i32> = insertelement %v45, %v44, i64 3
;   %v47: { <4 x i32>, <4 x i1> } = insertvalue %v39, %v46 [0]
;   %v48: i1 = extractvalue %v43 [1]
;   %v49: <4 x i1> = extractvalue %v47 [1]
;   %v50: <4 x i1> = insertelement %v49, %v48, i64 3
;   %v51: { <4 x i32>, <4 x i1> } = insertvalue %v47, %v50 [1]
;   %v52: <4 x i1> = extractvalue %v51 [1]
;   ret %v52
; }
