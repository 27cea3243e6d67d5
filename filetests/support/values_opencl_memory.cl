//@ group Values
//@ construct OpenCL C: `vload4`, `vstore4`, `convert_uchar4_sat_rte`, `shuffle`, `mul_hi`, `add_sat` and similar
//@ happens inlined, and taken apart into elements
//@ function pack
//@ args index, buffer:1024=small, buffer:1024=zero
//@ range 0..50
kernel void pack(int i, global const float *a, global uchar *out) {
  float4 v = vload4(i, a);
  uchar4 c = convert_uchar4_sat_rte(v * 2.5f);
  vstore4(add_sat(shuffle(c, (uchar4)(2, 0, 3, 1)), mul_hi(c, (uchar4)77)), i, out);
}
