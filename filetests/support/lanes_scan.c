//@ group Lane operations
//@ construct `warpline_scan_exclusive_add_T`, `warpline_scan_inclusive_add_T` and `mul`, `min`, `max`, `and`, `or`, `xor`
//@ happens in as many steps as the width has bits; floating-point sums and products once for each lane, in order
//@ args index, varying:4=small, varying:4=random
//@ range 0..50
//@ result 8
//@ lockstep
#include "warpline.h"
int64_t kernel(int i, int x, int y) {
  int64_t sum = warpline_scan_exclusive_add_i32(x);
  if (x != 2) {
    sum += warpline_scan_inclusive_max_u8((uint8_t)y) - warpline_scan_exclusive_min_i64(y);
    sum ^= (int64_t)(warpline_scan_inclusive_add_f32(x * 0.25f) + warpline_scan_exclusive_add_f64(i));
    sum += warpline_scan_exclusive_xor_u32((uint32_t)y) & warpline_scan_inclusive_or_i16((int16_t)x);
  }
  return sum;
}
