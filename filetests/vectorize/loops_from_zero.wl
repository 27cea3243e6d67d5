; test: loops

; What clang makes of `for (int x = a; x < b; ++x)` under `#pragma omp simd`. The guard tells that `%x` does not wrap: neighbours are neighbours.
func @upwards(%p: ptr, %a: i32, %b: i32) {
entry:
  %n: i32 = sub %b, %a
  %g: i1 = icmp slt %a, %b
  br %g, ready, out
ready:
  br head(0)
head:
  %k: i32 = phi
  %t: i1 = icmp ult %k, %n
  br %t, body, out
body:
  %x: i32 = add %k, %a
  %w: i64 = sext %x
  %q: ptr = getelementptr i32, %p, %w
  %v: i32 = load %q, align 4
  %u: i32 = add %v, 1
  store %u, %q, align 4
  %j: i32 = add nuw %k, 1
  br head(%j)
out:
  ret
}
; check: loops
; %k: induction
; func @upwards(%p: ptr, %a: i32, %b: i32) {
; entry:
;   %n: i32 = sub %b, %a
;   %g: i1 = icmp slt %a, %b
;   br %g, ready, out
; ready:
;   %v17: i32 = sub %n, 0
;   %v18: i1 = icmp ult i32 0, %n
;   %v19: i32 = sub %v17, 1
;   %v20: i32 = add %v19, 1
;   %v21: i32 = select %v18, %v20, 0
;   %v22: i64 = zext %v21
;   %v24: i1 = icmp ne %v22, 0
;   br %v24, begin, scalar(0)
; begin:
;   %v26: i64 = udiv %v22, 4
;   %v27: i64 = urem %v22, 4
;   %v29: i1 = icmp ne %v26, 0
;   br %v29, lanes(0, 0), left(0)
; lanes:
;   %v30: i64 = phi
;   %v32: i32 = phi
;   call @upwards_x4(%n, %a, %p, %v32)
;   %v35: i32 = add %v32, 4
;   %v36: i64 = add nuw %v30, 1
;   %v37: i1 = icmp ult %v36, %v26
;   br %v37, lanes(%v36, %v35), left(%v35)
; left:
;   %v38: i32 = phi
;   %v39: i1 = icmp ne %v27, 0
;   br %v39, tail, done(%v38)
; tail:
;   %v41: i32 = trunc %v27
;   %v44: <4 x i32> = insertelement poison, %v41, i32 0
;   %v45: <4 x i32> = shufflevector %v44, poison [0, 0, 0, 0]
;   %v46: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v45
;   call @upwards_x4.masked(%n, %a, %p, %v38, %v46)
;   %v47: i64 = sub %v27, 1
;   %v48: i32 = trunc %v27
;   %v49: i32 = mul %v48, 1
;   %v50: i32 = add %v38, %v49
;   br done(%v50)
; done:
;   %v40: i32 = phi
;   br scalar(%v40)
; scalar:
;   %v16: i32 = phi
;   br head(%v16)
; head:
;   %k: i32 = phi
;   %t: i1 = icmp ult %k, %n
;   br %t, body, out
; body:
;   %x: i32 = add %k, %a
;   %w: i64 = sext %x
;   %q: ptr = getelementptr i32, %p, %w
;   %v: i32 = load %q, align 4
;   %u: i32 = add %v, 1
;   store %u, %q, align 4
;   %j: i32 = add nuw %k, 1
;   br head(%j)
; out:
;   ret
; }
; func @upwards_x4(%n: i32, %a: i32, %p: ptr, %k: i32) phase vector {
; entry:
;   %v5: i32 = add %k, 0
;   %v6: i32 = add %k, %a
;   %v7: i32 = add %v6, 0
;   br head
; head:
;   br body
; body:
;   %v8: i32 = add %v5, %a
;   %v9: i64 = sext %v6
;   %v10: i64 = sext i32 0
;   %v11: i64 = add %v9, %v10
;   %v12: ptr = getelementptr i32, %p, %v11
;   %v13: <4 x i32> = load %v12, align 4
;   %v15: <4 x i32> = add %v13, <1, 1, 1, 1>
;   store %v15, %v12, align 4
;   %v17: i32 = add %v5, 1
;   br next
; next:
;   ret
; }

