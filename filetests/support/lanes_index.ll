;@ group Lane operations
;@ construct `warpline_lane_index`, `warpline_lane_count`
;@ happens constants
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ lockstep
declare i32 @warpline_lane_index()
declare i32 @warpline_lane_count()
define i32 @kernel(i32 %i, i32 %x) {
  %k = call i32 @warpline_lane_index()
  %n = call i32 @warpline_lane_count()
  %m = mul i32 %k, %n
  %r = add i32 %m, %x
  ret i32 %r
}
