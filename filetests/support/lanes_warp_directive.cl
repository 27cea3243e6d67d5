//@ group Lane operations
//@ construct work-items of a group that meet in `volatile` memory without a barrier, as those of a warp may
//@ happens with `//@ warp 32`: 32 lanes, which execute one statement after the other together; else refused as a race
//@ function kernel_
//@ warp 32
//@ args buffer:600=small, buffer:600=zero
//@ range 0..50
kernel void kernel_(global int *a, local volatile int *t) {
  int l = get_local_id(0);
  t[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 16) t[l] += t[l + 16];
  if (l < 8) t[l] += t[l + 8];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = t[l];
}
