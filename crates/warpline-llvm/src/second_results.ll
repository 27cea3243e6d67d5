; Functions of the C library that yield a second result through a pointer, for programs to be vectorized: inlined, the
; second result needs no memory.

define float @warpline.modff(float %x, ptr %out) #0 {
  %whole = call float @llvm.trunc.f32(float %x)
  store float %whole, ptr %out
  %size = call float @llvm.fabs.f32(float %x)
  %infinite = fcmp oeq float %size, 0x7FF0000000000000
  %rest = fsub float %x, %whole
  %kept = select i1 %infinite, float 0.0, float %rest
  %signed = call float @llvm.copysign.f32(float %kept, float %x)
  ret float %signed
}

; Numbers below the normal ones are multiplied first.
define float @warpline.frexpf(float %x, ptr %out) #0 {
  %size = call float @llvm.fabs.f32(float %x)
  %small = fcmp olt float %size, 0x3810000000000000
  %scaled = fmul float %x, 0x4170000000000000
  %normal = select i1 %small, float %scaled, float %x
  %bits = bitcast float %normal to i32
  %shifted = lshr i32 %bits, 23
  %stored = and i32 %shifted, 255
  %exponent = add i32 %stored, 0
  %bias = select i1 %small, i32 -150, i32 -126
  %unbiased = add i32 %exponent, %bias
  %finite = fcmp olt float %size, 0x7FF0000000000000
  %not_zero = fcmp one float %x, 0.0
  %plain = and i1 %finite, %not_zero
  %found = select i1 %plain, i32 %unbiased, i32 0
  store i32 %found, ptr %out
  %fraction = and i32 %bits, -2139095041
  %half = or i32 %fraction, 1056964608
  %value = bitcast i32 %half to float
  %result = select i1 %plain, float %value, float %x
  ret float %result
}

define void @warpline.sincosf(float %x, ptr %sine, ptr %cosine) #0 {
  %s = call float @llvm.sin.f32(float %x)
  %c = call float @llvm.cos.f32(float %x)
  store float %s, ptr %sine
  store float %c, ptr %cosine
  ret void
}

define double @warpline.modf(double %x, ptr %out) #0 {
  %whole = call double @llvm.trunc.f64(double %x)
  store double %whole, ptr %out
  %size = call double @llvm.fabs.f64(double %x)
  %infinite = fcmp oeq double %size, 0x7FF0000000000000
  %rest = fsub double %x, %whole
  %kept = select i1 %infinite, double 0.0, double %rest
  %signed = call double @llvm.copysign.f64(double %kept, double %x)
  ret double %signed
}

; Numbers below the normal ones are multiplied first.
define double @warpline.frexp(double %x, ptr %out) #0 {
  %size = call double @llvm.fabs.f64(double %x)
  %small = fcmp olt double %size, 0x0010000000000000
  %scaled = fmul double %x, 0x4340000000000000
  %normal = select i1 %small, double %scaled, double %x
  %bits = bitcast double %normal to i64
  %shifted = lshr i64 %bits, 52
  %stored = and i64 %shifted, 2047
  %exponent = trunc i64 %stored to i32
  %bias = select i1 %small, i32 -1075, i32 -1022
  %unbiased = add i32 %exponent, %bias
  %finite = fcmp olt double %size, 0x7FF0000000000000
  %not_zero = fcmp one double %x, 0.0
  %plain = and i1 %finite, %not_zero
  %found = select i1 %plain, i32 %unbiased, i32 0
  store i32 %found, ptr %out
  %fraction = and i64 %bits, -9218868437227405313
  %half = or i64 %fraction, 4602678819172646912
  %value = bitcast i64 %half to double
  %result = select i1 %plain, double %value, double %x
  ret double %result
}

define void @warpline.sincos(double %x, ptr %sine, ptr %cosine) #0 {
  %s = call double @llvm.sin.f64(double %x)
  %c = call double @llvm.cos.f64(double %x)
  store double %s, ptr %sine
  store double %c, ptr %cosine
  ret void
}

declare float @llvm.trunc.f32(float)
declare float @llvm.fabs.f32(float)
declare float @llvm.sin.f32(float)
declare float @llvm.cos.f32(float)
declare float @llvm.copysign.f32(float, float)
declare double @llvm.trunc.f64(double)
declare double @llvm.fabs.f64(double)
declare double @llvm.sin.f64(double)
declare double @llvm.cos.f64(double)
declare double @llvm.copysign.f64(double, double)

attributes #0 = { alwaysinline nounwind willreturn }
