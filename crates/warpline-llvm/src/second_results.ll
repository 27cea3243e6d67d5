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
  %exponent = and i32 %shifted, 255
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

; As glibc and musl have it on x86-64.
define i32 @warpline.ilogbf(float %x) #0 {
  %size = call float @llvm.fabs.f32(float %x)
  %small = fcmp olt float %size, 0x3810000000000000
  %scaled = fmul float %size, 0x4170000000000000
  %normal = select i1 %small, float %scaled, float %size
  %bits = bitcast float %normal to i32
  %exponent = lshr i32 %bits, 23
  %bias = select i1 %small, i32 -151, i32 -127
  %unbiased = add i32 %exponent, %bias
  %infinite = fcmp oeq float %size, 0x7FF0000000000000
  %large = select i1 %infinite, i32 2147483647, i32 -2147483648
  %finite = fcmp olt float %size, 0x7FF0000000000000
  %not_zero = fcmp one float %x, 0.0
  %usual = and i1 %finite, %not_zero
  %result = select i1 %usual, i32 %unbiased, i32 %large
  ret i32 %result
}

; What is left of 8 |y|, less 4 |y|, 2 |y| and up to twice |y|: each difference is exact.
define float @warpline.remquof(float %x, float %y, ptr %out) #0 {
  %a = call float @llvm.fabs.f32(float %x)
  %b = call float @llvm.fabs.f32(float %y)
  %finite = fcmp olt float %a, 0x7FF0000000000000
  %divides = fcmp ogt float %b, 0.0
  %fine = and i1 %finite, %divides
  br i1 %fine, label %divide, label %invalid
invalid:
  %product = fmul float %x, %y
  %nan = fdiv float %product, %product
  ret float %nan
divide:
  %b8 = fmul float %b, 8.0
  %r0 = frem float %a, %b8
  %b4 = fmul float %b, 4.0
  %less4 = fsub float %r0, %b4
  %has4 = fcmp oge float %r0, %b4
  %r1 = select i1 %has4, float %less4, float %r0
  %b2 = fmul float %b, 2.0
  %less2 = fsub float %r1, %b2
  %has2 = fcmp oge float %r1, %b2
  %r2 = select i1 %has2, float %less2, float %r1
  %other = fsub float %b, %r2
  %above = fcmp ogt float %r2, %other
  %less1 = fsub float %r2, %b
  %r3 = select i1 %above, float %less1, float %r2
  %others = fsub float %b, %r3
  %enough = fcmp oge float %r3, %others
  %twice = and i1 %above, %enough
  %less0 = fsub float %r3, %b
  %r4 = select i1 %twice, float %less0, float %r3
  %q4 = select i1 %has4, i32 4, i32 0
  %q2 = select i1 %has2, i32 2, i32 0
  %q1 = zext i1 %above to i32
  %q0 = zext i1 %twice to i32
  %q42 = add i32 %q4, %q2
  %q10 = add i32 %q1, %q0
  %q = add i32 %q42, %q10
  %xbits = bitcast float %x to i32
  %ybits = bitcast float %y to i32
  %signs = xor i32 %xbits, %ybits
  %differ = icmp slt i32 %signs, 0
  %minus = sub i32 0, %q
  %quotient = select i1 %differ, i32 %minus, i32 %q
  store i32 %quotient, ptr %out
  %bits = bitcast float %r4 to i32
  %sign = and i32 %xbits, -2147483648
  %signed = xor i32 %bits, %sign
  %result = bitcast i32 %signed to float
  ret float %result
}

; As glibc and musl have it on x86-64.
define i32 @warpline.ilogb(double %x) #0 {
  %size = call double @llvm.fabs.f64(double %x)
  %small = fcmp olt double %size, 0x0010000000000000
  %scaled = fmul double %size, 0x4340000000000000
  %normal = select i1 %small, double %scaled, double %size
  %bits = bitcast double %normal to i64
  %stored = lshr i64 %bits, 52
  %exponent = trunc i64 %stored to i32
  %bias = select i1 %small, i32 -1077, i32 -1023
  %unbiased = add i32 %exponent, %bias
  %infinite = fcmp oeq double %size, 0x7FF0000000000000
  %large = select i1 %infinite, i32 2147483647, i32 -2147483648
  %finite = fcmp olt double %size, 0x7FF0000000000000
  %not_zero = fcmp one double %x, 0.0
  %usual = and i1 %finite, %not_zero
  %result = select i1 %usual, i32 %unbiased, i32 %large
  ret i32 %result
}

; What is left of 8 |y|, less 4 |y|, 2 |y| and up to twice |y|: each difference is exact.
define double @warpline.remquo(double %x, double %y, ptr %out) #0 {
  %a = call double @llvm.fabs.f64(double %x)
  %b = call double @llvm.fabs.f64(double %y)
  %finite = fcmp olt double %a, 0x7FF0000000000000
  %divides = fcmp ogt double %b, 0.0
  %fine = and i1 %finite, %divides
  br i1 %fine, label %divide, label %invalid
invalid:
  %product = fmul double %x, %y
  %nan = fdiv double %product, %product
  ret double %nan
divide:
  %b8 = fmul double %b, 8.0
  %r0 = frem double %a, %b8
  %b4 = fmul double %b, 4.0
  %less4 = fsub double %r0, %b4
  %has4 = fcmp oge double %r0, %b4
  %r1 = select i1 %has4, double %less4, double %r0
  %b2 = fmul double %b, 2.0
  %less2 = fsub double %r1, %b2
  %has2 = fcmp oge double %r1, %b2
  %r2 = select i1 %has2, double %less2, double %r1
  %other = fsub double %b, %r2
  %above = fcmp ogt double %r2, %other
  %less1 = fsub double %r2, %b
  %r3 = select i1 %above, double %less1, double %r2
  %others = fsub double %b, %r3
  %enough = fcmp oge double %r3, %others
  %twice = and i1 %above, %enough
  %less0 = fsub double %r3, %b
  %r4 = select i1 %twice, double %less0, double %r3
  %q4 = select i1 %has4, i32 4, i32 0
  %q2 = select i1 %has2, i32 2, i32 0
  %q1 = zext i1 %above to i32
  %q0 = zext i1 %twice to i32
  %q42 = add i32 %q4, %q2
  %q10 = add i32 %q1, %q0
  %q = add i32 %q42, %q10
  %xbits = bitcast double %x to i64
  %ybits = bitcast double %y to i64
  %signs = xor i64 %xbits, %ybits
  %differ = icmp slt i64 %signs, 0
  %minus = sub i32 0, %q
  %quotient = select i1 %differ, i32 %minus, i32 %q
  store i32 %quotient, ptr %out
  %bits = bitcast double %r4 to i64
  %sign = and i64 %xbits, -9223372036854775808
  %signed = xor i64 %bits, %sign
  %result = bitcast i64 %signed to double
  ret double %result
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
