; Two-operand arithmetic, comparisons, conversions and their flags, on scalars and vectors, folding constants included.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

define i32 @integers(i32 %a, i32 %b, i64 %wide) {
  %1 = add nuw nsw i32 %a, %b
  %2 = sub nsw i32 %1, 7
  %3 = mul nuw i32 %2, %2
  %4 = udiv exact i32 %3, 3
  %5 = sdiv exact i32 %4, %b
  %6 = urem i32 %5, %a
  %7 = srem i32 %6, -5
  %8 = shl nuw i32 %7, 1
  %9 = lshr exact i32 %8, 1
  %10 = ashr i32 %9, 2
  %11 = and i32 %10, 255
  %12 = or disjoint i32 %11, 256
  %13 = xor i32 %12, -1
  %folding = add i32 1, 2
  %also = shl nsw i32 1, 31
  %zero = mul i32 0, %folding
  %14 = trunc nuw nsw i64 %wide to i32
  %15 = zext nneg i32 %14 to i64
  %16 = sext i32 %14 to i64
  %same = bitcast i32 %13 to i32
  %17 = icmp ult i64 %15, %16
  %18 = icmp eq i32 5, 5
  %19 = select i1 %17, i32 %same, i32 %also
  %20 = select i1 true, i32 %19, i32 %zero
  %21 = freeze i32 %20
  %22 = freeze i32 poison
  %23 = add i32 %21, %22
  ret i32 %23
}

define i1 @predicates(i8 %a, i8 %b, float %x, float %y) {
  %i0 = icmp eq i8 %a, %b
  %i1 = icmp ne i8 %a, %b
  %i2 = icmp ugt i8 %a, %b
  %i3 = icmp uge i8 %a, %b
  %i4 = icmp ult i8 %a, %b
  %i5 = icmp ule i8 %a, %b
  %i6 = icmp sgt i8 %a, %b
  %i7 = icmp sge i8 %a, %b
  %i8 = icmp slt i8 %a, %b
  %i9 = icmp sle i8 %a, %b
  %f0 = fcmp false float %x, %y
  %f1 = fcmp oeq float %x, %y
  %f2 = fcmp ogt float %x, %y
  %f3 = fcmp oge float %x, %y
  %f4 = fcmp olt float %x, %y
  %f5 = fcmp ole float %x, %y
  %f6 = fcmp one float %x, %y
  %f7 = fcmp ord float %x, %y
  %f8 = fcmp ueq float %x, %y
  %f9 = fcmp ugt float %x, %y
  %fa = fcmp uge float %x, %y
  %fb = fcmp ult float %x, %y
  %fc = fcmp ule float %x, %y
  %fd = fcmp une float %x, %y
  %fe = fcmp uno float %x, %y
  %ff = fcmp nnan ninf true float %x, %y
  ret i1 %ff
}

define double @floats(float %x, double %y, half %h, bfloat %b, x86_fp80 %e, fp128 %q) {
  %1 = fadd fast float %x, 0x7FF8000020000000
  %2 = fsub nnan ninf nsz float %1, -0.0
  %3 = fmul arcp contract float %2, 0x7FF4000000000000
  %4 = fdiv afn reassoc float %3, 3.0
  %5 = frem float %4, 2.0
  %6 = fneg nsz float %5
  %7 = fneg double 1.0
  %8 = fadd half %h, 0xH7E01
  %9 = fadd bfloat %b, 0xR3F80
  %10 = fadd x86_fp80 %e, 0xK3FFF8000000000000001
  %11 = fadd fp128 %q, 0xL00000000000000013FFF000000000000
  %12 = fpext float %6 to double
  %13 = fptrunc double %12 to half
  %14 = fpext half %13 to x86_fp80
  %15 = fptosi double %12 to i32
  %16 = fptoui double %12 to i128
  %17 = sitofp i32 %15 to float
  %18 = uitofp nneg i32 %15 to double
  %19 = bitcast double %18 to i64
  %20 = select nnan i1 true, double %18, double %12
  ret double %20
}

define i4096 @wide(i128 %a, i4096 %b, i65 %c) {
  %1 = add i128 %a, -170141183460469231731687303715884105728
  %2 = mul i128 %1, 85070591730234615865843651857942052865
  %3 = zext i128 %2 to i4096
  %4 = xor i4096 %3, 1234567890123456789012345678901234567890123456789012345678901234567890
  %5 = add i65 %c, 18446744073709551616
  %6 = add i65 %5, -1
  %7 = sext i65 %6 to i4096
  %8 = sub i4096 %4, %7
  ret i4096 %8
}

define <4 x i32> @vectors(<4 x i32> %a, <4 x float> %f, i32 %i) {
  %1 = add nsw <4 x i32> %a, <i32 1, i32 undef, i32 poison, i32 -4>
  %2 = shufflevector <4 x i32> %1, <4 x i32> %a, <4 x i32> <i32 0, i32 poison, i32 7, i32 2>
  %3 = shufflevector <4 x i32> %2, <4 x i32> poison, <2 x i32> zeroinitializer
  %4 = extractelement <2 x i32> %3, i32 %i
  %5 = insertelement <4 x i32> poison, i32 %4, i64 1
  %6 = fcmp olt <4 x float> %f, <float 1.0, float 2.0, float 3.0, float 4.0>
  %7 = select <4 x i1> %6, <4 x i32> %5, <4 x i32> splat (i32 9)
  %8 = sext <4 x i1> %6 to <4 x i32>
  %9 = xor <4 x i32> %7, %8
  ret <4 x i32> %9
}

define <vscale x 4 x i32> @scalable(<vscale x 4 x i32> %v, i32 %x) {
  %head = insertelement <vscale x 4 x i32> poison, i32 %x, i64 0
  %splat = shufflevector <vscale x 4 x i32> %head, <vscale x 4 x i32> poison, <vscale x 4 x i32> zeroinitializer
  %lost = shufflevector <vscale x 4 x i32> %head, <vscale x 4 x i32> poison, <vscale x 4 x i32> poison
  %sum = add <vscale x 4 x i32> %splat, %v
  %more = add <vscale x 4 x i32> %sum, splat (i32 3)
  %all = sub <vscale x 4 x i32> %more, %lost
  ret <vscale x 4 x i32> %all
}
