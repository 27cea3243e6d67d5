//@ group Lane operations
//@ construct OpenCL C's `int i = get_global_id(0)`, `get_global_linear_id`, `get_local_linear_id`, `get_work_dim`
//@ happens contiguous, as with `size_t`; made of numbers that are parameters
//@ args buffer:600=small, buffer:600=zero, index, index, uniform=0, uniform=0, uniform=1, uniform=0, uniform=0, uniform=50, uniform=0, uniform=0, uniform=1, uniform=0, uniform=64, uniform=0, uniform=1
//@ range 0..50
//@ function k
//@ contains : <4 x i32> = load
__kernel void k(__global const int *a, __global int *out) {
    int i = get_global_id(0);
    int x = a[i] + (i > 0 ? a[i - 1] : 7);
    size_t g = get_global_linear_id(), l = get_local_linear_id();
    out[i] = x * 3 + (int)(g * 5 + l) + (int)get_work_dim();
}
