; Lane operations as a kernel calls them, and calls that are none because of their types.
declare zeroext i1 @warpline_any(i1 zeroext)
declare zeroext i1 @warpline_all(i1 zeroext)
declare i64 @warpline_ballot(i1 zeroext)
declare i32 @warpline_popcount(i1 zeroext)
declare i32 @warpline_lane_index()
declare i64 @warpline_lane_count()

define i64 @lanes(i32 %x) {
  %index = call i32 @warpline_lane_index()
  %c = icmp eq i32 %index, %x
  %any = call zeroext i1 @warpline_any(i1 zeroext %c)
  %all = call zeroext i1 @warpline_all(i1 zeroext true)
  %ballot = call i64 @warpline_ballot(i1 zeroext %any)
  %count = call i32 @warpline_popcount(i1 zeroext %all)
  %odd = call i64 @warpline_lane_count()
  %wide = zext i32 %count to i64
  %sum = add i64 %ballot, %wide
  %total = add i64 %sum, %odd
  ret i64 %total
}
