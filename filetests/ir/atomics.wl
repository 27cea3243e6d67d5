; test: roundtrip

func @atomics(%p: ptr, %x: i32, %y: i32) {
entry:
  %old: i32 = opaque "atomicrmw" (rmw add seq_cst, align 4) %p, %x [reads writes traps unknown_result atomic]
  %swap: i32 = opaque "atomicrmw" (rmw xchg volatile acq_rel, align 4) %p, %x [reads writes traps volatile unknown_result atomic]
  %pair: { i32, i1 } = opaque "cmpxchg" (cmpxchg weak release monotonic, align 4) %p, %x, %y [reads writes traps unknown_result atomic]
  opaque "fence" (fence acquire) [reads writes atomic]
  ret
}
