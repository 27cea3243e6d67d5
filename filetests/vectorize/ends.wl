; test: linearize

; A loop without exit gets one that is never taken. It must not lead to the block that returns: `%x` is not available there.
func @forever_on_one_side(%c: i1, %p: ptr) -> i32 {
entry:
  %n: i32 = load %p, align 4
  %stuck: i1 = icmp eq %n, 7
  br %stuck, spin, work
spin:
  br spin
work:
  %x: i32 = add %n, 1
  br %c, more, done(%x)
more:
  %y: i32 = add %x, 5
  br done(%y)
done:
  %r: i32 = phi
  %s: i32 = add %r, %x
  ret %s
}
; check: linearize
; branches: 2 divergent, 0 kept, 0 lost; loops: 1 uniform, 0 divergent; tests: 1 mandatory, 0 chosen
; func @forever_on_one_side(%c: i1, %p: ptr) -> i32 phase linearized {
; entry:
;   %n: i32 = load %p, align 4
;   %stuck: i1 = icmp eq %n, 7
;   %v22: i1 = mask_andnot true, %stuck
;   %v25: i1 = mask_any %stuck
;   br %v25, rest, work
; rest:
;   br preheader
; latch mask %stuck:
;   br true, spin, loop.exit
; preheader mask %stuck:
;   br spin
; spin mask %stuck:
;   br latch
; work mask %v22:
;   %x: i32 = add %n, 1
;   %v26: i1 = mask_and %v22, %c
;   br more
; more mask %v26:
;   %y: i32 = add %x, 5
;   %v31: i32 = blend %v26, %y, %x
;   br done
; done mask %v22:
;   %s: i32 = add %v31, %x
;   br exit
; loop.exit mask %stuck:
;   br work
; exit:
;   ret %s
; }

; Both ways end the program: no lane has anything to come back to.
func @never_returns(%c: i1, %p: ptr) {
entry:
  br %c, left, right
left:
  store volatile i32 1, %p, align 4
  unreachable
right:
  store volatile i32 2, %p, align 4
  unreachable
}
; check: linearize
; error: function `never_returns`: control never returns from it, so there is nothing to do in several lanes
