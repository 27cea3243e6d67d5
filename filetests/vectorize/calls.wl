; test: lower

declare @element(ptr, i32) -> i32 [reads]

func @element(%p: ptr, %k: i32) -> i32 {
entry:
  %place: ptr = getelementptr i32, %p, %k
  %v: i32 = load %place, align 4
  ret %v
}
; check: lower
; func @element_x4(%p: <4 x ptr>, %k: <4 x i32>) -> <4 x i32> phase vector {
; entry:
;   %v2: <4 x ptr> = getelementptr i32, %p, %k
;   %v6: <4 x i32> = call @llvm.masked.gather.v4i32.v4p0(%v2, 4, <true, true, true, true>, poison)
;   ret %v6
; }

; A function of the module is called in the form for the shapes of the arguments and for the mask.
func @kernel(%x: i32, %un: i32, %ua: ptr) -> i32 {
entry:
  %a: i32 = call @element(%ua, %x) [reads]
  %c: i1 = icmp ult %a, %un
  br %c, then, end(%a)
then:
  %b: i32 = call @element(%ua, %un) [reads writes traps]
  br end(%b)
end:
  %r: i32 = phi
  ret %r
}
; check: lower
; func @kernel_x4(%x: <4 x i32>, %un: i32, %ua: ptr) -> <4 x i32> phase vector {
; entry:
;   %v3: <4 x i32> = call @element.x4uv.p0(%ua, %x) [reads]
;   %v6: <4 x i32> = insertelement poison, %un, i64 0
;   %v7: <4 x i32> = shufflevector %v6, poison [0, 0, 0, 0]
;   %v8: <4 x i1> = icmp ult %v3, %v7
;   br then
; then:
;   %v9: <4 x i32> = call @element.x4uu.mp0(%ua, %un, %v8) [reads writes traps]
;   %v10: <4 x i32> = select %v8, %v9, %v3
;   br end
; end:
;   ret %v10
; }
