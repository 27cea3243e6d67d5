; test: linearize
; test: lower

; A divergent diamond.
func @diamond(%c: i1, %a: i32) -> i32 {
entry:
  br %c, left, right
left:
  %x: i32 = add %a, 1
  br join(%x)
right:
  br join(%a)
join:
  %p: i32 = phi
  ret %p
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @diamond(%c: i1, %a: i32) -> i32 phase linearized {
; entry:
;   %v13: i1 = mask_andnot true, %c
;   br right
; left mask %c:
;   %x: i32 = add %a, 1
;   %v17: i32 = blend %c, %x, %a
;   br join
; right mask %v13:
;   br left
; join:
;   ret %v17
; }
; check: lower
; func @diamond_x4(%c: <4 x i1>, %a: <4 x i32>) -> <4 x i32> phase vector {
; entry:
;   %v4: <4 x i1> = xor %c, <true, true, true, true>
;   %v5: <4 x i1> = select <4 x i1> <true, true, true, true>, %v4, <false, false, false, false>
;   br right
; left:
;   %v7: <4 x i32> = add %a, <1, 1, 1, 1>
;   %v8: <4 x i32> = select %c, %v7, %a
;   br join
; right:
;   br left
; join:
;   ret %v8
; }

; A divergent loop with a break, like Mandelbrot.
func @escape(%ulimit: i32, %z: i32) -> i32 {
entry:
  br head(0, %z)
head:
  %n: i32 = phi
  %w: i32 = phi
  %more: i1 = icmp slt %n, %ulimit
  br %more, body, out(%n)
body:
  %next: i32 = mul %w, %w
  %big: i1 = icmp sgt %next, 1000
  br %big, out(%n), latch
latch:
  %n1: i32 = add nsw %n, 1
  br head(%n1, %next)
out:
  %r: i32 = phi
  ret %r
}
; check: linearize
; branches: 1 divergent, 1 kept, 0 lost; loops: 0 uniform, 1 divergent
; func @escape(%ulimit: i32, %z: i32) -> i32 phase linearized {
; entry:
;   br head(0, %z, poison, true)
; head mask %loop:
;   %n: i32 = phi
;   %w: i32 = phi
;   %out: i32 = phi
;   %loop: i1 = phi
;   %more: i1 = icmp slt %n, %ulimit
;   br %more, body, edge
; body mask %loop:
;   %next: i32 = mul %w, %w
;   %big: i1 = icmp sgt %next, 1000
;   %v22: i1 = mask_and %loop, %big
;   %v24: i32 = blend %v22, %n, %out
;   %v25: i1 = mask_andnot %loop, %big
;   br latch
; latch mask %v25:
;   %n1: i32 = add nsw %n, 1
;   br b5(%v25, %n1, %next, %v24)
; out:
;   ret %v37
; edge mask %loop:
;   %v31: i32 = blend %loop, %n, %out
;   br b5(false, poison, poison, %v31)
; b5 mask %loop:
;   %live: i1 = phi
;   %v34: i32 = phi
;   %v35: i32 = phi
;   %v37: i32 = phi
;   %v15: i1 = mask_any %live
;   br %v15, head(%v34, %v35, %v37, %live), dispatch
; dispatch:
;   br out
; }
; check: lower
; func @escape_x4(%ulimit: i32, %z: <4 x i32>) -> <4 x i32> phase vector {
; entry:
;   br head(0, %z, poison, <true, true, true, true>)
; head:
;   %v2: i32 = phi
;   %v4: <4 x i32> = phi
;   %v6: <4 x i32> = phi
;   %v7: <4 x i1> = phi
;   %v9: i1 = icmp slt %v2, %ulimit
;   br %v9, body, edge
; body:
;   %v14: <4 x i32> = mul %v4, %v4
;   %v16: <4 x i1> = icmp sgt %v14, <1000, 1000, 1000, 1000>
;   %v19: <4 x i1> = select %v7, %v16, <false, false, false, false>
;   %v20: <4 x i32> = insertelement poison, %v2, i64 0
;   %v21: <4 x i32> = shufflevector %v20, poison [0, 0, 0, 0]
;   %v22: <4 x i32> = select %v19, %v21, %v6
;   %v23: <4 x i1> = xor %v16, <true, true, true, true>
;   %v24: <4 x i1> = select %v7, %v23, <false, false, false, false>
;   br latch
; latch:
;   %v26: i32 = add nsw %v2, 1
;   br b6(%v24, %v26, %v14, %v22)
; out:
;   ret %v30
; edge:
;   %v11: <4 x i32> = insertelement poison, %v2, i64 0
;   %v12: <4 x i32> = shufflevector %v11, poison [0, 0, 0, 0]
;   %v13: <4 x i32> = select %v7, %v12, %v6
;   br b6(<false, false, false, false>, poison, poison, %v13)
; b6:
;   %v27: <4 x i1> = phi
;   %v28: i32 = phi
;   %v29: <4 x i32> = phi
;   %v30: <4 x i32> = phi
;   %v31: i1 = call @llvm.vector.reduce.or.v4i1(%v27)
;   br %v31, head(%v28, %v29, %v30, %v27), dispatch
; dispatch:
;   br out
; }
