//@ group Values
//@ construct OpenCL C: builtins of `half`: `fma`, `convert_half4_rtz`, `smoothstep`, `select`, `isless` and similar
//@ happens inlined; in `float` (`fma` in `double`) and rounded once
//@ function shade
//@ args index, buffer:1024=small, buffer:1024=zero
//@ range 0..50
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void shade(int i, global const float *a, global float *out) {
  half4 v = convert_half4_rtz(vload4(i, a)), w;
  half4 light = fma(v, v.wzyx, fract(v, &w)) * smoothstep(0.0h, 4.0h, v);
  vstore4(convert_float4(select(light, w, isless(v, (half4)1.0h))), i, out);
}
