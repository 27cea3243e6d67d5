//@ group Lane operations
//@ construct `get_sub_group_…`, `get_num_sub_groups`, `sub_group_reduce_…`, `scan_…`, `broadcast`, `any`, `all`, `elect`, `ballot`, `shuffle…`, `barrier`
//@ happens sub-groups are the lanes: operations across lanes; a barrier is one of the group
//@ function kernel_
//@ args buffer:600=small, buffer:600=zero
//@ range 0..50
int __attribute__((overloadable, convergent)) sub_group_reduce_add(int);
uint __attribute__((overloadable, convergent)) get_sub_group_local_id(void);
kernel void kernel_(global int *a, global int *b) {
  int x = a[get_global_id(0)];
  b[get_global_id(0)] = sub_group_reduce_add(x) + (int)get_sub_group_local_id();
}
