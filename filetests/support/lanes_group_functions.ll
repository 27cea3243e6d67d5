;@ group Lane operations
;@ construct `sub_group_…`, `work_group_…` (`all`, `any`, `broadcast`, `reduce_…`, `scan_…`, `shuffle`), `__spirv_Group…`, `__shfl…`
;@ happens refused
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ refused all work-items of a group call `sub_group_reduce_add(int)` together
declare i32 @_Z20sub_group_reduce_addi(i32)
define i32 @kernel(i32 %i, i32 %x) {
  %r = call i32 @_Z20sub_group_reduce_addi(i32 %x)
  ret i32 %r
}
