;@ group What has gone wrong elsewhere
;@ construct vecz: a kernel in which nothing depends on the lane
;@ happens refused
;@ args uniform=3
;@ range 0..50
;@ result 4
;@ refused nothing in it depends on the lane
define i32 @kernel(i32 %u) {
  %r = mul i32 %u, 3
  ret i32 %r
}
