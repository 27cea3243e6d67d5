; test: lower

; Lanes of `then` bring a value to the join, those of `other` undef. The value must be blended for each lane: in one
; scalar for all lanes, undef would win over the value where `other` comes last.
func @undef_join(%v: i32, %u: i32, %up: ptr, %vp: ptr) -> void {
entry:
  %c: i1 = icmp slt %v, 3
  br %c, other, then
then:
  %l: i32 = load %up, align 4
  br join(%l)
other:
  %m: i32 = add %u, 1
  store %m, %vp, align 4
  br join(undef)
join:
  %x: i32 = phi
  br %c, exit, use
use:
  store %x, %vp, align 4
  br exit
exit:
  ret
}
; check: lower
; func @undef_join_x4(%v: <4 x i32>, %u: i32, %up: ptr, %vp: <4 x ptr>) phase vector {
; entry:
;   %v5: <4 x i1> = icmp slt %v, <3, 3, 3, 3>
;   %v8: <4 x i1> = xor %v5, <true, true, true, true>
;   %v9: <4 x i1> = select <4 x i1> <true, true, true, true>, %v8, <false, false, false, false>
;   %v10: i1 = call @llvm.vector.reduce.or.v4i1(%v9)
;   br %v10, rest, other(poison)
; rest:
;   br then
; then:
;   %v11: i32 = load %up, align 4
;   br other(%v11)
; other:
;   %v12: i32 = phi
;   %v15: i32 = add %u, 1
;   %v18: <4 x i32> = insertelement poison, %v15, i64 0
;   %v19: <4 x i32> = shufflevector %v18, poison [0, 0, 0, 0]
;   call @llvm.masked.scatter.v4i32.v4p0(%v19, %vp, 4, %v5)
;   %v22: <4 x i32> = insertelement poison, %v12, i64 0
;   %v23: <4 x i32> = shufflevector %v22, poison [0, 0, 0, 0]
;   %v24: <4 x i32> = select %v5, undef, %v23
;   br join
; join:
;   %v25: <4 x i1> = xor %v5, <true, true, true, true>
;   %v26: <4 x i1> = select <4 x i1> <true, true, true, true>, %v25, <false, false, false, false>
;   br use
; use:
;   call @llvm.masked.scatter.v4i32.v4p0(%v24, %vp, 4, %v26)
;   br exit
; exit:
;   ret
; }
