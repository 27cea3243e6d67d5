;@ group Lane operations
;@ construct `__spirv_Group…`, `__shfl…`, other functions of groups than those above
;@ happens refused
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ refused all work-items of a group call `sub_group_clustered_reduce_add(int, uint)` together
declare i32 @_Z30sub_group_clustered_reduce_addij(i32, i32)
define i32 @kernel(i32 %i, i32 %x) {
  %r = call i32 @_Z30sub_group_clustered_reduce_addij(i32 %x, i32 4)
  ret i32 %r
}
