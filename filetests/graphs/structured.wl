; test: cfg
; test: dominators
; test: postdominators
; test: frontiers
; test: cycles

; A branch with two arms.
func @diamond(%c: i1) {
entry:
  br %c, left, right
left:
  br join
right:
  br join
join:
  ret
}
; check: cfg
; entry: from [] to [left right]
; left: from [entry] to [join]
; right: from [entry] to [join]
; join: from [left right] to []
; check: dominators
; entry
;   right
;   left
;   join
; check: postdominators
; (exit)
;   join
;     right
;     left
;     entry
; check: frontiers
; entry: {}
; left: {join}
; right: {join}
; join: {}
; check: cycles
; none

; A branch with one arm: the join is also a target of the branch.
func @hammock(%c: i1) {
entry:
  br %c, arm, join
arm:
  br join
join:
  ret
}
; check: cfg
; entry: from [] to [arm join]
; arm: from [entry] to [join]
; join: from [entry arm] to []
; check: dominators
; entry
;   arm
;   join
; check: postdominators
; (exit)
;   join
;     arm
;     entry
; check: frontiers
; entry: {}
; arm: {join}
; join: {}
; check: cycles
; none

; Two edges from one block to another are two edges.
func @parallel_edges(%x: i32) {
entry:
  switch %x, other [1: both, 2: both]
both:
  br other
other:
  ret
}
; check: cfg
; entry: from [] to [other both both]
; both: from [entry entry] to [other]
; other: from [entry both] to []
; check: dominators
; entry
;   both
;   other
; check: postdominators
; (exit)
;   other
;     both
;     entry
; check: frontiers
; entry: {}
; both: {other}
; other: {}
; check: cycles
; none

; A nest of two loops, the inner one with an exit to the outer header (`continue` of the outer loop).
func @nest(%c: i1, %d: i1) {
entry:
  br outer
outer:
  br %c, inner, done
inner:
  br %d, body, latch
body:
  br %c, inner, outer
latch:
  br outer
done:
  ret
}
; check: cfg
; entry: from [] to [outer]
; outer: from [entry body latch] to [inner done]
; inner: from [outer body] to [body latch]
; body: from [inner] to [inner outer]
; latch: from [inner] to [outer]
; done: from [outer] to []
; check: dominators
; entry
;   outer
;     done
;     inner
;       latch
;       body
; check: postdominators
; (exit)
;   done
;     outer
;       latch
;       body
;       inner
;       entry
; check: frontiers
; entry: {}
; outer: {outer}
; inner: {outer inner}
; body: {outer inner}
; latch: {outer}
; done: {}
; check: cycles
; header outer: outer inner body latch
;   header inner: inner body
