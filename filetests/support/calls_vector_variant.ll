;@ group Calls
;@ construct functions with vector variants of the user (`declare simd`)
;@ happens the variant, in pieces if it has fewer lanes, under the mask if it takes one
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ contains _ZGVbM4v_scale
define weak i32 @scale(i32 %x) noinline #0 {
  %r = mul i32 %x, 3
  ret i32 %r
}
define weak i32 @ahead(i32 %x) noinline #1 {
  %r = add i32 %x, 7
  ret i32 %r
}
define <4 x i32> @_ZGVbM4v_scale(<4 x i32> %x, <4 x i32> %mask) {
  %r = mul <4 x i32> %x, <i32 3, i32 3, i32 3, i32 3>
  %s = and <4 x i32> %r, %mask
  ret <4 x i32> %s
}
define <4 x i32> @_ZGVbN4l_ahead(i32 %x) {
  %v = insertelement <4 x i32> poison, i32 %x, i64 0
  %all = shufflevector <4 x i32> %v, <4 x i32> poison, <4 x i32> zeroinitializer
  %r = add <4 x i32> %all, <i32 7, i32 8, i32 9, i32 10>
  ret <4 x i32> %r
}
define i32 @kernel(i32 %i, i32 %x) {
entry:
  %a = call i32 @ahead(i32 %i)
  %c = icmp ult i32 %x, 3
  br i1 %c, label %then, label %end
then:
  %s = call i32 @scale(i32 %x)
  br label %end
end:
  %t = phi i32 [ 1, %entry ], [ %s, %then ]
  %r = add i32 %t, %a
  ret i32 %r
}
attributes #0 = { "_ZGVbM4v_scale" }
attributes #1 = { "_ZGVbN4l_ahead" }
