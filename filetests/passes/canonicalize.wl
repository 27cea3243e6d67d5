; test: passes canonicalize

; Two returns become one; the loop gets a preheader and one back edge; what leaves it does so through a φ of its exit.
func @search(%x: i32, %un: i32) -> i32 {
entry:
  %is: i1 = icmp sgt %x, 100
  br %is, early, loop(0)
early:
  ret -1
loop:
  %k: i32 = phi
  %next: i32 = add %k, 1
  %odd: i1 = icmp eq %next, %x
  br %odd, loop(7), again
again:
  %more: i1 = icmp slt %next, %un
  br %more, loop(%next), end
end:
  ret %next
}