; The same without a block of its own before the loop, as simplification leaves it.
func @guarded_header(%p: ptr, %a: i32, %b: i32) {
entry:
  %n: i32 = sub %b, %a
  %g: i1 = icmp slt %a, %b
  br %g, head(0), out
head:
  %k: i32 = phi
  %t: i1 = icmp ult %k, %n
  br %t, body, out
body:
  %x: i32 = add %k, %a
  %w: i64 = sext %x
  %q: ptr = getelementptr i32, %p, %w
  %v: i32 = load %q, align 4
  %u: i32 = add %v, 1
  store %u, %q, align 4
  %j: i32 = add nuw %k, 1
  br head(%j)
out:
  ret
}
; check: loops
; %k: induction
; func @guarded_header(%p: ptr, %a: i32, %b: i32) {
; entry:
;   %n: i32 = sub %b, %a
;   %g: i1 = icmp slt %a, %b
;   br %g, preheader(0), out
; preheader:
;   %v16: i32 = phi
;   %v18: i32 = sub %n, %v16
;   %v19: i1 = icmp ult %v16, %n
;   %v20: i32 = sub %v18, 1
;   %v21: i32 = add %v20, 1
;   %v22: i32 = select %v19, %v21, 0
;   %v23: i64 = zext %v22
;   %v25: i1 = icmp ne %v23, 0
;   br %v25, begin, scalar(%v16)
; begin:
;   %v27: i64 = udiv %v23, 4
;   %v28: i64 = urem %v23, 4
;   %v30: i1 = icmp ne %v27, 0
;   br %v30, lanes(0, %v16), left(%v16)
; lanes:
;   %v31: i64 = phi
;   %v33: i32 = phi
;   call @guarded_header_x4(%n, %a, %p, %v33)
;   %v36: i32 = add %v33, 4
;   %v37: i64 = add nuw %v31, 1
;   %v38: i1 = icmp ult %v37, %v27
;   br %v38, lanes(%v37, %v36), left(%v36)
; left:
;   %v39: i32 = phi
;   %v40: i1 = icmp ne %v28, 0
;   br %v40, tail, done(%v39)
; tail:
;   %v42: i32 = trunc %v28
;   %v45: <4 x i32> = insertelement poison, %v42, i32 0
;   %v46: <4 x i32> = shufflevector %v45, poison [0, 0, 0, 0]
;   %v47: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v46
;   call @guarded_header_x4.masked(%n, %a, %p, %v39, %v47)
;   %v48: i64 = sub %v28, 1
;   %v49: i32 = trunc %v28
;   %v50: i32 = mul %v49, 1
;   %v51: i32 = add %v39, %v50
;   br done(%v51)
; done:
;   %v41: i32 = phi
;   br scalar(%v41)
; scalar:
;   %v17: i32 = phi
;   br head(%v17)
; head:
;   %k: i32 = phi
;   %t: i1 = icmp ult %k, %n
;   br %t, body, out
; body:
;   %x: i32 = add %k, %a
;   %w: i64 = sext %x
;   %q: ptr = getelementptr i32, %p, %w
;   %v: i32 = load %q, align 4
;   %u: i32 = add %v, 1
;   store %u, %q, align 4
;   %j: i32 = add nuw %k, 1
;   br head(%j)
; out:
;   ret
; }
; func @guarded_header_x4(%n: i32, %a: i32, %p: ptr, %k: i32) phase vector {
; entry:
;   %v5: i32 = add %k, 0
;   %v6: i32 = add %k, %a
;   %v7: i32 = add %v6, 0
;   br head
; head:
;   br body
; body:
;   %v8: i32 = add %v5, %a
;   %v9: i64 = sext %v6
;   %v10: i64 = sext i32 0
;   %v11: i64 = add %v9, %v10
;   %v12: ptr = getelementptr i32, %p, %v11
;   %v13: <4 x i32> = load %v12, align 4
;   %v15: <4 x i32> = add %v13, <1, 1, 1, 1>
;   store %v15, %v12, align 4
;   %v17: i32 = add %v5, 1
;   br next
; next:
;   ret
; }

