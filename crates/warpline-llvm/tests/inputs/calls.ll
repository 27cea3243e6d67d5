; Calls: attributes, conventions, bundles, tail calls, variadic and indirect ones, intrinsics, tokens, metadata arguments.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

%struct = type { i32, i64 }

declare i32 @printf(ptr, ...)
declare fastcc i32 @fast(i32 signext, ptr byval(%struct))
declare noundef zeroext i1 @flag(i1 noundef zeroext)
declare void @sink(ptr)
declare float @llvm.sqrt.f32(float)
declare i32 @llvm.umax.i32(i32, i32)
declare void @llvm.assume(i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1 immarg)
declare i64 @llvm.read_register.i64(metadata)
declare float @llvm.experimental.constrained.fadd.f32(float, float, metadata, metadata)
declare token @llvm.call.preallocated.setup(i32)
declare ptr @llvm.call.preallocated.arg(token, i32)
declare void @llvm.va_start.p0(ptr)
declare <4 x float> @llvm.vector.insert.v4f32.v2f32(<4 x float>, <2 x float>, i64)
declare void @takes(ptr preallocated(%struct))

define i32 @calls(i32 %x, ptr %p, ptr %f, float %v) #0 {
  %1 = call i32 (ptr, ...) @printf(ptr %p, i32 %x, double 1.0)
  %2 = tail call fastcc signext i32 @fast(i32 signext %1, ptr byval(%struct) align 8 %p) #1
  %3 = notail call i32 %f(i32 %2, ptr nonnull %p)
  %4 = call noundef zeroext i1 @flag(i1 noundef zeroext true)
  %5 = call fast float @llvm.sqrt.f32(float %v)
  %6 = call i32 @llvm.umax.i32(i32 %3, i32 4), !annotation !1
  call void @llvm.assume(i1 true) [ "align"(ptr %p, i64 16) ]
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %p, ptr align 4 %f, i64 16, i1 false)
  %7 = call i64 @llvm.read_register.i64(metadata !0)
  %8 = call float @llvm.experimental.constrained.fadd.f32(float %5, float 1.0, metadata !"round.dynamic", metadata !"fpexcept.strict") #2
  %9 = call float %f(float %8)
  %10 = call i32 @sum(i32 3, i32 %6)
  call void undef()
  call void null(i32 4)
  ret i32 %10
}

define i32 @sum(i32 %n, ...) {
  %list = alloca ptr, align 8
  call void @llvm.va_start.p0(ptr %list)
  %1 = va_arg ptr %list, i32
  %2 = va_arg ptr %list, i64
  ret i32 %1
}

define i32 @tail(i32 %x) {
  %1 = musttail call i32 @tail(i32 %x)
  ret i32 %1
}

define void @preallocated() {
  %t = call token @llvm.call.preallocated.setup(i32 1)
  %a = call ptr @llvm.call.preallocated.arg(token %t, i32 0) preallocated(%struct)
  call void @takes(ptr preallocated(%struct) %a) [ "preallocated"(token %t) ]
  ret void
}

define void @inalloca_caller() {
  %a = alloca inalloca %struct, align 8
  call void @inalloca_callee(ptr inalloca(%struct) %a)
  ret void
}

declare void @inalloca_callee(ptr inalloca(%struct))

attributes #0 = { strictfp nounwind }
attributes #1 = { cold nounwind }
attributes #2 = { strictfp }

!0 = !{!"rsp\00"}
!1 = !{!"note"}
