; test: lower

; Signed narrow indices that do not wrap: contiguous loads, though lane 0's narrow sum might wrap where it is not used.
func @stencil(%i: i32, %u: i32, %up: ptr) -> float {
entry:
  %j: i32 = add nsw %i, -1
  %w: i64 = sext %j
  %q: ptr = getelementptr inbounds float, %up, %w
  %r: float = load %q, align 4
  ret %r
}
; check: lower
; func @stencil_x4(%i: i32, %u: i32, %up: ptr) -> <4 x float> phase vector {
; entry:
;   %v4: i32 = add %i, -1
;   %v5: i64 = sext %i
;   %v7: i64 = add %v5, -1
;   %v8: ptr = getelementptr float, %up, %v7
;   %v9: <4 x float> = load %v8, align 4
;   ret %v9
; }

; Nested arithmetic, and an extension that is known to be of a non-negative number.
func @row(%i: i32, %u: i32, %up: ptr) -> float {
entry:
  %a: i32 = mul nsw %i, 3
  %b: i32 = sub nsw %a, %u
  %w: i64 = zext nneg %b
  %q: ptr = getelementptr inbounds float, %up, %w
  %r: float = load %q, align 4
  ret %r
}
; check: lower
; func @row_x4(%i: i32, %u: i32, %up: ptr) -> <4 x float> phase vector {
; entry:
;   %v4: i32 = mul %i, 3
;   %v5: i32 = sub %v4, %u
;   %v6: i64 = sext %i
;   %v8: i64 = mul %v6, 3
;   %v9: i64 = sext %u
;   %v10: i64 = sub %v8, %v9
;   %v11: ptr = getelementptr float, %up, %v10
;   %v12: <10 x float> = load %v11, align 4
;   %v14: <4 x float> = shufflevector %v12, poison [0, 3, 6, 9]
;   ret %v14
; }

; The implicit extension of an index.
func @implicit(%i: i32, %u: i32, %up: ptr) -> float {
entry:
  %j: i32 = add nsw %i, %u
  %q: ptr = getelementptr inbounds float, %up, %j
  %r: float = load %q, align 4
  ret %r
}
; check: lower
; func @implicit_x4(%i: i32, %u: i32, %up: ptr) -> <4 x float> phase vector {
; entry:
;   %v3: i32 = add %i, %u
;   %v4: i64 = sext %i
;   %v5: i64 = sext %u
;   %v6: i64 = add %v4, %v5
;   %v7: ptr = getelementptr float, %up, %v6
;   %v8: <4 x float> = load %v7, align 4
;   ret %v8
; }

; Without the flag the sum may wrap between two lanes: a gather.
func @may_wrap(%i: i32, %u: i32, %up: ptr) -> float {
entry:
  %j: i32 = add %i, %u
  %w: i64 = sext %j
  %q: ptr = getelementptr inbounds float, %up, %w
  %r: float = load %q, align 4
  ret %r
}
; check: lower
; func @may_wrap_x4(%i: i32, %u: i32, %up: ptr) -> <4 x float> phase vector {
; entry:
;   %v3: i32 = add %i, %u
;   %v7: <4 x i32> = insertelement poison, %v3, i64 0
;   %v8: <4 x i32> = shufflevector %v7, poison [0, 0, 0, 0]
;   %v9: <4 x i32> = add %v8, <0, 1, 2, 3>
;   %v10: <4 x i64> = sext %v9
;   %v11: <4 x ptr> = getelementptr inbounds float, %up, %v10
;   %v12: <4 x ptr> = getelementptr i32, %up, %v9
;   %v16: <4 x float> = call @llvm.masked.gather.v4f32.v4p0(%v12, 4, <true, true, true, true>, poison)
;   ret %v16
; }
