;@ group Lane operations
;@ construct OpenCL's `get_global_id`, `get_local_id`, `get_group_id`, `get_global_size`, `get_local_size`, `get_num_groups`, `get_global_offset`
;@ happens parameters: the index in dimension 0, all else is uniform; a driver runs ranges of three dimensions
;@ args buffer:600=small, buffer:600=zero, index, uniform=3, uniform=0, uniform=2, uniform=64
;@ range 0..50
;@ contains : <4 x i32> = load
declare i64 @_Z13get_global_idj(i32)
declare i64 @_Z12get_local_idj(i32)
declare i64 @_Z12get_group_idj(i32)
declare i64 @_Z14get_local_sizej(i32)
define void @kernel(ptr %a, ptr %out) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %row = call i64 @_Z13get_global_idj(i32 1)
  %l = call i64 @_Z12get_local_idj(i32 0)
  %g = call i64 @_Z12get_group_idj(i32 0)
  %n = call i64 @_Z14get_local_sizej(i32 0)
  %k = add i64 %i, %row
  %p = getelementptr i32, ptr %a, i64 %k
  %q = getelementptr i32, ptr %a, i64 %l
  %to = getelementptr i32, ptr %out, i64 %i
  %x = load i32, ptr %p
  %y = load i32, ptr %q
  %group = trunc i64 %g to i32
  %size = trunc i64 %n to i32
  %xg = mul i32 %x, %group
  %sum = add i32 %xg, %y
  %r = add i32 %sum, %size
  store i32 %r, ptr %to
  ret void
}
