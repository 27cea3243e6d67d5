//@ group Lane operations
//@ construct `warpline_broadcast_T`, `warpline_extract_T`, `warpline_shuffle_T`, `warpline_insert_T`
//@ happens once if the lane is the same for all, else a permutation; 0 from a lane that is not active
//@ args index, varying:4=small, uniform=2
//@ range 0..50
//@ result 4
//@ lockstep
#include "warpline.h"
int kernel(int i, int x, int n) {
  int same = warpline_broadcast_i32(x, (uint32_t)n);
  int other = warpline_insert_i32(x, 1, -5) + warpline_extract_i16((int16_t)i, 0);
  if (x > 1)
    other += warpline_shuffle_i32(i, (uint32_t)x) - (int)warpline_shuffle_f64(i * 0.5, warpline_lane_index() ^ 1u);
  return same + other;
}