; Downwards in steps of two, with unsigned bounds: `for (unsigned x = b; x > a; x -= 2)`.
func @downwards(%p: ptr, %a: i32, %b: i32) {
entry:
  %m: i32 = xor %a, -1
  %d: i32 = add %m, %b
  %r: i32 = add %d, 2
  %n: i32 = lshr %r, 1
  %g: i1 = icmp ugt %b, %a
  br %g, head(0), out
head:
  %k: i32 = phi
  %t: i1 = icmp ult %k, %n
  br %t, body, out
body:
  %y: i32 = shl %k, 1
  %x: i32 = sub %b, %y
  %w: i64 = zext %x
  %q: ptr = getelementptr i32, %p, %w
  store i32 1, %q, align 4
  %j: i32 = add nuw %k, 1
  br head(%j)
out:
  ret
}
; check: loops
; %k: induction
; func @downwards(%p: ptr, %a: i32, %b: i32) {
; entry:
;   %m: i32 = xor %a, -1
;   %d: i32 = add %m, %b
;   %r: i32 = add %d, 2
;   %n: i32 = lshr %r, 1
;   %g: i1 = icmp ugt %b, %a
;   br %g, preheader(0), out
; preheader:
;   %v20: i32 = phi
;   %v22: i32 = sub %n, %v20
;   %v23: i1 = icmp ult %v20, %n
;   %v24: i32 = sub %v22, 1
;   %v25: i32 = add %v24, 1
;   %v26: i32 = select %v23, %v25, 0
;   %v27: i64 = zext %v26
;   %v29: i1 = icmp ne %v27, 0
;   br %v29, begin, scalar(%v20)
; begin:
;   %v31: i64 = udiv %v27, 4
;   %v32: i64 = urem %v27, 4
;   br whole(%v31, %v32, %v20)
; whole:
;   %v33: i64 = phi
;   %v35: i64 = phi
;   %v36: i32 = phi
;   %v38: i1 = icmp ne %v33, 0
;   br %v38, lanes(0, %v36), left(%v36)
; lanes:
;   %v39: i64 = phi
;   %v40: i32 = phi
;   call @downwards_x4(%n, %b, %p, %v40)
;   %v43: i32 = add %v40, 4
;   %v44: i64 = add nuw %v39, 1
;   %v45: i1 = icmp ult %v44, %v33
;   br %v45, lanes(%v44, %v43), left(%v43)
; left:
;   %v46: i32 = phi
;   %v47: i1 = icmp ne %v35, 0
;   br %v47, repeat, behind
; repeat:
;   %v48: i1 = icmp uge %v27, 4
;   br %v48, enough, behind
; enough:
;   %v49: i64 = sub %v35, 4
;   %v50: i32 = trunc %v49
;   %v51: i32 = mul %v50, 1
;   %v52: i32 = add %v46, %v51
;   br whole(1, 0, %v52)
; behind:
;   %v53: i1 = icmp ne %v35, 0
;   br %v53, tail, done(%v46)
; tail:
;   %v55: i32 = trunc %v35
;   %v58: <4 x i32> = insertelement poison, %v55, i32 0
;   %v59: <4 x i32> = shufflevector %v58, poison [0, 0, 0, 0]
;   %v60: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v59
;   call @downwards_x4.masked(%n, %b, %p, %v46, %v60)
;   %v61: i64 = sub %v35, 1
;   %v62: i32 = trunc %v35
;   %v63: i32 = mul %v62, 1
;   %v64: i32 = add %v46, %v63
;   br done(%v64)
; done:
;   %v54: i32 = phi
;   br scalar(%v54)
; scalar:
;   %v21: i32 = phi
;   br head(%v21)
; head:
;   %k: i32 = phi
;   %t: i1 = icmp ult %k, %n
;   br %t, body, out
; body:
;   %y: i32 = shl %k, 1
;   %x: i32 = sub %b, %y
;   %w: i64 = zext %x
;   %q: ptr = getelementptr i32, %p, %w
;   store i32 1, %q, align 4
;   %j: i32 = add nuw %k, 1
;   br head(%j)
; out:
;   ret
; }
; func @downwards_x4(%n: i32, %b: i32, %p: ptr, %k: i32) phase vector {
; entry:
;   %v5: i32 = add %k, 0
;   %v7: i32 = mul %k, 2
;   %v8: i32 = mul 0, 2
;   %v9: i32 = add %v7, %v8
;   %v10: i32 = mul %k, 2
;   %v11: i32 = sub 0, %v10
;   %v12: i32 = add %v11, %b
;   %v13: i32 = mul 0, 2
;   %v14: i32 = sub %v12, %v13
;   br head
; head:
;   br body
; body:
;   %v16: i32 = shl %v5, 1
;   %v17: i32 = sub %b, %v9
;   %v18: i64 = zext %v14
;   %v19: ptr = getelementptr i32, %p, %v18
;   %v21: ptr = getelementptr i8, %v19, i64 -24
;   %v24: <7 x i32> = shufflevector <4 x i32> <1, 1, 1, 1>, poison [3, -1, 2, -1, 1, -1, 0]
;   call @llvm.masked.store.v7i32.p0(%v24, %v21, 4, <true, false, true, false, true, false, true>)
;   %v27: i32 = add %v5, 1
;   br next
; next:
;   ret
; }

