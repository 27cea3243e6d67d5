//@ group Values
//@ construct OpenCL C: vectors, swizzles, `dot`, `clamp`, `mix` and similar
//@ happens as if expanded inline: taken apart into elements
//@ function scale
//@ args index, buffer:1024=small, buffer:1024=zero
//@ range 0..50
kernel void scale(int i, global const int4 *a, global float4 *out) {
  float4 v = convert_float4(a[i]);
  float4 unit = normalize(v + 1.0f);
  out[i] = mix(unit.wzyx, max(v, 2.0f), 0.25f) + dot(unit, v) * clamp(v.x, 0.5f, 3.5f);
}
