//@ group Lane operations
//@ construct kernels of OpenCL that other kernels call, with barriers or without
//@ happens plain functions there, of the caller's work-items: inlined
//@ function kernel_
//@ args buffer:600=small, buffer:600=zero
//@ range 0..50
kernel void first(global int *a, local int *t) {
  t[get_local_id(0)] = a[get_global_id(0)] * 3;
  barrier(CLK_LOCAL_MEM_FENCE);
}
kernel void kernel_(global int *a, local int *t) {
  first(a, t);
  a[get_global_id(0)] = t[get_local_id(0) ^ 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  first(a, t);
  a[get_global_id(0)] += t[get_local_id(0) ^ 2];
}
