; What LLVM 19 does not know yet.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

define i64 @newer(i8 %a, i8 %b, ptr captures(none) %p, <4 x i1> %m) {
  %c = icmp samesign ult i8 %a, %b
  %d = ptrtoaddr ptr %p to i64
  %f = fptrunc fast double 1.0 to float
  %v = call <4 x float> @llvm.masked.load.v4f32.p0(ptr align 4 %p, <4 x i1> %m, <4 x float> poison)
  ret i64 %d
}

declare <4 x float> @llvm.masked.load.v4f32.p0(ptr captures(none), <4 x i1>, <4 x float>)
