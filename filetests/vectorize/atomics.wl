; test: lower

; Each active lane in lane order.
func @tickets(%c: i1, %ucounter: ptr) -> i32 {
entry:
  br %c, then, join(0)
then:
  %old: i32 = opaque "atomicrmw" (rmw add seq_cst, align 4) %ucounter, 1 [reads writes traps unknown_result atomic]
  br join(%old)
join:
  %p: i32 = phi
  ret %p
}

; A fence is made once.
func @fence(%c: i1) {
entry:
  br %c, then, join
then:
  opaque "fence" (fence seq_cst) [reads writes atomic]
  br join
join:
  ret
}

; Old value and success of each lane.
func @exchange(%at: ptr, %x: i32, %unew: i32) -> i1 {
entry:
  %pair: { i32, i1 } = opaque "cmpxchg" (cmpxchg seq_cst acquire, align 4) %at, %x, %unew [reads writes traps unknown_result atomic]
  %ok: i1 = extractvalue %pair [1]
  ret %ok
}