; Nothing tells that `%a` is not above `%b`: the index may pass from the greatest number to the least.
func @unguarded(%p: ptr, %a: i32, %b: i32) {
entry:
  %n: i32 = sub %b, %a
  br head(0)
head:
  %k: i32 = phi
  %t: i1 = icmp ult %k, %n
  br %t, body, out
body:
  %x: i32 = add %k, %a
  %w: i64 = sext %x
  %q: ptr = getelementptr i32, %p, %w
  store i32 1, %q, align 4
  %j: i32 = add nuw %k, 1
  br head(%j)
out:
  ret
}
; check: loops
; %k: induction
; func @unguarded(%p: ptr, %a: i32, %b: i32) {
; entry:
;   %n: i32 = sub %b, %a
;   %v14: i32 = sub %n, 0
;   %v15: i1 = icmp ult i32 0, %n
;   %v16: i32 = sub %v14, 1
;   %v17: i32 = add %v16, 1
;   %v18: i32 = select %v15, %v17, 0
;   %v19: i64 = zext %v18
;   %v21: i1 = icmp ne %v19, 0
;   br %v21, begin, scalar(0)
; begin:
;   %v23: i64 = udiv %v19, 4
;   %v24: i64 = urem %v19, 4
;   %v26: i1 = icmp ne %v23, 0
;   br %v26, lanes(0, 0), left(0)
; lanes:
;   %v27: i64 = phi
;   %v29: i32 = phi
;   call @unguarded_x4(%n, %a, %p, %v29)
;   %v32: i32 = add %v29, 4
;   %v33: i64 = add nuw %v27, 1
;   %v34: i1 = icmp ult %v33, %v23
;   br %v34, lanes(%v33, %v32), left(%v32)
; left:
;   %v35: i32 = phi
;   %v36: i1 = icmp ne %v24, 0
;   br %v36, tail, done(%v35)
; tail:
;   %v38: i32 = trunc %v24
;   %v41: <4 x i32> = insertelement poison, %v38, i32 0
;   %v42: <4 x i32> = shufflevector %v41, poison [0, 0, 0, 0]
;   %v43: <4 x i1> = icmp ult <4 x i32> <0, 1, 2, 3>, %v42
;   call @unguarded_x4.masked(%n, %a, %p, %v35, %v43)
;   %v44: i64 = sub %v24, 1
;   %v45: i32 = trunc %v24
;   %v46: i32 = mul %v45, 1
;   %v47: i32 = add %v35, %v46
;   br done(%v47)
; done:
;   %v37: i32 = phi
;   br scalar(%v37)
; scalar:
;   %v13: i32 = phi
;   br head(%v13)
; head:
;   %k: i32 = phi
;   %t: i1 = icmp ult %k, %n
;   br %t, body, out
; body:
;   %x: i32 = add %k, %a
;   %w: i64 = sext %x
;   %q: ptr = getelementptr i32, %p, %w
;   store i32 1, %q, align 4
;   %j: i32 = add nuw %k, 1
;   br head(%j)
; out:
;   ret
; }
; func @unguarded_x4(%n: i32, %a: i32, %p: ptr, %k: i32) phase vector {
; entry:
;   %v5: i32 = add %k, 0
;   br head
; head:
;   br body
; body:
;   %v6: i32 = add %v5, %a
;   %v10: <4 x i32> = insertelement poison, %v6, i64 0
;   %v11: <4 x i32> = shufflevector %v10, poison [0, 0, 0, 0]
;   %v12: <4 x i32> = add %v11, <0, 1, 2, 3>
;   %v13: <4 x i64> = sext %v12
;   %v14: <4 x ptr> = getelementptr i32, %p, %v13
;   %v16: <4 x ptr> = getelementptr i32, %p, %v12
;   call @llvm.masked.scatter.v4i32.v4p0(<1, 1, 1, 1>, %v16, 4, <true, true, true, true>)
;   %v20: i32 = add %v5, 1
;   br next
; next:
;   ret
; }
