//@ group Values
//@ construct vector-typed values (`float4`)
//@ happens taken apart into elements
//@ args index, varying:4=small
//@ range 0..50
//@ result 4
typedef float float4 __attribute__((ext_vector_type(4)));
float kernel(int i, int x) {
  float4 v = {(float)i, (float)x, 2.0f, (float)(i + x)};
  float4 w = v * v.wzyx + 1.5f;
  return w.x - w.z;
}
